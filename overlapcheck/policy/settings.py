"""The settings of a policy file: which there are, and what they say."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

from overlapcheck.copies import JUDGED_DIRECTIONS
from overlapcheck.policy import values
from overlapcheck.policy.values import Place, Reader
from overlapcheck.quantities import figure
from overlapcheck.thresholds import USUAL
from overlapcheck.verdict import AllowedCall


@dataclass(frozen=True)
class Setting:
    """One value and who set it."""

    value: Any
    origin: str
    """"--min-overlap", "pyproject.toml", "pyproject.toml, profile nightly"."""


Settings = Mapping[str, Setting]
"""By the keys of the file; limits of a direction as "overlap h2d".

The value of "ranges" is the `Settings` of each name.
"""

_READERS: Mapping[str, Reader] = {
    "min-overlap": values.least_percentage,
    "ceiling": values.switch,
    "max-recoverable": values.percentage,
    "max-idle": values.percentage,
    "max-exposed-comm": values.percentage,
    "max-failing-ranks": values.percentage,
    "expect-ranks": values.count,
    "require-copies": values.switch,
    "streams": values.text,
    "steps": values.pattern,
    "skip": values.count,
    "step-time": values.time,
    "comm-patterns": values.patterns,
}
_TABLES = ("fail-on", "overlap", "allow", "ranges", "thresholds")
_IN_RANGES = ("min-overlap", "max-recoverable", "max-idle", "max-exposed-comm")
"""Limits that may stand under a range, beside those of single directions."""
_PROFILES = "profiles"
_ALLOW_BY = ("api", "nvtx", "source")
_DIRECTIONS = tuple(direction.value for direction in JUDGED_DIRECTIONS)


@dataclass(frozen=True)
class Contents:
    """A policy file, checked as a whole: a mistake in a profile nobody chose is one too."""

    base: Settings
    profiles: Mapping[str, Settings]


def read_contents(table: Any, place: Place, origin: str, causes: Collection[str]) -> Contents:
    """Check every key and value.

    Args:
        table: as TOML has it.
        place: where it stands.
        origin: name of the file for reports.
        causes: ids that `fail-on` may name.

    Raises:
        PolicyInvalid: the first thing that cannot be meant.
    """
    table = dict(values.table(table, place))
    profiles = values.table(table.pop(_PROFILES, {}), place.at(_PROFILES))
    base = _read(table, place, origin, causes, extra=(_PROFILES,))
    below = place.at(_PROFILES)
    return Contents(
        base,
        {
            name: _read(
                values.table(profile, below.at(name)),
                below.at(name),
                f"{origin}, profile {name}",
                causes,
            )
            for name, profile in profiles.items()
        },
    )


def _read(
    table: Mapping[str, Any],
    place: Place,
    origin: str,
    causes: Collection[str],
    extra: tuple[str, ...] = (),
) -> dict[str, Setting]:
    read: dict[str, Any] = {}
    for key, value in table.items():
        here = place.at(key)
        values.known(key, (*_READERS, *_TABLES, *extra), here, "is no setting")
        if key == "fail-on":
            read[key] = _causes(value, here, causes)
        elif key == "overlap":
            read |= _directions(value, here)
        elif key == "allow":
            read[key] = _allowed(value, here)
        elif key == "ranges":
            read[key] = _ranges(value, here, origin)
        elif key == "thresholds":
            read[key] = _thresholds(value, here)
        else:
            read[key] = _READERS[key](value, here)
    return {key: Setting(value, origin) for key, value in read.items()}


def _causes(value: Any, place: Place, causes: Collection[str]) -> frozenset[str]:
    named = [values.text(item, place) for item in values.listed(value, place)]
    for cause in named:
        values.known(cause, causes, place, f'= ["{cause}"]: there is no such cause')
    return frozenset(named)


def _directions(value: Any, place: Place) -> dict[str, float]:
    read = {}
    for key, limit in values.table(value, place).items():
        values.known(key, _DIRECTIONS, place.at(key), "is no direction")
        read[f"overlap {key}"] = values.least_percentage(limit, place.at(key))
    return read


def _thresholds(value: Any, place: Place) -> dict[str, float]:
    known = USUAL.described()
    units = {one.name: one.unit for one in known if not one.fixed}
    fixed = {one.name: one.value for one in known if one.fixed}
    read = {}
    for key, number in values.table(value, place).items():
        if key in fixed:
            raise place.at(key).wrong(
                f"is {figure(fixed[key])} by definition and cannot be moved",
                "see docs/definitions.md",
            )
        values.known(key, units, place.at(key), "is no threshold")
        read[key] = values.quantity(number, units[key], place.at(key))
    return read


def _ranges(value: Any, place: Place, origin: str) -> dict[str, Settings]:
    return {
        name: _range(limits, place.at(values.quoted(name)), name, origin)
        for name, limits in values.table(value, place).items()
    }


def _range(value: Any, place: Place, name: str, origin: str) -> Settings:
    read: dict[str, float] = {}
    for key, limit in values.table(value, place).items():
        here = place.at(key)
        if isinstance(limit, Mapping) and key not in (*_IN_RANGES, "overlap"):
            whole = values.quoted(f"{name}.{key}")
            raise here.wrong("is no limit", f"quote a name with dots: [ranges.{whole}]")
        values.known(key, (*_IN_RANGES, "overlap"), here, "is no limit of a range")
        read |= _directions(limit, here) if key == "overlap" else {key: _READERS[key](limit, here)}
    if not read:
        raise place.wrong("sets no limit", f"give one: {', '.join(_IN_RANGES)}, overlap")
    return {key: Setting(limit, origin) for key, limit in read.items()}


def _allowed(value: Any, place: Place) -> tuple[AllowedCall, ...]:
    if not isinstance(value, list):
        raise place.wrong("is not a list of tables", f"write [[{'.'.join(place.path)}]]")
    read = []
    for number, entry in enumerate(value, start=1):
        here = Place(place.file, (*place.path[:-1], f"allow[{number}]"))
        fields = {}
        for key, text in values.table(entry, here).items():
            values.known(key, ("reason", *_ALLOW_BY), here.at(key), "is no part of an allowed call")
            fields[key] = values.text(text, here.at(key))
        if "reason" not in fields:
            raise here.wrong("gives no reason", 'write why it is accepted: reason = "..."')
        if len(fields) == 1:
            raise here.wrong("allows every call", f"say which: {', '.join(_ALLOW_BY)} = ...")
        read.append(AllowedCall(**fields))
    return tuple(read)
