"""Whether an operation can have stood behind an unrelated one of another stream.

Streams share a device's hardware queues where there are more of them; the trace does not record
which. So it takes all of: more streams than queues, no order and no host function that explains
the wait, and an operation launched before that ended just when the waiting one began.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from overlapcheck.api_kinds import ApiKind
from overlapcheck.columns import ABSENT, ABSENT_TIME, Ints, Mask, Whole
from overlapcheck.connections import Connections
from overlapcheck.grouping import distinct
from overlapcheck.measurements import Window
from overlapcheck.order import Operations, Relation, Work
from overlapcheck.passes.order.adjacency import adjacent
from overlapcheck.passes.order.dependencies import Dependencies
from overlapcheck.passes.process import ProcessTables
from overlapcheck.searches import last_before, taken
from overlapcheck.thresholds import Thresholds

_HOST_FUNCTION = re.compile(r"(cuda|cu)(LaunchHostFunc|StreamAddCallback)")


@dataclass(frozen=True)
class HardwareQueues:
    """The queues of a device, and who shares them."""

    crowded: bool
    """There are fewer of them than streams with work in the window."""
    host_functions: Ints
    """When functions were put into a stream that run on the host and leave no row, ascending."""
    of_graph: Mask
    """Calls that launch a graph."""

    @classmethod
    def of(
        cls, process: ProcessTables, ops: Operations, window: Window, environment: Mapping[str, str]
    ) -> HardwareQueues:
        """The queues of the device of some operations."""
        used = (ops.start_ns < window.end_ns) & (ops.end_ns > window.start_ns)
        used &= ops.work != Work.MIGRATION
        callbacks = process.calls_named(lambda name: _HOST_FUNCTION.match(name) is not None)
        return cls(
            distinct(ops.stream[used]).size > Connections.of(environment).count,
            np.sort(process.calls.start_ns[callbacks]),
            process.call_kind == ApiKind.GRAPH_LAUNCH,
        )


def stood_behind(
    operations: Whole,
    ops: Operations,
    depends: Dependencies,
    queues: HardwareQueues,
    limits: Thresholds,
) -> Ints:
    """The unrelated operation that each of some began behind; ABSENT where that is not shown.

    Args:
        operations: rows of `ops`, in any order.
        ops: the device's operations.
        depends: what they are known to have waited for.
        queues: the queues of the device.
        limits: what is adjacent.
    """
    found = np.full(operations.shape, ABSENT, dtype=np.int64)
    if not queues.crowded:
        return found
    pairs = adjacent(ops, operations.astype(np.intp), limits)
    behind = np.full(len(ops), ABSENT, dtype=np.int64)
    behind[pairs.after] = pairs.before
    found[:] = behind[operations]
    launch = ops.launch_start_ns
    in_stream = depends.relation[operations] == Relation.STREAM
    before = np.where(in_stream, depends.predecessor[operations], ABSENT)
    since_ns = taken(launch, before, ABSENT_TIME)
    last = last_before(queues.host_functions, launch[operations])
    host_function = taken(queues.host_functions, last, ABSENT_TIME) > since_ns
    in_graph = taken(queues.of_graph, ops.call[operations], 0)
    found[host_function | in_graph] = ABSENT
    return found
