"""Rows of the user's NVTX ranges: of the threads that use them most, a row for each level.

ranges   [ epoch            ]            level 1: those inside no other
          [step] [step] [st]             level 2: of the rest, those inside no other of the rest
           [f][b] [f][b]
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from overlapcheck.columns import Mask
from overlapcheck.quantities import percent
from overlapcheck.reporting.level_of_detail import Part
from overlapcheck.timeline import EventKind, RowRole, TimelineRow
from overlapcheck.trace_tables import Ranges

MAX_THREADS = 3
MAX_LEVELS = 4


class RangeRows(NamedTuple):
    """Rows, and what is in them."""

    rows: list[TimelineRow]
    parts: list[Part]


def range_rows(ranges: Ranges, labels: dict[int, str], first_row: int, window_ns: int) -> RangeRows:
    """Rows of the threads whose ranges last longest.

    Args:
        ranges: those of one process that touch the window, on the device's clock.
        labels: names of threads by id.
        first_row: number that the first of the rows will have.
        window_ns: length of the window.
    """
    made = RangeRows([], [])
    tids, thread = np.unique(ranges.tid, return_inverse=True)
    spent = np.bincount(thread, weights=ranges.end_ns - ranges.start_ns, minlength=tids.size)
    for place in np.argsort(-spent, kind="stable")[:MAX_THREADS].tolist():
        tid = int(tids[place])
        rest = ranges.rows(thread == place)
        for level in range(1, MAX_LEVELS + 1):
            outer = outermost(rest)
            mine, rest = rest.rows(outer), rest.rows(~outer)
            deeper = ", deeper ones left out" if level == MAX_LEVELS and len(rest) else ""
            share = percent(min(int((mine.end_ns - mine.start_ns).sum()) / max(window_ns, 1), 1.0))
            label = labels.get(tid, "") or f"thread {tid}"
            note = f"ranges {level}, {share}{deeper}"
            row = first_row + len(made.rows)
            made.rows.append(TimelineRow(RowRole.RANGES, label, note, tid))
            none = np.zeros_like(mine.start_ns)
            kind = EventKind.RANGE
            made.parts.append(Part(row, kind, mine.start_ns, mine.end_ns, mine.name_id, none))
            if not len(rest):
                break
    return made


def outermost(ranges: Ranges) -> Mask:
    """Which ranges, sorted by (start, -end), begin after all before them have ended."""
    outer = np.ones(len(ranges), dtype=np.bool_)
    reach = np.maximum.accumulate(ranges.end_ns)
    outer[1:] = ranges.start_ns[1:] >= reach[:-1]
    return outer
