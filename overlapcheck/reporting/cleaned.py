"""No text enters a report as the trace has it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, is_dataclass, replace
from typing import Any, TypeVar

from overlapcheck.redaction import names_no_one

Noun = TypeVar("Noun")


def cleaned(noun: Noun) -> Noun:
    """A struct whose texts are clean and bounded; what is for memory only stays as it is."""
    result: Noun = _cleaned(noun)
    return result


def _cleaned(value: Any) -> Any:
    # Words of our own (StrEnum) and keys (NamedTuple) are subclasses, and stay.
    if type(value) is str:
        return names_no_one(value)
    if isinstance(value, Mapping):
        return {_cleaned(key): _cleaned(item) for key, item in value.items()}
    if type(value) in (tuple, frozenset):
        return type(value)(map(_cleaned, value))
    if is_dataclass(value) and not isinstance(value, type):
        old = {field.name: getattr(value, field.name) for field in fields(value) if field.compare}
        new = {name: _cleaned(item) for name, item in old.items()}
        changed = {name: item for name, item in new.items() if item is not old[name]}
        return replace(value, **changed) if changed else value
    return value
