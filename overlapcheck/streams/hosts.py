"""Where the host waits for the device in each step."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from overlapcheck.columns import ABSENT, Index, Mask
from overlapcheck.measurements import Names
from overlapcheck.order import Work
from overlapcheck.stream_contract import HostRule
from overlapcheck.stream_graph import CallSeen, Example, HostSeen, StreamSeen
from overlapcheck.stream_waits import Joins
from overlapcheck.streams.examples import Examples
from overlapcheck.streams.often import presence
from overlapcheck.streams.roles import seen_of
from overlapcheck.streams.step_work import StepWork


def host_waits(
    work: StepWork, streams: Sequence[StreamSeen], examples: Examples, names: Names
) -> tuple[list[HostSeen], int]:
    """Waits of the host that happen in two steps or more, and how many happen in one.

    A wait for a stream that runs nothing in the steady steps waits for nothing.
    """
    joins, steps, ops = work.waits.joins, work.steps, work.waits.operations
    step = steps.of(joins.start_ns)
    inside = (step >= 0) & (joins.start_ns < (steps.end_ns[-1] if len(steps) else 0))
    steady = inside & work.steady[step]
    seen = seen_of(streams, len(work.waits.streams))
    of = np.where(joins.stream == ABSENT, ABSENT, seen[joins.stream])
    idle = (joins.stream != ABSENT) & (of == ABSENT)
    known = joins.before != ABSENT
    distance = np.where(known, work.step[joins.before] - step, 0)
    timer = _timers(joins, step) & ~(known & np.isin(ops.work[joins.before], (Work.H2D, Work.D2H)))
    groups: dict[tuple[str, int, int | None, bool], list[int]] = {}
    for row in np.flatnonzero(steady & ~idle).tolist():
        call = names.strings.text(int(joins.name_id[row]))
        if joins.of_event[row] and joins.stream[row] != ABSENT and not known[row]:
            continue  # recorded before anything was handed over
        apart = int(distance[row]) if joins.of_event[row] and known[row] else None
        key = (call, int(of[row]), apart, bool(joins.copy[row]))
        groups.setdefault(key, []).append(row)
    found, once = [], 0
    for (call, place, apart, copy), rows in groups.items():
        per_step = np.bincount(step[rows], minlength=len(steps))
        could = steps.steady & (np.arange(len(steps)) + (apart or 0) >= 0)
        there = presence(per_step, could, could)
        if there.often is None:
            once += 1
            continue
        middle = rows[len(rows) // 2]
        held = (joins.end_ns - joins.start_ns)[rows].sum() / max(1, int((per_step > 0).sum()))
        name = streams[place].name if place != ABSENT else None
        behind_copies = np.isin(ops.work[joins.before[rows]], (Work.H2D, Work.D2H))
        behind_copies &= known[rows]
        rule = HostRule(
            call,
            name,
            apart,
            there.count,
            there.often,
            copy,
            memory=2 * int(behind_copies.sum()) > len(rows),
            timer=2 * int(timer[rows].sum()) > len(rows),
        )
        waited = (joins.tid, joins.start_ns, joins.end_ns)
        example = Example(
            int(steps.numbers[step[middle]]),
            examples.operation(int(joins.before[middle])),
            None,
            call,
            CallSeen(*(int(column[middle]) for column in waited)),
        )
        found.append(HostSeen(rule, there.steps, there.of_steps, float(held), example))
    return sorted(found, key=lambda host: host.rule.key), once


def _timers(joins: Joins, step: Index) -> Mask:
    """Waits for events in a step in which their thread waits for one event again.

    That is how the time between pairs of events is read: the second wait for one holds nothing.
    """
    rows = np.flatnonzero(joins.of_event & (joins.record_row != ABSENT))
    tids, tid = np.unique(joins.tid[rows], return_inverse=True)
    reader = tid.reshape(-1) + step[rows] * max(1, tids.size)
    _, first, times = np.unique(
        np.stack((reader, joins.record_row[rows])), axis=1, return_index=True, return_counts=True
    )
    again = np.unique(reader[first[times > 1]])
    timers = np.zeros(len(joins), dtype=np.bool_)
    timers[rows] = np.isin(reader, again)
    return timers
