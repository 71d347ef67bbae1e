"""Whether what a lost edge held is ordered all the same, and which operations it was about."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import cached_property

import numpy as np

from overlapcheck.measurements import Names
from overlapcheck.stream_changes import Change, ChangeKind
from overlapcheck.stream_contract import EdgeRule, Place
from overlapcheck.stream_graph import Example, StreamGraph
from overlapcheck.stream_waits import HandOverSteps, StreamWaits
from overlapcheck.streams.examples import Examples
from overlapcheck.streams.happens_before import HappensBefore
from overlapcheck.streams.step_work import StepOperations, StepWork

MOST_STEPS_ASKED = 16


class StillOrdered:
    """Asks about single steps of a recording, by the names of the contract.

    Args:
        waits: of the process.
        steps: where its steps begin.
        names: texts.
        graph: the recording, its streams named as in the contract.
    """

    def __init__(
        self, waits: StreamWaits, steps: HandOverSteps, names: Names, graph: StreamGraph
    ) -> None:
        self._waits, self._graph = waits, graph
        self._work = StepWork(waits, steps)
        self._examples = Examples(waits, names)
        self._operations = StepOperations(self._work)

    @cached_property
    def _by_device(self) -> HappensBefore:
        return HappensBefore(self._waits, host=False)

    @cached_property
    def _by_any(self) -> HappensBefore:
        return HappensBefore(self._waits)

    def holds(self, edge: EdgeRule) -> str:
        """What orders both ends of an edge that is not there: "event", "host", or ""."""
        pairs = [(before, after) for _, before, after in self.pairs(edge)]
        if not pairs:
            return ""
        if all(self._by_device.before(*pair) for pair in pairs):
            return "event"
        return "host" if all(self._by_any.before(*pair) for pair in pairs) else ""

    def shown(self, change: Change) -> Change:
        """The change with a step and the two operations that it is about."""
        edge = change.edge
        if edge is None or change.kind in (ChangeKind.DISTANCE, ChangeKind.GAINED):
            return change
        if change.kind is ChangeKind.COVERS_LESS and change.now is not None:
            return self._uncovered(change, edge, change.now)
        wanted = set()
        if change.kind is ChangeKind.RARER:
            seen = [one for one in self._graph.edges if one.rule.key == edge.key]
            wanted = {number for one in seen for number in one.missing}
        found = list(self.pairs(edge))
        chosen = [one for one in found if one[0] in wanted] or found[len(found) // 2 :]
        if not chosen:
            return change
        step, before, after = chosen[0]
        operation = self._examples.operation
        return replace(change, example=Example(step, operation(before), operation(after)))

    def _uncovered(self, change: Change, edge: EdgeRule, now: EdgeRule) -> Change:
        """Names the operation that the wait no longer covers, or no longer holds."""
        for was, is_ in zip(sorted(edge.places), sorted(now.places), strict=False):
            behind = Place(was.behind, is_.ahead)
            ahead = Place(is_.behind, was.ahead)
            for place, less, what in (
                (behind, is_.behind > was.behind, "no longer covers"),
                (ahead, is_.ahead > was.ahead, "no longer holds"),
            ):
                pairs = list(self.pairs(replace(edge, places=(place,)))) if less else []
                if pairs:
                    step, before, after = pairs[len(pairs) // 2]
                    first = self._examples.operation(before)
                    second = self._examples.operation(after)
                    op = first if place is behind else second
                    text = f"{edge.text}, {what} {op.text if op else 'all'}"
                    return replace(change, text=text, example=Example(step, first, second))
        return change

    def pairs(self, edge: EdgeRule) -> Iterator[tuple[int, int, int]]:
        """Number of each steady step, and the operations at the ends of an edge in it."""
        source, target = self._graph.stream(edge.source), self._graph.stream(edge.target)
        if source is None or target is None:
            return
        place = edge.places[0] if edge.places else Place(0, 0)
        steps = self._work.steps
        steady = np.flatnonzero(steps.steady)
        if steady.size > MOST_STEPS_ASKED:
            steady = steady[np.linspace(0, steady.size - 1, MOST_STEPS_ASKED).astype(np.intp)]
        for step in steady.tolist():
            if not 0 <= step + edge.distance < len(steps):
                continue
            befores = self._operations.rows(source.numbers, step + edge.distance)
            afters = self._operations.rows(target.numbers, step)
            if befores.size > place.behind and afters.size > place.ahead:
                yield (
                    int(steps.numbers[step]),
                    int(befores[-1 - place.behind]),
                    int(afters[place.ahead]),
                )
