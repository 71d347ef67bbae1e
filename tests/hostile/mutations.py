"""Ways to lose, damage or poison an export, each a kind with a name, and what may come of it.

A mutation changes a copy of a real export in place and says what it did. The modules beside this
one hold them by what they touch; `ALL` has every one by its name.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from random import Random


class Allowed(Enum):
    """What may be answered, from strict to lax; a refusal in one line is a word.

    Never allowed, whatever the mutation: a traceback, a verdict's exit code without a report, more
    than the bounds on time and memory, raw control characters, a change of the input or its folder.
    """

    EQUAL = 1
    """Harmless, another form of the same recording: the whole answer, verdict and all numbers."""
    EQUAL_OR_REFUSED = 2
    """The same recording where it can still be read: the whole answer, INCONCLUSIVE, or refused."""
    SAME_VERDICT = 3
    """Lost or damaged: INCONCLUSIVE, refused, or the verdict of the whole.

    Numbers may move where what is left is possible, as a timestamp that moved by a microsecond is.
    """
    ANY_VERDICT = 4
    """Another recording that could as well be true: judged for what it says, but never a crash."""


@dataclass(frozen=True)
class Applied:
    """What was done to an export."""

    what: str
    """One clause, for whoever reads about a violation."""
    allowed: Allowed


class NotApplicable(Exception):
    """This export has nothing that the mutation could change."""


Mutation = Callable[[Path, Random], Applied]

DEVICE_TABLES = (
    "CUPTI_ACTIVITY_KIND_KERNEL",
    "CUPTI_ACTIVITY_KIND_MEMCPY",
    "CUPTI_ACTIVITY_KIND_MEMSET",
    "CUPTI_ACTIVITY_KIND_GRAPH_TRACE",
)
CALLS = "CUPTI_ACTIVITY_KIND_RUNTIME"
RANGES = "NVTX_EVENTS"
TEXTS = "StringIds"
NOT_LOST = frozenset({"NVTX_EVENTS", "DIAGNOSTIC_EVENT"})
"""Rows whose absence says that a program has no ranges, or that nsys had nothing to say."""
TELLING = frozenset(
    (
        *("copyKind", "srcKind", "dstKind", "shortName", "nameId", "eventType", "returnValue"),
        *("id", "label", "name", "value", "text", "textId", "asyncEngines"),
        *("jsonText", "jsonTextId", "binaryData"),
    )
)
"""Columns whose value says what a thing is: another valid value makes it another thing."""


@contextmanager
def opened(export: Path) -> Iterator[sqlite3.Connection]:
    """The export for changing, without a journal that could stay beside it."""
    with closing(sqlite3.connect(export)) as connection:
        connection.text_factory = bytes
        connection.execute("PRAGMA journal_mode = OFF")
        connection.execute("PRAGMA synchronous = OFF")
        yield connection
        connection.commit()


def tables(connection: sqlite3.Connection) -> list[str]:
    """Tables that have rows."""
    names = connection.execute("SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name")
    found = [name.decode() for (name,) in names.fetchall()]
    return [
        name
        for name in found
        if not name.startswith("sqlite_")
        and connection.execute(f'SELECT 1 FROM "{name}" LIMIT 1').fetchone()
    ]


def columns(connection: sqlite3.Connection, table: str) -> list[str]:
    """Names of a table's columns, in their order."""
    return [row[1].decode() for row in connection.execute(f'PRAGMA table_info("{table}")')]


def read_tables(connection: sqlite3.Connection) -> list[str]:
    """Tables with rows that an analysis reads, those of GPU work thrice as often."""
    most = [name for name in tables(connection) if not name.startswith("ENUM_")]
    kinds = [n for n in tables(connection) if n in ("ENUM_CUDA_MEMCPY_OPER", "ENUM_CUDA_MEM_KIND")]
    work = [name for name in most if name in (*DEVICE_TABLES, CALLS, TEXTS, RANGES)]
    return most + kinds + work * 2


def chosen(rng: Random, among: list[str]) -> str:
    """One of several names.

    Raises:
        NotApplicable: there are none.
    """
    if not among:
        raise NotApplicable
    return rng.choice(among)


def allowed_without(table: str) -> Allowed:
    """What may be answered where rows of a table, or all of it, are gone."""
    return Allowed.ANY_VERDICT if table in NOT_LOST else Allowed.SAME_VERDICT


def rowids(connection: sqlite3.Connection, table: str) -> list[int]:
    """Of all rows, by time where they have one, for exports keep no order."""
    order = "start, rowid" if "start" in columns(connection, table) else "rowid"
    return [row[0] for row in connection.execute(f'SELECT rowid FROM "{table}" ORDER BY {order}')]


def all_mutations() -> dict[str, Mutation]:
    """Every kind by its name."""
    from tests.hostile import (
        file_mutations,
        harmless_mutations,
        journal_mutations,
        name_mutations,
        row_mutations,
        schema_mutations,
        value_mutations,
    )

    modules = (
        row_mutations,
        value_mutations,
        name_mutations,
        schema_mutations,
        file_mutations,
        journal_mutations,
        harmless_mutations,
    )
    return {
        mutation.__name__.replace("_", "-"): mutation
        for module in modules
        for mutation in module.MUTATIONS
    }
