"""Idle time between kernels, of the device and of each compute stream, with its neighbours."""

from __future__ import annotations

import numpy as np

from overlapcheck.columns import ABSENT, Ints, Mask
from overlapcheck.intervals import Intervals
from overlapcheck.measurements import ComputeGaps, StreamRole, StreamTimeline, Window
from overlapcheck.trace import Kernels


def compute_gaps(
    kernels: Kernels,
    communication: Mask,
    idle: Intervals,
    streams: tuple[StreamTimeline, ...],
    copy_busy: Intervals,
    window: Window,
) -> ComputeGaps:
    """All gaps, longest first; the device's before those of its streams where equally long.

    kernels   ####....##..####
    copies    ..####..........
    gaps          4     2         copy_ns 2, 0

    Args:
        kernels: the device's kernels.
        communication: which of them are communication.
        idle: the device's idle time in the window.
        streams: the device's streams.
        copy_busy: union of the device's copies.
        window: what the gaps lie in.
    """
    compute = kernels.rows(~communication)
    parts = [_gaps(compute, idle, ABSENT, ABSENT, copy_busy)]
    for stream in streams:
        if stream.role is StreamRole.COMPUTE and len(stream.compute) > 1:
            own = (compute.context_id == stream.context_id) & (
                compute.stream_id == stream.stream_id
            )
            first, last = int(stream.compute.start_ns[0]), int(stream.compute.end_ns[-1])
            between = stream.compute.complement(first, last)
            parts.append(
                _gaps(compute.rows(own), between, stream.context_id, stream.stream_id, copy_busy)
            )
    merged = ComputeGaps(
        *(
            np.concatenate([getattr(part, name) for part in parts])
            for name in ComputeGaps.__dataclass_fields__
        )
    )
    length = merged.end_ns - merged.start_ns
    return merged.rows(np.lexsort((merged.start_ns, merged.stream_id, -length)))


def _gaps(
    kernels: Kernels, gaps: Intervals, context_id: int, stream_id: int, copy_busy: Intervals
) -> ComputeGaps:
    by_end = np.argsort(kernels.end_ns, kind="stable")
    return ComputeGaps(
        start_ns=gaps.start_ns,
        end_ns=gaps.end_ns,
        context_id=np.full(len(gaps), context_id, dtype=np.int64),
        stream_id=np.full(len(gaps), stream_id, dtype=np.int64),
        before_name_id=_name_at(kernels.end_ns[by_end], kernels.name_id[by_end], gaps.start_ns),
        after_name_id=_name_at(kernels.start_ns, kernels.name_id, gaps.end_ns),
        copy_ns=copy_busy.overlap_with(gaps.start_ns, gaps.end_ns),
    )


def _name_at(times: Ints, name_id: Ints, at: Ints) -> Ints:
    """Name of the kernel with exactly this time, ABSENT where there is none."""
    if times.size == 0:
        return np.full(at.shape, ABSENT, dtype=np.int64)
    row = np.minimum(np.searchsorted(times, at), times.size - 1)
    return np.where(times[row] == at, name_id[row], ABSENT)
