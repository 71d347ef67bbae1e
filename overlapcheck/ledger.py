"""The idle ledger: every idle nanosecond of a device, given to exactly one reason."""

from __future__ import annotations

from dataclasses import dataclass

from overlapcheck.codes import Code
from overlapcheck.columns import Bools, Codes, Columns, Ints, Rows


class Reason(Code):
    """What a piece of idle time was spent on; `cause` is the word users know it by."""

    UNEXPLAINED = 0
    PAGEABLE_COPY = 1
    SAME_STREAM = 2
    DEFAULT_STREAM = 3
    EVENT_WAIT = 4
    LATE_ISSUE = 5
    COPY_BOUND = 6
    COPY_ENGINE = 7
    SYNC_COPY = 8
    HOST_SYNC = 9
    ALLOCATION = 10
    HOST_STARVED = 11
    LAUNCH_BOUND = 12
    LAUNCH_LATENCY = 13
    GRAPH_LAUNCH = 14
    MODULE_LOAD = 15
    DRIVER_LOCK = 16
    HARDWARE_QUEUE = 17
    EXPOSED_COLLECTIVE = 18
    UVM_MIGRATION = 19
    TIME_SLICING = 20
    LAUNCH_BLOCKING = 21
    DEVICE_COPY = 22
    PROFILER_OVERHEAD = 23
    CUDA_CALL = 24
    MPI_WAIT = 25
    LATE_START = 26

    @property
    def cause(self) -> str:
        """Id of the cause: "pageable-copy"."""
        return self.name.lower().replace("_", "-")


LATE_HOST = (
    Reason.LAUNCH_BOUND,
    Reason.HOST_STARVED,
    Reason.GRAPH_LAUNCH,
    Reason.DRIVER_LOCK,
    Reason.PROFILER_OVERHEAD,
)
"""Reasons that only the host's lateness explains: recording makes a host late."""


@dataclass(frozen=True)
class IdleLedger(Columns):
    """Pieces of idle time, sorted by start, disjoint; together exactly the idle time."""

    start_ns: Ints
    end_ns: Ints
    reason: Codes
    """Reason."""
    kernel_name_id: Ints
    """Kernel that ended the idle time; ABSENT at the window's end."""
    kernel_stream_id: Ints
    step: Rows
    """Step of that kernel; negative for none."""
    kernel: Rows
    """Row of that kernel among `Order.operations` of the process; ABSENT for none."""
    operation: Rows
    """Row of the operation that was waited for or late; ABSENT for none."""
    work: Codes
    """Its Work; Work.NONE for none."""
    work_stream_id: Ints
    work_bytes: Ints
    work_ns: Ints
    """Whole length of that operation."""
    work_name_id: Ints
    """Name of a collective."""
    relation: Codes
    """Relation that made the operation wait for compute."""
    inferred: Bools
    """The relation follows from adjacency in time; no event row proves it."""
    call_name_id: Ints
    """CUDA call that held the launching thread; ABSENT for none."""
    call_start_ns: Ints
    """On the device's clock."""
    call_ns: Ints
    call_tid: Ints
    """Thread that made that call, which need not be the launching one; ABSENT for none."""
    call_operation: Rows
    """Row of the first operation that the call submitted; ABSENT for none."""
    call_work: Codes
    """Its Work; Work.NONE for none."""
    call_bytes: Ints
    call_stream_id: Ints
    tid: Ints
    """Launching thread; ABSENT for none."""
    site: Ints
    """Where in the program the blamed or late call was made, see `Names.sites`; ABSENT."""
    os_name_id: Ints
    """OS call, or call of MPI, that the thread was in; ABSENT for none."""
