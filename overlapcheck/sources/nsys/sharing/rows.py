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
from typing import TYPE_CHECKING

import numpy as np

from overlapcheck.columns import Ints, Mask
from overlapcheck.grouping import distinct
from overlapcheck.shared_part import Part
from overlapcheck.sources.nsys.schemas import host_calls, nvtx
from overlapcheck.sources.nsys.schemas._select import (
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
    RANGES,
    TARGET,
    THREADS,
    TIMED,
)

if TYPE_CHECKING:
    from overlapcheck.sources.nsys.database import Database

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
    span_ns = part.span_ns
    calls = _read(db, host_calls.RUNTIME, CALLS)
    mine = _Calls.of(calls, span_ns)
    if calls:
        yield host_calls.RUNTIME, _chosen(calls, mine.chosen)
    for tables in (DEVICE_WORK, OF_CALLS):
        for table, columns in tables.items():
            rows = _read(db, table, columns)
            if rows:
                yield table, _chosen(rows, mine.made(rows, span_ns))
    for table, columns in TIMED.items():
        rows = _read(db, table, columns)
        if rows:
            which = _touching(rows, span_ns)
            if table == host_calls.OSRT:
                which &= _telling_os_calls(rows, calls, part.shortest_os_call_ns)
            yield table, _chosen(rows, which)
    if db.has(nvtx.NVTX, "start", "end", "eventType"):
        yield nvtx.NVTX, _ranges(db, span_ns)
    for table, columns in {**TARGET, "ThreadNames": THREADS}.items():
        rows = _read(db, table, columns)
        if rows:
            yield table, Chosen(rows, _count(rows))


def _read(db: Database, table: str, columns: tuple[str, ...]) -> dict[str, Ints]:
    present = [name for name in columns if db.has(table, name)]
    if not present:
        return {}
    return fetch(db, table, {name: Source(name, NULL) for name in present})


def _telling_os_calls(
    rows: Mapping[str, Ints], calls: Mapping[str, Ints], shortest_ns: int
) -> Mask:
    """OS calls of the threads that also call CUDA, which alone are read, if long enough."""
    which = np.ones(_count(rows), dtype=bool)
    if "globalTid" in calls and "globalTid" in rows:
        which &= np.isin(rows["globalTid"], calls["globalTid"])
    if shortest_ns and "start" in rows and "end" in rows:
        which &= rows["end"] - rows["start"] >= shortest_ns
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


def _chosen(rows: dict[str, Ints], which: Mask) -> Chosen:
    return Chosen(kept(rows, which), _count(rows))


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
    """The CUDA calls of an export, and those of the part among them."""

    pids: Ints
    """Processes that made calls; empty where no call says its own."""
    keys: Ints
    """Process and correlation id of each call, see `_key`."""
    chosen: Mask

    @classmethod
    def of(cls, rows: Mapping[str, Ints], span_ns: tuple[int, int] | None) -> _Calls:
        none = np.empty(0, dtype=np.int64)
        if not rows:
            return cls(none, none, np.empty(0, dtype=bool))
        pids = distinct(rows["globalTid"] >> 24) if "globalTid" in rows else none
        keys = rows.get("correlationId", none)
        if pids.size and keys.size:
            keys = _key(np.searchsorted(pids, rows["globalTid"] >> 24), keys)
        return cls(pids, keys, _begins(rows, span_ns))

    def made(self, rows: Mapping[str, Ints], span_ns: tuple[int, int] | None) -> Mask:
        """Rows that a chosen call made, and those of the part's time that no call at all made."""
        if span_ns is None:
            return _begins(rows, None)
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
        mask: Mask = np.isin(keys, self.keys[self.chosen])
        return mask | (in_time & ~np.isin(keys, self.keys))


def _key(process: Ints, correlation_id: Ints) -> Ints:
    key: Ints = np.where(correlation_id == NULL, NULL, correlation_id + (process << _ID_BITS))
    return key
