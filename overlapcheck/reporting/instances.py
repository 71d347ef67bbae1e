"""The worst pieces of each cause, and the chain behind each: launch, wait, kernel."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from overlapcheck.columns import ABSENT, Index
from overlapcheck.finding import MATERIAL_SHARE, Finding
from overlapcheck.kinds import StreamKey
from overlapcheck.ledger import IdleLedger, Reason
from overlapcheck.measurements import DeviceMeasurements
from overlapcheck.order import LINK_COPIES, Work
from overlapcheck.quantities import duration, size
from overlapcheck.reporting.timeline_rows import Drawing, HostCalls
from overlapcheck.timeline import Instance, Mark
from overlapcheck.trace import Trace

INSTANCES = 3
"""Of a cause that matters; one of the others."""
_BEFORE, _AFTER = 12, 6
"""How many times its length a piece is shown with, at most, before and after it."""


@dataclass(frozen=True)
class Worst:
    """The pieces to show."""

    cause: list[str]
    piece: list[int]
    """Row of the ledger."""


def worst_pieces(device: DeviceMeasurements) -> Worst:
    """The longest pieces of each cause of the ledger, costliest cause first."""
    ledger = device.ledger
    length = ledger.end_ns - ledger.start_ns
    total = np.bincount(ledger.reason, weights=length, minlength=len(Reason))
    causes: list[str] = []
    pieces: list[int] = []
    for reason in np.argsort(-total, kind="stable").tolist():
        rows = np.flatnonzero(ledger.reason == reason)
        material = total[reason] >= MATERIAL_SHARE * device.length_ns
        most = INSTANCES if material else 1
        if rows.size > most:
            least = np.partition(length[rows], -most)[-most]
            rows = rows[length[rows] >= least]
        chosen = rows[np.argsort(-length[rows], kind="stable")[:most]].tolist()
        pieces += chosen
        causes += [Reason(reason).cause] * len(chosen)
    return Worst(causes, pieces)


def launches_of(device: DeviceMeasurements, worst: Worst) -> Index:
    """Rows, among the process's calls, of those that launched the kernels behind the pieces."""
    kernel = device.ledger.kernel[worst.piece]
    call = device.order.operations.call[kernel[kernel != ABSENT]]
    rows: Index = call[call != ABSENT].astype(np.intp)
    return rows


@dataclass(frozen=True)
class Shown:
    """What a page shows of a device, and what its marks are made from."""

    trace: Trace
    device: DeviceMeasurements
    drawing: Drawing
    """The rows that marks are put in."""
    host: HostCalls
    """Launch calls of the kernels."""

    def name(self, name_id: int) -> str:
        """The text of a name."""
        return self.trace.strings.text(name_id)

    def thread(self, tid: int) -> str:
        """The name of a thread, or its number."""
        return self.trace.thread_names.get((self.device.process, tid), "") or f"thread {tid}"


def instances(shown: Shown, worst: Worst, findings: tuple[Finding, ...]) -> tuple[Instance, ...]:
    """The chains of the worst pieces; causes outside the ledger have a place but no chain.

    Args:
        shown: the device, and where its events are drawn.
        worst: the pieces to show.
        findings: those of the device, for causes that are no idle time.
    """
    made = [
        _instance(shown, cause, piece)
        for cause, piece in zip(worst.cause, worst.piece, strict=True)
    ]
    for found in findings:
        if found.cause not in worst.cause and found.blamed:
            at = int(np.argmax(found.blamed.length_ns))
            start, end = int(found.blamed.start_ns[at]), int(found.blamed.end_ns[at])
            view = _view(shown.device, start, end, ())
            made.append(Instance(found.cause, start, end, *view, marks=()))
    return tuple(made)


def _instance(shown: Shown, cause: str, piece: int) -> Instance:
    one = shown.device.ledger.rows(slice(piece, piece + 1))
    start, end = int(one.start_ns[0]), int(one.end_ns[0])
    marks = [Mark(0, start, end, "idle", f"{duration(end - start)} without compute")]
    marks += _held(shown, one)
    marks += _waited_for(shown, one)
    marks += _launch_and_kernel(shown, int(one.kernel[0]))
    # A held call that is the launch itself is one link, not two.
    launches = {(m.row, m.start_ns) for m in marks if m.role == "launch"}
    marks = [m for m in marks if m.role != "held" or (m.row, m.start_ns) not in launches]
    marks.sort(key=lambda mark: (mark.start_ns, mark.end_ns))
    chain = tuple(marks)
    return Instance(cause, start, end, *_view(shown.device, start, end, chain), marks=chain)


def _held(shown: Shown, one: IdleLedger) -> list[Mark]:
    tid, name = int(one.tid[0]), int(one.call_name_id[0])
    if name == ABSENT or tid not in shown.drawing.thread_rows:
        return []
    start, length = int(one.call_start_ns[0]), int(one.call_ns[0])
    text = f"{shown.name(name)} in {shown.thread(tid)}, {duration(length)}"
    return [Mark(shown.drawing.thread_rows[tid], start, start + length, "held", text)]


def _waited_for(shown: Shown, one: IdleLedger) -> list[Mark]:
    """The operation that filled the idle time, and the one that the holding call was making."""
    span = (int(one.start_ns[0]), int(one.end_ns[0]))
    marks = _operation(shown, int(one.operation[0]), span)
    if Work(int(one.call_work[0])) in LINK_COPIES:
        begun = int(one.call_start_ns[0])
        made = _operation(shown, int(one.call_operation[0]), (begun, begun + int(one.call_ns[0])))
        marks += [m for m in made if m not in marks]
    return marks


def _operation(shown: Shown, row: int, span: tuple[int, int]) -> list[Mark]:
    """An operation that was waited for, where it ran in some span and its stream is drawn."""
    ops = shown.device.order.operations
    if row == ABSENT:
        return []
    start, end = int(ops.start_ns[row]), int(ops.end_ns[row])
    key = StreamKey(int(ops.context_id[row]), int(ops.stream_id[row]))
    if start >= span[1] or end <= span[0] or key not in shown.drawing.stream_rows:
        return []
    work, moved = Work(int(ops.work[row])), int(ops.bytes[row])
    noun = work.name.lower() if work is Work.MEMSET else f"{work.name.lower()} copy"
    if work in (Work.COMPUTE, Work.COMMUNICATION):
        noun = shown.name(int(ops.name_id[row])) or work.name.lower()
    sized = f"{noun} of {size(moved)}" if moved > 0 else noun
    text = f"{sized} on s{key.stream_id}, {duration(end - start)}"
    return [Mark(shown.drawing.stream_rows[key], start, end, "waited for", text)]


def _launch_and_kernel(shown: Shown, row: int) -> list[Mark]:
    """The kernel that ended the idle time, and the call that launched it."""
    if row == ABSENT:
        return []
    ops, drawing = shown.device.order.operations, shown.drawing
    key = StreamKey(int(ops.context_id[row]), int(ops.stream_id[row]))
    start, end = int(ops.start_ns[row]), int(ops.end_ns[row])
    marks = []
    if key in drawing.stream_rows:
        name = shown.name(int(ops.name_id[row])) or "graph launch"
        text = f"{name} on s{key.stream_id}, {duration(end - start)}"
        marks.append(Mark(drawing.stream_rows[key], start, end, "kernel", text))
    launch = shown.host.launch(int(ops.call[row]))
    if launch is not None and launch.tid in drawing.thread_rows:
        text = (
            f"{shown.name(launch.name_id)}, {duration(start - launch.start_ns)} before its kernel"
        )
        thread = drawing.thread_rows[launch.tid]
        marks.append(Mark(thread, launch.start_ns, launch.end_ns, "launch", text))
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
