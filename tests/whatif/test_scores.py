"""Predictions against programs that were recorded before and after a repair."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
import pytest

from overlapcheck.prediction import Prediction
from overlapcheck.whatif.predict import Predictor
from tests.whatif.graphs import SHARED, graph_of, unpacked

TRUTHS = SHARED / "pairs" / "whatif.json"
PAIRS: dict[str, Any] = json.loads(TRUTHS.read_text())["pairs"] if TRUTHS.exists() else {}
MADE_UP, STEADY_REAL = 0.02, 0.10
"""Largest error of each pair: made-up programs have an exact truth, real ones a clock."""
MEDIAN, MEAN, IN_BAND = 0.01, 0.04, 0.9

pytestmark = pytest.mark.skipif(not PAIRS, reason="../shared with repaired programs is not here")


@dataclass(frozen=True)
class Score:
    predicted: Prediction
    real_ns: float

    @property
    def error(self) -> float:
        return self.predicted.step_ns / self.real_ns - 1

    @property
    def in_band(self) -> bool:
        return self.predicted.low_ns <= self.real_ns <= self.predicted.high_ns


@pytest.fixture(scope="module")
def scores(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Score]:
    scratch = tmp_path_factory.mktemp("pairs")

    @cache
    def predictor(before: str) -> Predictor:
        export = unpacked(TRUTHS.parent / before, scratch)
        found = Predictor.of(graph_of(export))
        export.unlink()
        return found

    found = {}
    for name, pair in PAIRS.items():
        after = pair["recorded"]["after"]
        real_us = after[after.get("judge", "step_us")]
        found[name] = Score(predictor(pair["before"]).forced(pair["fixes"]), real_us * 1000)
    return found


@pytest.mark.parametrize("name", PAIRS)
def test_the_repaired_step_is_as_long_as_predicted(name: str, scores: dict[str, Score]) -> None:
    if PAIRS[name].get("unsteady"):
        pytest.skip("one of the recordings has no steady step: only the mean error counts")
    error = abs(scores[name].error)

    assert scores[name].predicted.not_there == ()
    assert error <= (MADE_UP if PAIRS[name]["simulated"] else STEADY_REAL), scores[name]


def test_all_pairs_together(scores: dict[str, Score]) -> None:
    errors = np.abs([score.error for score in scores.values()])

    assert np.median(errors) <= MEDIAN
    assert errors.mean() <= MEAN
    assert np.mean([score.in_band for score in scores.values()]) >= IN_BAND


def test_a_repair_that_does_not_help_is_not_said_to(scores: dict[str, Score]) -> None:
    """Made-up programs in which another bound is next."""
    for name, pair in PAIRS.items():
        saved = pair["recorded"].get("saved", 0.0)
        if pair["simulated"] and saved < MADE_UP:
            assert not scores[name].predicted.is_worth_while, name


def test_the_truth_lies_in_a_narrow_band(scores: dict[str, Score]) -> None:
    found = [score.predicted for score in scores.values()]

    assert np.median([(one.high_ns - one.low_ns) / one.step_ns for one in found]) < 0.2
