"""All reports → one `FleetReport`: engine, store and merge put together."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Sequence
from contextlib import closing
from functools import partial
from typing import TYPE_CHECKING, Protocol, TypeVar

from overlapcheck.errors import ExitCode, InputUnreadable, OverlapcheckError, PolicyInvalid
from overlapcheck.fleet import FleetReport
from overlapcheck.ranks.job_reports import JobReports
from overlapcheck.ranks.merge import merge
from overlapcheck.ranks.naming import ranks_by_pattern
from overlapcheck.ranks.programs import require_one_job
from overlapcheck.ranks.work import Analyze, digest_report, judge_content
from overlapcheck.report_result import LostReport, ReportResult, Task

if TYPE_CHECKING:
    from overlapcheck.ranks.store import Store

Made = TypeVar("Made")

Arrived = Callable[[int, int, str], None]
"""Told of each result: how many there are, of how many, and the report's name."""


class Engine(Protocol):
    """Where reports are read."""

    def run(
        self, work: Callable[[Task], Made | LostReport], tasks: Iterable[Task], /
    ) -> Generator[tuple[Task, Made | LostReport], None, None]:
        """Do the work for each report once, and yield what it made as it arrives, in any order."""
        ...


def judge_fleet(
    reports: JobReports,
    analyze: Analyze,
    engine: Engine,
    *,
    store: Store | None = None,
    arrived: Arrived = lambda *_: None,
) -> FleetReport:
    """Judge many reports.

    Args:
        reports: all of a job.
        analyze: how to judge one; picklable.
        engine: where.
        store: earlier results to reuse, and where to keep new ones.
        arrived: told of each result.

    Raises:
        OverlapcheckError: not one report could be judged, they are evidently of different
            programs, or the job's pattern does not fit.
    """
    paths, pattern = reports.paths, reports.pattern
    if pattern is not None:
        ranks_by_pattern(paths, pattern)
    results: dict[int, ReportResult] = {}
    lost: dict[int, LostReport] = {}
    tasks = [Task(number, path) for number, path in enumerate(paths)]
    if store and not store.is_empty:
        with closing(engine.run(digest_report, tasks)) as digests:
            for task, digest in digests:
                known = store.find(task.path, digest) if isinstance(digest, str) else None
                if known is not None:
                    results[task.number] = known
                    arrived(len(results), len(paths), task.path.name)
        tasks = [task for task in tasks if task.number not in results]
    with closing(engine.run(partial(judge_content, analyze, store is not None), tasks)) as judging:
        for task, done in judging:
            if isinstance(done, LostReport):
                lost[task.number] = done
            else:
                results[task.number] = done.result
                if store and done.digest:
                    store.keep(task.path, done.digest, done.result)
            arrived(len(results) + len(lost), len(paths), task.path.name)
    lost |= {len(paths) + number: one for number, one in enumerate(reports.unread)}
    if not results:
        raise _all_lost([lost[n] for n in sorted(lost)])
    if pattern is None and reports.policy.expect_ranks is None:
        require_one_job(paths, results)
    return merge(reports, results, lost)


def _all_lost(lost: Sequence[LostReport]) -> OverlapcheckError:
    first = lost[0]
    usage = all(one.exit_code == ExitCode.USAGE for one in lost)
    kind = PolicyInvalid if usage else InputUnreadable
    said = f"none of {len(lost)} reports could be judged; {first.report}: {first.why}"
    return kind(said, first.hint)
