"""The full tables of a measurement as data frames: ids as names, one table for all devices."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import pandas as pd

from overlapcheck.columns import ABSENT, Columns, Ints, Whole
from overlapcheck.ledger import Reason
from overlapcheck.measurements import ComputeGaps, DeviceMeasurements, Measurements, Names
from overlapcheck.order import Relation, Work
from overlapcheck.redaction import names_no_one

_REASONS = {int(reason): reason.cause for reason in Reason}
_WORKS = {int(work): work.name.lower() for work in Work if work is not Work.NONE}
_RELATIONS = {
    int(relation): relation.name.lower().replace("_", "-")
    for relation in Relation
    if relation is not Relation.NONE
}


def measured_tables(measured: Measurements) -> dict[str, pd.DataFrame]:
    """Every table by name; the first two columns say which device a row belongs to.

    gaps        idle time between kernels, of the device and of each compute stream
    blocking    calls that held a thread, per API and thread
    steps       the steps of the window
    ledger      every piece of idle time with its cause
    contention  kernels that run longer under a transfer
    streams     when each stream was busy, and with what
    """
    return {name: _of_all_devices(measured, make) for name, make in _makers().items()}


def measured_table(measured: Measurements, name: str) -> pd.DataFrame:
    """One of the tables, see `measured_tables`."""
    return _of_all_devices(measured, _makers()[name])


def table_names() -> tuple[str, ...]:
    """Names of all tables."""
    return tuple(_makers())


def _makers() -> dict[str, Callable[[DeviceMeasurements, Names], _Row]]:
    return {
        "gaps": _gaps,
        "blocking": _blocking,
        "steps": _steps,
        "ledger": _ledger,
        "contention": _contention,
        "streams": _streams,
    }


_Row = dict[str, Any]
"""Columns by name."""


def _of_all_devices(
    measured: Measurements, make: Callable[[DeviceMeasurements, Names], _Row]
) -> pd.DataFrame:
    frames = [
        pd.DataFrame(
            {"pid": device.key.pid, "device": device.key.device_id, **make(device, measured.names)}
        )
        for device in measured.devices
    ]
    # A frame without rows has columns of no particular type.
    frames = [frame for frame in frames if len(frame)] or frames[:1]
    if not frames:
        return pd.DataFrame({"pid": [], "device": []}, dtype="int64")
    return pd.concat(frames, ignore_index=True)


def _plain(table: Columns, without: tuple[str, ...] = ()) -> _Row:
    frame = table.frame()
    return {str(name): frame[name] for name in frame.columns if name not in without}


def _gaps(device: DeviceMeasurements, names: Names) -> _Row:
    gaps = _longest_first((device.gaps, *device.stream_gaps))
    return {
        **_plain(gaps, ("before_name_id", "after_name_id")),
        "context_id": _optional(gaps.context_id),
        "stream_id": _optional(gaps.stream_id),
        "before_kernel": _texts(gaps.before_name_id, names),
        "after_kernel": _texts(gaps.after_name_id, names),
    }


def _longest_first(parts: tuple[ComputeGaps, ...]) -> ComputeGaps:
    """All rows; of equally long ones the device's, then by stream and start."""
    gaps = ComputeGaps(
        *(
            np.concatenate([getattr(part, name) for part in parts])
            for name in ComputeGaps.__dataclass_fields__
        )
    )
    return gaps.rows(np.argsort(gaps.start_ns - gaps.end_ns, kind="stable"))


def _blocking(device: DeviceMeasurements, names: Names) -> _Row:
    calls = device.blocking
    return {
        "api": _texts(calls.name_id, names),
        "thread": _threads(calls.tid, device, names),
        **_plain(calls, ("name_id",)),
    }


def _steps(device: DeviceMeasurements, _: Names) -> _Row:
    return _plain(device.steps)


def _contention(device: DeviceMeasurements, names: Names) -> _Row:
    table = device.contention
    return {"kernel": _texts(table.name_id, names), **_plain(table, ("name_id",))}


def _ledger(device: DeviceMeasurements, names: Names) -> _Row:
    ledger = device.ledger
    sites = names.sites.items()
    return {
        "start_ns": ledger.start_ns,
        "end_ns": ledger.end_ns,
        "cause": _words(ledger.reason, _REASONS),
        "step": _optional(device.steps.numbers_at(ledger.start_ns)),
        "kernel": _texts(ledger.kernel_name_id, names),
        "kernel_stream_id": _optional(ledger.kernel_stream_id),
        "work": _words(ledger.work, _WORKS),
        "work_name": _texts(ledger.work_name_id, names),
        "work_stream_id": _optional(ledger.work_stream_id),
        "work_bytes": ledger.work_bytes,
        "work_ns": ledger.work_ns,
        "relation": _words(ledger.relation, _RELATIONS),
        "inferred": ledger.inferred,
        "thread": _threads(ledger.tid, device, names),
        "tid": _optional(ledger.tid),
        "call": _texts(ledger.call_name_id, names),
        "call_start_ns": _optional(ledger.call_start_ns),
        "call_ns": _optional(ledger.call_ns),
        "call_work": _words(ledger.call_work, _WORKS),
        "call_bytes": _optional(ledger.call_bytes),
        "call_stream_id": _optional(ledger.call_stream_id),
        "os_call": _texts(ledger.os_name_id, names),
        "source_file": _words(ledger.site, {number: place.file for number, place in sites}),
        "source_line": pd.Series(ledger.site)
        .map({number: place.line for number, place in sites})
        .astype("Int64"),
        "source_function": _words(ledger.site, {number: site.function for number, site in sites}),
    }


def _streams(device: DeviceMeasurements, _: Names) -> _Row:
    pieces = [
        {
            "context_id": stream.context_id,
            "stream_id": stream.stream_id,
            "role": stream.role.value,
            "busy_with": what,
            "start_ns": busy.start_ns,
            "end_ns": busy.end_ns,
        }
        for stream in device.streams
        for what, busy in (
            ("compute", stream.compute),
            ("communication", stream.communication),
            *((direction.value, busy) for direction, busy in stream.copies.items()),
            ("memset", stream.memset),
        )
        if busy
    ]
    if not pieces:
        return {}
    frame = pd.concat([pd.DataFrame(piece) for piece in pieces], ignore_index=True)
    return {str(name): frame[name] for name in frame.columns}


def _words(ids: Whole, words: Mapping[int, str]) -> pd.Series[str]:
    """The word of each id; a missing value where it has none."""
    return pd.Series(ids).map({i: names_no_one(word) for i, word in words.items()}).astype("string")


def _texts(ids: Ints, names: Names) -> pd.Series[str]:
    distinct = pd.unique(ids).tolist()
    return _words(ids, {i: names.strings.text(i) for i in distinct if i != ABSENT})


def _threads(tids: Ints, device: DeviceMeasurements, names: Names) -> pd.Series[str]:
    distinct = pd.unique(tids).tolist()
    return _words(tids, {i: names.thread(device.process, i) for i in distinct if i != ABSENT})


def _optional(ids: Whole) -> pd.Series[int]:
    """Ids with a missing value for ABSENT and other negative numbers."""
    series = pd.Series(ids).astype("Int64")
    return series.mask(series < 0)
