"""Which rows of an export belong to a part of its time.

    part            [===============)
    calls      c1     c2   c3   c4     c5      that begin in it: c2, c3, c4
    kernels      k1       k2    k3   k4  k5    of these calls, whenever they run: k2, k3, k4

So every call that is kept has its rows, and every row its call: what was recorded of a call is all
there, or all gone, and a part of a whole recording is whole. A row without any call, as of unified
memory, is kept by its own time; so is what the host does otherwise, and that may reach out of the
part.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from overlapcheck.columns import Index, Ints, Mask
from overlapcheck.grouping import distinct
from overlapcheck.shared_part import Part
from overlapcheck.sources.nsys.schemas import host_calls, nvtx
from overlapcheck.sources.nsys.schemas.select import (
    Source,
    decoded,
    fetch,
    integers,
    kept,
    text,
)
from overlapcheck.sources.nsys.sharing.tables import (
    CALLS,
    DEVICE_WORK,
    OF_CALLS,
    OS_CALLS,
    RANGES,
    TARGET,
    THREADS,
    TIMED,
)

if TYPE_CHECKING:
    from overlapcheck.sources.nsys.database import Database
    from overlapcheck.sources.nsys.excerpt import Keep

NULL = np.iinfo(np.int64).min
"""Stands for NULL: no time, and no id that nsys gives."""
_ID_BITS = 34
"""Correlation ids have 32."""


@dataclass(frozen=True)
class Chosen:
    """Rows of one table."""

    columns: Mapping[str, Ints]
    """By the export's own names; NULL where it says nothing."""
    before: int
    """Rows that the table has."""
    inline: Sequence[str] = ()
    """Names that stand in the rows themselves, one a row; empty where none do."""

    @property
    def count(self) -> int:
        """Rows chosen."""
        return next(iter(self.columns.values())).size


def chosen_rows(db: Database, part: Part) -> Iterator[tuple[str, Chosen]]:
    """The tables of an export with the rows of a part of it, by canonical name.

    Raises:
        NotWholeNumbers: a column holds something else.
    """
    begin = partial(_begins, span_ns=part.span_ns)
    calls = _Calls.of(_all_rows(db, host_calls.RUNTIME, _WHOSE), part.span_ns)
    made = partial(calls.made, span_ns=part.span_ns)
    touching = partial(_touching, span_ns=part.span_ns)
    os_calls = partial(_telling_os_calls, calls=calls, part=part)
    yield from _selected(db, {host_calls.RUNTIME: CALLS}, begin)
    yield from _selected(db, {**DEVICE_WORK, **OF_CALLS}, made)
    yield from _selected(db, TIMED, touching)
    yield from _selected(db, {host_calls.OSRT: OS_CALLS}, os_calls)
    if db.has(nvtx.NVTX, "start", "end", "eventType"):
        yield nvtx.NVTX, _ranges(db, part.span_ns)
    yield from _selected(db, {**TARGET, "ThreadNames": THREADS}, _all)


_WHOSE = ("start", "globalTid", "correlationId")


def _selected(
    db: Database, tables: Mapping[str, tuple[str, ...]], keep: Keep
) -> Iterator[tuple[str, Chosen]]:
    """Some rows of the tables that there are; a large table is never in memory as a whole."""
    for table, columns in tables.items():
        present = [name for name in columns if db.has(table, name)]
        if not present:
            continue
        counts: list[int] = []

        def counted(rows: Mapping[str, Ints], counts: list[int] = counts) -> Mask:
            counts.append(_count(rows))
            return keep(rows)

        rows = fetch(db, table, {name: Source(name, NULL) for name in present}, counted)
        yield table, Chosen(rows, sum(counts))


def _all_rows(db: Database, table: str, columns: tuple[str, ...]) -> dict[str, Ints]:
    present = [name for name in columns if db.has(table, name)]
    return fetch(db, table, {name: Source(name, NULL) for name in present}) if present else {}


def _all(rows: Mapping[str, Ints]) -> Mask:
    return np.ones(_count(rows), dtype=bool)


def _telling_os_calls(rows: Mapping[str, Ints], calls: _Calls, part: Part) -> Mask:
    """OS calls of the threads that also call CUDA, which alone are read, if long enough."""
    which = _touching(rows, part.span_ns)
    if calls.threads.size and "globalTid" in rows:
        which &= _among(rows["globalTid"], calls.threads)
    if part.shortest_os_call_ns and "start" in rows and "end" in rows:
        which &= rows["end"] - rows["start"] >= part.shortest_os_call_ns
    return which


def _ranges(db: Database, span_ns: tuple[int, int] | None) -> Chosen:
    """Closed ranges; marks and what programs hand over with them name whatever they like."""
    columns = [name for name in RANGES if db.has(nvtx.NVTX, name)]
    inline = text("text" if db.has(nvtx.NVTX, "text") else "NULL")
    chosen = ", ".join(f'ifnull("{name}", {NULL}) AS "{name}"' for name in columns)
    found = db.query(f'SELECT {chosen}, {inline} AS inline FROM "{db.resolve(nvtx.NVTX)}"')
    rows = {name: integers(found, name) for name in columns}
    which = _touching(rows, span_ns) & np.isin(rows["eventType"], nvtx.RANGE_TYPES)
    which &= rows["end"] >= rows["start"]
    names = found.column("inline")
    said = [decoded(names[row].as_py()) for row in np.flatnonzero(which).tolist()]
    return Chosen(kept(rows, which), len(found), said)


def _count(rows: Mapping[str, Ints]) -> int:
    return next(iter(rows.values())).size


def _begins(rows: Mapping[str, Ints], span_ns: tuple[int, int] | None) -> Mask:
    if span_ns is None or "start" not in rows:
        return np.ones(_count(rows), dtype=bool)
    mask: Mask = (rows["start"] >= span_ns[0]) & (rows["start"] < span_ns[1])
    return mask


def _touching(rows: Mapping[str, Ints], span_ns: tuple[int, int] | None) -> Mask:
    if span_ns is None or "end" not in rows or "start" not in rows:
        return _begins(rows, span_ns)
    mask: Mask = (rows["start"] < span_ns[1]) & (rows["end"] > span_ns[0])
    return mask


@dataclass(frozen=True)
class _Calls:
    """The CUDA calls of an export, and those of the part among them; ascending, each once."""

    threads: Ints
    """That made calls; empty where no call says its own."""
    pids: Ints
    """Processes, likewise."""
    keys: Ints
    """Process and correlation id of each call, see `_key`."""
    chosen: Ints
    """Those of the part."""

    @classmethod
    def of(cls, rows: Mapping[str, Ints], span_ns: tuple[int, int] | None) -> _Calls:
        none = np.empty(0, dtype=np.int64)
        threads = distinct(rows["globalTid"]) if "globalTid" in rows else none
        pids = distinct(threads >> 24)
        keys = rows.get("correlationId", none)
        if pids.size and keys.size:
            keys = _key(np.searchsorted(pids, rows["globalTid"] >> 24), keys)
        chosen = keys[_begins(rows, span_ns)] if keys.size else keys
        return cls(threads, pids, distinct(keys), distinct(chosen))

    def made(self, rows: Mapping[str, Ints], span_ns: tuple[int, int] | None) -> Mask:
        """Rows that a chosen call made, and those of the part's time that no call at all made."""
        if span_ns is None:
            return _all(rows)
        in_time = _begins(rows, span_ns)
        if "start" in rows and "end" in rows:
            # What has no time that can be is a fault of the recording, wherever it happened.
            in_time |= (rows["end"] < rows["start"]) | (rows["end"] == 0)
        if not self.keys.size or "correlationId" not in rows:
            return in_time
        keys = rows["correlationId"]
        if self.pids.size and "globalPid" in rows:
            pid = rows["globalPid"] >> 24
            at = np.minimum(np.searchsorted(self.pids, pid), self.pids.size - 1)
            keys = np.where(self.pids[at] == pid, _key(at, keys), NULL)
        elif self.pids.size > 1:
            return in_time
        return _among(keys, self.chosen) | (in_time & ~_among(keys, self.keys))


def _key(process: Index, correlation_id: Ints) -> Ints:
    key: Ints = np.where(correlation_id == NULL, NULL, correlation_id + (process << _ID_BITS))
    return key


def _among(values: Ints, ascending: Ints) -> Mask:
    """Whether each value is one of some: looked up, for they are many and the values a part."""
    if not ascending.size:
        return np.zeros(values.size, dtype=bool)
    at = np.minimum(np.searchsorted(ascending, values), ascending.size - 1)
    mask: Mask = ascending[at] == values
    return mask
