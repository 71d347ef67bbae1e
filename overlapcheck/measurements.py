"""What the passes found: exact numbers per (process, device), before any judgement.

Times are int64 nanoseconds clipped to the device's window. Ratios lie in [0, 1] and are None where
there is nothing to divide by.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING

import numpy as np

from overlapcheck.capture_problem import CaptureProblem, NotKnown
from overlapcheck.collectives import Collectives
from overlapcheck.columns import ABSENT, Bools, Columns, Ints
from overlapcheck.copies import Direction, UnifiedMigrations
from overlapcheck.finding import SourceLine
from overlapcheck.intervals import Intervals
from overlapcheck.kinds import DeviceKey
from overlapcheck.ledger import IdleLedger
from overlapcheck.order import Order
from overlapcheck.pace import Pace
from overlapcheck.quantities import count_of
from overlapcheck.rank_hints import RankHints
from overlapcheck.recorder import UNKNOWN_RECORDER, Recorder
from overlapcheck.rendezvous import Meeting
from overlapcheck.searches import last_at_or_before
from overlapcheck.thresholds import Thresholds
from overlapcheck.time_use import RangeUse, TimeUse
from overlapcheck.trace import Process, Strings
from overlapcheck.trace_tables import Ranges

if TYPE_CHECKING:
    from overlapcheck.stream_waits import StreamWaits


class WindowSource(StrEnum):
    """How the window was chosen."""

    OPTION = "option"
    NVTX_STEPS = "nvtx-steps"
    KERNEL_PERIOD = "kernel-period"
    WHOLE_RUN = "whole-run"
    NOTHING = "nothing"
    """All kernels, to be looked at, not judged: the steps hold no work of the device."""


@dataclass(frozen=True)
class Window:
    """The part of the trace that is judged, half-open."""

    start_ns: int
    end_ns: int
    source: WindowSource
    why: str
    """One clause for the report."""
    step_family: str | None = None
    """Name of the steps with digits as #, "step #"."""
    steps: int | None = None
    """Steps inside the window."""
    skipped: int = 0
    """Leading steps left out as warm-up."""
    first_step: int | None = None
    """Number of the first step in the window: the one in the name of its range where those tell
    the steps apart ("step 12"), else its position, counting from 0, skipped steps included."""
    last_step: int | None = None

    @property
    def length_ns(self) -> int:
        """Length of the window, ns."""
        return max(0, self.end_ns - self.start_ns)


class StreamRole(StrEnum):
    """What a stream mostly does in the window."""

    COMPUTE = "compute"
    COMMUNICATION = "communication"
    COPY = "copy"
    MEMSET = "memset"


@dataclass(frozen=True)
class StreamTimeline:
    """One stream inside the window."""

    context_id: int
    stream_id: int
    role: StreamRole
    kind: str
    """"null", "blocking", "non-blocking" or "unknown"."""
    priority: int | None
    busy: Intervals
    compute: Intervals
    communication: Intervals
    copies: Mapping[Direction, Intervals]
    memset: Intervals
    kernels: int
    """Kernels that touch the window."""


@dataclass(frozen=True)
class ComputeGaps(Columns):
    """Idle time between kernels, of the device or of one compute stream, in order of time."""

    start_ns: Ints
    end_ns: Ints
    context_id: Ints
    """ABSENT for a gap of the whole device."""
    stream_id: Ints
    """ABSENT for a gap of the whole device."""
    before_name_id: Ints
    """Kernel that ended last before the gap; ABSENT at the window's start."""
    after_name_id: Ints
    """Kernel that ends the gap; ABSENT at the window's end."""
    copy_ns: Ints
    """Part of the gap in which copies run."""


@dataclass(frozen=True)
class BlockingCalls(Columns):
    """Calls that held a thread, per API and thread; costliest in device idle time first."""

    tid: Ints
    name_id: Ints
    count: Ints
    total_ns: Ints
    """Time in which at least one such call of the thread was open."""
    idle_ns: Ints
    """Part of it in which the device computed nothing."""
    longest_ns: Ints
    longest_start_ns: Ints


@dataclass(frozen=True)
class StepTimes(Columns):
    """Steps inside the window, in order; each lasts until the end of its last kernel."""

    number: Ints
    """What the user calls it: see `Window.first_step`."""
    start_ns: Ints
    end_ns: Ints
    compute_ns: Ints
    idle_ns: Ints
    copy_ns: Ints
    hidden_ns: Ints
    """Of the judged directions, unions taken per direction and added."""

    @property
    def step_ns(self) -> Ints:
        """Length of each step, ns."""
        return self.end_ns - self.start_ns

    def numbers_at(self, time_ns: Ints) -> Ints:
        """Number of the step that each time of the window lies in; ABSENT without steps."""
        if len(self) == 0:
            return np.full(time_ns.shape, ABSENT, dtype=np.int64)
        row = last_at_or_before(self.start_ns, time_ns)
        return self.number[np.maximum(row, 0)]


@dataclass(frozen=True)
class Contention(Columns):
    """Kernels that run longer under a copy or collective than alone; costliest first."""

    name_id: Ints
    grid_count: Ints
    alone_count: Ints
    alone_ns: Ints
    """Median length alone."""
    shared_count: Ints
    shared_ns: Ints
    """Median length under a transfer."""
    extra_ns: Ints
    """Time that the shared ones took longer, added up."""
    with_collective: Bools
    """Whether collectives, rather than copies, cover most of the shared ones."""


@dataclass(frozen=True)
class DeviceMeasurements(TimeUse):
    """Everything measured of one device as one process used it, in its window."""

    process: int
    """Number in `Measurements.processes`."""
    gpu_name: str
    process_name: str
    window: Window
    migrations: UnifiedMigrations
    page_faults: int
    """Faults of kernels on unified memory in the window; 0 also where not recorded."""
    streams: tuple[StreamTimeline, ...]
    gaps: ComputeGaps
    """Of the whole device."""
    stream_gaps: tuple[ComputeGaps, ...]
    """Of each compute stream, in the order of stream ids."""
    blocking: BlockingCalls
    steps: StepTimes
    ledger: IdleLedger
    contention: Contention
    order: Order = field(default_factory=Order.none)
    """What its process did, on all its devices, and what is known to be ordered."""
    collectives: Collectives = field(default_factory=Collectives.none)
    shares_gpu_with: tuple[DeviceKey, ...] = ()
    """Other processes that run kernels on the same GPU, and what they call it."""
    ranges: tuple[RangeUse, ...] = ()
    """By pattern of the selection, in its order."""
    clock_skew_ns: int = 0
    """By how much its clock is ahead of the host's at least; negative where behind. Times of the
    host in its tables are on its clock: see `clocks.on_device_clock`."""
    notes: tuple[str, ...] = ()
    """What the user may want to know of the definitions: kernels that may be communication."""
    pace: Pace | None = None
    """Of its steps; None where it was not asked for."""

    @property
    def recorded_ns(self) -> int:
        """Length of the window as recorded, ns."""
        return self.window.length_ns

    @property
    def idle(self) -> Intervals:
        """Window − compute."""
        return self.compute.complement(self.window.start_ns, self.window.end_ns)


class Framework(StrEnum):
    """Whose words advice should use."""

    PYTORCH = "pytorch"
    CUPY = "cupy"
    CUDA = "cuda"
    DIRECTIVES = "directives"
    """OpenACC or OpenMP: the compiler wrote the CUDA calls."""


@dataclass(frozen=True)
class Names:
    """Texts for ids in the tables."""

    strings: Strings
    threads: Mapping[tuple[int, int], str]
    """Thread name by number of the process, and thread."""
    sites: Mapping[int, SourceLine] = field(default_factory=dict)
    """Places in the user's program that ledger rows refer to."""
    directives: frozenset[int] = frozenset()
    """Those of them that are directives of OpenACC or OpenMP."""

    def thread(self, process: int, tid: int) -> str:
        """Name of a thread, or its number."""
        return self.threads.get((process, tid), "") or f"thread {tid}"


@dataclass(frozen=True)
class Measurements:
    """Everything measured of one report."""

    devices: tuple[DeviceMeasurements, ...]
    """By process and device, ascending."""
    problems: tuple[CaptureProblem, ...]
    """Empty when GPU rows are complete for the calls that launched them."""
    names: Names
    framework: Framework
    environment: Mapping[str, str]
    """CUDA_* and NCCL_* variables of the program, where recorded."""
    thresholds: Thresholds = field(default_factory=Thresholds)
    """The numbers that it was measured by, and is explained and judged by."""
    meetings: tuple[Meeting, ...] = ()
    """Collectives in which devices of this report met; members are positions in `devices`."""
    utc_start_ns: int | None = None
    """UTC of the trace's time 0."""
    ranks: RankHints = field(default_factory=RankHints)
    """Ranks that the report names."""
    not_known: tuple[NotKnown, ...] = ()
    """What no verdict needs, but some causes."""
    ranges: Ranges = field(default_factory=Ranges.none)
    """Closed NVTX ranges of all processes; what a policy allows may lie in one."""
    os_calls_recorded: bool = True
    """Whether the report holds calls of the operating system at all."""
    processes: tuple[Process, ...] = ()
    """By number."""
    recorder: Recorder = UNKNOWN_RECORDER
    """Who made the recording, and how to make one that lacks less."""
    waits: tuple[StreamWaits, ...] = ()
    """Who waited for whom in each process; empty where nobody asked."""

    def __repr__(self) -> str:
        """Short: its tables are long."""
        return f"<Measurements of {count_of(len(self.devices), 'device')}>"
