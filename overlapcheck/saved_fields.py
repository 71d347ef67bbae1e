"""Nouns and their saved forms by fields: what the forms of all results are made with."""

from __future__ import annotations

from dataclasses import MISSING, fields
from typing import Any, Literal, get_type_hints

import msgspec
from msgspec import Struct

from overlapcheck.errors import ExitCode

Number = int | float
"""A float that is saved, and read back, without a point where it had none."""
VerdictCode = Literal[0, 1, 3]
"""Exit code of pass, fail, inconclusive."""


class SavedTool(Struct, frozen=True, kw_only=True):
    """What wrote it."""

    name: Literal["overlapcheck"]
    version: str

    @classmethod
    def of(cls, version: str) -> SavedTool:
        """This program in some version."""
        return cls(name="overlapcheck", version=version)


def form_of(noun: type, **defaults: Any) -> type[Struct]:
    """A struct of a noun's fields, but those for memory only.

    Args:
        noun: a frozen dataclass.
        defaults: of fields that older results lack.
    """
    hints = get_type_hints(noun)
    members: list[Any] = []
    for field in fields(noun):
        if field.compare:
            default = defaults.get(field.name, field.default)
            given = () if default is MISSING else (default,)
            members.append((field.name, hints[field.name], *given))
    about = {"__doc__": noun.__doc__}
    return msgspec.defstruct(noun.__name__, members, frozen=True, kw_only=True, namespace=about)


def verdict_code(code: ExitCode) -> VerdictCode:
    """An exit code that a verdict can have."""
    found: VerdictCode = msgspec.convert(int(code), VerdictCode)
    return found


def fields_of(noun: Any, *but: str) -> dict[str, Any]:
    """A noun's fields by name, but some, and those for memory only."""
    names = (field.name for field in fields(noun) if field.compare)
    return {name: getattr(noun, name) for name in names if name not in but}


def members_of(saved: Any, *but: str) -> dict[str, Any]:
    """A struct's fields by name, but some."""
    return {name: getattr(saved, name) for name in saved.__struct_fields__ if name not in but}
