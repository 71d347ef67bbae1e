"""Baselines: results kept in the repository by name, small enough to review."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

from overlapcheck.comparison import NotComparable
from overlapcheck.device_report import DeviceReport, Picture
from overlapcheck.errors import InputUnreadable, PolicyInvalid
from overlapcheck.fleet import FleetReport, named
from overlapcheck.nearest import nearest
from overlapcheck.quantities import count_of
from overlapcheck.report import Report
from overlapcheck.verdict import Outcome

FOLDER = Path(".overlapcheck") / "baselines"
MAX_NAMED = 8
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")


def baselines_folder(start: Path) -> Path:
    """Where the repository around a folder keeps its baselines, which need not exist yet.

    The nearest folder upward that has baselines or is the top of a repository; else `start`.
    """
    start = start.absolute()
    for folder in (start, *start.parents):
        if (folder / FOLDER).is_dir() or (folder / ".git").exists():
            return folder / FOLDER
    return start / FOLDER


def baseline_path(name: str, start: Path) -> Path:
    """The file of a baseline, which need not exist yet.

    Raises:
        PolicyInvalid: the name is none for a file.
    """
    if not _NAME.fullmatch(name):
        raise PolicyInvalid(
            f"{name!r} is no name for a baseline", "use letters, digits, dots, dashes: main"
        )
    return baselines_folder(start) / f"{name}.json"


def baseline_names(start: Path) -> list[str]:
    """Names of the baselines that there are, sorted."""
    return sorted(path.stem for path in baselines_folder(start).glob("*.json"))


def baseline_file(name: str, start: Path) -> Path:
    """The file of a baseline that is there.

    Raises:
        PolicyInvalid: the name is none for a file.
        InputUnreadable: there is no such baseline; names the nearest.
    """
    path = baseline_path(name, start)
    if path.is_file():
        return path
    names = baseline_names(start)
    near = nearest(name, names)
    if near:
        hint = f"did you mean {near[0]}?"
    elif names:
        hint = f"there are {', '.join(names)}"
    else:
        hint = f"save a first one: overlapcheck baseline save {name} RESULT"
    raise InputUnreadable(f"there is no baseline {name!r}", hint)


def as_baseline(report: Report) -> Report:
    """The report without what no comparison looks at.

    Raises:
        NotComparable: it proves too little to be compared with anything.
    """
    if report.capture.problems or not report.devices:
        why = report.capture.problems[0] if report.capture.problems else "no kernels"
        raise NotComparable(
            f"{report.capture.report}: no baseline, for the recording is incomplete: {why}",
            "record it again: overlapcheck run PROGRAM",
        )
    return replace(report, devices=tuple(_small(device) for device in report.devices))


def as_job_baseline(report: FleetReport) -> FleetReport:
    """A job without what no comparison looks at.

    Raises:
        NotComparable: a rank is not in it, or its recording is incomplete.
    """
    lacking = report.missing.count if report.missing else 0
    broken = [
        row.label
        for row in report.rows
        for check in row.checks
        if check.name == "capture" and check.outcome is Outcome.INCONCLUSIVE
    ]
    why = ""
    if lacking or report.lost:
        why = f"{count_of(max(lacking, len(report.lost)), 'rank is', 'ranks are')} missing"
    elif broken:
        why = f"the recording of {named(broken, MAX_NAMED)} is incomplete"
    if why:
        raise NotComparable(f"no baseline of this job, for {why}", "analyse all of its ranks")
    return replace(report, outliers=(), meetings=(), pages=(), timelines=())


def _small(device: DeviceReport) -> DeviceReport:
    return replace(
        device,
        streams=(),
        gaps=(),
        blocking=(),
        picture=Picture(device.window.start_ns, device.window.end_ns, (), ()),
        excerpt=None,
    )
