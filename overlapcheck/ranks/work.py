"""One report → one result: what a worker does, wherever it runs."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from overlapcheck.errors import ExitCode, InputUnreadable, Interrupted, OverlapcheckError, foreseen
from overlapcheck.ranks.summary import summarize
from overlapcheck.redaction import names_no_one
from overlapcheck.report import Report
from overlapcheck.report_result import LostReport, ReportResult, Task
from overlapcheck.sync_warnings import LOG_SUFFIX

Analyze = Callable[[Path], Report]
"""Reads and judges one report; picklable, with the policy and selection in it."""
Draw = Callable[[Path], str]
"""Makes the page of one report; picklable."""
Made = TypeVar("Made")


@dataclass(frozen=True)
class Judged:
    """A result, and exactly what it is of."""

    result: ReportResult
    digest: str
    """Of the report's content; "" where nobody asked, or that changed while it was read."""


def judge_content(analyze: Analyze, kept: bool, task: Task) -> Judged | LostReport:
    """The result of one report and, where it is to be kept, the digest of what it is of.

    Args:
        analyze: how to judge it.
        kept: whether the digest is asked for.
        task: which report.
    """

    def judged(path: Path) -> Judged:
        if not kept:
            return Judged(summarize(analyze(path)), "")
        before = _states(path)
        digest = content_digest(path)
        result = summarize(analyze(path))
        return Judged(result, digest if _states(path) == before else "")

    return judged_alone(task, judged)


def digest_report(task: Task) -> str | LostReport:
    """The digest of one report's content; a failure stays its own."""
    return judged_alone(task, content_digest)


def content_digest(report: Path) -> str:
    """Of all bytes of a report, or of all files of a folder of tables, and of the log beside it.

    Raises:
        InputUnreadable: naming the report.
    """
    whole = hashlib.sha256()
    try:
        for file in _files(report):
            with file.open("rb") as content:
                one = hashlib.file_digest(content, "sha256").hexdigest()
            whole.update(f"{one} {file.name}\n".encode("utf-8", "surrogateescape"))
    except OSError as error:
        raise InputUnreadable(f"{report}: cannot be read: {error.strerror}") from error
    return whole.hexdigest()


def _files(report: Path) -> list[Path]:
    log = report.with_name(report.name + LOG_SUFFIX)
    inside = sorted(report.iterdir()) if report.is_dir() else [report]
    return [file for file in (*inside, log) if file.is_file() or file == report]


def _states(report: Path) -> list[tuple[int, ...]]:
    """Changes with every write to the files, and when one is replaced."""
    try:
        found = [file.stat() for file in _files(report)]
    except OSError:
        return []
    return [(f.st_dev, f.st_ino, f.st_size, f.st_mtime_ns, f.st_ctime_ns) for f in found]


def draw_report(draw: Draw, task: Task) -> str | LostReport:
    """The page of one report; a failure stays its own.

    Args:
        draw: how to draw it.
        task: which report.
    """
    return judged_alone(task, draw)


def judged_alone(task: Task, make: Callable[[Path], Made]) -> Made | LostReport:
    """What is made of one report; a failure stays its own.

    Args:
        task: which report.
        make: makes it of the report's path.
    """
    try:
        return make(task.path)
    except Interrupted:
        # Whoever stops one report means all.
        raise
    except OverlapcheckError as error:
        # The report is named already, and folders hold the names of users and hosts.
        why = error.message.removeprefix(f"{task.path}: ")
        return _lost(task, why, error.hint, int(error.exit_code))
    except Exception as error:
        return lost(task, error)


def lost(task: Task, error: Exception) -> LostReport:
    """What becomes of a report that an error of ours met; it must not cost the others theirs."""
    if isinstance(error, MemoryError):
        return _lost(task, "not enough memory for this report", "use fewer --jobs")
    told = foreseen(error)
    return _lost(task, told.message, told.hint, int(told.exit_code))


def _lost(task: Task, why: str, hint: str, exit_code: int = ExitCode.COULD_NOT_RUN) -> LostReport:
    name, why, hint = map(names_no_one, (task.path.name, why, hint))
    return LostReport(name, why, hint, int(exit_code))


def usable_cores() -> int:
    """Cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def killed(task: Task) -> LostReport:
    """The result of a report whose worker died, each time."""
    return LostReport(
        task.path.name,
        "the process that read it was killed",
        "usually for memory: use fewer --jobs, or give it more",
        int(ExitCode.COULD_NOT_RUN),
    )
