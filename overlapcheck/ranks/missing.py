"""Ranks of the job that no report is of: what names, numbers, environment or the policy say.

Everything that says how many ranks there are is asked, and the one that misses most counts: a rank
that was left out in silence is one that nobody has judged.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path

from overlapcheck.fleet import MissingRanks
from overlapcheck.quantities import count_of
from overlapcheck.ranks.inputs import Inputs
from overlapcheck.ranks.job_reports import JobReports
from overlapcheck.ranks.labels import By, Labels
from overlapcheck.ranks.naming import MAX_RANK, called_ranks, numbers_of
from overlapcheck.report_result import LostReport, ReportResult
from overlapcheck.user_patterns import UserPattern
from overlapcheck.verdict import DEFAULT, Policy

MAX_LABELS = 16
_TOLD_APART = ("RANK", "OMPI_COMM_WORLD_RANK")
"""Set anew for every rank; others are inherited from a job's script too."""


def missing_ranks(
    reports: JobReports,
    results: Mapping[int, ReportResult],
    lost: Mapping[int, LostReport],
    labels: Labels,
) -> MissingRanks | None:
    """The ranks without a report, or None.

    Args:
        reports: all of the job; its policy says how many ranks there are to be, whatever else says.
        results: of those that were judged, by position among the paths.
        lost: the others; each is one rank that is there, though it cannot be judged.
        labels: of the rows.
    """
    paths, policy = reports.paths, reports.policy
    numbers = _numbers(paths, results, labels, reports.pattern)
    if policy.expect_ranks is not None:
        here = sum(map(_ranks_in, results.values())) + len(lost)
        asked = policy.origin("expect_ranks")
        asks = "the policy" if asked == DEFAULT else asked
        why = f"{asks} expects {policy.expect_ranks}, and {here} are here"
        which = _expected(policy.expect_ranks, here, numbers)
        return _missing(policy.expect_ranks - here, which, why, here)
    claims = [
        *_by_names(paths),
        *_by_environment(results, len(lost)),
        *_by_gaps(numbers, _unnumbered(lost, paths, labels)),
        *_twice(paths, results, labels),
    ]
    here = sum(map(_ranks_in, results.values())) + len(lost)
    found = (_missing(count, _named(which, count), why, here) for count, which, why in claims)
    return max(filter(None, found), key=lambda one: one.count, default=None)


def is_job(found: Inputs, policy: Policy) -> bool:
    """Whether what was found, if it is but one report, is to be judged as ranks of a job."""
    one = len(found.reports) == 1 and not found.unread
    return (
        not one or policy.expect_ranks is not None or max(numbers_of(found.reports), default=1) > 1
    )


Claim = tuple[int, Collection[int], str]
"""How many ranks are missing, which these may be, and why."""


def _missing(count: int, which: Iterable[int], why: str, here: int) -> MissingRanks | None:
    if count <= 0:
        return None
    hint = f"put their reports beside the others, or judge these alone: --expect-ranks {here}"
    return MissingRanks(count, tuple(map(str, which)), why, hint)


def _named(which: Collection[int], count: int) -> list[int]:
    """The first ranks that are missing, where all that may be are as many as are."""
    return sorted(which)[:MAX_LABELS] if len(which) == count else []


def _expected(count: int, here: int, numbers: Collection[int]) -> Iterable[int]:
    """The same of a word that may name more ranks than fit into memory."""
    known = sum(number < count for number in numbers) == here
    return islice((n for n in range(count) if n not in numbers), MAX_LABELS if known else 0)


def _ranks_in(result: ReportResult) -> int:
    """Processes that used a device; a report without one is of one rank all the same."""
    return max(len({row.process for row in result.rows}), 1)


def _numbers(
    paths: Sequence[Path],
    results: Mapping[int, ReportResult],
    labels: Labels,
    pattern: UserPattern | None,
) -> set[int]:
    """Ranks that are there, lost ones included, where something other than a guess says them."""
    said: list[str] = []
    if pattern is not None:
        said = [found["rank"] for path in paths if (found := pattern.search(str(path)))]
    elif labels.by is By.NAMES:
        called = called_ranks(paths)
        said = ["" if one is None else str(one) for one in called]
    elif not labels.guessed:
        said = [label.split(".")[0] for n in sorted(results) for label in labels.labels[n]]
    if not said or not all(one.isdigit() and int(one) < MAX_RANK for one in said):
        return set()
    return set(map(int, said))


def _by_names(paths: Sequence[Path]) -> Iterator[Claim]:
    """3-of-8 says that there are eight; whether the first is 0 or 1 the others show."""
    missing: set[int] = set()
    count = 0
    certain = True
    by_size = numbers_of(paths)
    for size, numbers in by_size.items():
        first = 0 if 0 in numbers else 1
        missing |= set(range(first, first + size)) - numbers
        certain &= bool({0, size} & numbers)
        count += max(size - len(numbers), 0)
    sizes = " and ".join(str(size) for size in sorted(by_size))
    yield count, missing if certain else (), f"names of reports say that there are {sizes}"


def _by_environment(results: Mapping[int, ReportResult], lost: int) -> Iterator[Claim]:
    if len(results) == 1 and _ranks_in(next(iter(results.values()))) > 1:
        # Its environment is that of the launcher, not of a rank.
        return
    variables = dict.fromkeys(name for one in results.values() for name in one.world_sizes)
    for variable in variables:
        ranks = [one.variables.get(variable, "") for one in results.values()]
        if not all(ranks):
            continue
        numbers = set(map(int, ranks))
        if len(numbers) < len(ranks) and variable not in _TOLD_APART:
            continue
        size = max(one.world_sizes.get(variable, 0) for one in results.values())
        if len(numbers) < len(ranks) and size == 1:
            continue
        size = min(size, MAX_RANK)
        missing = set(range(size)) - numbers
        # A lost report may be of one of them.
        why = f"{variable} and its size in the reports say that there are {size}"
        yield len(missing) - lost, missing, why


def _by_gaps(numbers: set[int], unnumbered: int) -> Iterator[Claim]:
    if numbers:
        missing = set(range(max(numbers))) - numbers
        last = max(numbers)
        yield len(missing) - unnumbered, missing, f"there is a rank {last}, and ranks begin at 0"


def _unnumbered(lost: Mapping[int, LostReport], paths: Sequence[Path], labels: Labels) -> int:
    """Lost reports that may be of any rank."""
    named = labels.by in (By.NAMES, By.PATTERN)
    return sum(not named or number >= len(paths) for number in lost)


def _twice(
    paths: Sequence[Path], results: Mapping[int, ReportResult], labels: Labels
) -> Iterator[Claim]:
    """Two reports of one rank that nothing else tells apart: one is of another rank, or job."""
    if not labels.guessed or len(paths) < 2:
        return
    called: list[object] = list(called_ranks(paths))
    sources = [("names of reports say", called)]
    for variable in _TOLD_APART:
        of_jobs = [one for one in results.values() if one.world_sizes.get(variable, 1) > 1]
        if len(of_jobs) == len(results):
            told: list[object] = [one.variables.get(variable) for one in of_jobs]
            sources.append((f"{variable} in the reports says", told))
    for source, ranks in sources:
        often = {rank: n for rank, n in Counter(ranks).items() if n > 1}
        if None in ranks or not often:
            continue
        first = min(often, key=str)
        why = f"{source} rank {first} of {count_of(often[first], 'report')}"
        yield len(ranks) - len(set(ranks)), (), why
