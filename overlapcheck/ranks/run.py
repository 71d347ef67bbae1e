"""All reports → one `FleetReport`: engine, store and merge put together."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Protocol, TypeVar

from overlapcheck.errors import ExitCode, InputUnreadable, OverlapcheckError, PolicyInvalid
from overlapcheck.fleet import FleetReport, LostReport, ReportResult, Task
from overlapcheck.ranks.merge import merge
from overlapcheck.ranks.naming import ranks_by_pattern
from overlapcheck.ranks.store import Store
from overlapcheck.ranks.work import Analyze, judge_report
from overlapcheck.user_patterns import UserPattern
from overlapcheck.verdict import Policy

Made = TypeVar("Made")

Arrived = Callable[[int, int, str], None]
"""Told of each result: how many there are, of how many, and the report's name."""


class Engine(Protocol):
    """Where reports are read."""

    def run(
        self, work: Callable[[Task], Made | LostReport], tasks: Iterable[Task], /
    ) -> Iterator[tuple[Task, Made | LostReport]]:
        """Do the work for each report once, and yield what it made as it arrives, in any order."""
        ...


def judge_fleet(
    paths: Sequence[Path],
    analyze: Analyze,
    engine: Engine,
    *,
    store: Store | None = None,
    pattern: UserPattern | None = None,
    same_host: bool = False,
    policy: Policy | None = None,
    arrived: Arrived = lambda *_: None,
) -> FleetReport:
    """Judge many reports.

    Args:
        paths: the reports.
        analyze: how to judge one; picklable.
        engine: where.
        store: earlier results to reuse, and where to keep new ones.
        pattern: the user's way to tell ranks from paths.
        same_host: whether all reports share one clock.
        policy: how many ranks may fail; None for none.
        arrived: told of each result.

    Raises:
        OverlapcheckError: not one report could be judged.
    """
    if pattern is not None:
        ranks_by_pattern(paths, pattern)
    results: dict[int, ReportResult] = {}
    lost: dict[int, LostReport] = {}
    tasks = []
    for number, path in enumerate(paths):
        known = store.find(path) if store else None
        if known is None:
            tasks.append(Task(number, path))
        else:
            results[number] = known
            arrived(len(results), len(paths), path.name)
    for task, done in engine.run(partial(judge_report, analyze), tasks):
        if isinstance(done, LostReport):
            lost[task.number] = done
        else:
            results[task.number] = done
            if store:
                store.keep(task.path, done)
        arrived(len(results) + len(lost), len(paths), task.path.name)
    if not results:
        raise _all_lost([lost[n] for n in sorted(lost)])
    return merge(paths, results, lost, pattern=pattern, same_host=same_host, policy=policy)


def _all_lost(lost: Sequence[LostReport]) -> OverlapcheckError:
    first = lost[0]
    usage = all(one.exit_code == ExitCode.USAGE for one in lost)
    kind = PolicyInvalid if usage else InputUnreadable
    said = f"none of {len(lost)} reports could be judged; {first.report}: {first.why}"
    return kind(said, first.hint)
