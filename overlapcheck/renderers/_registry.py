"""Formats found by walking a folder, each module of it offering its one as `RENDERER`."""

from __future__ import annotations

import pkgutil
from collections.abc import Iterable, Mapping
from importlib import import_module
from typing import Any, Protocol, TypeVar

from overlapcheck.errors import PolicyInvalid


class Format(Protocol):
    """What is known of a format, whatever it renders."""

    name: str
    suffix: str


_Format = TypeVar("_Format", bound=Format)


def formats_in(package: str, folder: Iterable[str]) -> dict[str, Any]:
    """The formats of a package by name.

    Args:
        package: its full name.
        folder: its `__path__`.
    """
    modules = (
        import_module(f"{package}.{found.name}")
        for found in pkgutil.iter_modules(folder)
        if not found.name.startswith("_") and not found.ispkg
    )
    return {module.RENDERER.name: module.RENDERER for module in modules}


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
