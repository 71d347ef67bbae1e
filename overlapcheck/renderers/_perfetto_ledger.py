"""The idle ledger as slices whose lengths add up exactly, however many pieces there were."""

from __future__ import annotations

from typing import Any

from overlapcheck.ledger import Reason, Work
from overlapcheck.measurements import DeviceMeasurements, Names
from overlapcheck.quantities import duration
from overlapcheck.renderers._perfetto_slices import Slice
from overlapcheck.renderers._plain_text import plain

MOST_PIECES = 100_000
"""Pieces of all devices that are drawn one by one; neighbours are added up beyond that."""


def ledger_slices(device: DeviceMeasurements, names: Names, most: int) -> list[Slice]:
    """One bar for each piece of idle time, or for the pieces of one cause among neighbours.

    Args:
        device: whose ledger.
        names: texts for its ids.
        most: bars.
    """
    count = len(device.ledger)
    if count <= most:
        return _single(device, names)
    pieces = list(
        zip(
            device.ledger.start_ns.tolist(),
            device.ledger.end_ns.tolist(),
            device.ledger.reason.tolist(),
            strict=True,
        )
    )
    group = -(-count // most)
    while len(merged := _merged(pieces, group)) > most and group < count:
        group *= 2
    return merged


def _single(device: DeviceMeasurements, names: Names) -> list[Slice]:
    ledger = device.ledger
    columns = (
        ledger.start_ns,
        ledger.end_ns,
        ledger.reason,
        ledger.kernel_name_id,
        ledger.tid,
        ledger.call_name_id,
        ledger.call_ns,
        ledger.work,
        ledger.work_stream_id,
        ledger.work_bytes,
    )
    slices = []
    for start, end, reason, kernel, tid, call, call_ns, work, stream, moved in zip(
        *(column.tolist() for column in columns), strict=True
    ):
        args: dict[str, Any] = {"before_kernel": plain(names.strings.text(kernel), 200)}
        if call >= 0:
            args["thread"] = plain(names.thread(device.key.pid, tid), 80)
            args["call"] = f"{plain(names.strings.text(call), 80)} ({duration(call_ns)})"
        if work != Work.NONE:
            args["operation"] = f"{Work(work).name.lower()} on stream {stream}"
            args |= {"bytes": moved} if moved > 0 else {}
        slices.append(Slice(Reason(reason).cause, start, end, args))
    return slices


def _merged(pieces: list[tuple[int, int, int]], group: int) -> list[Slice]:
    """Each so many neighbours as one bar per cause, laid end to end from where the first begins.

    The pieces are disjoint, so the bars of a group end before the next group begins.
    """
    slices = []
    for first in range(0, len(pieces), group):
        some = pieces[first : first + group]
        added: dict[int, list[int]] = {}
        for start, end, reason in some:
            total = added.setdefault(reason, [0, 0])
            total[0] += end - start
            total[1] += 1
        at = some[0][0]
        for reason, (ns, count) in added.items():
            slices.append(Slice(Reason(reason).cause, at, at + ns, {"pieces": count}))
            at += ns
    return slices
