"""The saved form of what repairs would win: see `saved_report.py`."""

from __future__ import annotations

from typing import Annotated, Literal

from msgspec import Meta, Struct

from overlapcheck.forecast import ASSUMED
from overlapcheck.predicted import SCHEMA, Checked, WhatIf
from overlapcheck.prediction import BoundName, Prediction
from overlapcheck.saved_fields import SavedTool


class SavedPrediction(Struct, frozen=True, kw_only=True):
    """A step with some causes repaired, ns."""

    fix: tuple[str, ...]
    """Ids of the causes."""
    what: tuple[str, ...]
    """What is changed in the program, one clause each."""
    before_ns: int
    step_ns: int
    low_ns: int
    high_ns: int
    win_ns: int
    next_bound: BoundName
    """What most of the step is then."""
    next_bound_ns: int
    """How much of it."""
    edges_added: tuple[str, ...]
    """Orders that the repaired program needs."""
    not_there: tuple[str, ...]
    """Ids of causes that these steps have nothing of."""

    @classmethod
    def of(cls, found: Prediction) -> SavedPrediction:
        """The saved form of a prediction."""
        return cls(
            fix=found.fix,
            what=found.what,
            before_ns=found.before_ns,
            step_ns=found.step_ns,
            low_ns=found.low_ns,
            high_ns=found.high_ns,
            win_ns=found.win_ns,
            next_bound=found.next_bound.what,
            next_bound_ns=found.next_bound.ns,
            edges_added=found.edges_added,
            not_there=found.not_there,
        )


class SavedChecked(Struct, frozen=True, kw_only=True):
    """A prediction beside a recording of the repaired program."""

    report: str
    fix: tuple[str, ...]
    predicted_ns: int
    real_ns: int
    error: float
    """(predicted - real) / real."""
    in_band: bool
    """Whether the real step lies in the predicted band."""

    @classmethod
    def of(cls, checked: Checked) -> SavedChecked:
        """The saved form of a check."""
        return cls(
            report=checked.report,
            fix=checked.predicted.fix,
            predicted_ns=checked.predicted.step_ns,
            real_ns=checked.real_ns,
            error=checked.error,
            in_band=checked.in_band,
        )


class SavedWhatIf(Struct, frozen=True, kw_only=True):
    """What `overlapcheck whatif --format json` writes."""

    schema: Annotated[int, Meta(ge=1, le=SCHEMA)]
    """Version of this form."""
    kind: Literal["what-if"]
    tool: SavedTool
    report: str
    program: str
    pid: int
    device: int
    gpu: str
    before_ns: int
    """The step as it is, which wins are of."""
    average: Literal["median", "mean"]
    """Of the steps: the mean where few are so long that it differs from the median."""
    basis: Literal["as recorded", "own pace"]
    steps: int
    """Steps that were replayed."""
    recorded_steps: int
    """Steps of the window, of which they are the last."""
    repairs: tuple[SavedPrediction, ...]
    """Those asked for; else single ones, most is won first, and the best chain last."""
    best: SavedPrediction | None
    """Those that together win most; null where nothing wins."""
    wins_nothing: tuple[str, ...]
    """Ids of causes that cost something, and whose repair alone wins under 2 %."""
    assumed: tuple[str, ...]
    verified: SavedChecked | None

    @classmethod
    def of(cls, found: WhatIf) -> SavedWhatIf:
        """The saved form of what repairs would win."""
        forecast = found.forecast
        return cls(
            schema=SCHEMA,
            kind="what-if",
            tool=SavedTool.of(found.tool_version),
            report=found.report,
            program=found.program,
            pid=forecast.device.pid,
            device=forecast.device.device_id,
            gpu=found.gpu,
            before_ns=forecast.before_ns,
            average="mean" if forecast.by_mean else "median",
            basis="own pace" if forecast.at_own_pace else "as recorded",
            steps=forecast.steps,
            recorded_steps=forecast.recorded_steps,
            repairs=tuple(map(SavedPrediction.of, found.repairs)),
            best=SavedPrediction.of(forecast.best) if forecast.best else None,
            wins_nothing=forecast.wins_nothing,
            assumed=ASSUMED,
            verified=SavedChecked.of(found.checked) if found.checked else None,
        )
