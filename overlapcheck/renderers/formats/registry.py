"""Formats found by walking a folder, each module offering the one of its name as `RENDERER`."""

from __future__ import annotations

import pkgutil
from collections.abc import Iterable, Iterator, Mapping
from importlib import import_module
from typing import Any, Protocol, TypeVar

from overlapcheck.errors import PolicyInvalid


class Format(Protocol):
    """What is known of a format, whatever it renders."""

    name: str
    suffix: str


_Format = TypeVar("_Format", bound=Format)


class _Folder(Mapping[str, Any]):
    """Formats by name, which is that of their module, loaded when they are asked for.

    To load them all takes longer than to judge a short recording.
    """

    def __init__(self, package: str, folder: Iterable[str]):
        self._package = package
        self._names = {
            found.name: None
            for found in pkgutil.iter_modules(folder)
            if not found.name.startswith("_") and not found.ispkg
        }

    def __getitem__(self, name: str) -> Any:
        if name not in self._names:
            raise KeyError(name)
        return import_module(f"{self._package}.{name}").RENDERER

    def __contains__(self, name: object) -> bool:
        return name in self._names

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)


def formats_in(package: str, folder: Iterable[str]) -> Mapping[str, Any]:
    """The formats of a package by name.

    Args:
        package: its full name.
        folder: its `__path__`.
    """
    return _Folder(package, folder)


def format_for_file(formats: Mapping[str, _Format], name: str, what: str = "") -> _Format:
    """The format whose suffix a file name ends with, the longest match first.

    Args:
        formats: to choose from.
        name: of the file.
        what: what is to be written, for the error; "" for a report.

    Raises:
        PolicyInvalid: no format has this suffix.
    """
    for one in sorted(formats.values(), key=lambda one: -len(one.suffix)):
        if name.lower().endswith(one.suffix):
            return one
    known = ", ".join(sorted(one.suffix for one in formats.values()))
    said = f"{what} has no format with this suffix" if what else "no format has this suffix"
    raise PolicyInvalid(f"-o {name}: {said}", f"use one of {known}")
