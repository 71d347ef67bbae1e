"""What the ledger of a device is made from, and its rows under construction."""

from __future__ import annotations

from dataclasses import dataclass

from overlapcheck.columns import Codes, Column, Index, Ints, Rows
from overlapcheck.copies import CopyOverlap, Direction
from overlapcheck.intervals import Intervals
from overlapcheck.measurements import Window
from overlapcheck.order import Operations, Work
from overlapcheck.passes.ledger.hardware_queues import HardwareQueues
from overlapcheck.passes.ledger.host_timeline import HostTimeline
from overlapcheck.passes.order.dependencies import Dependencies, OnDevice
from overlapcheck.thresholds import Thresholds
from overlapcheck.trace_tables import ApiCalls, MpiCalls, OsCalls

DIRECTION_OF_WORK = {Work.H2D: Direction.H2D, Work.D2H: Direction.D2H, Work.P2P: Direction.P2P}


@dataclass(frozen=True)
class LedgerInput:
    """All that the ledger is made from."""

    device: OnDevice
    step: Rows
    """Step of each operation; ABSENT for none."""
    depends: Dependencies
    submit_ns: Ints
    host: HostTimeline
    calls: ApiCalls
    os_calls: OsCalls
    mpi_calls: MpiCalls
    copies: dict[Direction, CopyOverlap]
    one_copy_engine: bool
    queues: HardwareQueues
    migrations: Intervals
    other_processes: Intervals
    """Kernels of other processes on the same GPU."""
    window: Window
    site_of_call: Ints
    """Where each call was made; ABSENT."""
    limits: Thresholds

    @property
    def ops(self) -> Operations:
        """The device's operations."""
        return self.device.ops


@dataclass
class Draft:
    """Rows under construction: part number, span, reason, row of the call to blame."""

    part: Rows
    start_ns: Ints
    end_ns: Ints
    reason: Codes
    call: Rows

    @property
    def columns(self) -> tuple[Column, ...]:
        """All columns, in the order of the fields."""
        return self.part, self.start_ns, self.end_ns, self.reason, self.call

    def rows(self, which: Index | slice) -> Draft:
        """Some of the rows."""
        return Draft(
            self.part[which],
            self.start_ns[which],
            self.end_ns[which],
            self.reason[which],
            self.call[which],
        )
