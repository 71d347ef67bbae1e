"""Where a cause stands, and what its repair is said to win: each term, just within and beyond."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pytest

from overlapcheck.causes import _ranking
from overlapcheck.causes._base import Evidence
from overlapcheck.finding import Confidence, Finding
from overlapcheck.forecast import Forecast
from overlapcheck.intervals import Intervals
from overlapcheck.ledger import IdleLedger
from overlapcheck.measurements import DeviceMeasurements, Measurements, StepTimes, WindowSource
from overlapcheck.prediction import Bound, BoundName, Prediction
from tests.pictures import picture

WINDOW_NS = 100_000
STEPS = 8
MEASURED = picture("s7 kernel k |a.b.|\nt1 cudaLaunchKernel |ab..|").measure()

Costs = Mapping[str, Sequence[int]]
"""By cause, what it costs in each of eight steps of 10 us, ns."""
Ranked = Callable[..., Sequence[Finding]]


@dataclass(frozen=True)
class Made:
    """A cause that costs what it is told to."""

    id: str
    blamed: Intervals
    advice: str = ""
    placed: bool = True
    title: str = "made up"
    caveat: str = ""
    lacks: None = None

    def detect(self, _device: DeviceMeasurements, _measured: Measurements, /) -> Evidence | None:
        fact = f"{self.id} is at work"
        sure = Confidence.SURE
        return Evidence(self.blamed, (fact,), sure, placed=self.placed, advice=self.advice)

    def advise(self, _measured: Measurements, once: bool = False, /) -> str:
        return f"once: {once}"


@pytest.fixture
def ranked(monkeypatch: pytest.MonkeyPatch) -> Ranked:
    """Findings about a device that computes nothing, in a window of 100 us: 2 % are 2 us."""

    def found(
        costs: Costs, wins: Sequence[Prediction] = (), taken_ns: int = 0, **about: Any
    ) -> Sequence[Finding]:
        start = 10_000 * np.arange(STEPS)
        made = {
            cause: Made(cause, Intervals.of(start, start + np.array(cost)), **about)
            for cause, cost in costs.items()
        }
        monkeypatch.setattr(_ranking, "causes", lambda: made)
        (drawn,) = MEASURED.devices
        device = replace(
            drawn,
            window=replace(
                drawn.window,
                start_ns=0,
                end_ns=WINDOW_NS,
                steps=STEPS,
                source=WindowSource.NVTX_STEPS,
            ),
            steps=StepTimes.filled(STEPS, start_ns=start, end_ns=start + 10_000),
            compute=Intervals.empty(),
            ledger=IdleLedger.none(),
            taken=Intervals.span(WINDOW_NS - taken_ns, WINDOW_NS),
        )
        bound = Forecast(device.key, 1_000_000, STEPS, STEPS, singles=tuple(wins))
        forecasts = {device.key: bound} if wins else None
        return _ranking.findings(replace(MEASURED, devices=(device,)), forecasts)

    return found


def wins(cause: str, share: float, then: BoundName = "compute") -> Prediction:
    """Its repair wins so much of a step of 1 ms."""
    step = round(1_000_000 * (1 - share))
    return Prediction((cause,), (), 1_000_000, step, step, step, Bound(then, step))


def causes_of(found: Sequence[Finding]) -> list[str]:
    return [one.cause for one in found]


SPIKE = [0, 0, 0, 9000, 0, 0, 0, 0]


@pytest.mark.parametrize(("each", "first"), [(250, True), (249, False)])
def test_what_recurs_stands_first_where_it_is_material(
    ranked: Ranked, each: int, first: bool
) -> None:
    """Eight times 250 ns are 2 %."""
    found = causes_of(ranked({"event-wait": SPIKE, "sync-copy": [each] * STEPS}))

    assert found == (["sync-copy", "event-wait"] if first else ["event-wait", "sync-copy"])


def test_of_what_costs_more_the_one_that_recurs_stands_first(ranked: Ranked) -> None:
    """2.5 us, of which 1.2 recur and 1.3 are no matter, beside 2.4 us that recur."""
    uneven = [0] * 6 + [600, 1900]
    found = ranked({"event-wait": uneven, "sync-copy": [300] * STEPS})

    assert [(one.cause, one.recurs) for one in found] == [
        ("sync-copy", True),
        ("event-wait", False),
    ]


def test_a_repair_that_wins_nothing_stands_behind_a_spike(ranked: Ranked) -> None:
    costs = {"event-wait": SPIKE, "same-stream": [5000] * STEPS}

    assert causes_of(ranked(costs, [wins("same-stream", 0.019)])) == ["event-wait", "same-stream"]
    assert causes_of(ranked(costs, [wins("same-stream", 0.02)])) == ["same-stream", "event-wait"]


@pytest.mark.parametrize("then", ["host", "input"])
def test_that_the_host_is_late_in_any_case_is_not_trusted(ranked: Ranked, then: BoundName) -> None:
    costs = {"event-wait": SPIKE, "same-stream": [5000] * STEPS}
    late, sooner = (ranked(costs, [wins("same-stream", share, then)]) for share in (0.01, 0.02))

    assert causes_of(late) == ["same-stream", "event-wait"]
    assert late[0].predicted is None
    assert sooner[0].predicted is not None


@pytest.mark.parametrize("then", ["compute", "host"])
def test_a_trusted_win_is_what_a_cause_counts_by(ranked: Ranked, then: BoundName) -> None:
    """40 us of which 5 can be won, beside 10 us of which nobody knows."""
    costs = {"same-stream": [5000] * STEPS, "event-wait": [1250] * STEPS}

    assert causes_of(ranked(costs)) == ["same-stream", "event-wait"]
    found = ranked(costs, [wins("same-stream", 0.05, then)])
    assert causes_of(found) == ["event-wait", "same-stream"]
    assert causes_of(ranked(costs, [wins("same-stream", 0.2, then)]))[0] == "same-stream"


def test_no_win_counts_for_more_than_the_time_that_can_be_won(ranked: Ranked) -> None:
    """4 us of 100, won by half of the step: the next step gets as much."""
    costs = {"same-stream": [500] * STEPS, "event-wait": [600] * STEPS}
    found = ranked(costs, [wins("same-stream", 0.5)])

    assert causes_of(found) == ["event-wait", "same-stream"]
    assert found[1].predicted is not None
    assert found[1].saves_at_most_ns == 4500


@pytest.mark.parametrize(
    ("share", "told"), [(0.0199, False), (0.02, True), (0.095, True), (0.0951, False)]
)
def test_a_model_is_told_where_it_says_no_more_than_the_ledger(
    ranked: Ranked, share: float, told: bool
) -> None:
    """8.25 us in eight steps and 1.25 before the first, of 100."""
    (one,) = ranked({"copy-engine": [1000] * 7 + [1250]}, [wins("copy-engine", share)])

    assert one.saves_at_most_ns == 9500
    assert (one.predicted is not None) is told


def test_a_model_decides_about_no_rank(ranked: Ranked) -> None:
    costs = {"copy-engine": [1000] * STEPS, "event-wait": [500] * STEPS}
    for share in (0.001, 0.01, 0.5):
        assert causes_of(ranked(costs, [wins("copy-engine", share)]))[0] == "copy-engine"


def test_what_the_recording_took_stands_last_and_is_a_share_of_what_was_recorded(
    ranked: Ranked,
) -> None:
    costs = {"profiler-overhead": [2500] * STEPS, "event-wait": [1000] * STEPS}
    inside, taken = ranked(costs), ranked(costs, taken_ns=20_000)

    assert [(one.cause, one.share) for one in inside] == [
        ("profiler-overhead", 0.2),
        ("event-wait", 0.08),
    ]
    assert [(one.cause, one.share) for one in taken] == [
        ("event-wait", 0.1),
        ("profiler-overhead", 0.2),
    ]


def test_what_is_unknown_stands_first_and_slow_kernels_last(ranked: Ranked) -> None:
    small, large = [100] * STEPS, [5000] * STEPS
    found = ranked(
        {
            "contention": large,
            "event-wait": [1000] * STEPS,
            "graph-opaque": small,
            "incomplete-capture": [300] * STEPS,
        }
    )

    assert causes_of(found) == ["incomplete-capture", "graph-opaque", "event-wait", "contention"]


def test_no_repair_is_promised_where_there_is_none(ranked: Ranked) -> None:
    none = ("copy-bound", "graph-opaque", "incomplete-capture", "profiler-overhead")
    found = ranked({cause: [1000] * STEPS for cause in (*none, "event-wait")})

    assert {one.cause: one.saves_at_most_ns for one in found} == {
        **dict.fromkeys(none, 0),
        "event-wait": 9000,
    }


@pytest.mark.parametrize(("placed", "saves"), [(True, 9000), (False, 8000)])
def test_time_that_has_no_place_has_none_before_the_first_step(
    ranked: Ranked, placed: bool, saves: int
) -> None:
    (one,) = ranked({"contention": [1000] * STEPS}, placed=placed)

    assert one.saves_at_most_ns == saves
    assert one.steps_hit == (8 if placed else None)


def test_causes_that_cost_as_much_stand_by_name(ranked: Ranked) -> None:
    costs = {cause: [1000] * STEPS for cause in ("sync-copy", "event-wait", "same-stream")}

    assert causes_of(ranked(costs)) == ["event-wait", "same-stream", "sync-copy"]


@pytest.mark.parametrize(("advice", "told"), [("do this", "do this"), ("", "once: False")])
def test_advice_from_the_evidence_comes_before_that_of_the_cause(
    ranked: Ranked, advice: str, told: str
) -> None:
    (one,) = ranked({"event-wait": SPIKE}, advice=advice)

    assert one.advice == told
    assert one.evidence == (
        "one-off: event-wait 9.0 us at step -1",
        "event-wait is at work",
    )
    assert (one.steps, one.steps_hit, one.per_step_ns) == (8, 1, 9000 / 8)
