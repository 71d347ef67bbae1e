"""The order of the stages; no other file knows it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from overlapcheck.capture.export import export_sqlite
from overlapcheck.causes._ranking import findings
from overlapcheck.causes._sync_debug import with_sync_warnings
from overlapcheck.checks.allowed import mark_allowed
from overlapcheck.checks.judge import judge
from overlapcheck.ingest import read as ingest
from overlapcheck.ingest.identify import InputKind, identify
from overlapcheck.ingest.source_lines import located
from overlapcheck.ingest.sync_log import read_sync_log
from overlapcheck.measurements import Measurements
from overlapcheck.passes import measure as passes
from overlapcheck.report import Report
from overlapcheck.reporting.build import build_report
from overlapcheck.selection import Selection
from overlapcheck.trace import Trace
from overlapcheck.verdict import Policy

Progress = Callable[[str], None]
"""Told what begins now, as a clause: "exporting train.nsys-rep"."""


def silent(_: str) -> None:
    """Progress that nobody wants to see."""


def read_trace(path: str | Path, *, nsys: Path | None = None, progress: Progress = silent) -> Trace:
    """Read an Nsight Systems report or its SQLite export.

    Args:
        path: .nsys-rep, .qdrep or .sqlite, told apart by content. A report is exported with the
            real nsys and the export cached beside it.
        nsys: the nsys to export with; None finds one.
        progress: told what begins.

    Raises:
        OverlapcheckError: one line that names the file and what to do.
    """
    source = Path(path)
    if identify(source) is InputKind.SQLITE:
        progress(f"reading {source.name}")
        return ingest.read_trace(source)
    progress(f"exporting {source.name}")
    with export_sqlite(source, nsys=nsys, progress=progress) as exported:
        progress(f"reading {source.name}")
        return ingest.read_trace(exported.path)


def measure(trace: Trace, selection: Selection | None = None) -> Measurements:
    """Measure every (process, device) that ran kernels.

    Raises:
        PolicyInvalid: the selection names steps or a device that the trace does not have.
    """
    return passes.measure(trace, selection or Selection())


def analyze(
    path: str | Path,
    *,
    policy: Policy | None = None,
    selection: Selection | None = None,
    nsys: Path | None = None,
    progress: Progress = silent,
) -> Report:
    """Read, measure, explain, judge.

    Args:
        path: a report or its export, see `read_trace`.
        policy: limits; None takes the defaults.
        selection: what part to measure; None takes the steady steps of every device.
        nsys: the nsys to export with; None finds one.
        progress: told what begins.

    Raises:
        OverlapcheckError: one line that names the file and what to do.
    """
    trace = read_trace(path, nsys=nsys, progress=progress)
    progress(f"measuring {Path(path).name}")
    measured = measure(trace, selection)
    warnings = read_sync_log(Path(path))
    found = with_sync_warnings(findings(measured), warnings, measured, trace.info.utc_start_ns)
    found = tuple(located(finding, Path.cwd()) for finding in found)
    policy = policy or Policy()
    found = mark_allowed(found, measured, policy)
    verdict = judge(measured, policy, found)
    return build_report(Path(path), trace, measured, verdict, found)
