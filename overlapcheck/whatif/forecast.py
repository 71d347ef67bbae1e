"""Predicts what each repair wins that there is something to win from, and which ones together."""

from __future__ import annotations

from itertools import combinations

from overlapcheck.forecast import Forecast
from overlapcheck.ledger import Reason
from overlapcheck.measurements import DeviceMeasurements
from overlapcheck.prediction import Prediction
from overlapcheck.whatif.predict import Predictor
from overlapcheck.whatif.repair import Repair
from overlapcheck.whatif.repairs import REPAIRS
from overlapcheck.whatif_thresholds import WHAT_IF

_OF_HOST = frozenset((Reason.LAUNCH_BOUND,))
"""Repairs that change how long kernels lie apart: without idle time of the cause they win none."""


def forecast(device: DeviceMeasurements, predictor: Predictor, *, chains: bool = True) -> Forecast:
    """What the repairs of a device win, alone and together.

    Args:
        device: its ledger says what cost anything.
        predictor: of its steady steps.
        chains: whether to look for the best chain.
    """
    repairs = _with_idle_time(device, predictor)
    alone = [found for repair in repairs if (found := predictor.predict([repair])) is not None]
    alone.sort(key=lambda found: -found.win_ns)
    graph = predictor.graph
    return Forecast(
        device=device.key,
        before_ns=predictor.step_ns,
        by_mean=predictor.by_mean,
        steps=graph.steps,
        recorded_steps=graph.recorded_steps,
        singles=tuple(alone),
        best=predictor.best_chain(repairs) if chains else None,
        pairs=_only_together(predictor, repairs, alone),
        at_own_pace=predictor.at_own_pace,
    )


def _with_idle_time(device: DeviceMeasurements, predictor: Predictor) -> list[Repair]:
    """Repairs of causes that kept the device from work, in these steps as in all."""
    ledger, ends = device.ledger, predictor.graph.operations.end_ns
    length = ledger.end_ns - ledger.start_ns
    since = int(ends[predictor.graph.operations.step > 0].min(initial=device.window.end_ns))
    replayed = max(1, device.window.end_ns - since)
    repairs = []
    for repair in REPAIRS:
        mine = ledger.reason == repair.reason
        all_ns = int(length[mine].sum())
        these_ns = int(length[mine & (ledger.start_ns >= since)].sum())
        if repair.reason is Reason.UVM_MIGRATION:  # kernels that wait for pages are not idle time
            all_ns += device.stalled.total_ns
            these_ns += device.stalled.clip(since, device.window.end_ns).total_ns
        of_all, of_these = all_ns / max(1, device.recorded_ns), these_ns / replayed
        least = WHAT_IF.worth_while_share if repair.reason in _OF_HOST else 0.0
        if of_all > least and of_these >= WHAT_IF.costs_as_much_share * of_all:
            repairs.append(repair)
    return repairs


def _only_together(
    predictor: Predictor, repairs: list[Repair], alone: list[Prediction]
) -> tuple[Prediction, ...]:
    """Pairs of which neither wins anything without the other."""
    nothing = {found.fix[0] for found in alone if not found.is_worth_while}
    idle = [repair for repair in repairs if repair.id in nothing]
    pairs = [predictor.predict(pair) for pair in combinations(idle, 2)]
    found = [pair for pair in pairs if pair is not None and pair.is_worth_while]
    return tuple(sorted(found, key=lambda pair: pair.step_ns))
