"""Which calls a replay can do without, and that what is left keeps its times. Times in us."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

from overlapcheck.api_kinds import ApiKind
from overlapcheck.columns import ABSENT
from overlapcheck.passes.replay.condensed import condensed
from overlapcheck.passes.replay.steps import explained
from overlapcheck.step_graph import ORIGIN, GraphOperations, HostEvents, Links, StepGraph, Why
from overlapcheck.whatif.replay import replay

US = 1_000
OTHER, LAUNCH = ApiKind.OTHER, ApiKind.LAUNCH
Event = tuple[ApiKind, float, float]


def graph(
    *events: Event, handed: Sequence[int] = (), tid: Sequence[int] = (), links: Links | None = None
) -> StepGraph:
    """One operation of 10 us for each event of `handed`, from the end of that on."""
    threads = list(tid) or [1] * len(events)
    ends = [round(end * US) for _, _, end in events]
    starts = [round(start * US) for _, start, _ in events]
    previous = [
        max((n for n in range(at) if threads[n] == threads[at]), default=ABSENT)
        for at in range(len(events))
    ]
    table = HostEvents.filled(
        len(events),
        tid=threads,
        kind=[kind for kind, _, _ in events],
        start_ns=starts,
        end_ns=ends,
        own_ns=[end - start for start, end in zip(starts, ends, strict=True)],
        previous=previous,
        gap_ns=[0 if p == ABSENT else starts[n] - ends[p] for n, p in enumerate(previous)],
    )
    begin = [ends[event] if event != ABSENT else 0 for event in handed]
    ops = GraphOperations.filled(
        len(handed),
        event=list(handed),
        start_ns=begin,
        end_ns=[at + 10 * US for at in begin],
        length_ns=10 * US,
        step=0,
    )
    nodes = 2 * (len(ops) + len(table))
    residual = np.zeros(nodes, dtype=np.int64)
    made = StepGraph(ops, table, links or Links.none(), residual, -1, 1, 1)
    return explained(made)


def kept(made: StepGraph) -> list[float]:
    """Starts of the events that are left, us; what is left is replayed as recorded."""
    fewer = condensed(made)
    assert np.array_equal(replay(fewer).time_ns, fewer.recorded_ns)
    starts: list[float] = (fewer.events.start_ns / US).tolist()
    return starts


FIRST = (OTHER, 0.0, 1.0)
LAST = (OTHER, 900.0, 901.0)


def test_calls_that_nothing_hangs_on_are_part_of_the_gap() -> None:
    fewer = condensed(graph(FIRST, (OTHER, 5, 6), (OTHER, 8, 10), (LAUNCH, 20, 22), handed=[3]))

    assert fewer.events.start_ns.tolist() == [0, 20 * US]
    assert fewer.events.previous.tolist() == [ABSENT, 0]
    assert fewer.events.gap_ns.tolist() == [0, 19 * US]
    assert fewer.events.own_ns.tolist() == [1 * US, 2 * US]
    assert fewer.operations.event.tolist() == [1]
    assert np.array_equal(replay(fewer).time_ns, fewer.recorded_ns)


def test_each_thread_keeps_its_first_and_its_gaps() -> None:
    made = graph(
        (OTHER, 0, 1),
        (OTHER, 2, 3),
        (OTHER, 4, 5),
        (OTHER, 6, 7),
        (LAUNCH, 8, 9),
        (LAUNCH, 11, 12),
        (LAUNCH, 13, 14),
        handed=[4, 5, 6],
        tid=[1, 2, 1, 2, 2, 1, 2],
    )
    fewer = condensed(made)

    assert kept(made) == [0, 2, 8, 11, 13]
    assert fewer.events.previous.tolist() == [ABSENT, ABSENT, 1, 0, 2]
    assert fewer.events.gap_ns.tolist() == [0, 0, 5 * US, 10 * US, 4 * US]


@pytest.mark.parametrize(("length", "stays"), [(50.0, False), (50.001, True)])
def test_a_long_call_stays(length: float, stays: bool) -> None:
    assert kept(graph(FIRST, (OTHER, 100, 100 + length), LAST)) == [0, *([100] if stays else [])]


@pytest.mark.parametrize(
    ("kind", "stays"),
    [
        *((ApiKind.SYNC, True), (ApiKind.SYNC_COPY, True), (ApiKind.ALLOCATION, True)),
        *((ApiKind.MODULE_LOAD, True), (ApiKind.GRAPH_BUILD, True), (ApiKind.CAPTURE, True)),
        *((ApiKind.QUERY, False), (ApiKind.LAUNCH, False), (ApiKind.RECORD_EVENT, False)),
    ],
)
def test_a_call_that_a_repair_may_concern_stays(kind: ApiKind, stays: bool) -> None:
    assert kept(graph(FIRST, (kind, 100, 101), LAST)) == [0, *([100] if stays else [])]


def test_what_handed_over_stays_and_what_did_not_goes() -> None:
    events = (FIRST, (LAUNCH, 10, 11), (LAUNCH, 20, 21), LAST)

    assert kept(graph(*events, handed=[2, 2])) == [0, 20]
    assert kept(graph(*events, handed=[ABSENT])) == [0]
    assert condensed(graph(*events, handed=[ABSENT])).operations.event.tolist() == [ABSENT]
    assert condensed(graph(*events, handed=[2, ABSENT])).operations.event.tolist() == [1, ABSENT]


@pytest.mark.parametrize("node", [0, 1])
def test_both_ends_of_a_link_stay_at_the_nodes_that_they_had(node: int) -> None:
    """Two operations come first, so that event 2 has the nodes 8 and 9."""
    events = ((LAUNCH, 0, 1), (OTHER, 10, 11), (OTHER, 20, 21), (OTHER, 30, 31), (OTHER, 40, 41))
    between = Links.between(np.array([8 + node]), np.array([12 + node]), 3 * US, Why.HAND_OFF)
    made = graph(*events, handed=[0, ABSENT], links=between)
    fewer = condensed(made)

    assert kept(made) == [0, 20, 40]
    assert fewer.links.before.tolist() == [6 + node]
    assert fewer.links.after.tolist() == [8 + node]
    assert fewer.residual_ns.size == fewer.nodes == 4 + 6
    assert fewer.events.gap_ns.tolist() == [0, 19 * US, 19 * US]


def test_links_of_operations_and_from_outside_keep_no_call() -> None:
    """The nodes 2 and 3 are an operation's, 4 is where the first event starts."""
    links = Links.joined(
        [
            Links.between(np.array([3, ORIGIN]), np.array([0, 1]), 0, Why.STREAM),
            Links.between(np.array([1]), np.array([2]), 0, Why.STREAM),
        ]
    )
    made = graph((LAUNCH, 0, 1), (OTHER, 10, 11), LAST, handed=[0, 0])
    fewer = condensed(StepGraph(**(vars(made) | {"links": links})))

    assert fewer.events.start_ns.tolist() == [0]
    assert fewer.links.before.tolist() == [3, ORIGIN, 1]
    assert fewer.links.after.tolist() == [0, 1, 2]


def test_what_nothing_explains_stays_with_the_calls_that_are_left() -> None:
    made = graph(FIRST, (OTHER, 5, 6), (LAUNCH, 20, 22), handed=[2])
    residual = np.arange(made.nodes) * 7
    fewer = condensed(StepGraph(**(vars(made) | {"residual_ns": residual})))

    assert fewer.residual_ns.tolist() == [0, 7, 14, 21, 42, 49]
