"""One report → one result: what a worker does, wherever it runs."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from overlapcheck.errors import ExitCode, Interrupted, OverlapcheckError, foreseen
from overlapcheck.fleet import LostReport, ReportResult, Task
from overlapcheck.ranks.summary import summarize
from overlapcheck.report import Report

Analyze = Callable[[Path], Report]
"""Reads and judges one report; picklable, with the policy and selection in it."""
Draw = Callable[[Path], str]
"""Makes the page of one report; picklable."""
Made = TypeVar("Made")


def judge_report(analyze: Analyze, task: Task) -> ReportResult | LostReport:
    """The result of one report; a failure stays its own.

    Args:
        analyze: how to judge it.
        task: which report.
    """
    return _alone(task, lambda path: summarize(analyze(path)))


def draw_report(draw: Draw, task: Task) -> str | LostReport:
    """The page of one report; a failure stays its own.

    Args:
        draw: how to draw it.
        task: which report.
    """
    return _alone(task, draw)


def _alone(task: Task, make: Callable[[Path], Made]) -> Made | LostReport:
    try:
        return make(task.path)
    except Interrupted:
        # Whoever stops one report means all.
        raise
    except OverlapcheckError as error:
        # The report is named already, and folders hold the names of users and hosts.
        why = error.message.removeprefix(f"{task.path}: ")
        return LostReport(task.path.name, why, error.hint, int(error.exit_code))
    except Exception as error:
        return lost(task, error)


def lost(task: Task, error: Exception) -> LostReport:
    """What becomes of a report that an error of ours met; it must not cost the others theirs."""
    if isinstance(error, MemoryError):
        return LostReport(task.path.name, "not enough memory for this report", "use fewer --jobs")
    told = foreseen(error)
    return LostReport(task.path.name, told.message, told.hint, int(told.exit_code))


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
