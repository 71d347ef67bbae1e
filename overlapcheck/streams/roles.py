"""Streams by what they carry in the steady steps, never by their number.

Numbers differ from run to run. Streams that take turns, each in some of the steps, are one.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from overlapcheck.columns import ABSENT, Floats, Ints
from overlapcheck.kinds import StreamKind
from overlapcheck.stream_contract import Role, StreamRule
from overlapcheck.stream_graph import StreamSeen
from overlapcheck.stream_waits import kind_name
from overlapcheck.streams.step_work import ROLES, StepWork, usual

MOSTLY = 0.55
"""Share of a stream's time that gives it its role."""
GOOD_PART = 0.25
"""Share of it that is worth a word."""
ALWAYS = 0.75
"""A stream with work in fewer of the steps takes turns with others."""


@dataclass(frozen=True)
class _Stream:
    number: int
    device: int
    role: Role
    carries: tuple[Role, ...]
    in_turn: bool
    total_ns: float


def streams_by_role(work: StepWork) -> tuple[StreamSeen, ...]:
    """The streams that work in the steady steps, busiest of each role first."""
    table = work.waits.streams
    steady = int(work.steps.steady.sum())
    busy = np.flatnonzero(work.work_ns.sum(axis=1) > 0)
    devices = sorted(set(table.device_id[busy].tolist()))
    found = []
    for number in busy.tolist():
        times = work.work_ns[number]
        total = float(times.sum())
        shares = times / total
        present = int((work.counts[number][work.steps.steady] > 0).sum())
        found.append(
            _Stream(
                number,
                devices.index(int(table.device_id[number])),
                _role(times),
                tuple(r for r, share in zip(ROLES, shares, strict=True) if share >= GOOD_PART),
                present < ALWAYS * steady,
                total,
            )
        )
    groups: list[list[_Stream]] = [[one] for one in found if not one.in_turn]
    turns: dict[tuple[int, tuple[Role, ...]], list[_Stream]] = {}
    for one in found:
        if one.in_turn:
            turns.setdefault((one.device, one.carries), []).append(one)
    for group in turns.values():
        role = _role(work.work_ns[[one.number for one in group]].sum(axis=0))
        groups.append([replace(one, role=role) for one in group])
    groups.sort(key=lambda g: (g[0].device, list(Role).index(g[0].role), g[0].in_turn,
                               -sum(one.total_ns for one in g), g[0].number))  # fmt: skip
    met: Counter[tuple[int, Role]] = Counter()
    seen = []
    for group in groups:
        place = (group[0].device, group[0].role)
        met[place] += 1
        seen.append(_seen(work, group, met[place], steady))
    return tuple(seen)


def _role(times: Floats) -> Role:
    best = int(np.argmax(times))
    return ROLES[best] if times[best] >= MOSTLY * times.sum() else Role.MIXED


def _seen(work: StepWork, group: Sequence[_Stream], ordinal: int, steady: int) -> StreamSeen:
    first, table = group[0], work.waits.streams
    numbers = [one.number for one in group]
    name = first.role if ordinal == 1 else f"{first.role} {ordinal}"
    name = f"{name}@{first.device}" if first.device else str(name)
    kinds = {kind_name(int(table.kind[n])) for n in numbers}
    per_step = work.counts[numbers].sum(axis=0)[work.steps.steady]
    times = work.work_ns[numbers].sum(axis=0) / steady
    priorities = {int(table.priority[n]) for n in numbers if table.described[n]}
    rule = StreamRule(
        name=name,
        kind=kinds.pop() if len(kinds) == 1 else kind_name(StreamKind.UNKNOWN),
        operations=usual(per_step),
        carries=tuple(map(str, first.carries)) if len(first.carries) > 1 else (),
    )
    return StreamSeen(
        rule=rule,
        role=first.role,
        device=first.device,
        stream_ids=tuple(int(table.stream_id[n]) for n in numbers),
        numbers=tuple(numbers),
        priority=priorities.pop() if len(priorities) == 1 else None,
        work_ns={r.value: float(ns) for r, ns in zip(ROLES, times, strict=True) if ns > 0},
        operations=float(per_step.mean()) if per_step.size else 0.0,
    )


def seen_of(streams: Sequence[StreamSeen], count: int) -> Ints:
    """Position among the streams seen of each stream's number, shape (count,); ABSENT."""
    position = np.full(count, ABSENT, dtype=np.int64)
    for place, seen in enumerate(streams):
        position[list(seen.numbers)] = place
    return position
