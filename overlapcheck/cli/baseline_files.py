"""Writing and listing baselines."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from overlapcheck.errors import OutputUnwritable
from overlapcheck.quantities import count_of, duration, percent

if TYPE_CHECKING:
    from overlapcheck.compare.fleet import Job
    from overlapcheck.device_report import DeviceReport
    from overlapcheck.fleet import FleetReport
    from overlapcheck.report import Report


def save_baseline(found: Report | Job, path: Path) -> str:
    """Write a baseline; "saved", or "replaced" where there was one.

    Raises:
        NotComparable: the report or job proves too little.
        OutputUnwritable: the folder cannot be made or written to.
    """
    from overlapcheck.cli.files import write
    from overlapcheck.compare.baselines import as_baseline, as_job_baseline
    from overlapcheck.report import Report
    from overlapcheck.showing import text_of

    kept = as_baseline(found) if isinstance(found, Report) else as_job_baseline(found.report)
    text = text_of(kept, "json")
    done = "replaced" if path.exists() else "saved"
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise OutputUnwritable(
            f"{path.parent}: cannot be made ({error.strerror or error})",
            "run it in a repository that you may write to",
        ) from error
    write(path, text)
    return done


def baseline_lines(start: Path) -> Iterator[str]:
    """A line per baseline, of a report per device, or how to save a first one."""
    from overlapcheck.compare.baselines import baseline_file, baseline_names
    from overlapcheck.report import Report
    from overlapcheck.reporting.restore import read_any_result

    names = baseline_names(start)
    if not names:
        yield "no baselines; save one: overlapcheck baseline save NAME RESULT"
    for name in names:
        report = read_any_result(baseline_file(name, start))
        if not isinstance(report, Report):
            yield f"{name:<16} {_job(report)}  {report.settings.program}"
            continue
        for device in report.devices:
            yield f"{name:<16} {_device(device)}  {report.capture.program}"


def _job(job: FleetReport) -> str:
    steps = [row.step_median_ns for row in job.rows if row.step_median_ns is not None]
    step = f"slowest step {duration(max(steps))}" if steps else "no steps"
    lost = max((row.recoverable for row in job.rows if row.recoverable is not None), default=None)
    gpu = next((row.gpu for row in job.rows if row.gpu), "unknown GPU")
    ranks = count_of(len(job.rows), "rank")
    return ", ".join((f"{ranks} of {gpu}", step, f"recoverable at most {percent(lost)}"))


def _device(device: DeviceReport) -> str:
    step = f"step {duration(device.steps.step.median_ns)}" if device.steps else "no steps"
    copies = {way: one.overlap for way, one in device.copies.items() if way != "d2d"}
    overlaps = [f"{way} {percent(overlap)}" for way, overlap in copies.items()]
    won = f"recoverable {percent(device.recoverable)}"
    return ", ".join((device.name or f"device {device.device}", step, won, *overlaps))
