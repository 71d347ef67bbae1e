"""The worst pieces of each cause, and the chain behind each: launch, wait, kernel."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from overlapcheck.columns import ABSENT, Ints
from overlapcheck.finding import MATERIAL_SHARE, Finding
from overlapcheck.kinds import StreamKey
from overlapcheck.ledger import IdleLedger, Reason
from overlapcheck.measurements import DeviceMeasurements
from overlapcheck.order import Work
from overlapcheck.quantities import duration, size
from overlapcheck.reporting.timeline_rows import Drawing, HostCalls
from overlapcheck.timeline import Instance, Mark
from overlapcheck.trace import Copies, Kernels, Memsets, Trace, rows_or_none

INSTANCES = 3
"""Of a cause that matters; one of the others."""
_COPIES = (Work.H2D, Work.D2H, Work.P2P)
_NEAR = 20_000
"""Operations that are looked through, back from a piece."""
_BEFORE, _AFTER = 12, 6
"""How many times its length a piece is shown with, at most, before and after it."""


@dataclass(frozen=True)
class Worst:
    """The pieces to show, and the kernel that ended each."""

    cause: list[str]
    piece: list[int]
    """Row of the ledger."""
    kernel: list[int]
    """Row of the trace's kernels; -1 where none."""
    correlation_ids: Ints
    """Of those kernels."""


def worst_pieces(trace: Trace, device: DeviceMeasurements) -> Worst:
    """The longest pieces of each cause of the ledger, costliest cause first."""
    ledger = device.ledger
    length = ledger.end_ns - ledger.start_ns
    total = np.bincount(ledger.reason, weights=length, minlength=len(Reason))
    causes: list[str] = []
    pieces: list[int] = []
    for reason in np.argsort(-total, kind="stable").tolist():
        rows = np.flatnonzero(ledger.reason == reason)
        material = total[reason] >= MATERIAL_SHARE * device.window.length_ns
        most = INSTANCES if material else 1
        chosen = rows[np.argsort(-length[rows], kind="stable")[:most]].tolist()
        pieces += chosen
        causes += [Reason(reason).cause] * len(chosen)
    kernels = rows_or_none(trace.kernels, Kernels)
    found = [_kernel_after(kernels, device, piece) for piece in pieces]
    known = np.array([row for row in found if row >= 0], dtype=np.intp)
    return Worst(causes, pieces, found, kernels.correlation_id[known])


def _kernel_after(kernels: Kernels, device: DeviceMeasurements, piece: int) -> int:
    """The kernel that ended the idle time which a piece is part of."""
    ledger = device.ledger
    stream, name = int(ledger.kernel_stream_id[piece]), int(ledger.kernel_name_id[piece])
    if stream == ABSENT:
        return -1
    at = int(np.searchsorted(kernels.start_ns, ledger.end_ns[piece]))
    while at < len(kernels) and kernels.start_ns[at] < device.window.end_ns:
        rows = slice(at, at + 4096)
        hit = (
            (kernels.stream_id[rows] == stream)
            & (kernels.name_id[rows] == name)
            & (kernels.pid[rows] == device.key.pid)
            & (kernels.device_id[rows] == device.key.device_id)
        )
        if hit.any():
            return at + int(np.argmax(hit))
        at += 4096
    return -1


def instances(
    trace: Trace,
    device: DeviceMeasurements,
    worst: Worst,
    drawing: Drawing,
    host: HostCalls,
    findings: tuple[Finding, ...],
) -> tuple[Instance, ...]:
    """The chains of the worst pieces; causes outside the ledger have a place but no chain.

    Args:
        trace: tables and names.
        device: whose ledger.
        worst: the pieces to show.
        drawing: the rows that marks are put in.
        host: launch calls of the kernels.
        findings: those of the device, for causes that are no idle time.
    """
    made = [
        _instance(trace, device, cause, piece, kernel, drawing, host)
        for cause, piece, kernel in zip(worst.cause, worst.piece, worst.kernel, strict=True)
    ]
    for found in findings:
        if found.cause not in worst.cause and found.blamed:
            at = int(np.argmax(found.blamed.length_ns))
            start, end = int(found.blamed.start_ns[at]), int(found.blamed.end_ns[at])
            made.append(Instance(found.cause, start, end, *_view(device, start, end, ()), marks=()))
    return tuple(made)


def _instance(
    trace: Trace,
    device: DeviceMeasurements,
    cause: str,
    piece: int,
    kernel: int,
    drawing: Drawing,
    host: HostCalls,
) -> Instance:
    one = device.ledger.rows(slice(piece, piece + 1))
    start, end = int(one.start_ns[0]), int(one.end_ns[0])
    marks = [Mark(0, start, end, "idle", f"{duration(end - start)} without compute")]
    marks += _held(trace, device, one, drawing)
    marks += _waited_for(trace, device, one, drawing)
    if kernel >= 0:
        marks += _launch_and_kernel(trace, kernel, drawing, host)
    # A held call that is the launch itself is one link, not two.
    launches = {(m.row, m.start_ns) for m in marks if m.role == "launch"}
    marks = [m for m in marks if m.role != "held" or (m.row, m.start_ns) not in launches]
    marks.sort(key=lambda mark: (mark.start_ns, mark.end_ns))
    chain = tuple(marks)
    return Instance(cause, start, end, *_view(device, start, end, chain), marks=chain)


def _thread(trace: Trace, device: DeviceMeasurements, tid: int) -> str:
    return trace.thread_names.get((device.key.pid, tid), "") or f"thread {tid}"


def _held(
    trace: Trace, device: DeviceMeasurements, one: IdleLedger, drawing: Drawing
) -> list[Mark]:
    tid, name = int(one.tid[0]), int(one.call_name_id[0])
    if name == ABSENT or tid not in drawing.thread_rows:
        return []
    start, length = int(one.call_start_ns[0]), int(one.call_ns[0])
    text = f"{trace.strings.text(name)} in {_thread(trace, device, tid)}, {duration(length)}"
    return [Mark(drawing.thread_rows[tid], start, start + length, "held", text)]


def _waited_for(
    trace: Trace, device: DeviceMeasurements, one: IdleLedger, drawing: Drawing
) -> list[Mark]:
    """The operation that filled the idle time, and the one that the holding call was making."""
    start, end = int(one.start_ns[0]), int(one.end_ns[0])
    work, stream = Work(int(one.work[0])), int(one.work_stream_id[0])
    name = trace.strings.text(int(one.work_name_id[0]))
    found = _operation(trace, device, drawing, work, stream, start, end, int(one.work_ns[0]))
    marks = [_wait(mark, work, name, int(one.work_bytes[0])) for mark in found]
    called = Work(int(one.call_work[0]))
    if called in _COPIES:
        begun = int(one.call_start_ns[0])
        done = begun + int(one.call_ns[0])
        stream = int(one.call_stream_id[0])
        found = _operation(trace, device, drawing, called, stream, begun, done)
        made = [_wait(mark, called, "", int(one.call_bytes[0])) for mark in found]
        marks += [
            m for m in made if (m.row, m.start_ns) not in {(o.row, o.start_ns) for o in marks}
        ]
    return marks


def _operation(
    trace: Trace,
    device: DeviceMeasurements,
    drawing: Drawing,
    work: Work,
    stream_id: int,
    start_ns: int,
    end_ns: int,
    length_ns: int | None = None,
) -> list[Mark]:
    """The longest operation of a stream that touches a time, of exactly some length if given."""
    table: Kernels | Copies | Memsets
    if work is Work.NONE:
        return []
    if work in (Work.COMPUTE, Work.COMMUNICATION):
        table = rows_or_none(trace.kernels, Kernels)
    elif work is Work.MEMSET:
        table = rows_or_none(trace.memsets, Memsets)
    else:
        table = rows_or_none(trace.copies, Copies)
    stop = int(np.searchsorted(table.start_ns, end_ns))
    first = max(stop - _NEAR, 0)
    near = table.rows(slice(first, stop))
    length = near.end_ns - near.start_ns
    mask = (near.pid == device.key.pid) & (near.stream_id == stream_id) & (near.end_ns > start_ns)
    if length_ns is not None:
        mask &= length == length_ns
    if not mask.any():
        return []
    at = int(np.argmax(np.where(mask, length, -1)))
    row = drawing.stream_rows.get(StreamKey(int(near.context_id[at]), stream_id))
    if row is None:
        return []
    return [Mark(row, int(near.start_ns[at]), int(near.end_ns[at]), "waited for", f"s{stream_id}")]


def _wait(mark: Mark, work: Work, name: str, moved: int) -> Mark:
    noun = work.name.lower() if work is Work.MEMSET else f"{work.name.lower()} copy"
    if work in (Work.COMPUTE, Work.COMMUNICATION):
        noun = name or work.name.lower()
    sized = f"{noun} of {size(moved)}" if moved > 0 else noun
    return replace(mark, text=f"{sized} on {mark.text}, {duration(mark.end_ns - mark.start_ns)}")


def _launch_and_kernel(trace: Trace, row: int, drawing: Drawing, host: HostCalls) -> list[Mark]:
    kernels = rows_or_none(trace.kernels, Kernels)
    key = StreamKey(int(kernels.context_id[row]), int(kernels.stream_id[row]))
    start, end = int(kernels.start_ns[row]), int(kernels.end_ns[row])
    marks = []
    if key in drawing.stream_rows:
        name = trace.strings.text(int(kernels.name_id[row])) or "graph launch"
        text = f"{name} on s{key.stream_id}, {duration(end - start)}"
        marks.append(Mark(drawing.stream_rows[key], start, end, "kernel", text))
    calls = host.launches
    at = int(np.searchsorted(calls.correlation_id, kernels.correlation_id[row]))
    if at < len(calls) and calls.correlation_id[at] == kernels.correlation_id[row]:
        tid, begun = int(calls.tid[at]), int(calls.start_ns[at])
        if tid in drawing.thread_rows:
            call = trace.strings.text(int(calls.name_id[at]))
            text = f"{call}, {duration(start - begun)} before its kernel"
            marks.append(
                Mark(drawing.thread_rows[tid], begun, int(calls.end_ns[at]), "launch", text)
            )
    return marks


def _view(
    device: DeviceMeasurements, start: int, end: int, marks: tuple[Mark, ...]
) -> tuple[int, int]:
    """A piece with its chain and a margin, but never so much that the piece is lost in it."""
    length = max(end - start, 1_000)
    first = max(min([start, *(m.start_ns for m in marks)]), start - _BEFORE * length)
    last = min(max([end, *(m.end_ns for m in marks)]), end + _AFTER * length)
    margin = max((last - first) // 8, 500)
    window = device.window
    return max(first - margin, window.start_ns), min(last + margin, window.end_ns)
