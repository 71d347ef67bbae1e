"""Reports judged each alone, wherever engines read them."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import closing
from functools import partial

from overlapcheck._version import __version__
from overlapcheck.finding import MATERIAL_SHARE
from overlapcheck.ranks.inputs import Inputs
from overlapcheck.ranks.run import Engine
from overlapcheck.ranks.work import Analyze, judged_alone
from overlapcheck.redaction import names_no_one
from overlapcheck.report import Report
from overlapcheck.report_result import LostReport, Task
from overlapcheck.separate import ERROR, SeparateReport, SeparateReports


def judge_each(
    found: Inputs,
    analyze: Analyze,
    engine: Engine,
    arrived: Callable[[int, int, str], None] = lambda *_: None,
) -> SeparateReports:
    """Judge reports that are no ranks of one job.

    Args:
        found: the reports, and what could hold more of them.
        analyze: how to judge one; picklable.
        engine: where.
        arrived: told of each result.
    """
    tasks = [Task(number, path) for number, path in enumerate(found.reports)]
    done: dict[int, SeparateReport] = {}
    with closing(engine.run(partial(_judged, analyze), tasks)) as judging:
        for task, made in judging:
            name = names_no_one(str(task.path))
            done[task.number] = _lost(made, name) if isinstance(made, LostReport) else made
            arrived(len(done), len(tasks), task.path.name)
    unread = [_lost(one, one.report) for one in found.unread]
    return SeparateReports(__version__, (*(done[n] for n in sorted(done)), *unread))


def _judged(analyze: Analyze, task: Task) -> SeparateReport | LostReport:
    return judged_alone(task, lambda path: _told(analyze(path), names_no_one(str(path))))


def _told(report: Report, name: str) -> SeparateReport:
    verdict = report.verdict
    first = next((one for one in report.findings if one.share >= MATERIAL_SHARE), None)
    behind = [check for check in verdict.checks if check.outcome is verdict.outcome]
    passed = verdict.exit_code == 0
    return SeparateReport(
        report=name,
        program=report.capture.program,
        outcome=verdict.outcome.value,
        exit_code=int(verdict.exit_code),
        first_cause=first.cause if first else "",
        share=first.share if first else 0.0,
        why="" if passed or not behind else f"{behind[0].name}: {behind[0].reason}",
    )


def _lost(one: LostReport, name: str) -> SeparateReport:
    return SeparateReport(name, "", ERROR, one.exit_code, "", 0.0, one.why, one.hint)
