"""Processes that computed on after the one that started first had made its last call.

A launcher that ends and leaves its worker is easily taken for the program, and a recording that
ends with it lacks what the worker did since.
"""

from __future__ import annotations

from collections.abc import Sequence

from overlapcheck.columns import ABSENT_TIME
from overlapcheck.finding import MATERIAL_SHARE
from overlapcheck.measurements import Window
from overlapcheck.passes.process import ProcessTables
from overlapcheck.quantities import duration


def lived_on(own: ProcessTables, window: Window, processes: Sequence[ProcessTables]) -> list[str]:
    """What to say of processes that started before a device's and ended before its window.

    Only of those whose OS calls were recorded, for without them waiting looks like the end.

    Args:
        own: the process that computes on the device.
        window: the judged part of the device's time.
        processes: all of the report.
    """
    least_ns = MATERIAL_SHARE * window.length_ns
    notes = []
    for other in processes:
        if len(other.kernels) or len(other.os_calls) == 0:
            continue
        first, last = _span(other)
        if first < _span(own)[0] and last < window.end_ns - least_ns:
            notes.append(
                f"process {own.key.pid} lived on: process {other.key.pid}, which started before it,"
                f" made its last recorded call {duration(window.end_ns - last)} before the window's"
                " end; record such a worker to its end"
            )
    return notes


def _span(process: ProcessTables) -> tuple[int, int]:
    """First start and last end of a process's calls."""
    tables = [table for table in (process.calls, process.os_calls) if len(table)]
    if not tables:
        return ABSENT_TIME, ABSENT_TIME
    return (
        min(int(table.start_ns.min()) for table in tables),
        max(int(table.end_ns.max()) for table in tables),
    )
