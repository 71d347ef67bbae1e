"""Reading one side of a comparison: a saved result, or a report or a job to analyse."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from overlapcheck.errors import InputUnreadable
from overlapcheck.redaction import names_no_one

if TYPE_CHECKING:
    from overlapcheck.cli.progress import Stages
    from overlapcheck.compare.fleet import Job
    from overlapcheck.report import Report


def read_side(path: Path, progress: Stages) -> Report | Job:
    """The report or the job of a side; a trace is measured as the policy file says.

    Args:
        path: a saved result, a report or its export; or for a job a folder, a glob or @LIST.
        progress: told of what is read.

    Raises:
        OverlapcheckError: one line that names the file and what to do.
    """
    from overlapcheck import pipeline
    from overlapcheck.causes import causes
    from overlapcheck.cli.messages import say
    from overlapcheck.cli.stopping import stoppable
    from overlapcheck.compare.fleet import Job
    from overlapcheck.policy.resolve import Source, resolve, settings_of
    from overlapcheck.reading import Reading
    from overlapcheck.report import Report
    from overlapcheck.reporting.restore import read_any_result

    several = names_a_job(path)
    if not several and is_result(path):
        found = read_any_result(path)
        return found if isinstance(found, Report) else Job(path.name, found)
    policy, selection = resolve(settings_of(Source(), causes()), {})
    reading = Reading(timeline=False, progress=progress, opened=progress.opens, warn=say)
    with stoppable(f"analysing {path}"):
        if not several:
            return pipeline.analyze(path, policy=policy, selection=selection, reading=reading)
        progress(f"analysing {path}")
        named = [str(path)]
        job = pipeline.analyze_ranks(named, policy=policy, selection=selection, reading=reading)
    return Job(path.name or str(path), job)


def told_apart(
    base: Report | Job, new: Report | Job, paths: tuple[Path, Path]
) -> tuple[Report | Job, Report | Job]:
    """Both sides, by as much of their paths as tells them apart where they go by one name.

    Args:
        base: as read.
        new: as read.
        paths: what they were read from.
    """
    if _name(base) != _name(new):
        return base, new
    names = distinct_names(*paths)
    return _named(base, names[0]), _named(new, names[1])


def distinct_names(one: Path, other: Path) -> tuple[str, str]:
    """The shortest ends of two paths that differ: "before/rank_0.sqlite"; else both names.

    What they begin alike with, and whose home they lie in, is not told.
    """
    parts, others = (names_no_one(str(path.absolute())).split("/") for path in (one, other))
    for count in range(1, max(len(parts), len(others)) + 1):
        if parts[-count:] != others[-count:]:
            return "/".join(parts[-count:]), "/".join(others[-count:])
    return one.name, other.name


def _name(side: Report | Job) -> str:
    from overlapcheck.report import Report

    return side.capture.report if isinstance(side, Report) else side.name


def _named(side: Report | Job, name: str) -> Report | Job:
    from overlapcheck.report import Report

    if isinstance(side, Report):
        return replace(side, capture=replace(side.capture, report=name))
    return replace(side, name=name)


def names_a_job(path: Path) -> bool:
    """Whether a side is a folder of reports, a glob or @LIST."""
    from overlapcheck.ranks.inputs import is_several
    from overlapcheck.sources import recognised

    return is_several([str(path)], recognised)


def is_result(path: Path) -> bool:
    """Whether a file is a saved result rather than a recording.

    Raises:
        InputUnreadable: it cannot be read.
    """
    try:
        with path.open("rb") as file:
            return file.read(64).lstrip()[:1] == b"{"
    except IsADirectoryError:
        return False
    except OSError as error:
        raise InputUnreadable(
            f"{path}: cannot be read: {error.strerror or error}",
            "give a result (.json), a report or its SQLite export",
        ) from error
