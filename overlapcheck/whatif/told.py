"""What is told of a forecast: the repairs that were asked for, or those that win something."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from overlapcheck._version import __version__
from overlapcheck.errors import PolicyInvalid
from overlapcheck.forecast import Forecast
from overlapcheck.measurements import Measurements
from overlapcheck.predicted import Checked, WhatIf
from overlapcheck.prediction import Prediction
from overlapcheck.trace import Trace
from overlapcheck.whatif.picture import step_picture
from overlapcheck.whatif.predict import Predictor
from overlapcheck.whatif.repairs import REPAIRS

_KNOWN = frozenset(repair.id for repair in REPAIRS)


def is_known(cause: str) -> bool:
    """Whether a repair of a cause can be predicted."""
    return cause in _KNOWN


def require_known(causes: Sequence[str]) -> None:
    """Refuse causes of which no repair can be predicted.

    Raises:
        PolicyInvalid: one of them is such a cause, or none at all.
    """
    known = sorted(_KNOWN)
    for cause in causes:
        if not is_known(cause):
            raise PolicyInvalid(
                f"--fix {cause}: no repair of it can be predicted", f"use {', '.join(known)}"
            )


def replayed_for(cause: str) -> str:
    """Part of a cause's page: which repairs of it are replayed, and how to ask for them."""
    lines = [
        f"    {repair.what} (--fix {repair.id})\n"
        for repair in REPAIRS
        if repair.reason.cause == cause
    ]
    return "".join(["\nWhat whatif replays\n", *lines]) if lines else ""


def told(
    trace: Trace, measured: Measurements, forecast: Forecast, asked: Prediction | None
) -> WhatIf:
    """What the repairs of a device win.

    Args:
        trace: the recording.
        measured: of it.
        forecast: of one of its devices.
        asked: the repairs that the user named; None where none were.
    """
    repairs = (asked,) if asked else forecast.worth_while
    best = forecast.best
    if best and not asked and best not in repairs:
        repairs = (*repairs, best)
    return WhatIf(
        tool_version=__version__,
        report="",
        program=trace.info.program,
        gpu=trace.gpu_name(forecast.device),
        forecast=forecast,
        repairs=repairs,
        asked=asked is not None,
        others=tuple(one.key for one in measured.devices if one.key != forecast.device),
    )


def drawn(found: WhatIf, predictor: Predictor) -> WhatIf:
    """The same with a picture of a step as it is, and as it is predicted."""
    after = predictor.replayed(found.told.fix) if found.told else None
    if found.told is None or after is None:
        return found
    return replace(
        found,
        recorded=step_picture(predictor.base, predictor.step_ns),
        repaired=step_picture(after, found.told.step_ns),
    )


def checked(found: WhatIf, report: str, real_ns: int) -> WhatIf:
    """The same, with what was predicted beside what came true.

    What was asked for is compared, else the best chain.

    Args:
        found: what the repairs win.
        report: name of the recording of the repaired program.
        real_ns: its median step.
    """
    return replace(found, checked=Checked(report, found.told, real_ns)) if found.told else found
