"""Whether reports are of one job at all, or of programs that have nothing to do with each other."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from overlapcheck.errors import PolicyInvalid
from overlapcheck.program_name import program_of
from overlapcheck.quantities import count_of
from overlapcheck.report_result import ReportResult

MAX_NAMED = 4
_NUMBERS = re.compile(r"\d+")


def require_one_job(paths: Sequence[Path], results: Mapping[int, ReportResult]) -> None:
    """Refuse a verdict over reports that are evidently of different programs.

    Ranks of a job may run several programs, and be started with arguments of their own: reports are
    told apart only where neither the program nor a collective is the same, or where the same
    program has other arguments and all communicators are known and others.

    Args:
        paths: all reports.
        results: of those that were judged, by position among the paths.

    Raises:
        PolicyInvalid: they are, naming the programs.
    """
    parts = _parts({number: result for number, result in results.items() if _line(result)})
    if len(parts) < 2:
        return
    told = [_told(part, paths, results) for part in parts[:MAX_NAMED]]
    more = f" and {len(parts) - MAX_NAMED} more" if len(parts) > MAX_NAMED else ""
    raise PolicyInvalid(
        f"not one job: {count_of(len(results), 'report')} of {len(parts)} programs that have no"
        f" collective in common: {', '.join(told)}{more}",
        "judge each alone: --each (or, if they are one job: --expect-ranks N)",
    )


def _told(part: Sequence[int], paths: Sequence[Path], results: Mapping[int, ReportResult]) -> str:
    line = _line(results[part[0]])
    more = f" and {len(part) - 1} more" if len(part) > 1 else ""
    return f"{program_of(line) or line} ({paths[part[0]].name}{more})"


def _line(result: ReportResult) -> str:
    return result.settings.program


def _parts(results: Mapping[int, ReportResult]) -> list[list[int]]:
    """Reports that belong together, in order."""
    together = _Together(results)
    together.unite((_NUMBERS.sub("#", _line(result)), n) for n, result in results.items())
    ids = {n: _communicators(result) for n, result in results.items()}
    together.unite((one, n) for n, found in ids.items() for one in found)
    # What says no communicators may have those of the others.
    names = {n: program_of(_line(result)) for n, result in results.items()}
    silent = {names[n] for n in results if not ids[n]}
    together.unite((names[n], n) for n in results if names[n] in silent)
    kinds = {n: {c.kind for row in one.rows for c in row.collectives} for n, one in results.items()}
    unsaid = {kind for n in results if not ids[n] for kind in kinds[n]}
    together.unite((kind, n) for n in results for kind in kinds[n] & unsaid)
    return together.parts()


def _communicators(result: ReportResult) -> set[str]:
    found = (one.communicator for row in result.rows for one in row.collectives)
    return {one for one in found if one}


class _Together:
    """Numbers united into parts, each known by its least number."""

    def __init__(self, numbers: Iterable[int]) -> None:
        self._above = {number: number for number in sorted(numbers)}

    def unite(self, named: Iterable[tuple[str, int]]) -> None:
        """Unite the numbers that have a name in common."""
        first: dict[str, int] = {}
        for name, number in named:
            one, other = sorted((self._top(first.setdefault(name, number)), self._top(number)))
            self._above[other] = one

    def parts(self) -> list[list[int]]:
        """The numbers of each part."""
        found: dict[int, list[int]] = {}
        for number in self._above:
            found.setdefault(self._top(number), []).append(number)
        return list(found.values())

    def _top(self, number: int) -> int:
        while self._above[number] != number:
            self._above[number] = number = self._above[self._above[number]]
        return number
