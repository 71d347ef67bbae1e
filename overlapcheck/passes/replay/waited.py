"""How much of its time an operation did not work, but waited.

kernel     [##..##..##]      pages of unified memory come where there are points
migration    [ ]  [ ]

rank 0     [coll......]      until rank 1 has come, it cannot move anything
rank 1           [coll]
"""

from __future__ import annotations

import numpy as np

from overlapcheck.collectives import Collectives
from overlapcheck.columns import ABSENT, Ints
from overlapcheck.grouping import distinct, groups
from overlapcheck.intervals import Intervals
from overlapcheck.order import Operations, Work


def waited_ns(ops: Operations, blocks: Ints, collectives: Collectives) -> Ints:
    """Of each operation.

    Args:
        ops: of one process.
        blocks: thread blocks of its kernels.
        collectives: of one of its devices.
    """
    waited = np.zeros(len(ops), dtype=np.int64)
    _add_pages(waited, ops, blocks)
    _add_late_ranks(waited, ops, collectives)
    return waited


def _add_pages(waited: Ints, ops: Operations, blocks: Ints) -> None:
    """What a kernel takes longer than the same one on resident pages, else what pages move in it.

    Handling a fault takes time, too, which only the first of them has in it.
    """
    migrates = ops.work == Work.MIGRATION
    for device in distinct(ops.device_id[migrates]).tolist():
        here = ops.device_id == device
        pages = Intervals.of(ops.start_ns[here & migrates], ops.end_ns[here & migrates])
        kernels = np.flatnonzero(here & (ops.work == Work.COMPUTE))
        waited[kernels] = pages.overlap_with(ops.start_ns[kernels], ops.end_ns[kernels])
        _, alike = groups(ops.name_id[kernels], blocks[kernels])
        stalled = waited[kernels] > 0
        for number in distinct(alike[stalled]).tolist():
            same = alike == number
            resident = kernels[same & ~stalled]
            if resident.size:
                runs = int(np.median(ops.end_ns[resident] - ops.start_ns[resident]))
                late = kernels[same & stalled]
                waited[late] = np.maximum(ops.end_ns[late] - ops.start_ns[late] - runs, 0)


def _add_late_ranks(waited: Ints, ops: Operations, collectives: Collectives) -> None:
    met = collectives.rows((collectives.met > 0) & (collectives.transfer_ns != ABSENT))
    if len(met) == 0:
        return
    sums = np.flatnonzero(ops.work == Work.COMMUNICATION)
    names = ("start_ns", "end_ns", "context_id", "stream_id")
    both = (np.concatenate((getattr(met, n), getattr(ops, n)[sums])) for n in names)
    first, group = groups(*both)
    # A group's first row is a met collective, where there is one.
    same = first[group[len(met) :]]
    known = same < len(met)
    length = (ops.end_ns - ops.start_ns)[sums[known]]
    waited[sums[known]] = np.maximum(0, length - met.transfer_ns[same[known]])
