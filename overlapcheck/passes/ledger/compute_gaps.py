"""Idle time between kernels, of the device and of each compute stream, with its neighbours."""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np

from overlapcheck.columns import ABSENT, Index, Ints, Mask, compact, constant
from overlapcheck.grouping import ordered
from overlapcheck.intervals import Intervals
from overlapcheck.kinds import StreamKey
from overlapcheck.measurements import ComputeGaps, StreamRole, StreamTimeline
from overlapcheck.passes.streams import by_stream
from overlapcheck.searches import position_of, taken
from overlapcheck.trace_tables import Kernels


def compute_gaps(
    kernels: Kernels,
    communication: Mask,
    idle: Intervals,
    streams: tuple[StreamTimeline, ...],
    copy_busy: Intervals,
) -> tuple[ComputeGaps, tuple[ComputeGaps, ...]]:
    """The gaps of the device, and those of each compute stream in the order of stream ids.

    kernels   ####....##..####
    copies    ..####..........
    gaps          4     2         copy_ns 2, 0

    Args:
        kernels: the device's kernels.
        communication: which of them are communication.
        idle: the device's idle time in the window.
        streams: the device's streams.
        copy_busy: union of the device's copies.
    """
    compute = kernels.rows(~communication) if communication.any() else kernels
    device = _gaps(_Named.of(compute), idle, ABSENT, ABSENT, copy_busy)
    rows = by_stream(compute)
    found = []
    for stream in sorted(streams, key=lambda stream: (stream.stream_id, stream.context_id)):
        if stream.role is StreamRole.COMPUTE and len(stream.compute) > 1:
            first, last = int(stream.compute.start_ns[0]), int(stream.compute.end_ns[-1])
            between = stream.compute.complement(first, last)
            key = StreamKey(stream.context_id, stream.stream_id)
            alone = rows[key].size == len(compute)
            same = _same_gaps(device, between) if alone else None
            found.append(
                _gaps(_Named.of(compute, rows[key]), between, *key, copy_busy)
                if same is None
                else replace(
                    same,
                    context_id=constant(key.context_id, len(same)),
                    stream_id=constant(key.stream_id, len(same)),
                )
            )
    return device, tuple(found)


def _same_gaps(gaps: ComputeGaps, wanted: Intervals) -> ComputeGaps | None:
    """The rows of exactly these gaps: the only stream's are the device's without the edges."""
    first = int(np.searchsorted(gaps.start_ns, wanted.start_ns[0])) if wanted else 0
    rows = gaps.rows(slice(first, first + len(wanted)))
    return rows if Intervals(rows.start_ns, rows.end_ns) == wanted else None


class _Named(NamedTuple):
    """When some kernels ran, and their names."""

    start_ns: Ints
    end_ns: Ints
    name_id: Ints

    @classmethod
    def of(cls, kernels: Kernels, rows: Index | slice = slice(None)) -> _Named:
        return cls(kernels.start_ns[rows], kernels.end_ns[rows], kernels.name_id[rows])


def _gaps(
    kernels: _Named, gaps: Intervals, context_id: int, stream_id: int, copy_busy: Intervals
) -> ComputeGaps:
    by_end = ordered(kernels.end_ns)
    return ComputeGaps(
        start_ns=gaps.start_ns,
        end_ns=gaps.end_ns,
        context_id=constant(context_id, len(gaps)),
        stream_id=constant(stream_id, len(gaps)),
        before_name_id=_name_at(kernels.end_ns[by_end], kernels.name_id[by_end], gaps.start_ns),
        after_name_id=_name_at(kernels.start_ns, kernels.name_id, gaps.end_ns),
        copy_ns=compact(copy_busy.overlap_with(gaps.start_ns, gaps.end_ns)),
    )


def _name_at(times: Ints, name_id: Ints, at: Ints) -> Ints:
    """Name of the kernel with exactly this time, ABSENT where there is none."""
    return taken(name_id, position_of(times, at), ABSENT)
