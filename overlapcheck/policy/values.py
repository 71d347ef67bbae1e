"""What each kind of setting may be, and what to say about everything else."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from overlapcheck.errors import PolicyInvalid
from overlapcheck.nearest import nearest
from overlapcheck.quantities import figure, nanoseconds
from overlapcheck.threshold import Unit
from overlapcheck.user_patterns import UserPattern

MAX_THRESHOLD = 10**12
"""Longer, larger or more than anything in a recording."""


@dataclass(frozen=True)
class Place:
    """A key of a policy file."""

    file: str
    path: tuple[str, ...] = ()
    """Dotted path of the key from the top of the file."""

    def at(self, key: str) -> Place:
        """A key below this one."""
        return Place(self.file, (*self.path, key))

    @property
    def key(self) -> str:
        """Last part of the path."""
        return self.path[-1]

    def wrong(self, problem: str, hint: str) -> PolicyInvalid:
        """The error for a value here: file, key path, problem and what to write instead."""
        return PolicyInvalid(f"{self.file}: {'.'.join(self.path)} {problem}", hint)


MOST_STEPS = 1_000_000_000
"""More than any recording has; a count up to here fits into a column."""

Reader = Callable[[Any, Place], Any]
"""Checks a value of the file and gives it in our form.

Raises:
    PolicyInvalid: it cannot mean anything.
"""


def percentage(value: Any, place: Place) -> float:
    """A percentage from 0 to 100."""
    if isinstance(value, str):
        number = re.search(r"\d+(\.\d+)?", value)
        example = number[0] if number else "80"
        raise place.wrong(
            f"= {_toml(value)} is text, not a number",
            f"write the percentage alone: {place.key} = {example}",
        )
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise place.wrong(f"= {_toml(value)} is not a number", f"write {place.key} = 80 for 80 %")
    if value > 100:
        raise place.wrong(
            f"= {_short(value)} is above 100 %, which no share can reach",
            "give a percentage from 0 to 100",
        )
    if value < 0 or math.isnan(value):
        raise place.wrong(f"= {_short(value)} is no share", "give a percentage from 0 to 100")
    return float(value)


def least_percentage(value: Any, place: Place) -> float:
    """A percentage that is a least value: below one it was meant as a fraction."""
    number = percentage(value, place)
    if 0 < number < 1:
        raise place.wrong(
            f"= {number:g} is less than one percent",
            f"limits are percentages: {place.key} = {number * 100:g}",
        )
    return number


def switch(value: Any, place: Place) -> bool:
    """True or false."""
    if not isinstance(value, bool):
        raise place.wrong(
            f"= {_toml(value)} is neither true nor false", f"write {place.key} = true or false"
        )
    return value


def count(value: Any, place: Place) -> int:
    """A whole number, not negative."""
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        raise place.wrong(
            f"= {_toml(value)} is not a count", f"write a whole number: {place.key} = 2"
        )
    if value > MOST_STEPS:
        raise place.wrong(
            f"= {_short(value)} is more than a recording has steps", f"write {place.key} = 2"
        )
    return value


def quantity(value: Any, unit: Unit, place: Place) -> float:
    """A number of some unit."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise place.wrong(f"= {_toml(value)} is not a number", f"write it alone: {place.key} = 2")
    if unit.whole and not isinstance(value, int):
        raise place.wrong(f"= {value:g} is not a whole number", f"it counts {unit.words}")
    most = 1 if unit is Unit.SHARE else MAX_THRESHOLD
    if not unit.least <= value <= most:
        raise place.wrong(
            f"= {_short(value)} is out of range", f"give {unit.least} to {figure(most)}"
        )
    return value


def time(value: Any, place: Place) -> float:
    """A time with its unit, in ns."""
    said = text(value, place)
    try:
        return nanoseconds(said)
    except ValueError as error:
        raise place.wrong(f"= {_toml(said)}: {error}", f'write {place.key} = "20.6ms"') from error


def text(value: Any, place: Place) -> str:
    """A text that says something."""
    if not isinstance(value, str) or not value.strip():
        raise place.wrong(f"= {_toml(value)} is not a text", f'write {place.key} = "..."')
    return value


def pattern(value: Any, place: Place) -> str:
    """A regular expression."""
    expression = text(value, place)
    try:
        UserPattern(expression, place.key)
    except ValueError as error:
        raise place.wrong(
            f"= {_toml(expression)} is not a regular expression ({error})",
            "escape ( [ * + with a backslash, in '...' quotes",
        ) from error
    return expression


def patterns(value: Any, place: Place) -> tuple[str, ...]:
    """Several regular expressions."""
    return tuple(pattern(item, place) for item in listed(value, place))


def listed(value: Any, place: Place) -> list[Any]:
    """A list, of whatever."""
    if not isinstance(value, list):
        raise place.wrong(
            f"= {_toml(value)} is not a list", f"write {place.key} = [{_toml(value)}]"
        )
    return value


def table(value: Any, place: Place) -> Mapping[str, Any]:
    """A table, of whatever."""
    if not isinstance(value, Mapping):
        raise place.wrong(f"= {_toml(value)} is not a table", f"write [{'.'.join(place.path)}]")
    return value


def known(key: str, names: Iterable[str], place: Place, problem: str) -> None:
    """Refuse a name that nobody knows, naming the nearest.

    Raises:
        PolicyInvalid: it is none of the names.
    """
    names = sorted(names)
    if key in names:
        return
    near = nearest(key.replace("_", "-").lower(), names)
    hint = f"did you mean {near[0]}?" if near else f"it may be {', '.join(names)}" if names else ""
    raise place.wrong(problem, hint)


def quoted(key: str) -> str:
    """A key as TOML has it: in quotes where it is more than a word."""
    bare = re.fullmatch(r"[A-Za-z0-9_-]+", key)
    return key if bare else json.dumps(key, ensure_ascii=False)


def _toml(value: Any) -> str:
    """A value as the file may have it, cut where it is long."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, str):
        return f'"{value[:40]}..."' if len(value) > 43 else f'"{value}"'
    if isinstance(value, Mapping):
        return "{...}"
    if isinstance(value, list):
        return "[...]" if value else "[]"
    return _short(value) if isinstance(value, int | float) else str(value)


def _short(value: float) -> str:
    """A number; Python writes none of thousands of digits, and nobody reads one of hundreds."""
    try:
        return f"{value:g}"
    except OverflowError:
        return "a number of hundreds of digits"
