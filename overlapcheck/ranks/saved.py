"""Frozen structs ↔ plain JSON values, by their annotations."""

from __future__ import annotations

import types
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from enum import Enum
from functools import cache
from pathlib import Path
from typing import Any, TypeVar, Union, get_args, get_origin, get_type_hints

import numpy as np

from overlapcheck.clean import clean

Noun = TypeVar("Noun")
_LARGEST = (1 << 63) - 1


def to_plain(value: Any) -> Any:
    """A value as dictionaries, lists, texts and numbers."""
    if isinstance(value, np.ndarray):
        return value.tolist()
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, Path):
        return str(value)
    if isinstance(value, Mapping):
        return {str(key): to_plain(item) for key, item in value.items()}
    if isinstance(value, frozenset | set):
        return sorted(to_plain(item) for item in value)
    if isinstance(value, tuple | list):
        return [to_plain(item) for item in value]
    if is_dataclass(value):
        return {field.name: to_plain(getattr(value, field.name)) for field in fields(value)}
    return value


def from_plain(kind: type[Noun], plain: Any) -> Noun:
    """The struct that `to_plain` wrote.

    Raises:
        ValueError, KeyError, TypeError: it is not of this kind.
    """
    result: Noun = _restored(kind, plain)
    return result


@cache
def _hints(kind: type) -> dict[str, Any]:
    return get_type_hints(kind)


def _restored(kind: Any, plain: Any) -> Any:
    origin, parts = get_origin(kind), get_args(kind)
    if origin in (Union, types.UnionType):
        chosen = next(part for part in parts if part is not type(None))
        return None if plain is None else _restored(chosen, plain)
    if origin is np.ndarray:
        return _array(parts, plain)
    if origin is tuple:
        _require(isinstance(plain, list), kind, plain)
        if len(parts) == 2 and parts[1] is Ellipsis:
            return tuple(_restored(parts[0], item) for item in plain)
        return tuple(_restored(part, item) for part, item in zip(parts, plain, strict=True))
    if origin is not None and issubclass(origin, Mapping):
        _require(isinstance(plain, dict), kind, plain)
        return {key: _restored(parts[1], item) for key, item in plain.items()}
    if isinstance(kind, type) and issubclass(kind, tuple) and hasattr(kind, "_fields"):
        _require(isinstance(plain, list), kind, plain)
        hints = _hints(kind)
        return kind(*(_restored(hints[n], p) for n, p in zip(kind._fields, plain, strict=True)))
    if isinstance(kind, type) and issubclass(kind, Enum):
        return kind(plain)
    if is_dataclass(kind) and isinstance(kind, type):
        hints = _hints(kind)
        return kind(**{f.name: _restored(hints[f.name], plain[f.name]) for f in fields(kind)})
    numeric = kind in (int, float) and type(plain) in (int, kind)
    _require(numeric or not isinstance(kind, type) or type(plain) is kind, kind, plain)
    if numeric and not -_LARGEST <= plain <= _LARGEST:
        raise ValueError("a number larger than any of ours")
    return clean(plain) if kind is str else plain


def _require(right: bool, kind: Any, plain: Any) -> None:
    if not right:
        raise TypeError(f"{str(plain)[:40]!r} is no {kind}")


def _array(parts: tuple[Any, ...], plain: list[Any]) -> np.ndarray:
    scalar = get_args(parts[1])[0]
    values = np.array(plain, dtype=scalar)
    if values.ndim != 1:
        raise ValueError("a column is a list")
    return values
