"""Whether a recording can carry a verdict: what a process did, and what of it was recorded.

Rows that are missing, rows that cannot be, and names that are missing have modules of their own.
"""

from __future__ import annotations

import numpy as np

from overlapcheck.api_kinds import ApiKind
from overlapcheck.capture_info import CaptureInfo
from overlapcheck.capture_problem import CaptureFault, CaptureProblem
from overlapcheck.columns import ABSENT, one_of
from overlapcheck.kinds import CopyKind
from overlapcheck.passes.impossible_rows import impossible_rows
from overlapcheck.passes.lost_names import lost_names
from overlapcheck.passes.lost_rows import lost_rows
from overlapcheck.passes.process import ProcessTables
from overlapcheck.passes.window.steps import step_ranges
from overlapcheck.quantities import count_of
from overlapcheck.recorder import Content
from overlapcheck.selection import Selection
from overlapcheck.thresholds import Thresholds
from overlapcheck.trace import Missing, Strings, Trace


def capture_problems(
    trace: Trace, process: ProcessTables, selection: Selection
) -> list[CaptureProblem]:
    """Everything that makes one process's recording incomplete; empty when it is complete."""
    if len(process.kernels) == 0:
        return [_no_kernels(trace, process)]
    limits = selection.thresholds
    found = [
        lost_names(process, limits),
        *lost_rows(trace, process, limits),
        _rows_without_launches(trace, process, limits),
        impossible_rows(process, limits, excerpt=selection.window_ns is not None),
        _backward(trace.info, process),
        _copies_of_unknown_kind(process, limits),
        _steps_without_work(process, trace.strings, selection),
        _untimed(trace.info, process, limits),
        _lasting_no_time(process),
        *_messages(trace.info, process),
    ]
    return [problem for problem in found if problem is not None]


def launched_kernels(process: ProcessTables) -> bool:
    """Whether a process launched kernels, by its calls."""
    launches = one_of(process.call_kind, (ApiKind.LAUNCH, ApiKind.GRAPH_LAUNCH))
    return bool((launches & process.calls.succeeded).any())


def _rows_without_launches(
    trace: Trace, process: ProcessTables, limits: Thresholds
) -> CaptureProblem | None:
    kernels = process.kernels
    if len(process.calls) == 0:
        launched = "launched it" if len(kernels) == 1 else "launched them"
        return process.problem(
            CaptureFault.ROWS_WITHOUT_LAUNCHES,
            f"{count_of(len(kernels), 'kernel')}, but no CUDA call that {launched}"
            f"{_why(trace.api_calls)}",
            Content.CALLS,
        )
    orphan = process.kernel_call == ABSENT
    matched_starts = kernels.start_ns[~orphan]
    if matched_starts.size == 0:
        lost = int(orphan.sum())
    else:
        # Kernels launched before the capture began come first and are whole.
        lost = int((orphan & (kernels.start_ns > matched_starts.min())).sum())
    if lost <= limits.lost_share * len(kernels):
        return None
    return process.problem(
        CaptureFault.ROWS_WITHOUT_LAUNCHES,
        f"{lost} of {count_of(len(kernels), 'kernel')} without the CUDA call that launched them",
        Content.ALL_ROWS,
    )


def _steps_without_work(
    process: ProcessTables, strings: Strings, selection: Selection
) -> CaptureProblem | None:
    ranges = step_ranges(process.ranges, strings, selection.steps)
    if ranges is None or ranges.beside:
        return None
    judged = np.ones(len(ranges), dtype=bool)
    if selection.window_ns is not None:
        start, end = selection.window_ns
        judged = (ranges.start_ns >= start) & (ranges.end_ns <= end)
    rows = process.kernel_call
    launched = process.calls.start_ns[rows[rows != ABSENT]]
    step = ranges.of_launches(launched)
    busy = np.zeros(len(ranges), dtype=bool)
    busy[step[step >= 0]] = True
    count, idle = int(judged.sum()), int((judged & ~busy).sum())
    # An idle step now and then (evaluation, checkpoint) is the program's own.
    if idle * 2 <= count:
        return None
    return process.problem(
        CaptureFault.STEPS_WITHOUT_WORK,
        f"{idle} of {count} '{ranges.family}' ranges hold no kernel",
        Content.WORK_OF_STEPS,
    )


def _copies_of_unknown_kind(process: ProcessTables, limits: Thresholds) -> CaptureProblem | None:
    unknown = int(np.count_nonzero(process.copies.kind == CopyKind.UNKNOWN))
    if unknown <= limits.lost_share * len(process.copies):
        return None
    return process.problem(
        CaptureFault.COPIES_WITHOUT_ROWS,
        f"{unknown} of {count_of(len(process.copies), 'copy', 'copies')} go nobody knows where:"
        " their kind is unknown",
        Content.COPY_KINDS,
    )


def _backward(info: CaptureInfo, process: ProcessTables) -> CaptureProblem | None:
    if not info.dropped_backward:
        return None
    return process.problem(
        CaptureFault.IMPOSSIBLE_ROWS,
        f"{count_of(info.dropped_backward, 'device row')} that cannot be: the end is before the"
        " start",
        Content.TRUE_TIMES,
    )


def _untimed(
    info: CaptureInfo, process: ProcessTables, limits: Thresholds
) -> CaptureProblem | None:
    if info.dropped_untimed <= limits.lost_share * len(process.kernels):
        return None
    return process.problem(
        CaptureFault.UNTIMED_ROWS,
        f"{count_of(info.dropped_untimed, 'device row')} without timestamps",
        Content.ALL_ROWS,
    )


def _lasting_no_time(process: ProcessTables) -> CaptureProblem | None:
    """Kernels of which not one took any time: what ran, but not when, and nothing ran under it."""
    kernels = process.kernels
    if (kernels.end_ns > kernels.start_ns).any():
        return None
    return process.problem(
        CaptureFault.UNTIMED_ROWS,
        f"{count_of(len(kernels), 'kernel')}, but not one that lasted any time",
        Content.ALL_ROWS,
    )


def _messages(info: CaptureInfo, process: ProcessTables) -> list[CaptureProblem]:
    """Losses that the recorder itself reports."""
    texts = (
        message.text
        for message in info.diagnostics
        if message.loses_rows and message.process in (process.key, None)
    )
    who = process.recorder.name or "the recorder"
    return [
        process.problem(
            CaptureFault.EVENTS_LOST,
            f"{who}: {' '.join(text.split())[:160]}",
            Content.ALL_ROWS,
        )
        for text in sorted(set(texts))
    ]


def _no_kernels(trace: Trace, process: ProcessTables) -> CaptureProblem:
    kinds = process.call_kind
    launches = int(one_of(kinds, (ApiKind.LAUNCH, ApiKind.GRAPH_LAUNCH)).sum())
    recorded = _recorded(process)
    if launches:
        return process.problem(
            CaptureFault.NO_KERNELS,
            f"{count_of(launches, 'kernel launch', 'kernel launches')}, but not one kernel row"
            f"{_why(trace.kernels)} (recorded: {recorded})",
            Content.LAUNCHED_WORK,
        )
    return process.problem(
        CaptureFault.NO_KERNELS,
        f"no kernel was recorded (recorded: {recorded})",
        Content.GPU_WORK,
    )


def _recorded(process: ProcessTables) -> str:
    parts = [
        count_of(len(table), *nouns)
        for table, nouns in (
            (process.calls, ("CUDA call",)),
            (process.copies, ("copy", "copies")),
            (process.ranges, ("NVTX range",)),
            (process.os_calls, ("OS call",)),
        )
        if len(table)
    ]
    return ", ".join(parts) or "nothing"


def _why(table: object) -> str:
    return f": {table.why}" if isinstance(table, Missing) else ""


def nothing_recorded(trace: Trace) -> CaptureProblem:
    """The problem of a report in which no process left any row of interest."""
    asked = trace.info.traced
    if trace.info.asked_for_gpu_work:
        how = (
            "record one that uses the GPU: overlapcheck run PROGRAM; workers made by fork are not"
            " traced"
        )
    else:
        how = trace.recorder.record_again(Content.GPU_WORK)
    return CaptureProblem(
        CaptureFault.NO_KERNELS,
        ABSENT,
        "no kernel, CUDA call or NVTX range was recorded"
        f" (asked for: {', '.join(sorted(asked)) or 'unknown'})",
        how,
    )
