"""Numbers that a prediction takes for granted: what repaired programs cost, how far runs differ."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

from overlapcheck.threshold import Unit, decides

_assumed = partial(decides, fixed=True)


@dataclass(frozen=True)
class WhatIfThresholds:
    """Of wins, bands and repairs."""

    # What is worth telling.
    worth_while_share: float = _assumed(
        0.02, Unit.SHARE,
        reason="a repair that wins a smaller share of the step wins nothing that could be told from"
        " noise",
        if_wrong="smaller promises noise; larger says nothing of small wins that are real",
    )  # fmt: skip
    costs_as_much_share: float = _assumed(
        0.5, Unit.SHARE,
        reason="steps in which a cause costs less than half of what it costs in all say nothing of"
        " it",
        if_wrong="smaller predicts from steps that lack the cause; larger predicts little where"
        " steps differ",
    )  # fmt: skip
    # How far the real step may lie from the predicted one.
    base_spread_share: float = _assumed(
        0.03, Unit.SHARE,
        reason="by this much differ two recordings of the same program bound by its device",
        if_wrong="smaller promises more than repeats keep; larger says less than is known",
    )  # fmt: skip
    host_spread_share: float = _assumed(
        0.10, Unit.SHARE,
        reason="by this much, at least, differ two recordings of the same program bound by its"
        " host",
        if_wrong="smaller promises more than repeats keep; larger says less than is known",
    )  # fmt: skip
    widest_spread_share: float = _assumed(
        0.8, Unit.SHARE,
        reason="beyond this spread of steps a band would say nothing any more",
        if_wrong="smaller promises too much where steps differ; larger tells bands of no use",
    )  # fmt: skip
    pace_tolerance_share: float = _assumed(
        0.005, Unit.SHARE,
        reason="steps are scaled to the program's own pace until this close to it, well within the"
        " band",
        if_wrong="smaller only takes time; larger predicts for another pace",
    )  # fmt: skip
    # Copies and what follows them.
    bulk_bytes: int = _assumed(
        64 * 1024, Unit.BYTES, "pageable-copy", "same-stream", "host-sync",
        reason="smaller copies are settled by their call, whatever memory they come from",
        if_wrong="smaller moves copies of a flag to another stream; larger leaves batches behind",
    )  # fmt: skip
    large_bytes: int = _assumed(
        1024 * 1024, Unit.BYTES, "pageable-copy",
        reason="copies from here on run at the link's rate",
        if_wrong="smaller measures the link by latencies; larger finds no copy to measure it by",
    )  # fmt: skip
    copy_sets_up_ns: int = _assumed(
        1_500, Unit.NS, "pageable-copy",
        reason="a copy's time that does not grow with its size",
        if_wrong="smaller promises too much for small copies; larger too little",
    )  # fmt: skip
    hands_over_ns: int = _assumed(
        8_000, Unit.NS, "pageable-copy", "sync-copy",
        reason="an asynchronous copy call, where the recording has none to measure: 5 to 10 us",
        if_wrong="smaller makes the host faster than it is; larger slower",
    )  # fmt: skip
    starts_within_ns: int = _assumed(
        10_000, Unit.NS, "pageable-copy", "same-stream", "host-sync", "launch-bound",
        "uvm-migration",
        reason="from a call to the start of what it handed over to an idle device",
        if_wrong="smaller starts things before they can be there; larger keeps waits that are gone",
    )  # fmt: skip
    signals_ns: int = _assumed(
        2_000, Unit.NS, "same-stream", "host-sync", "uvm-migration",
        reason="from the end of an operation to the start of one that an event made wait",
        if_wrong="smaller promises too much for chains of events; larger too little",
    )  # fmt: skip
    buffers: int = _assumed(
        2, Unit.COUNT, "same-stream",
        reason="two are what a program needs to fetch one batch while it works on another",
        if_wrong="smaller cannot overlap at all; larger promises what costs more memory",
    )  # fmt: skip
    # Input.
    input_wait_ns: int = _assumed(
        100_000, Unit.NS, "host-starved",
        reason="a shorter call of the operating system is no wait for input",
        if_wrong="smaller takes locks for input; larger misses short waits for batches",
    )  # fmt: skip
    input_away_ns: int = _assumed(
        1_000_000, Unit.NS, "host-starved",
        reason="a launching thread that is away for longer without a call prepares or waits for"
        " input",
        if_wrong="smaller takes away the program's own Python; larger misses input made in place",
    )  # fmt: skip
    fetches_ns: int = _assumed(
        50_000, Unit.NS, "host-starved",
        reason="what taking a batch that lies ready costs",
        if_wrong="smaller promises what no loader does; larger keeps part of the wait",
    )  # fmt: skip
    # Launches.
    blocked_launches_share: float = _assumed(
        0.9, Unit.SHARE, "launch-blocking",
        reason="launches that end behind their kernel, of all: with the variable unset next to"
        " none does",
        if_wrong="smaller takes a host that waits often for blocking launches; larger misses them"
        " for a few odd ones",
    )  # fmt: skip
    unblocked_launch_ns: int = _assumed(
        5_000, Unit.NS, "launch-blocking",
        reason="what a launch costs that does not wait for its kernel",
        if_wrong="smaller makes the host faster than it is; larger slower",
    )  # fmt: skip
    graph_launch_ns: int = _assumed(
        10_000, Unit.NS, "launch-bound",
        reason="what a graph launch costs the thread beside its nodes",
        if_wrong="smaller promises too much for small graphs; larger too little",
    )  # fmt: skip
    graph_node_ns: int = _assumed(
        350, Unit.NS, "launch-bound",
        reason="what each node of a graph adds to its launch: measured 0.3 to 0.4 us on H200",
        if_wrong="smaller promises too much for large graphs; larger too little",
    )  # fmt: skip
    graph_node_gap_ns: int = _assumed(
        1_000, Unit.NS, "launch-bound",
        reason="between two nodes of a graph on the device",
        if_wrong="smaller closes gaps that graphs have; larger keeps gaps that they have not",
    )  # fmt: skip
    other_work_ns: int = _assumed(
        1_000_000, Unit.NS, "launch-bound",
        reason="a longer gap between launches is other work, which a graph does not take away",
        if_wrong="smaller keeps Python that a graph takes away; larger takes away real work",
    )  # fmt: skip
    graph_waits_ns: int = _assumed(
        50_000, Unit.NS, "launch-bound",
        reason="a call of the operating system or a wait that is longer cuts what can be one graph",
        if_wrong="smaller cuts graphs at every lock; larger puts waits for others into a graph",
    )  # fmt: skip
    # Collectives.
    backward_from_share: float = _assumed(
        1 / 3, Unit.SHARE, "exposed-collective",
        reason="share of a step's kernel time before the first gradients: forward is half of"
        " backward",
        if_wrong="smaller has gradients before there are any; larger hides less than could be",
    )  # fmt: skip
    buckets: int = _assumed(
        4, Unit.COUNT, "exposed-collective",
        reason="a single collective is cut into as many parts, of which the last stays exposed",
        if_wrong="smaller hides less than frameworks do; larger promises more than they do",
    )  # fmt: skip
    significant_share: float = _assumed(
        0.02, Unit.SHARE, "exposed-collective",
        reason="a collective with less of the step's communication stays where it is",
        if_wrong="smaller moves sums of a loss; larger leaves buckets where they are",
    )  # fmt: skip
    collective_signals_ns: int = _assumed(
        3_000, Unit.NS, "exposed-collective",
        reason="from the gradients of a bucket to the start of its collective",
        if_wrong="smaller promises too much for many buckets; larger too little",
    )  # fmt: skip
    multiprocessors_lost_share: float = _assumed(
        0.5, Unit.SHARE, "exposed-collective",
        reason="of the time that collectives hold multiprocessors, what kernels beside them lose:"
        " those bound by multiprocessors lose all, those bound by memory none",
        if_wrong="smaller hides collectives for nothing; larger makes hiding them of no use",
    )  # fmt: skip


WHAT_IF = WhatIfThresholds()
"""What every prediction takes for granted."""

CLOCK = ((0.54, 0.0), (0.83, 0.02), (0.88, 0.065), (0.97, 0.105))
"""How much longer the same matrix kernel ran on an H200, by the share of time in kernels: a device
that is never idle lowers its clock."""
