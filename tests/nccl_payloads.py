"""Gives drawn NVTX ranges of NCCL the payloads that NCCL would have given them.

t1 nvtx ncclAllReduce |.a..b.|       in a picture, and then with_payloads(path, ...)
"""

from __future__ import annotations

import sqlite3
import struct
from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

COMMUNICATOR = 0xD9F7F697A93A5988
COMM, SIZE, RANKS = "NCCL communicator ID", "Message size [bytes]", "No. of ranks"
INT, UINT64, SIZE_T = 5, 18, 22
MESSAGE, MAKING = 0x1000005, 0x1000000
Entry = tuple[str, int, int | None]
"""Name, type and offset of a field, as nsys exports them."""
MESSAGE_ENTRIES: Sequence[Entry] = ((COMM, UINT64, None), (SIZE, SIZE_T, 8), ("Root", INT, 16))
MAKING_ENTRIES: Sequence[Entry] = ((COMM, UINT64, None), (RANKS, INT, 8), ("Rank", INT, 12))
_TABLES = """
CREATE TABLE IF NOT EXISTS NVTX_PAYLOAD_SCHEMA_ENTRIES (domainId INTEGER, schemaId INTEGER,
    idx INTEGER, flags INTEGER, type INTEGER, name TEXT, description TEXT,
    arrayOrUnionDetail INTEGER, offset INTEGER);
CREATE TABLE IF NOT EXISTS NVTX_PAYLOAD_ENUMS (domainId INTEGER, schemaId INTEGER, name TEXT,
    numEntries INTEGER, size INTEGER);
"""


@dataclass(frozen=True)
class Message:
    """What one call is about."""

    size: int
    communicator: int = COMMUNICATOR


def blob(*payloads: tuple[int, bytes]) -> bytes:
    """What nsys exports for some (schema, bytes)."""
    place = 8 + 24 * len(payloads)
    heads, bodies = struct.pack("<Q", len(payloads)), b""
    for schema, body in payloads:
        heads += struct.pack("<QQQ", schema, len(body), place + len(bodies))
        bodies += body
    return heads + bodies


def describe(
    path: Path, schema: int, entries: Sequence[Entry], *, domain: int = 0, flags: int | None = None
) -> None:
    """Tell the layout of a schema."""
    with closing(sqlite3.connect(path)) as connection:
        connection.executescript(_TABLES)
        connection.executemany(
            "INSERT INTO NVTX_PAYLOAD_SCHEMA_ENTRIES VALUES (?, ?, ?, ?, ?, ?, NULL, NULL, ?)",
            [
                (domain, schema, number, flags, kind, name, offset)
                for number, (name, kind, offset) in enumerate(entries)
            ],
        )
        connection.commit()


def attach(path: Path, name: str, blobs: Sequence[bytes]) -> None:
    """Give the ranges of a name, in order of time, their payloads; the last one again and again."""
    with closing(sqlite3.connect(path)) as connection:
        rows = connection.execute(
            "SELECT rowid FROM NVTX_EVENTS WHERE text = ? ORDER BY start", (name,)
        ).fetchall()
        assert rows, f"no range {name} is drawn"
        connection.executemany(
            "UPDATE NVTX_EVENTS SET binaryData = ? WHERE rowid = ?",
            [(blobs[min(n, len(blobs) - 1)], row) for n, (row,) in enumerate(rows)],
        )
        connection.commit()


def with_payloads(
    path: Path,
    messages: Mapping[str, Sequence[Message]],
    *,
    ranks: Mapping[int, int] | None = None,
) -> Path:
    """Payloads for drawn ranges, in NCCL's own layout.

    Args:
        path: a drawn export, changed in place.
        messages: by name of the range, in order of time; the last counts for all that follow.
        ranks: of each communicator, told by drawn ranges `ncclCommInitRank`.
    """
    describe(path, MESSAGE, MESSAGE_ENTRIES)
    describe(path, MAKING, MAKING_ENTRIES)
    for name, told in messages.items():
        bodies = [struct.pack("<QQii", one.communicator, one.size, 0, 0x7FB1) for one in told]
        attach(path, name, [blob((MESSAGE, body)) for body in bodies])
    if ranks:
        made = [struct.pack("<Qiiii", one, count, 0, 0, 0) for one, count in ranks.items()]
        attach(path, "ncclCommInitRank", [blob((MAKING, body)) for body in made])
    return path
