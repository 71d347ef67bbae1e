"""Which rank a report is of: from its name, its program's environment, or its place in the list."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from overlapcheck.errors import PolicyInvalid
from overlapcheck.fleet import ReportResult

# The first that tells all reports apart counts.
_PATTERNS = (
    re.compile(r"(?<![a-z])(?<!local_)(?<!local-)rank[-_. ]?(?P<rank>\d+)", re.IGNORECASE),
    re.compile(r"(?<!\d)(?P<rank>\d+)[-_]of[-_](?P<of>\d+)(?!\d)", re.IGNORECASE),
    re.compile(r"(?<![a-z0-9])r[-_]?(?P<rank>\d+)(?![a-z0-9])", re.IGNORECASE),
)
_VARIABLES = ("RANK", "OMPI_COMM_WORLD_RANK", "PMI_RANK", "SLURM_PROCID")


@dataclass(frozen=True)
class Labels:
    """A label per (report, row), and how it was found."""

    labels: tuple[tuple[str, ...], ...]
    how: str


def rank_pattern(text: str) -> re.Pattern[str]:
    """A user's pattern.

    Raises:
        PolicyInvalid: it is no regular expression, or names no group "rank".
    """
    try:
        pattern = re.compile(text)
    except re.error as error:
        raise PolicyInvalid(
            f"--rank-pattern {text!r}: not a regular expression ({error})",
            r"for example: --rank-pattern 'worker(?P<rank>\d+)'",
        ) from error
    if "rank" not in pattern.groupindex:
        raise PolicyInvalid(
            f"--rank-pattern {text!r} has no group named rank",
            r"name the number: --rank-pattern 'worker(?P<rank>\d+)'",
        )
    return pattern


def ranks_in_names(
    paths: Sequence[Path], pattern: re.Pattern[str] | None = None
) -> tuple[str, ...] | None:
    """The rank of each report by its name, or None where names do not tell all apart.

    Raises:
        PolicyInvalid: the user's pattern does not fit every name, or not each its own.
    """
    if pattern is not None:
        return _by_user(paths, pattern)
    for known in _PATTERNS:
        for parts in (1, 2):
            texts = ["/".join(path.parts[-parts:]) for path in paths]
            matches = [list(known.finditer(text)) for text in texts]
            # The last match: a folder or program may be named alike.
            ranks = [str(int(found[-1]["rank"])) if found else "" for found in matches]
            if all(ranks) and len(set(ranks)) == len(ranks):
                return tuple(ranks)
    return None


def _by_user(paths: Sequence[Path], pattern: re.Pattern[str]) -> tuple[str, ...]:
    ranks: dict[str, Path] = {}
    for path in paths:
        found = pattern.search(str(path))
        rank = found["rank"] if found else None
        if not rank:
            raise PolicyInvalid(
                f"--rank-pattern {pattern.pattern!r} does not fit {path}",
                "it must fit every report",
            )
        rank = str(int(rank)) if rank.isdigit() else rank
        if rank in ranks:
            raise PolicyInvalid(
                f"--rank-pattern {pattern.pattern!r}: {path} and {ranks[rank]} are both rank"
                f" {rank}",
                "the group must differ between reports",
            )
        ranks[rank] = path
    return tuple(ranks)


def world_size(paths: Sequence[Path]) -> int | None:
    """How many reports there should be, where all names say so: 3-of-8."""
    found = [_PATTERNS[1].search(path.name) for path in paths]
    sizes = {int(match["of"]) for match in found if match}
    return sizes.pop() if len(sizes) == 1 and all(found) else None


def label(
    paths: Sequence[Path],
    results: Mapping[int, ReportResult],
    pattern: re.Pattern[str] | None = None,
) -> Labels:
    """Labels of all rows of all reports.

    Args:
        paths: all reports, lost ones included, so that a lost report renames nobody.
        results: by position among the paths.
        pattern: the user's pattern.
    """
    if len(paths) == 1:
        # One report of several processes: they are the ranks.
        rows = results[0].rows if 0 in results else ()
        return Labels((tuple(str(n) for n in range(len(rows))),), "the devices of one report")
    ranks = ranks_in_names(paths, pattern)
    how = "--rank-pattern" if pattern else "report names"
    if ranks is None:
        ranks, how = _in_environments(len(paths), results), "environment"
    if ranks is None:
        ranks, how = tuple(str(n) for n in range(len(paths))), "order of the reports"
    labels = []
    for number, rank in enumerate(ranks):
        rows = results[number].rows if number in results else ()
        names = tuple(f"{rank}.{row.device}" for row in rows) if len(rows) > 1 else (rank,)
        if len(set(names)) < len(rows):
            names = tuple(f"{rank}.{n}" for n in range(len(rows)))
        labels.append(names)
    return Labels(tuple(labels), how)


def _in_environments(count: int, results: Mapping[int, ReportResult]) -> tuple[str, ...] | None:
    for variable in _VARIABLES:
        found = {n: r.settings.environment.get(variable, "") for n, r in results.items()}
        ranks = tuple(found.get(n, "") for n in range(count))
        if all(ranks) and len(set(ranks)) == count:
            return ranks
    return None
