"""Idle time between kernels, of the device and of each compute stream, with its neighbours."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from overlapcheck.columns import ABSENT, Ints, Mask, constant, ordered
from overlapcheck.intervals import Intervals
from overlapcheck.kinds import StreamKey
from overlapcheck.measurements import ComputeGaps, StreamRole, StreamTimeline, Window
from overlapcheck.passes.streams import by_stream, part_of
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
    compute = kernels.rows(~communication) if communication.any() else kernels
    parts = [_gaps(compute, idle, ABSENT, ABSENT, copy_busy)]
    rows = by_stream(compute)
    for stream in sorted(streams, key=lambda stream: stream.stream_id):
        if stream.role is StreamRole.COMPUTE and len(stream.compute) > 1:
            first, last = int(stream.compute.start_ns[0]), int(stream.compute.end_ns[-1])
            between = stream.compute.complement(first, last)
            key = StreamKey(stream.context_id, stream.stream_id)
            own = part_of(compute, rows[key])
            same = _same_gaps(parts[0], between) if own is compute else None
            parts.append(
                _gaps(own, between, *key, copy_busy)
                if same is None
                else replace(
                    same,
                    context_id=constant(key.context_id, len(same)),
                    stream_id=constant(key.stream_id, len(same)),
                )
            )
    return _longest_first(parts)


def _same_gaps(gaps: ComputeGaps, wanted: Intervals) -> ComputeGaps | None:
    """The rows of exactly these gaps: the only stream's are the device's without the edges."""
    first = int(np.searchsorted(gaps.start_ns, wanted.start_ns[0])) if wanted else 0
    rows = gaps.rows(slice(first, first + len(wanted)))
    return rows if Intervals(rows.start_ns, rows.end_ns) == wanted else None


def _longest_first(parts: list[ComputeGaps]) -> ComputeGaps:
    """All rows; of equally long ones those of the device, then by stream and start."""

    def joined(name: str) -> Ints:
        return np.concatenate([getattr(part, name) for part in parts])

    # Parts come by stream, and their rows by start; only two contexts can number streams alike.
    order = ordered(joined("stream_id"), joined("start_ns"))
    length = joined("end_ns") - joined("start_ns")
    order = order[ordered(-length[order])]
    part = np.repeat(np.arange(len(parts)), [len(one) for one in parts])[order]
    columns = {
        name: np.array([int(getattr(one, name)[0]) if len(one) else ABSENT for one in parts])[part]
        for name in ("context_id", "stream_id")
    }
    for name in ComputeGaps.__dataclass_fields__.keys() - columns.keys():
        columns[name] = joined(name)[order]
    return ComputeGaps(**columns)


def _gaps(
    kernels: Kernels, gaps: Intervals, context_id: int, stream_id: int, copy_busy: Intervals
) -> ComputeGaps:
    by_end = ordered(kernels.end_ns)
    return ComputeGaps(
        start_ns=gaps.start_ns,
        end_ns=gaps.end_ns,
        context_id=constant(context_id, len(gaps)),
        stream_id=constant(stream_id, len(gaps)),
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
