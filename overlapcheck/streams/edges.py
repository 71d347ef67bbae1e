"""The edges between roles per step: waits of one kind, their distance, and where they take hold."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from overlapcheck.columns import ABSENT, Index, Ints, Mask
from overlapcheck.grouping import by_group
from overlapcheck.stream_contract import EdgeKind, EdgeRule, Often, Place, Proof, Role
from overlapcheck.stream_graph import EdgeSeen, Example, StreamSeen, Unpaired
from overlapcheck.stream_waits import Record
from overlapcheck.streams.examples import Examples
from overlapcheck.streams.often import presence
from overlapcheck.streams.roles import seen_of
from overlapcheck.streams.step_work import StepWork, usual

MISSING_SHOWN = 3
SAME_PLACE = 0.85
"""Share of the steps that must agree where a wait takes hold."""
MOST_RARE = 16
"""Edges of a few steps that are shown; a pattern that never repeats has many of them."""
MOST_PLACES = 8
"""Of more waits per step, how many there are says enough."""


@dataclass(frozen=True)
class _Candidates:
    """Waits between two streams seen, in steady steps; shape (n,) each."""

    before: Index
    after: Index
    source: Ints
    """Position among the streams seen."""
    target: Ints
    distance: Ints
    step: Index
    """Of what waits."""
    call: Index
    proof: Ints
    """Position in Proof."""
    through: Ints


class Edges:
    """Finds the edges of one process."""

    def __init__(self, work: StepWork, streams: Sequence[StreamSeen], examples: Examples) -> None:
        self._work, self._streams, self._examples = work, streams, examples
        self._seen = seen_of(streams, len(work.waits.streams))
        counts = [work.counts[list(seen.numbers)].sum(axis=0) for seen in streams]
        self._counts = np.array(counts, dtype=np.int64).reshape(len(streams), len(work.steps))
        self._regular = np.array(
            [seen.rule.operations is None for seen in streams], dtype=np.bool_
        )[:, None] | (
            self._counts == np.array([seen.rule.operations or 0 for seen in streams])[:, None]
        )

    def found(self) -> tuple[list[EdgeSeen], int]:
        """The edges that stand in two steps or more, and how many stand in one."""
        candidates = self._candidates()
        keys = np.stack(
            (
                candidates.source,
                candidates.target,
                candidates.distance,
                candidates.proof,
            )
        )
        groups, group = np.unique(keys, axis=1, return_inverse=True)
        group = group.reshape(-1)
        order, bounds = by_group(group, groups.shape[1])
        often: list[EdgeSeen] = []
        rare: list[EdgeSeen] = []
        once = 0
        for number in range(groups.shape[1]):
            rows = order[bounds[number] : bounds[number + 1]]
            seen = self._edge(candidates, rows) if rows.size > 1 else None
            if seen is None:
                once += 1
            else:
                (rare if seen.rule.often is Often.SOME else often).append(seen)
        both = self._wandering(candidates, often + rare)
        often = [edge for edge in both if edge.rule.often is not Often.SOME]
        rare = [edge for edge in both if edge.rule.often is Often.SOME]
        rare.sort(key=lambda edge: -edge.steps)
        once += len(rare[MOST_RARE:])
        found = often + rare[:MOST_RARE]
        found.sort(key=lambda edge: (edge.rule.source, edge.rule.target, -edge.rule.distance,
                                     edge.rule.proof))  # fmt: skip
        return found, once

    def unpaired(self, record: Record) -> tuple[Unpaired, ...]:
        """Waits of steady steps whose record was never made, or is not known."""
        waits, steps = self._work.waits.waits, len(self._work.steps)
        rows = np.flatnonzero((waits.record == record) & (waits.after != ABSENT))
        step = self._work.step[waits.after[rows]]
        target = self._seen[waits.stream[rows]]
        rows = np.flatnonzero(self._work.steady[step] & (target != ABSENT))
        found = []
        for place, seen in enumerate(self._streams):
            mine = rows[target[rows] == place]
            if mine.size:
                per_step = np.bincount(step[mine], minlength=steps)
                found.append(Unpaired(seen.name, int((per_step > 0).sum()), int(per_step.max())))
        return tuple(found)

    def _candidates(self) -> _Candidates:
        waits, work = self._work.waits, self._work
        table = waits.waits
        known = (table.before != ABSENT) & (table.after != ABSENT)
        known &= table.record == Record.KNOWN
        relay = table.through != ABSENT
        # A stream with work of its own orders by that; what it hands on follows.
        known &= ~relay | (self._seen[table.through] == ABSENT)
        rows = np.flatnonzero(known)
        barriers = waits.barriers
        before = np.concatenate((table.before[rows], barriers.before)).astype(np.intp)
        after = np.concatenate((table.after[rows], barriers.after)).astype(np.intp)
        stream = waits.operations.stream
        source, target = self._seen[stream[before]], self._seen[stream[after]]
        step = work.step[after]
        distance = work.step[before] - step
        nothing = np.full(len(barriers), ABSENT, dtype=np.intp)
        proofs = list(Proof)
        found = _Candidates(
            before,
            after,
            source,
            target,
            distance,
            step,
            np.concatenate((table.call[rows], nothing)).astype(np.intp),
            np.repeat(
                [proofs.index(Proof.EVENT), proofs.index(Proof.NULL_STREAM)],
                [rows.size, len(barriers)],
            ),
            np.concatenate((table.through[rows], nothing)),
        )
        kept = (source != ABSENT) & (target != ABSENT) & work.steady[step]
        # Within one stream its own order holds.
        kept &= stream[before] != stream[after]
        # What both streams had handed over before is waited for once.
        kept &= work.step[before] < len(work.steps)
        chosen = np.flatnonzero(kept)
        pairs = np.stack((before[chosen], after[chosen], found.proof[chosen]))
        _, first = np.unique(pairs, axis=1, return_index=True)
        chosen = chosen[np.sort(first)]
        return _Candidates(*(getattr(found, name)[chosen] for name in _FIELDS))

    def _edge(self, all_: _Candidates, rows: Index) -> EdgeSeen | None:
        work, first = self._work, int(rows[0])
        source, target = int(all_.source[first]), int(all_.target[first])
        distance = int(all_.distance[first])
        proof = list(Proof)[int(all_.proof[first])]
        per_step = np.bincount(all_.step[rows], minlength=len(work.steps))
        there = presence(per_step, *self._asked(source, target, distance))
        if there.often is None:
            return None
        through = int(all_.through[first])
        behind, ahead = self._around(all_.before[rows], all_.after[rows])
        rule = EdgeRule(
            self._streams[source].name,
            self._streams[target].name,
            kind_of(self._streams[source], self._streams[target], distance),
            distance,
            there.count if proof is Proof.EVENT else 1,
            there.often,
            proof,
            _places(all_.step[rows], behind, ahead, there.count, per_step)
            if through == ABSENT and there.count <= MOST_PLACES
            else (),
        )
        middle = int(rows[rows.size // 2])
        step = int(all_.step[middle])
        return EdgeSeen(
            rule,
            there.steps,
            there.of_steps,
            tuple(work.steps.numbers[there.missing[:MISSING_SHOWN]].tolist()),
            Example(
                int(work.steps.numbers[step]),
                self._examples.operation(int(all_.before[middle])),
                self._examples.operation(int(all_.after[middle])),
                self._examples.call(int(all_.call[middle])) or str(proof),
            ),
            self._examples.stream(through) if through != ABSENT else "",
            self._of_other_thread(all_, rows),
            _steps_with(behind, all_.step[rows]),
            _steps_with(ahead, all_.step[rows]),
        )

    def _of_other_thread(self, all_: _Candidates, rows: Index) -> bool:
        tid = self._work.waits.operations.tid
        other = tid[all_.before[rows]] != tid[all_.after[rows]]
        return 2 * int(other.sum()) > rows.size

    def _wandering(self, all_: _Candidates, families: Sequence[EdgeSeen]) -> list[EdgeSeen]:
        """The edges, those of several distances that together stand in every step as one.

        Another thread hands over what they wait for, and is ahead by now more, now less.
        """
        found: list[EdgeSeen] = []
        together: dict[tuple[str, str, str], list[EdgeSeen]] = {}
        for edge in families:
            rule = edge.rule
            if edge.other_thread and rule.often is not Often.EVERY:
                together.setdefault((rule.source, rule.target, rule.proof), []).append(edge)
            else:
                found.append(edge)
        names = [seen.name for seen in self._streams]
        for (source, target, proof), edges in together.items():
            nearest = max(edge.rule.distance for edge in edges)
            oldest = min(edge.rule.distance for edge in edges)
            mine = (all_.source == names.index(source)) & (all_.target == names.index(target))
            mine &= all_.proof == list(Proof).index(Proof(proof))
            mine &= (all_.distance <= nearest) & (all_.distance >= oldest)
            per_step = np.bincount(all_.step[mine], minlength=len(self._work.steps))
            asked = self._asked(names.index(source), names.index(target), oldest)
            there = presence(per_step, *asked)
            if len(edges) < 2 or there.often is not Often.EVERY:
                found += edges
                continue
            first = max(edges, key=lambda edge: edge.steps)
            rule = replace(
                first.rule,
                distance=nearest,
                oldest=oldest,
                count=there.count,
                often=Often.EVERY,
                places=(),
            )
            found.append(
                replace(first, rule=rule, steps=there.steps, of_steps=there.of_steps, missing=())
            )
        return found

    def _asked(self, source: int, target: int, distance: int) -> tuple[Mask, Mask]:
        """Steps that could have an edge: the awaited one was recorded, and both worked."""
        work = self._work
        steps = np.arange(len(work.steps))
        other = steps + distance
        recorded = (other >= 0) & (other < steps.size)
        possible = work.steps.steady & recorded
        at = np.clip(other, 0, max(steps.size - 1, 0))
        regular = self._regular[target] & self._regular[source][at]
        return possible, regular

    def _around(self, before: Index, after: Index) -> tuple[Ints, Ints]:
        """Operations of the step behind each one in its stream, and ahead of each one."""
        work = self._work
        position = work.waits.position
        stream = work.waits.operations.stream
        last = self._last_of(stream[before], work.step[before])
        first = self._last_of(stream[after], work.step[after] - 1) + 1
        return last - position[before], position[after] - first

    def _last_of(self, stream: Ints, step: Index) -> Ints:
        """Position of the last operation of a stream in a step, or before it."""
        at: Ints = self._ends[stream, np.minimum(step, len(self._work.steps) - 1) + 1] - 1
        return at

    @cached_property
    def _ends(self) -> Ints:
        """Operations of each stream up to the end of each step, shape (streams, steps + 1).

        The first column is of what came before the steps.
        """
        work, count = self._work, len(self._work.steps) + 1
        rows = work.waits.order
        step = np.minimum(work.step[rows], count - 2) + 1
        streams = len(work.waits.streams)
        key = work.waits.operations.stream[rows] * count + step
        table = np.bincount(key, minlength=streams * count).reshape(streams, count)
        return np.cumsum(table, axis=1, dtype=np.int64)


_FIELDS = ("before", "after", "source", "target", "distance", "step", "call", "proof", "through")


def kind_of(source: StreamSeen, target: StreamSeen, distance: int) -> EdgeKind:
    """What a wait is for: data flows from the host through the device and back to it."""
    if source.role == target.role and source.device == target.device:
        return EdgeKind.JOIN
    if target.role is Role.H2D or source.role is Role.D2H:
        return EdgeKind.REUSE
    if Role.P2P in (source.role, target.role) and distance < 0:
        return EdgeKind.REUSE
    return EdgeKind.READY


def _steps_with(around: Ints, step: Index) -> float:
    """Share of the steps in which each wait leaves something out."""
    least = np.full(int(step.max()) + 1, np.iinfo(np.int64).max)
    np.minimum.at(least, step, around)
    least = least[np.unique(step)]
    return float((least > 0).sum()) / least.size


def _places(
    step: Index, behind: Ints, ahead: Ints, count: int, per_step: Ints
) -> tuple[Place, ...]:
    """Where the waits of a step take hold, where nearly all steps agree."""
    rows = np.flatnonzero(per_step[step] == count)
    order = rows[np.lexsort((ahead[rows], behind[rows], step[rows]))]
    behinds, aheads = behind[order].reshape(-1, count), ahead[order].reshape(-1, count)
    found = []
    for column in range(count):
        place = usual(behinds[:, column], SAME_PLACE), usual(aheads[:, column], SAME_PLACE)
        if place[0] is None or place[1] is None:
            return ()
        found.append(Place(place[0], place[1]))
    return tuple(sorted(found))
