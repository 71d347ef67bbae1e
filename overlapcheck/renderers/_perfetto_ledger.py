"""The idle ledger as slices whose lengths add up exactly, however many pieces there were."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from overlapcheck.ledger import Reason
from overlapcheck.measurements import DeviceMeasurements, Names
from overlapcheck.order import Work
from overlapcheck.quantities import duration
from overlapcheck.redaction import names_no_one
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
    pieces = zip(
        device.ledger.start_ns.tolist(),
        device.ledger.end_ns.tolist(),
        device.ledger.reason.tolist(),
        strict=True,
    )
    groups = _groups(pieces, -(-count // most))
    while (bars := sum(len(group.added) for group in groups)) > most and len(groups) > 1:
        # As many times too many bars, as many times longer groups.
        factor = max(2, -(-bars // most))
        groups = [_joined(groups[n : n + factor]) for n in range(0, len(groups), factor)]
    return [bar for group in groups for bar in _bars(group)]


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
        args: dict[str, Any] = {
            "before_kernel": plain(names_no_one(names.strings.text(kernel)), 200)
        }
        if call >= 0:
            args["thread"] = _told(names.thread(device.process, tid), 80)
            args["call"] = f"{plain(names.strings.text(call), 80)} ({duration(call_ns)})"
        if work != Work.NONE:
            args["operation"] = f"{Work(work).name.lower()} on stream {stream}"
            args |= {"bytes": moved} if moved > 0 else {}
        slices.append(Slice(Reason(reason).cause, start, end, args))
    return slices


@dataclass
class _Group:
    """Neighbouring pieces, added up."""

    start_ns: int
    added: dict[int, list[int]]
    """By reason: their length, and how many they are."""


def _groups(pieces: Iterable[tuple[int, int, int]], size: int) -> list[_Group]:
    """Each so many neighbours (start, end, reason) as a group."""
    groups: list[_Group] = []
    added: dict[int, list[int]] = {}
    for number, (start, end, reason) in enumerate(pieces):
        if number % size == 0:
            added = {}
            groups.append(_Group(start, added))
        total = added.get(reason)
        if total is None:
            added[reason] = [end - start, 1]
        else:
            total[0] += end - start
            total[1] += 1
    return groups


def _joined(groups: list[_Group]) -> _Group:
    whole: dict[int, list[int]] = {}
    for group in groups:
        for reason, (ns, count) in group.added.items():
            total = whole.setdefault(reason, [0, 0])
            total[0] += ns
            total[1] += count
    return _Group(groups[0].start_ns, whole)


def _bars(group: _Group) -> Iterator[Slice]:
    """One bar per cause, laid end to end from where the first piece begins.

    The pieces are disjoint, so the bars of a group end before the next group begins.
    """
    at = group.start_ns
    for reason, (ns, count) in group.added.items():
        yield Slice(Reason(reason).cause, at, at + ns, {"pieces": count})
        at += ns


def _told(name: str, width: int) -> str:
    return plain(names_no_one(name), width)
