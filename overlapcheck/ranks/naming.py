"""Which rank a report is of: from its path."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from overlapcheck.errors import PolicyInvalid
from overlapcheck.user_patterns import UserPattern

# The first that tells all reports apart counts.
_PATTERNS = (
    re.compile(r"(?<![a-z])(?<!local_)(?<!local-)rank[-_. =]?(?P<rank>\d+)", re.IGNORECASE),
    re.compile(r"(?<!\d)(?P<rank>\d+)[-_]?of[-_]?(?P<of>\d+)(?!\d)", re.IGNORECASE),
    re.compile(r"(?<![a-z0-9])r[-_]?(?P<rank>\d+)(?![a-z0-9])", re.IGNORECASE),
)
_PARTS = (1, 2, 3)
"""Parts of the path, from its end, that may name the rank: reports often lie in a rank's folder."""
_NUMBER = re.compile(r"\d+")
_ALONE = re.compile(r"(?<![a-z0-9])(\d+)(?![a-z0-9])", re.IGNORECASE)
# A rank of its own machine, and process ids, are no ranks of the job.
_NO_RANK = re.compile(r"local|pid", re.IGNORECASE)
MAX_RANK = 100_000
"""A larger number is a date, a job or a process."""


def rank_pattern(text: str) -> UserPattern:
    """A user's pattern.

    Raises:
        PolicyInvalid: it is no regular expression, or names no group "rank".
    """
    try:
        pattern = UserPattern(text, "--rank-pattern", ignore_case=False)
    except ValueError as error:
        raise PolicyInvalid(
            f"--rank-pattern {text!r}: not a regular expression ({error})",
            r"for example: --rank-pattern 'worker(?P<rank>\d+)'",
        ) from error
    if "rank" not in pattern.groups:
        raise PolicyInvalid(
            f"--rank-pattern {text!r} has no group named rank",
            r"name the number: --rank-pattern 'worker(?P<rank>\d+)'",
        )
    return pattern


def ranks_by_pattern(paths: Sequence[Path], pattern: UserPattern) -> tuple[str, ...]:
    """The rank of each report by the user's pattern.

    Raises:
        PolicyInvalid: it does not fit every path, or not each its own.
    """
    ranks: dict[str, Path] = {}
    for path in paths:
        found = pattern.search(str(path))
        rank = found["rank"] if found else None
        if not rank:
            raise PolicyInvalid(
                f"--rank-pattern {pattern.text!r} does not fit {path}",
                "it must fit every report",
            )
        rank = str(int(rank)) if rank.isdigit() else rank
        if rank in ranks:
            raise PolicyInvalid(
                f"--rank-pattern {pattern.text!r}: {path} and {ranks[rank]} are both rank {rank}",
                "the group must differ between reports",
            )
        ranks[rank] = path
    return tuple(ranks)


def ranks_in_names(paths: Sequence[Path]) -> tuple[str, ...] | None:
    """The rank that each name says, or None where names do not tell all apart."""
    for known in _PATTERNS:
        for parts in _PARTS:
            matches = [list(known.finditer(text)) for text in _texts(paths, parts)]
            # The last match: a folder or program may be named alike.
            ranks = [str(int(found[-1]["rank"])) if found else "" for found in matches]
            if all(ranks) and len(set(ranks)) == len(ranks):
                return tuple(ranks)
    return None


def numbers_in_names(paths: Sequence[Path]) -> tuple[str, ...] | None:
    """The number that alone tells the names apart (report.3.sqlite), or None: a guess."""
    for parts in _PARTS:
        texts = _texts(paths, parts)
        if any(map(_NO_RANK.search, texts)):
            continue
        if len({_NUMBER.sub("#", text) for text in texts}) == 1:
            columns = list(zip(*map(_NUMBER.findall, texts), strict=True))
        else:
            # Names of hosts differ: then a number that stands alone, at the end.
            last = [_ALONE.findall(Path(text).stem)[-1:] for text in texts]
            columns = [tuple(found[0] for found in last)] if all(last) else []
        ranks = [tuple(map(int, column)) for column in columns]
        telling = [r for r in ranks if len(set(r)) == len(r) and max(r) < MAX_RANK]
        if len(telling) > 1:
            # Of several numbers the one that counts up from 0.
            telling = [r for r in telling if sorted(r) == list(range(len(r)))]
        if len(telling) == 1:
            return tuple(map(str, telling[0]))
    return None


def _texts(paths: Sequence[Path], parts: int) -> list[str]:
    return ["/".join(path.parts[-parts:]) for path in paths]


def numbers_of(paths: Sequence[Path]) -> dict[int, set[int]]:
    """Numbers by how many there should be, where names say so: 3-of-8."""
    found: dict[int, set[int]] = {}
    for path in paths:
        for match in list(_PATTERNS[1].finditer(path.name))[-1:]:
            if 0 < int(match["of"]) <= MAX_RANK:
                found.setdefault(int(match["of"]), set()).add(int(match["rank"]))
    return found


def called_ranks(paths: Sequence[Path]) -> list[int | None]:
    """The number behind the word "rank" in each name, or in that of a folder just above it."""
    called: list[int | None] = [None] * len(paths)
    for part in _PARTS:
        column = []
        for path in paths:
            found = list(
                _PATTERNS[0].finditer("".join(path.parts[-part : len(path.parts) - part + 1]))
            )
            column.append(int(found[-1]["rank"]) if found else None)
        # A folder around all of them, such as lora_rank8, tells no report's rank.
        if part == 1 or len(set(column)) > 1:
            called = [
                one if one is not None else other for one, other in zip(called, column, strict=True)
            ]
    return called
