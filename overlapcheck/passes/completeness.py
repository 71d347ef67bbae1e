"""Whether GPU rows are complete for the calls that launched them.

A launch without a device row proves loss only where a later launch of the same thread has one: at
the end of a capture the queue is cut off, which takes nothing from the window before it.

    launches    L1  L2  L3  L4  L5          thread
    rows        K1      K3  K4              L2 is lost, L5 was cut off
"""

from __future__ import annotations

import numpy as np

from overlapcheck.api_kinds import SUBMITS_WORK, ApiKind
from overlapcheck.capture_info import CaptureInfo, GraphGranularity
from overlapcheck.columns import ABSENT, Codes, Index, Ints, Mask, distinct, numbered, one_of
from overlapcheck.intervals import Intervals
from overlapcheck.measurements import CaptureFault, CaptureProblem
from overlapcheck.passes.process import NO_CALL, ProcessTables
from overlapcheck.passes.window.steps import step_ranges
from overlapcheck.quantities import count_of
from overlapcheck.selection import Selection
from overlapcheck.trace import Strings, Trace

# Below this share lost rows cannot turn a verdict whose limits are shares of ten and more.
TOLERATED_SHARE = 0.01
# Launches per thread that may be on their way when a recording is stopped.
IN_FLIGHT = 2
# Up to this share of the launches may follow the last row: the rest is a recording of its own.
MAX_CUT_SHARE = 0.1
_KERNEL_LAUNCHES = frozenset({ApiKind.LAUNCH})
_AGAIN = "record again: overlapcheck run PROGRAM (no other CUDA profiler, clean exit)"
_LOSS_MESSAGES = (
    "some cupti events may be missing",
    "couldn't allocate cupti buf",
    "reached the size limit on recording trace events",
    "cuda profiling might have not been started correctly",
)


def capture_problems(
    trace: Trace, process: ProcessTables, selection: Selection
) -> list[CaptureProblem]:
    """Everything that makes one process's recording incomplete; empty when it is complete."""
    if len(process.kernels) == 0:
        return [_no_kernels(trace, process)]
    kinds = process.call_kind
    has_row = _has_device_row(process)
    found = [
        _launches_without_rows(process, kinds, has_row),
        _graphs_without_rows(process, kinds, has_row, trace.info),
        _rows_without_launches(process),
        _steps_without_work(process, trace.strings, selection),
        _untimed(trace.info, process),
        *_messages(trace.info, process.pid),
    ]
    return [problem for problem in found if problem is not None]


def _has_device_row(process: ProcessTables) -> Mask:
    tables = (process.kernels, process.copies, process.memsets)
    if process.launches.unique:
        found = np.zeros(len(process.calls) + 1, dtype=bool)
        found[process.kernel_call] = True
        for table in tables[1:]:
            found[process.launches.rows(table.correlation_id)] = True
        return found[:-1]  # the last stands for NO_CALL
    ids = np.sort(np.concatenate([table.correlation_id for table in tables]))
    wanted = process.calls.correlation_id
    at = np.minimum(np.searchsorted(ids, wanted), ids.size - 1)
    mask: Mask = ids[at] == wanted
    return mask


def _capturing(process: ProcessTables, kinds: Codes) -> Mask:
    """Calls made while a graph is being recorded: they submit nothing.

    Whatever the thread: a framework's backward pass is recorded from a thread of its own.
    """
    calls = process.calls
    marks = np.flatnonzero(kinds == ApiKind.CAPTURE)
    captures = Intervals.empty()
    for tid in distinct(calls.tid[marks]).tolist():
        rows = marks[calls.tid[marks] == tid]
        pairs = zip(calls.start_ns[rows[::2]], calls.end_ns[rows[1::2]], strict=False)
        captures |= Intervals.pairs((int(a), int(b)) for a, b in pairs)
    if not captures:
        return np.zeros(len(calls), dtype=bool)
    return captures.overlap_with(calls.start_ns, calls.end_ns) > 0


def _submitted(process: ProcessTables, kinds: Codes) -> Index:
    submits = one_of(kinds, SUBMITS_WORK)
    return np.flatnonzero(submits & process.calls.succeeded & ~_capturing(process, kinds))


def _interior(thread: Ints, present: Mask) -> Mask:
    """Rows (in time order) that have a later present row of the same thread."""
    found, number = numbered(thread)
    last = np.full(found.size, -1, dtype=np.intp)
    last[number[present]] = np.flatnonzero(present)
    mask: Mask = np.arange(thread.size) < last[number]
    return mask


def _launches_without_rows(
    process: ProcessTables,
    kinds: Codes,
    has_row: Mask,
) -> CaptureProblem | None:
    rows = _submitted(process, kinds)
    launches = one_of(kinds[rows], _KERNEL_LAUNCHES)
    present = has_row[rows]
    # Copies of later steps run ahead on streams of their own: only kernels follow kernels.
    interior = _interior(process.calls.tid[rows], present & launches)
    last_end = max(_ends(process))
    after_all = process.calls.start_ns[rows] > last_end
    cut_off = launches & ~present & after_all & ~interior
    if _tail_may_be_cut(cut_off, launches, process.calls.tid[rows]):
        after_all = np.zeros_like(after_all)
    lost = launches & ~present & (interior | after_all)
    total = int(launches.sum())
    if not lost.sum() > TOLERATED_SHARE * max(total, 1):
        return None
    return CaptureProblem(
        CaptureFault.LAUNCHES_WITHOUT_ROWS,
        process.pid,
        f"{int(lost.sum())} of {count_of(total, 'kernel launch', 'kernel launches')} "
        "left no row on the device",
        _AGAIN,
    )


def _tail_may_be_cut(cut_off: Mask, launches: Mask, tid: Ints) -> bool:
    """Whether rows are missing only because the recording was stopped.

    What a thread had just handed over was on its way, and what the profiler had not flushed yet
    came after the window: neither takes anything from it.
    """
    count = int(cut_off.sum())
    in_flight = IN_FLIGHT * int(distinct(tid).size)
    return count <= max(in_flight, MAX_CUT_SHARE * int(launches.sum()))


def _ends(process: ProcessTables) -> list[int]:
    tables = (process.kernels, process.copies, process.memsets)
    return [int(table.end_ns.max()) for table in tables if len(table)]


def _graphs_without_rows(
    process: ProcessTables,
    kinds: Codes,
    has_row: Mask,
    info: CaptureInfo,
) -> CaptureProblem | None:
    launches = (kinds == ApiKind.GRAPH_LAUNCH) & process.calls.succeeded
    missing = launches & ~has_row
    tail = missing & (process.calls.start_ns > max(_ends(process)))
    if _tail_may_be_cut(tail, launches, process.calls.tid[launches]):
        missing &= ~tail
    lost = int(missing.sum())
    if lost <= TOLERATED_SHARE * max(int(launches.sum()), 1):
        return None
    how = " (recorded as whole graphs)" if info.graph_granularity is GraphGranularity.GRAPH else ""
    return CaptureProblem(
        CaptureFault.GRAPH_LAUNCHES_INVISIBLE,
        process.pid,
        f"{lost} of {count_of(int(launches.sum()), 'graph launch', 'graph launches')} "
        f"left no rows{how}",
        "record with --cuda-graph-trace=node (overlapcheck run does)",
    )


def _rows_without_launches(process: ProcessTables) -> CaptureProblem | None:
    kernels = process.kernels
    if len(process.calls) == 0:
        return CaptureProblem(
            CaptureFault.ROWS_WITHOUT_LAUNCHES,
            process.pid,
            f"{count_of(len(kernels), 'kernel')}, but no CUDA call that launched them",
            "record CUDA calls too: --trace=cuda (and export the whole report, not --tables)",
        )
    orphan = process.kernel_call == NO_CALL
    matched_starts = kernels.start_ns[~orphan]
    if matched_starts.size == 0:
        lost = int(orphan.sum())
    else:
        # Kernels launched before the capture began come first and are whole.
        lost = int((orphan & (kernels.start_ns > matched_starts.min())).sum())
    if lost <= TOLERATED_SHARE * len(kernels):
        return None
    return CaptureProblem(
        CaptureFault.ROWS_WITHOUT_LAUNCHES,
        process.pid,
        f"{lost} of {count_of(len(kernels), 'kernel')} without the CUDA call that launched them",
        _AGAIN,
    )


def _steps_without_work(
    process: ProcessTables, strings: Strings, selection: Selection
) -> CaptureProblem | None:
    ranges = step_ranges(process.ranges, strings, selection.steps)
    if ranges is None:
        return None
    judged = np.ones(len(ranges), dtype=bool)
    if selection.window_ns is not None:
        start, end = selection.window_ns
        judged = (ranges.start_ns >= start) & (ranges.end_ns <= end)
    rows = process.kernel_call
    launched = process.calls.start_ns[rows[rows != NO_CALL]]
    step = ranges.of_launches(launched)
    busy = np.zeros(len(ranges), dtype=bool)
    busy[step[step >= 0]] = True
    count, idle = int(judged.sum()), int((judged & ~busy).sum())
    # An idle step now and then (evaluation, checkpoint) is the program's own.
    if idle * 2 <= count:
        return None
    return CaptureProblem(
        CaptureFault.STEPS_WITHOUT_WORK,
        process.pid,
        f"{idle} of {count} '{ranges.family}' ranges hold no kernel",
        "record with an nsys as new as the CUDA driver, no second profiler: overlapcheck doctor",
    )


def _untimed(info: CaptureInfo, process: ProcessTables) -> CaptureProblem | None:
    if info.dropped_untimed <= TOLERATED_SHARE * len(process.kernels):
        return None
    return CaptureProblem(
        CaptureFault.UNTIMED_ROWS,
        process.pid,
        f"{count_of(info.dropped_untimed, 'device row')} without timestamps",
        _AGAIN,
    )


def _messages(info: CaptureInfo, pid: int) -> list[CaptureProblem]:
    """Losses that nsys itself reports; its milder warnings accompany sound recordings."""
    texts = (
        message.text
        for message in info.diagnostics
        if message.pid in (pid, ABSENT)
        and any(loss in message.text.lower() for loss in _LOSS_MESSAGES)
    )
    return [
        CaptureProblem(
            CaptureFault.EVENTS_LOST, pid, f"nsys: {' '.join(text.split())[:160]}", _AGAIN
        )
        for text in sorted(set(texts))
    ]


def _no_kernels(trace: Trace, process: ProcessTables) -> CaptureProblem:
    kinds = process.call_kind
    launches = int(one_of(kinds, (ApiKind.LAUNCH, ApiKind.GRAPH_LAUNCH)).sum())
    recorded = _recorded(process)
    if launches:
        return CaptureProblem(
            CaptureFault.NO_KERNELS,
            process.pid,
            f"{count_of(launches, 'kernel launch', 'kernel launches')}, but not one kernel row"
            f" (recorded: {recorded})",
            "the GPU side of the trace failed (WSL2, another CUDA profiler, old nsys, crash):"
            " overlapcheck doctor",
        )
    return CaptureProblem(
        CaptureFault.NO_KERNELS,
        process.pid,
        f"no kernel was recorded (recorded: {recorded})",
        "overlapcheck run PROGRAM, or nsys profile --trace=cuda,nvtx,osrt PROGRAM",
    )


def _recorded(process: ProcessTables) -> str:
    parts = [
        count_of(len(table), noun)
        for table, noun in (
            (process.calls, "CUDA call"),
            (process.copies, "copy"),
            (process.ranges, "NVTX range"),
            (process.os_calls, "OS call"),
        )
        if len(table)
    ]
    return ", ".join(parts).replace("copys", "copies") or "nothing"


def nothing_recorded(trace: Trace) -> CaptureProblem:
    """The problem of a report in which no process left any row of interest."""
    asked = trace.info.traced
    command = "overlapcheck run PROGRAM"
    if "Cuda" in asked:
        how = f"record one that uses the GPU: {command}; workers made by fork are not traced"
    else:
        how = f"{command}, or nsys profile --trace=cuda,nvtx,osrt PROGRAM"
    return CaptureProblem(
        CaptureFault.NO_KERNELS,
        ABSENT,
        "no kernel, CUDA call or NVTX range was recorded"
        f" (asked for: {', '.join(sorted(asked)) or 'unknown'})",
        how,
    )
