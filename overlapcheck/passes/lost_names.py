"""Whether the names are there that kernels, calls and ranges are told apart by.

Without its name a collective counts as compute, a copy call as nothing, a step as no step.
"""

from __future__ import annotations

import numpy as np

from overlapcheck.capture_problem import CaptureFault, CaptureProblem
from overlapcheck.columns import ABSENT, Ints, Mask, is_in
from overlapcheck.grouping import distinct
from overlapcheck.passes.process import ProcessTables
from overlapcheck.quantities import count_of
from overlapcheck.recorder import Content
from overlapcheck.thresholds import Thresholds
from overlapcheck.trace import Strings


def lost_names(process: ProcessTables, limits: Thresholds) -> CaptureProblem | None:
    """The problem of a process that lost the names of many of its rows, or of their time."""
    kernels, calls, ranges = process.kernels, process.calls, process.ranges
    strings = process.strings
    parts = (
        ("kernel", kernels, _nameless(kernels.name_id, strings) & ~kernels.opaque),
        # All of CUDA begins so: what is called otherwise is told from no other call.
        ("CUDA call", calls, _nameless(calls.name_id, strings, begin="cu")),
        # A range may have no name of its own, but not one that is nowhere.
        ("NVTX range", ranges, _nameless(ranges.name_id, strings) & (ranges.name_id != ABSENT)),
    )
    said = []
    for noun, table, lost in parts:
        if not lost.any():
            continue
        length = (table.end_ns - table.start_ns).astype(np.float64)
        share = max(lost.mean(), length[lost].sum() / max(length.sum(), 1.0))
        if share > limits.lost_share:
            said.append(f"{int(lost.sum())} of {count_of(len(table), noun)}")
    if not said:
        return None
    return process.problem(
        CaptureFault.NAMES_LOST,
        f"no name for {', '.join(said)}: texts are missing from {strings.table}",
        Content.NAMES,
    )


def _nameless(name_id: Ints, strings: Strings, begin: str = "") -> Mask:
    texts = ((i, strings.text(i)) for i in distinct(name_id).tolist())
    lost = [i for i, text in texts if not (text and text.startswith(begin))]
    return is_in(name_id, lost)
