"""Tables that a recording may hold: one frozen struct each, one row per kernel, copy or call."""

from __future__ import annotations

from dataclasses import dataclass

from overlapcheck.columns import Bools, Columns, Ints, Mask
from overlapcheck.kinds import CopyKind, MemoryKind


@dataclass(frozen=True)
class Kernels(Columns):
    """Kernels and graph-launch blocks, sorted by (start_ns, end_ns)."""

    start_ns: Ints
    end_ns: Ints
    process: Ints
    device_id: Ints
    context_id: Ints
    stream_id: Ints
    correlation_id: Ints
    """The launch call's; ABSENT where not recorded."""
    name_id: Ints
    """Short name; ABSENT for graph blocks."""
    grid_count: Ints
    """Thread blocks, gridX * gridY * gridZ."""
    block_count: Ints
    """Threads per block, blockX * blockY * blockZ."""
    graph_node_id: Ints
    """ABSENT unless recorded at node granularity."""
    opaque: Bools
    """A whole graph launch recorded as one block: its content is unknown."""


@dataclass(frozen=True)
class Copies(Columns):
    """Memory copies on the device, sorted by (start_ns, end_ns)."""

    start_ns: Ints
    end_ns: Ints
    process: Ints
    device_id: Ints
    context_id: Ints
    stream_id: Ints
    correlation_id: Ints
    bytes: Ints
    kind: Ints
    """CopyKind."""
    source: Ints
    """MemoryKind."""
    destination: Ints
    """MemoryKind."""
    source_device_id: Ints
    """Peer copies: the other device; ABSENT where not recorded."""
    destination_device_id: Ints
    graph_node_id: Ints

    @property
    def pageable(self) -> Mask:
        """Copies whose host side is pageable memory."""
        to_device = self.kind == CopyKind.HOST_TO_DEVICE
        to_host = self.kind == CopyKind.DEVICE_TO_HOST
        mask: Mask = (to_device & (self.source == MemoryKind.PAGEABLE)) | (
            to_host & (self.destination == MemoryKind.PAGEABLE)
        )
        return mask

    @property
    def pinned(self) -> Mask:
        """Copies whose host side is pinned memory."""
        to_device = self.kind == CopyKind.HOST_TO_DEVICE
        to_host = self.kind == CopyKind.DEVICE_TO_HOST
        mask: Mask = (to_device & (self.source == MemoryKind.PINNED)) | (
            to_host & (self.destination == MemoryKind.PINNED)
        )
        return mask


@dataclass(frozen=True)
class Memsets(Columns):
    """Memory sets on the device, sorted by (start_ns, end_ns)."""

    start_ns: Ints
    end_ns: Ints
    process: Ints
    device_id: Ints
    context_id: Ints
    stream_id: Ints
    correlation_id: Ints
    bytes: Ints
    graph_node_id: Ints


@dataclass(frozen=True)
class ApiCalls(Columns):
    """CUDA runtime and driver calls, sorted by (start_ns, -end_ns): outer calls come first."""

    start_ns: Ints
    end_ns: Ints
    process: Ints
    tid: Ints
    correlation_id: Ints
    name_id: Ints
    """Name without ABI suffix: cudaMemcpyAsync, not cudaMemcpyAsync_v3020."""
    succeeded: Bools
    callchain_id: Ints
    """ABSENT without a backtrace."""


@dataclass(frozen=True)
class Syncs(Columns):
    """Ids of stream and event synchronisations; the times are those of the host call."""

    start_ns: Ints
    end_ns: Ints
    process: Ints
    context_id: Ints
    stream_id: Ints
    """Of a wait-event call, the stream that waits; ABSENT where not applicable."""
    correlation_id: Ints
    event_id: Ints
    event_sync_id: Ints
    """Pairs a wait with its record; ABSENT where there is none, or it is not known."""
    never_recorded: Bools
    """Whether the event is known never to have been recorded: waiting for it is no order."""


@dataclass(frozen=True)
class EventRecords(Columns):
    """cudaEventRecord calls, one row each, sorted by correlation id."""

    process: Ints
    device_id: Ints
    context_id: Ints
    stream_id: Ints
    correlation_id: Ints
    event_id: Ints
    event_sync_id: Ints


@dataclass(frozen=True)
class Ranges(Columns):
    """Closed NVTX ranges (push/pop and start/end), sorted by (start_ns, -end_ns)."""

    start_ns: Ints
    end_ns: Ints
    process: Ints
    tid: Ints
    name_id: Ints


@dataclass(frozen=True)
class OsCalls(Columns):
    """Operating-system calls of traced threads, sorted by (start_ns, -end_ns)."""

    start_ns: Ints
    end_ns: Ints
    process: Ints
    tid: Ints
    name_id: Ints


@dataclass(frozen=True)
class MpiCalls(Columns):
    """Calls of MPI, sorted by (start_ns, -end_ns)."""

    start_ns: Ints
    end_ns: Ints
    process: Ints
    tid: Ints
    name_id: Ints
    """MPI_Waitall, MPI_Allreduce ..."""


@dataclass(frozen=True)
class Directives(Columns):
    """What an OpenACC or OpenMP runtime did for a directive, sorted by (start_ns, -end_ns).

    The CUDA calls inside were written by the compiler, not by the program's author.
    """

    start_ns: Ints
    end_ns: Ints
    process: Ints
    tid: Ints
    name_id: Ints
    """"Enter data", "Wait", "Compute construct" ..."""
    file_id: Ints
    """Source file of the directive; ABSENT where not recorded."""
    line: Ints
    """Its line; 0 where not recorded."""


@dataclass(frozen=True)
class Overheads(Columns):
    """Time spent by the profiler itself on the program's threads."""

    start_ns: Ints
    end_ns: Ints
    process: Ints
    tid: Ints
    name_id: Ints


@dataclass(frozen=True)
class PageFaults(Columns):
    """Groups of page faults of kernels on unified memory, in no order."""

    start_ns: Ints
    process: Ints
    device_id: Ints
    faults: Ints


@dataclass(frozen=True)
class Backtraces(Columns):
    """Python stacks taken just before CUDA calls, sorted by start_ns."""

    start_ns: Ints
    process: Ints
    tid: Ints
    stack_id: Ints


@dataclass(frozen=True)
class Streams(Columns):
    """Streams that the export describes."""

    process: Ints
    context_id: Ints
    stream_id: Ints
    priority: Ints
    kind: Ints
    """StreamKind."""


@dataclass(frozen=True)
class Contexts(Columns):
    """Null stream of each context, where the export names it."""

    process: Ints
    device_id: Ints
    context_id: Ints
    null_stream_id: Ints
