"""Lines of evidence about waits and the calls behind them; every number comes from ledger rows."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from overlapcheck.api_kinds import ApiKind, api_kind
from overlapcheck.causes._base import Context, Facts, by_cost, totals
from overlapcheck.columns import ABSENT, Index, Ints, Whole
from overlapcheck.grouping import distinct, first_rows, numbered
from overlapcheck.ledger import IdleLedger
from overlapcheck.quantities import count_of, duration, seconds
from overlapcheck.searches import covering

MAX_LINES = 2
"""Of one kind of fact; the costliest are told."""
NAME_LENGTH = 36
"""Longer kernel names lose their middle."""
UNIFORM_RATIO = 2.0
"""Values whose largest and smallest differ by more are told as a range."""


def waits(context: Context) -> list[str]:
    """How many waits, in how many steps, and the longest with the kernels around it."""
    rows, device = context.rows, context.device
    first, length = _waits(rows.start_ns, rows.end_ns)
    longest = int(np.argmax(length))
    row = int(first[longest])
    steps = device.steps.numbers_at(rows.start_ns)
    hit = distinct(steps).size
    where = f" in {hit} of {device.window.steps} steps" if device.window.steps else ""
    text = f"{count_of(len(length), 'wait')}{where}, {duration(int(length.sum()))} together"
    step = int(steps[row])
    at = seconds(int(rows.start_ns[row])) if step == ABSENT else f"step {step}"
    return [text, f"longest {duration(int(length[longest]))} at {at}{_around(context, row)}"]


def _around(context: Context, row: int) -> str:
    """The kernels around the gap that a row lies in."""
    gaps, start = context.device.gaps, int(context.rows.start_ns[row])
    at = int(covering(gaps.start_ns, gaps.end_ns, np.array([start]))[0])
    inside = at != ABSENT
    before = kernel(context, int(gaps.before_name_id[at])) if inside else ""
    after = kernel(context, int(context.rows.kernel_name_id[row]))
    if before and after:
        return f", between kernels {before} and {after}"
    return f", after kernel {before}" if before else f", before kernel {after}" if after else ""


def calls(context: Context) -> list[str]:
    """Which calls held which thread, how often and how long each."""
    rows = context.rows
    rows = rows.rows(rows.call_name_id != ABSENT)
    lines = []
    for name_id, _, idle_ns in by_cost(rows, rows.call_name_id, MAX_LINES):
        mine = rows.rows(rows.call_name_id == name_id)
        each = mine.rows(first_rows(mine.call_start_ns))
        name, held_by = context.measured.names.strings.text(name_id), common(each.tid)
        idle = f"{duration(idle_ns)} idle during and after"
        if api_kind(name) is ApiKind.QUERY:
            asked = f"asked {name} again and again, {count_of(len(each), 'time')}"
            lines.append(f"{thread(context, held_by)} {asked}: {idle}")
            continue
        held = _in_window(each.call_start_ns, each.call_ns, context)
        lines.append(
            f"{name}{_of_another(context, each)} held {thread(context, held_by)}"
            f" {count_of(len(each), 'time')}, {spread(held, duration)} each: {idle}"
        )
    return lines


def _of_another(context: Context, each: IdleLedger) -> str:
    """Whose call it was, where it was not made by the thread that it held."""
    made_by = common(each.call_tid)
    return f" of {thread(context, made_by)}" if made_by != common(each.tid) else ""


def late_starts(context: Context) -> list[str]:
    """How long after the hand-over work began."""
    rows = context.rows
    _, _, late = totals(rows, rows.operation)
    return [
        f"{count_of(late.size, 'operation')} of {thread(context, common(rows.tid))} began"
        f" {spread(late, duration)} after the call that launched it had returned"
    ]


def _in_window(start_ns: Ints, length_ns: Ints, context: Context) -> Ints:
    """The part of each call that lies in the window."""
    window = context.device.window
    end = np.minimum(start_ns + length_ns, window.end_ns)
    inside: Ints = np.maximum(end - np.maximum(start_ns, window.start_ns), 0)
    return inside


def host_whereabouts(context: Context) -> list[str]:
    """Where the launching thread was outside CUDA: in which OS call, or running."""
    rows = context.rows
    lines = []
    own_code = "ran its own code, in no recorded OS call,"
    if not context.measured.os_calls_recorded:
        own_code = "ran its own code, or was in OS calls, which were not recorded,"
    for os_name, _, ns in by_cost(rows, rows.os_name_id, MAX_LINES):
        text = context.measured.names.strings.text(os_name)
        where = f"was in {text}" if text else own_code
        mine = rows.tid[rows.os_name_id == os_name]
        lines.append(f"{thread(context, common(mine))} {where} for {duration(ns)} of it")
    return lines


def launches(context: Context) -> list[str]:
    """How many late launches, and how far apart."""
    rows = context.rows
    _, _, lateness = totals(rows, rows.operation)
    count = lateness.size
    steps = context.device.window.steps
    per_step = f", {count / steps:.0f} per step" if steps and count >= steps else ""
    return [
        f"{count_of(count, 'launch', 'launches')} of {thread(context, common(rows.tid))} came"
        f" after the device had run dry{per_step}; {duration(float(np.median(lateness)))} of idle"
        " time each (median)"
    ]


def environment(*names: str) -> Facts:
    """Facts about environment variables of the program."""

    def facts(context: Context) -> list[str]:
        found = context.measured.environment
        return [f"the program ran with {name}={found[name]}" for name in names if name in found]

    return facts


def kernel(context: Context, name_id: int) -> str:
    """Name of a kernel, its middle left out where it is long; "" for none."""
    return shortened(context.measured.names.strings.text(name_id))


def shortened(name: str) -> str:
    """A name without its middle where it is long."""
    if len(name) <= NAME_LENGTH:
        return name
    half = (NAME_LENGTH - 3) // 2
    return f"{name[:half]}...{name[-half:]}"


def thread(context: Context, tid: int) -> str:
    """A thread by name, or by number."""
    if tid == ABSENT:
        return "an unknown thread"
    name = context.measured.names.thread(context.device.process, tid)
    return name if name.startswith("thread ") else f"thread {name}"


def spread(values: Ints, text: Callable[[float], str]) -> str:
    """One value where all are about equal, else their range: 1.2 ms, or 14.8 us – 44.1 ms."""
    low, high = float(values.min()), float(values.max())
    if high <= UNIFORM_RATIO * low or text(low) == text(high):
        return text(float(np.median(values)))
    return f"{text(low)} – {text(high)}"


def common(values: Whole) -> int:
    """The value that occurs most often."""
    found, position = numbered(values)
    return int(found[np.argmax(np.bincount(position))])


def _waits(start: Ints, end: Ints) -> tuple[Index, Ints]:
    """First row and length of each wait: rows, which are sorted, that follow without a break."""
    opens = np.append(True, start[1:] > end[:-1])
    first = np.flatnonzero(opens)
    last = np.append(first[1:], start.size) - 1
    return first, end[last] - start[first]
