"""Texts that a hostile program, or a broken one, gives as names and payloads."""

from __future__ import annotations

import sqlite3
from pathlib import Path
from random import Random

from tests.hostile.mutations import (
    DEVICE_TABLES,
    RANGES,
    TEXTS,
    Allowed,
    Applied,
    Mutation,
    NotApplicable,
    columns,
    opened,
    tables,
)

HOSTILE = {
    "escape sequence": b"\x1b[2J\x1b[31mred",
    "terminal's title": b"\x1b]0;title\x07",
    "clipboard": b"\x1b]52;c;aGVsbG8=\x07",
    "C1 controls": "\x9b31m\x85".encode(),
    "right-to-left": "\u202e\u2066gnp.exe\u2069".encode(),
    "line breaks": b"\r\n\n\x0b\x0c\xe2\x80\xa8",
    "workflow command": b"\n::error file=a,line=1::b\n##[error]c\n::set-output name=a::b",
    "markup": b"</script><script>alert(1)</script>|`**[a](javascript:b)<!--]]>",
    "formula": b'=HYPERLINK("http://x")',
    "not UTF-8": b"\xff\xfe\xc0\xaf\xed\xa0\x80",
    "NUL": b"\x00after",
    "path": b"../../../../etc/passwd",
    "long": b"x" * 2_000_000,
    "long and wide": "\u6f22\u0301".encode() * 100_000,
    "no characters": "\ufdd0\ufffe\U0010ffff".encode(),
}
_PLACES = (
    ("PROCESSES", "name"),
    ("TARGET_INFO_GPU", "name"),
    ("TARGET_INFO_GPU", "busLocation"),
    ("TARGET_INFO_SYSTEM_ENV", "value"),
    ("META_DATA_CAPTURE", "value"),
    ("META_DATA_EXPORT", "value"),
    ("DIAGNOSTIC_EVENT", "text"),
    ("NVTX_PAYLOAD_SCHEMAS", "name"),
    ("NVTX_PAYLOAD_SCHEMA_ENTRIES", "name"),
    ("ENUM_CUDA_MEMCPY_OPER", "name"),
    (RANGES, "text"),
)
_DEEP = 200_000
PAYLOADS = {
    "deep lists": "[" * _DEEP + "]" * _DEEP,
    "deep objects": '{"a":' * _DEEP + "1" + "}" * _DEEP,
    "Infinity": "Infinity",
    "400 digits": "9" * 400,
    "5000 digits": "9" * 5000,
    "a number": "1e400",
    "a text": '"\\ud800"',
    "null": "null",
    "nothing": "",
    "half": '{"Function":',
}


def _append(
    connection: sqlite3.Connection, table: str, column: str, text: bytes, where: str
) -> int:
    """Append to texts, whose beginning says what a thing is; the number of rows changed."""
    sql = f'SELECT rowid, "{column}" FROM "{table}" WHERE "{column}" IS NOT NULL AND {where}'
    rows = [(row, old) for row, old in connection.execute(sql) if isinstance(old, bytes)]
    update = f'UPDATE "{table}" SET "{column}" = CAST(? AS TEXT) WHERE rowid = ?'
    connection.executemany(update, [(old + text, row) for row, old in rows])
    return len(rows)


def hostile_kernel_names(export: Path, rng: Random) -> Applied:
    """On one kernel, or on all."""
    name, text = rng.choice(sorted(HOSTILE.items()))
    with opened(export) as connection:
        if not {TEXTS, DEVICE_TABLES[0]} <= set(tables(connection)):
            raise NotApplicable
        ids = f"SELECT DISTINCT shortName FROM {DEVICE_TABLES[0]} ORDER BY 1"
        few = "" if len(text) < 1000 and rng.random() < 0.5 else " LIMIT 1"
        count = _append(connection, TEXTS, "value", text, f"id IN ({ids}{few})")
    return Applied(f"{name} in {count} kernel names", Allowed.SAME_VERDICT)


def hostile_thread_names(export: Path, rng: Random) -> Applied:
    """Names that a program gives its threads."""
    name, text = rng.choice(sorted(HOSTILE.items()))
    with opened(export) as connection:
        if not {TEXTS, "ThreadNames"} <= set(tables(connection)):
            raise NotApplicable
        few = "" if len(text) < 1000 else " LIMIT 1"
        ids = f"SELECT DISTINCT nameId FROM ThreadNames ORDER BY 1{few}"
        # A thread named like its kernel shares its text.
        count = _append(connection, TEXTS, "value", text, f"id IN ({ids})")
    return Applied(f"{name} in {count} thread names", Allowed.SAME_VERDICT)


def hostile_texts(export: Path, rng: Random) -> Applied:
    """In whatever else is shown: processes, GPUs, environment, ranges, messages."""
    name, text = rng.choice(sorted(HOSTILE.items()))
    with opened(export) as connection:
        present = set(tables(connection))
        places = [(table, column) for table, column in _PLACES if table in present]
        if not places:
            raise NotApplicable
        table, column = rng.choice(places)
        if column not in columns(connection, table):
            raise NotApplicable
        few = f"rowid IN (SELECT rowid FROM {table} LIMIT 1)" if len(text) > 1000 else "1"
        count = _append(connection, table, column, text, few)
    return Applied(f"{name} in {count} rows of {table}.{column}", Allowed.SAME_VERDICT)


def hostile_column_name(export: Path, rng: Random) -> Applied:
    """A name that no query expects, of a column and of a table."""
    name, text = rng.choice(sorted(HOSTILE.items()))
    quoted = '"' + text.decode("utf-8", "replace").replace('"', '""').replace("\0", "") + '"'
    with opened(export) as connection:
        table = rng.choice([t for t in tables(connection) if t in DEVICE_TABLES] or [TEXTS])
        try:
            connection.execute(f"ALTER TABLE {table} ADD COLUMN {quoted} TEXT")
            connection.execute(f"CREATE TABLE {quoted} ({quoted} TEXT)")
        except sqlite3.Error as error:
            raise NotApplicable from error
    return Applied(f"{name} as a column of {table} and a table", Allowed.EQUAL_OR_REFUSED)


def hostile_payloads(export: Path, rng: Random) -> Applied:
    """JSON of ranges and of Python backtraces, as deep or as long as it can be."""
    name, text = rng.choice(sorted(PAYLOADS.items()))
    mark = '{"Python Backtrace on CUDA": {"Frames": [{"Function": 1, "File": %s, "Line": %s}]}}'
    with opened(export) as connection:
        if RANGES not in tables(connection) or "jsonText" not in columns(connection, RANGES):
            raise NotApplicable
        if rng.random() < 0.5:
            connection.execute(f"UPDATE {RANGES} SET jsonText = ?", (text[:1000],))
            where = "all ranges"
        else:
            names = columns(connection, RANGES)
            changed = {"eventType": "34", "jsonText": "?", '"end"': "NULL"}
            values = ", ".join(changed.get(n, changed.get(f'"{n}"', f'"{n}"')) for n in names)
            connection.execute(
                f"INSERT INTO {RANGES} SELECT {values} FROM {RANGES} LIMIT 20",
                (mark % ((text, "1") if rng.random() < 0.5 else ("1", text)),),
            )
            where = "backtraces"
    return Applied(f"{name} in the payload of {where}", Allowed.SAME_VERDICT)


MUTATIONS: tuple[Mutation, ...] = (
    hostile_kernel_names,
    hostile_thread_names,
    hostile_texts,
    hostile_column_name,
    hostile_payloads,
)
