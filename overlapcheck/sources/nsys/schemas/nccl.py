"""NCCL's calls: NVTX ranges with a binary payload, whose layout the export describes.

NCCL pushes a range in each of its functions, with a struct: message size, root, reduction; older
versions leave the communicator out. nsys exports these bytes only when asked
(`--include-blobs`, from 2024 on), as the number of payloads, then of each its schema, its length
and where it begins, and then the payloads:

    01 00 00 00 00 00 00 00                    one payload
    05 00 00 01 00 00 00 00  18 ..  20 ..      schema 0x1000005, 24 bytes, from byte 32
    88 59 3a a9 97 f6 f7 d9  00 00 00 09 ..    its fields

Fields are found by the names of their entries, never by place.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from overlapcheck.columns import ABSENT, Index, Ints
from overlapcheck.nccl_calls import NcclCall, NcclCalls
from overlapcheck.recorder import Content
from overlapcheck.sources.nsys.schemas.nvtx import NVTX, RANGE_TYPES
from overlapcheck.sources.nsys.schemas.select import (
    by_start_outer_first,
    column,
    decoded,
    integers,
    process,
    select,
    text,
    texts,
    thread,
)
from overlapcheck.trace import Missing

if TYPE_CHECKING:
    from overlapcheck.sources.nsys.database import Database

ENTRIES = "NVTX_PAYLOAD_SCHEMA_ENTRIES"
_NAME = re.compile(r"nccl(\w+?)(?:Config)?")
_CALLS = {call.name.replace("_", ""): call for call in NcclCall} | {"BCAST": NcclCall.BROADCAST}
# Names of entries, small; NCCL calls the parent of a split communicator by a longer one.
_FIELDS = {
    "nccl communicator id": "communicator",
    "message size [bytes]": "bytes",
    "no. of ranks": "ranks",
    "no. of devices": "ranks",
}
# NVTX's predefined types of one number: bytes of each, signed as the struct has them.
_TYPES = {
    1: "i1",
    2: "u1",
    3: "i2",
    4: "u2",
    5: "i4",
    6: "u4",
    7: "i8",
    8: "u8",
    9: "i8",
    10: "u8",
    11: "i1",
    12: "u1",
    13: "i2",
    14: "u2",
    15: "i4",
    16: "u4",
    17: "i8",
    18: "u8",
    19: "f4",
    20: "f8",
    22: "u8",
    23: "u8",
}
_HEAD_BYTES, _PAYLOAD_HEAD_BYTES = 8, 24

_Bytes = npt.NDArray[np.uint8]


@dataclass(frozen=True)
class _Field:
    """A number in a payload."""

    name: str
    offset: int
    kind: np.dtype[np.generic]


_Layouts = Mapping[tuple[int, int], tuple[_Field, ...]]
"""Fields of each (domain, schema)."""


def read_nccl_calls(db: Database) -> NcclCalls | Missing:
    """Calls of NCCL, where the report recorded what they were about."""
    missing = Missing(Content.NCCL_CALLS, "the report holds no payloads of NCCL's NVTX ranges")
    if not db.has(NVTX, "start", "end", "eventType", "binaryData"):
        return missing
    layouts = _layouts(db)
    if not layouts:
        return missing
    registered = _registered(db)
    named = [f"textId IN ({', '.join(map(str, registered))})"] if registered else []
    named = named if db.has(NVTX, "textId") else []
    if db.has(NVTX, "text"):
        named.append("text LIKE 'nccl%'")
    if not named:
        return missing
    expressions = {
        "start_ns": "start",
        "end_ns": '"end"',
        "process": process(db, NVTX, thread=True),
        "tid": thread(db, NVTX),
        "domain": column(db, NVTX, "domainId"),
        "name_id": column(db, NVTX, "textId"),
    }
    chosen = ", ".join(f"{sql} AS {name}" for name, sql in expressions.items())
    inline = text("text" if db.has(NVTX, "text") else "NULL")
    rows = db.query(
        f"SELECT {chosen}, {inline} AS inline, {text('binaryData')} AS payload"
        f' FROM "{db.resolve(NVTX)}" WHERE eventType IN {RANGE_TYPES} AND "end" >= start'
        f" AND ({' OR '.join(named)})"
    )
    columns = {name: integers(rows, name) for name in expressions}
    domain, name_id = columns.pop("domain"), columns.pop("name_id")
    columns["call"] = np.array(
        [
            registered.get(number, NcclCall.OTHER) if not name else _call(decoded(name))
            for number, name in zip(
                name_id.tolist(), rows.column("inline").to_pylist(), strict=True
            )
        ],
        dtype=np.int64,
    )
    columns |= _fields(rows.column("payload").to_pylist(), domain, layouts)
    told = (columns["bytes"] != ABSENT) | (columns["ranks"] != ABSENT)
    return NcclCalls(**by_start_outer_first(columns)) if told.any() else missing


def _call(name: str) -> NcclCall:
    found = _NAME.fullmatch(name)
    return _CALLS.get(found[1].upper(), NcclCall.OTHER) if found else NcclCall.OTHER


def _registered(db: Database) -> dict[int, NcclCall]:
    """NCCL's functions by the id of their name."""
    if not db.has("StringIds", "id", "value"):
        return {}
    rows = db.query(f"SELECT id, {text('value')} AS value FROM StringIds WHERE value LIKE 'nccl%'")
    pairs = zip(integers(rows, "id").tolist(), texts(rows, "value"), strict=True)
    # Names of kernels begin alike.
    return {number: _call(name) for number, name in pairs if _NAME.fullmatch(name)}


def _layouts(db: Database) -> _Layouts:
    if not db.has(ENTRIES, "domainId", "schemaId", "idx", "type", "name"):
        return {}
    expressions = {
        name: column(db, ENTRIES, name, 0)
        for name in ("domainId", "schemaId", "idx", "type", "flags", "offset")
    }
    chosen = ", ".join(f'{sql} AS "{name}"' for name, sql in expressions.items())
    rows = db.query(f'SELECT {chosen}, {text("name")} AS name FROM "{db.resolve(ENTRIES)}"')
    numbers = [integers(rows, name).tolist() for name in expressions]
    found: dict[tuple[int, int], dict[int, tuple[int, int, int, str]]] = {}
    differ = set()
    for domain, schema, idx, kind, flags, offset, name in zip(
        *numbers, texts(rows, "name"), strict=True
    ):
        # Every process describes its own, and the export does not say which is whose.
        entry = (kind, flags, offset, name.casefold())
        if found.setdefault((domain, schema), {}).setdefault(idx, entry) != entry:
            differ.add((domain, schema))
    sizes = _enum_bytes(db)
    layouts = {
        key: tuple(_placed([entries[i] for i in sorted(entries)], key[0], sizes))
        for key, entries in found.items()
        if key not in differ
    }
    return {key: fields for key, fields in layouts.items() if fields}


def _enum_bytes(db: Database) -> dict[tuple[int, int], int]:
    if not db.has("NVTX_PAYLOAD_ENUMS", "domainId", "schemaId", "size"):
        return {}
    names = ("domainId", "schemaId", "size")
    rows = select(db, "NVTX_PAYLOAD_ENUMS", {n: f"ifnull({n}, 0)" for n in names})
    domain, schema, size = (rows[name].tolist() for name in names)
    return dict(zip(zip(domain, schema, strict=True), size, strict=True))


def _placed(
    entries: list[tuple[int, int, int, str]], domain: int, sizes: Mapping[tuple[int, int], int]
) -> Iterator[_Field]:
    """The wanted fields; one without an offset follows the one before it, aligned to itself."""
    end: int | None = 0
    for kind, flags, offset, name in entries:
        code = _TYPES.get(kind)
        width = int(code[1]) if code else sizes.get((domain, kind), 0)
        if not offset and end is not None and width:
            offset = -(-end // width) * width
        at = offset if offset or end == 0 else None
        # Arrays, pointers and structs of unknown size leave the place of what follows open.
        end = at + width if at is not None and width and not flags else None
        if code and code[0] != "f" and end is not None and at is not None and name in _FIELDS:
            yield _Field(_FIELDS[name], at, np.dtype(f"<{code}"))


def _fields(payloads: list[bytes], domain: Ints, layouts: _Layouts) -> dict[str, Ints]:
    """Values of each row; ABSENT where its payload does not tell."""
    found = {name: np.full(domain.shape, ABSENT, dtype=np.int64) for name in _FIELDS.values()}
    lengths = np.array([len(payload) for payload in payloads], dtype=np.int64)
    for length in np.unique(lengths[lengths >= _HEAD_BYTES + _PAYLOAD_HEAD_BYTES]).tolist():
        # One schema makes payloads of one length: all of them are read at once.
        rows = np.flatnonzero(lengths == length)
        data = np.frombuffer(b"".join(payloads[i] for i in rows), dtype=np.uint8)
        for part, schema, place in _payloads(data.reshape(-1, length), domain[rows], layouts):
            for field in layouts[schema]:
                at = place.start + field.offset
                stop = at + field.kind.itemsize
                if stop <= place.stop:
                    raw = np.ascontiguousarray(data.reshape(-1, length)[part, at:stop])
                    found[field.name][rows[part]] = raw.view(field.kind)[:, 0].astype(np.int64)
    return found


def _payloads(
    data: _Bytes, domain: Ints, layouts: _Layouts
) -> Iterator[tuple[Index, tuple[int, int], slice]]:
    """Payloads of known schemas in equally long rows: which rows, its (domain, schema), where."""
    length = data.shape[1]
    count = np.ascontiguousarray(data[:, :_HEAD_BYTES]).view("<u8")[:, 0]
    for number in range((length - _HEAD_BYTES) // _PAYLOAD_HEAD_BYTES):
        begin = _HEAD_BYTES + number * _PAYLOAD_HEAD_BYTES
        has = np.flatnonzero(count > number)
        heads = np.ascontiguousarray(data[has, begin : begin + _PAYLOAD_HEAD_BYTES]).view("<u8")
        keys = np.column_stack((domain[has], heads.astype(np.int64)))
        for key in np.unique(keys, axis=0):
            where, schema, size, offset = key.tolist()
            if (where, schema) in layouts and 0 <= offset <= offset + size <= length:
                mine = has[(keys == key).all(axis=1)]
                yield mine, (where, schema), slice(offset, offset + size)
