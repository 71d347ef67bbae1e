"""What each rank is called: by the first source that tells all of them apart."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from pathlib import Path

from overlapcheck.kinds import ProcessKey
from overlapcheck.ranks.naming import numbers_in_names, ranks_by_pattern, ranks_in_names
from overlapcheck.report_result import ReportResult
from overlapcheck.user_patterns import UserPattern

LOCAL_RANK = "LOCAL_RANK"


class By(Enum):
    """What told the ranks apart; values are how it is said."""

    PATTERN = "--rank-pattern"
    NVTX = "NVTX names"
    NAMES = "report names"
    NUMBERS = "the numbers in report names"
    ENVIRONMENT = "the environment"
    ORDER = "order of the reports"
    DEVICE = "the devices of one report"


@dataclass(frozen=True)
class Labels:
    """A label per (report, row), and how it was found."""

    labels: tuple[tuple[str, ...], ...]
    by: By
    variable: str = ""
    """Of the environment, where that is the source."""

    @property
    def how(self) -> str:
        """The source, for people."""
        return f"{self.by.value} ({self.variable})" if self.variable else self.by.value

    @property
    def guessed(self) -> bool:
        """Whether the source does not say the rank of a job."""
        return self.by in (By.NUMBERS, By.ORDER, By.DEVICE) or self.variable == LOCAL_RANK


def label(
    paths: Sequence[Path],
    results: Mapping[int, ReportResult],
    pattern: UserPattern | None = None,
) -> Labels:
    """Labels of all rows of all reports.

    Args:
        paths: all reports, lost ones included, so that a lost report renames nobody.
        results: by position among the paths.
        pattern: the user's pattern.

    Raises:
        PolicyInvalid: the user's pattern does not fit every path, or not each its own.
    """
    if pattern is not None:
        return _by_report(ranks_by_pattern(paths, pattern), results, By.PATTERN)
    said = _said(len(paths), results)
    if len(paths) == 1:
        # One report of several processes: they are the ranks.
        rows = results[0].rows if 0 in results else ()
        devices = Labels((tuple(str(n) for n in range(len(rows))),), By.DEVICE)
        return said or devices
    # A report of several processes is no rank, whatever it is called and its launcher was told.
    if said is not None and any(len(_processes(result)) > 1 for result in results.values()):
        return said
    named = ranks_in_names(paths)
    if named is not None:
        return _by_report(named, results, By.NAMES)
    told = _in_environments(len(paths), results)
    if told is not None:
        return told
    if said is not None:
        return said
    numbered = numbers_in_names(paths)
    if numbered is not None:
        return _by_report(numbered, results, By.NUMBERS)
    order = tuple(str(n) for n in range(len(paths)))
    return _by_report(order, results, By.ORDER)


def _by_report(
    ranks: Sequence[str], results: Mapping[int, ReportResult], by: By, variable: str = ""
) -> Labels:
    labels = []
    for number, rank in enumerate(ranks):
        rows = results[number].rows if number in results else ()
        names = tuple(f"{rank}.{row.device}" for row in rows) if len(rows) > 1 else (rank,)
        if len(set(names)) < len(rows):
            names = tuple(f"{rank}.{n}" for n in range(len(rows)))
        labels.append(names)
    return Labels(tuple(labels), by, variable)


def _in_environments(count: int, results: Mapping[int, ReportResult]) -> Labels | None:
    """By the first variable that every readable report has, each with its own value."""
    variables = dict.fromkeys(name for result in results.values() for name in result.variables)
    for variable in variables:
        found = {n: result.variables.get(variable, "") for n, result in results.items()}
        if all(found.values()) and len(set(found.values())) == len(found):
            ranks = [found.get(n, "") for n in range(count)]
            return _by_report(ranks, results, By.ENVIRONMENT, variable)
    return None


def _said(count: int, results: Mapping[int, ReportResult]) -> Labels | None:
    """By what each process told NVTX; the devices of one process share its rank."""
    processes: dict[tuple[int, ProcessKey], str] = {}
    labels: list[tuple[str, ...]] = [()] * count
    for number, result in results.items():
        own = [row.process for row in result.rows]
        for row, rank in zip(result.rows, result.said_ranks, strict=True):
            processes[number, row.process] = rank
        labels[number] = tuple(
            f"{rank}.{row.device}" if own.count(row.process) > 1 else rank
            for row, rank in zip(result.rows, result.said_ranks, strict=True)
        )
    ranks = list(processes.values())
    if not ranks or not all(ranks) or len(set(ranks)) < len(ranks):
        return None
    return Labels(tuple(labels), By.NVTX)


def _processes(result: ReportResult) -> set[ProcessKey]:
    return {row.process for row in result.rows}
