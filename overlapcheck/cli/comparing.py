"""Reading one side of a comparison: a saved result, or a report to analyse."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from overlapcheck.errors import InputUnreadable

if TYPE_CHECKING:
    from overlapcheck.cli.progress import Stages
    from overlapcheck.report import Report


def read_side(path: Path, progress: Stages) -> Report:
    """The report of a side; a trace is measured as the policy file says.

    Raises:
        OverlapcheckError: one line that names the file and what to do.
    """
    from overlapcheck import pipeline
    from overlapcheck.causes import causes
    from overlapcheck.cli.messages import say
    from overlapcheck.cli.stopping import stoppable
    from overlapcheck.policy.resolve import Source, resolve, settings_of
    from overlapcheck.reading import Reading
    from overlapcheck.reporting.restore import read_result

    if is_result(path):
        return read_result(path)
    policy, selection = resolve(settings_of(Source(), causes()), {})
    reading = Reading(timeline=False, progress=progress, opened=progress.opens, warn=say)
    with stoppable(f"analysing {path}"):
        return pipeline.analyze(path, policy=policy, selection=selection, reading=reading)


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
