"""Writing and listing baselines."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from overlapcheck.errors import OutputUnwritable
from overlapcheck.quantities import duration, percent

if TYPE_CHECKING:
    from overlapcheck.device_report import DeviceReport
    from overlapcheck.report import Report


def save_baseline(report: Report, path: Path) -> str:
    """Write a baseline; "saved", or "replaced" where there was one.

    Raises:
        NotComparable: the report proves too little.
        OutputUnwritable: the folder cannot be made or written to.
    """
    from overlapcheck.cli.files import write
    from overlapcheck.compare.baselines import as_baseline
    from overlapcheck.renderers.json import JsonRenderer

    text = JsonRenderer().render(as_baseline(report))
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
    """A line per baseline and device, or how to save a first one."""
    from overlapcheck.compare.baselines import baseline_file, baseline_names
    from overlapcheck.reporting.restore import read_result

    names = baseline_names(start)
    if not names:
        yield "no baselines; save one: overlapcheck baseline save NAME RESULT"
    for name in names:
        report = read_result(baseline_file(name, start))
        for device in report.devices:
            yield f"{name:<16} {_device(device)}  {report.capture.program}"


def _device(device: DeviceReport) -> str:
    step = f"step {duration(device.steps.step.median_ns)}" if device.steps else "no steps"
    copies = {way: one.overlap for way, one in device.copies.items() if way != "d2d"}
    overlaps = [f"{way} {percent(overlap)}" for way, overlap in copies.items()]
    won = f"recoverable {percent(device.recoverable)}"
    return ", ".join((device.name or f"device {device.device}", step, won, *overlaps))
