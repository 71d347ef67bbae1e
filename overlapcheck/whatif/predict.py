"""Predicts what repairs win, alone and together."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations

import numpy as np

from overlapcheck.columns import ABSENT
from overlapcheck.order import Work
from overlapcheck.prediction import Prediction
from overlapcheck.step_graph import StepGraph, Why
from overlapcheck.whatif.critical_path import next_bound
from overlapcheck.whatif.repair import Repair, Repaired
from overlapcheck.whatif.repairs import REPAIRS
from overlapcheck.whatif.replay import Circular, Replayed, replay
from overlapcheck.whatif_thresholds import CLOCK, WHAT_IF

PACE_TRIALS = 8


@dataclass(frozen=True)
class Predictor:
    """The steps of one device, ready to be repaired."""

    graph: StepGraph
    base: Replayed
    spread: float
    """(90th - 10th percentile) / median of the recorded steps."""
    at_own_pace: bool = False
    by_mean: bool = False
    """Whether the mean step is told, not the median."""
    _known: dict[tuple[str, ...], Prediction | None] = field(default_factory=dict, compare=False)

    @classmethod
    def of(cls, graph: StepGraph, own_step_ns: int | None = None) -> Predictor:
        """Steps as recorded, or at the program's own pace where that is known and shorter."""
        base = replay(graph)
        low, middle, high = np.percentile(base.step_times_ns, (10, 50, 90))
        spread = float((high - low) / middle) if middle else 0.0
        by_mean = base.is_uneven
        faster = own_step_ns is not None and own_step_ns < base.step_ns(mean=by_mean)
        if own_step_ns is not None and faster:
            graph = at_pace(graph, own_step_ns, by_mean=by_mean)
            base = replay(graph)
        return cls(graph, base, spread, faster, by_mean)

    @property
    def step_ns(self) -> int:
        """The step as it is."""
        return self.base.step_ns(mean=self.by_mean)

    def applicable(self) -> tuple[Repair, ...]:
        """Repairs that change something here."""
        return tuple(repair for repair in REPAIRS if repair.apply(self.graph) is not None)

    def predict(self, repairs: Iterable[Repair]) -> Prediction | None:
        """The step with some causes repaired, in the order of `REPAIRS`; None without any."""
        wanted = {repair.id for repair in repairs}
        chosen = [repair for repair in REPAIRS if repair.id in wanted]
        key = tuple(repair.id for repair in chosen)
        if key not in self._known:
            self._known[key] = self._predicted(chosen)
        return self._known[key]

    def replayed(self, causes: Sequence[str]) -> Replayed | None:
        """The steps with some causes repaired; None where no program can be so."""
        graph = self.graph
        for repair in REPAIRS:
            repaired = repair.apply(graph) if repair.id in causes else None
            graph = repaired.graph if repaired is not None else graph
        return _replayed(graph)

    def _predicted(self, chosen: Sequence[Repair]) -> Prediction | None:
        graph = self.graph
        said: list[str] = []
        applied: list[Repair] = []
        for repair in chosen:
            repaired: Repaired | None = repair.apply(graph)
            if repaired is not None:
                graph = repaired.graph
                said.extend(repaired.edges_added)
                applied.append(repair)
        after = _replayed(graph) if applied else None
        if after is None:
            return None
        bound = next_bound(after)
        step = after.step_ns(mean=self.by_mean)
        low, high = self._band(after, bound.what)
        return Prediction(
            fix=tuple(repair.id for repair in applied),
            what=tuple(repair.what for repair in applied),
            before_ns=self.step_ns,
            step_ns=step,
            low_ns=int(step * low),
            high_ns=int(step * high),
            next_bound=bound,
            edges_added=tuple(dict.fromkeys(said)),
        )

    def forced(self, causes: Sequence[str]) -> Prediction:
        """The step with the named causes repaired, whether there is anything of them or not."""
        found = self.predict([repair for repair in REPAIRS if repair.id in causes])
        if found is None:
            step, bound = self.step_ns, next_bound(self.base)
            low, high = self._band(self.base, bound.what)
            found = Prediction((), (), step, step, int(step * low), int(step * high), bound)
        missing = tuple(cause for cause in causes if cause not in found.fix)
        return replace(found, fix=tuple(dict.fromkeys(causes)), not_there=missing)

    def best_chain(self, repairs: Sequence[Repair]) -> Prediction | None:
        """The repairs that together win most, as few as it takes."""
        chosen: tuple[Repair, ...] = ()
        best: Prediction | None = None
        while True:
            rest = [repair for repair in repairs if repair not in chosen]
            step = best.step_ns if best else self.step_ns
            found = self._best([(*chosen, one) for one in rest], step)
            # Two that win only together are not found one by one.
            found = found or self._best([(*chosen, *two) for two in combinations(rest, 2)], step)
            if found is None:
                return best
            chosen, best = found

    def _best(
        self, tried: Sequence[tuple[Repair, ...]], step_ns: int
    ) -> tuple[tuple[Repair, ...], Prediction] | None:
        """Of some sets of repairs the one that wins most, where it is worth while."""
        known = [(repairs, found) for repairs in tried if (found := self.predict(repairs))]
        most_ns = step_ns * (1 - WHAT_IF.worth_while_share)
        worth = [one for one in known if one[1].step_ns <= most_ns]
        return min(worth, key=lambda one: one[1].step_ns) if worth else None

    def _band(self, after: Replayed, bound: str) -> tuple[float, float]:
        """Factors of the predicted step between which the real one is expected."""
        low, high = 1 - WHAT_IF.base_spread_share, 1 + WHAT_IF.base_spread_share
        spread = min(self.spread, WHAT_IF.widest_spread_share)
        if bound in ("host", "input"):
            jitter = max(WHAT_IF.host_spread_share, spread / 2)
            low, high = low - jitter, high + jitter
        else:
            low -= spread / 4
        high += max(0.0, _clock(_kernel_share(after)) - _clock(_kernel_share(self.base)))
        beside = self._slowed(after)
        return low - beside, high + beside

    def _slowed(self, after: Replayed) -> float:
        """What kernels are taken to lose to collectives beside them: none of it, or twice as much.

        A share of the step.
        """
        kernels = (self.graph.operations.work == Work.COMPUTE) & (self.graph.operations.step >= 0)
        longer = after.graph.operations.length_ns - self.graph.operations.length_ns
        lost = int(np.maximum(longer, 0)[kernels].sum()) / max(1, self.graph.steps)
        return lost / max(1, after.step_ns(mean=self.by_mean))


def _replayed(graph: StepGraph) -> Replayed | None:
    try:
        return replay(graph)
    except Circular:  # what one repair needs, another one undoes
        return None


def _kernel_share(replayed: Replayed) -> float:
    """Kernel time of the steps by their length; kernels side by side count twice."""
    ops, ends = replayed.graph.operations, replayed.step_ends_ns
    if ends.size < 2:
        return 0.0
    counted = (ops.work == Work.COMPUTE) & (ops.step != ABSENT) & (ops.step > 0)
    return min(1.0, float(ops.length_ns[counted].sum()) / max(1, int(ends[-1] - ends[0])))


def _clock(share: float) -> float:
    shares, longer = zip(*CLOCK, strict=True)
    return float(np.interp(share, shares, longer))


def at_pace(graph: StepGraph, step_ns: int, *, by_mean: bool) -> StepGraph:
    """The steps with all host work shortened alike until they take their own pace.

    Recording slows the host's calls; the device's operations take the time they take. What comes
    from outside keeps step with the program that takes it.
    """
    graph = _sooner(graph, step_ns / max(1, replay(graph).step_ns(mean=by_mean)))
    low, high = 0.0, 1.0
    scaled = graph
    for _ in range(PACE_TRIALS):
        factor = (low + high) / 2
        scaled = _host_scaled(graph, factor)
        found = replay(scaled).step_ns(mean=by_mean)
        if abs(found - step_ns) <= WHAT_IF.pace_tolerance_share * step_ns:
            break
        low, high = (factor, high) if found < step_ns else (low, factor)
    return scaled


def _host_scaled(graph: StepGraph, factor: float) -> StepGraph:
    events = graph.events
    every = np.arange(len(events))
    own = (events.own_ns * factor).astype(np.int64)
    gap = (events.gap_ns * factor).astype(np.int64)
    return graph.with_own_time(every, own).with_gaps(every, gap)


def _sooner(graph: StepGraph, factor: float) -> StepGraph:
    """What comes from outside comes at the pace of the steps, too."""
    outside, lag = graph.links.of(Why.OUTSIDE), graph.links.lag_ns.copy()
    since = graph.origin_ns
    lag[outside] = since + ((lag[outside] - since) * min(1.0, factor)).astype(np.int64)
    return replace(graph, links=replace(graph.links, lag_ns=lag))
