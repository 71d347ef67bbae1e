"""Proves from an Nsight Systems trace whether GPU copies and collectives run under compute.

>>> import overlapcheck
>>> report = overlapcheck.analyze("train.nsys-rep")                        # doctest: +SKIP
>>> report.verdict.outcome, report.devices[0].recoverable                  # doctest: +SKIP
>>> report.measurements.devices[0].gaps.frame()                            # doctest: +SKIP

Names resolve on first use, so that `overlapcheck --help` does not wait for numpy and Arrow.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from overlapcheck._version import __version__
from overlapcheck.errors import ExitCode, OverlapcheckError

if TYPE_CHECKING:
    from overlapcheck.capture.spec import CaptureSpec
    from overlapcheck.copies import Direction
    from overlapcheck.fleet import FleetReport
    from overlapcheck.job import Job
    from overlapcheck.measurements import Measurements
    from overlapcheck.pipeline import analyze, analyze_ranks, measure, read_trace, trim
    from overlapcheck.predicted import WhatIf
    from overlapcheck.predicting import predict
    from overlapcheck.reading import Reading
    from overlapcheck.recorder import Content
    from overlapcheck.recording import run
    from overlapcheck.report import Report
    from overlapcheck.selection import Selection
    from overlapcheck.source import Source
    from overlapcheck.trace import Trace
    from overlapcheck.verdict import Limits, Outcome, Policy, Verdict
else:
    _HOMES = {
        "CaptureSpec": "capture.spec",
        "Content": "recorder",
        "Direction": "copies",
        "FleetReport": "fleet",
        "Job": "job",
        "Limits": "verdict",
        "Measurements": "measurements",
        "Outcome": "verdict",
        "Policy": "verdict",
        "Reading": "reading",
        "Report": "report",
        "Selection": "selection",
        "Source": "source",
        "Trace": "trace",
        "Verdict": "verdict",
        "WhatIf": "predicted",
        "analyze": "pipeline",
        "analyze_ranks": "pipeline",
        "measure": "pipeline",
        "predict": "predicting",
        "read_trace": "pipeline",
        "run": "recording",
        "trim": "pipeline",
    }

    def __getattr__(name):
        if name not in _HOMES:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        from importlib import import_module

        return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)


__all__ = [
    "CaptureSpec",
    "Content",
    "Direction",
    "ExitCode",
    "FleetReport",
    "Job",
    "Limits",
    "Measurements",
    "Outcome",
    "OverlapcheckError",
    "Policy",
    "Reading",
    "Report",
    "Selection",
    "Source",
    "Trace",
    "Verdict",
    "WhatIf",
    "__version__",
    "analyze",
    "analyze_ranks",
    "measure",
    "predict",
    "read_trace",
    "run",
    "trim",
]
