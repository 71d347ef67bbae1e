"""What one Nsight Systems report recorded, in our words: version-free, nanoseconds, read-only.

All times share one origin (the start of collection, or whatever the exporter shifted it to).
Process ids are `globalPid >> 24`: the operating system's pid with nsys's VM and hardware bits kept,
so that processes of different machines in one report stay apart. Correlation, context and stream
ids are unique only within a process.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import NamedTuple, TypeVar

import numpy as np

from overlapcheck.capture_info import CaptureInfo
from overlapcheck.columns import ABSENT, Bools, Columns, Ints, Mask, distinct, numbered
from overlapcheck.kinds import CopyKind, DeviceKey, MemoryKind
from overlapcheck.nccl_calls import NcclCalls


@dataclass(frozen=True)
class Kernels(Columns):
    """Kernels and graph-launch blocks, sorted by (start_ns, end_ns)."""

    start_ns: Ints
    end_ns: Ints
    pid: Ints
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
    pid: Ints
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
    pid: Ints
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
    pid: Ints
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
    pid: Ints
    context_id: Ints
    stream_id: Ints
    """Of a wait-event call, the stream that waits; ABSENT where not applicable."""
    correlation_id: Ints
    event_id: Ints
    event_sync_id: Ints
    """Pairs a wait with its record; ABSENT where none or not exported; 0 = never recorded."""


@dataclass(frozen=True)
class EventRecords(Columns):
    """cudaEventRecord calls, one row each, sorted by correlation id."""

    pid: Ints
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
    pid: Ints
    tid: Ints
    name_id: Ints


@dataclass(frozen=True)
class OsCalls(Columns):
    """Operating-system calls of traced threads, sorted by (start_ns, -end_ns)."""

    start_ns: Ints
    end_ns: Ints
    pid: Ints
    tid: Ints
    name_id: Ints


@dataclass(frozen=True)
class MpiCalls(Columns):
    """Calls of MPI, sorted by (start_ns, -end_ns)."""

    start_ns: Ints
    end_ns: Ints
    pid: Ints
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
    pid: Ints
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
    pid: Ints
    tid: Ints
    name_id: Ints


@dataclass(frozen=True)
class PageFaults(Columns):
    """Groups of page faults of kernels on unified memory, in no order."""

    start_ns: Ints
    pid: Ints
    device_id: Ints
    faults: Ints


@dataclass(frozen=True)
class Backtraces(Columns):
    """Python stacks taken just before CUDA calls, sorted by start_ns."""

    start_ns: Ints
    pid: Ints
    tid: Ints
    stack_id: Ints


class Frame(NamedTuple):
    """One frame of a stack."""

    file: str
    """Source file, or module where no line is known."""
    line: int
    """0 where not known."""
    function: str


@dataclass(frozen=True)
class Streams(Columns):
    """Streams that the export describes."""

    pid: Ints
    context_id: Ints
    stream_id: Ints
    priority: Ints
    kind: Ints
    """StreamKind."""


@dataclass(frozen=True)
class Contexts(Columns):
    """Null stream of each context, where the export names it."""

    pid: Ints
    device_id: Ints
    context_id: Ints
    null_stream_id: Ints


@dataclass(frozen=True)
class Missing:
    """A table that cannot be had from this report, which is not the same as an empty one."""

    table: str
    """What it would hold: "kernels", "os calls" ..."""
    why: str
    capture_with: str
    """The nsys option that would record it."""


@dataclass(frozen=True)
class Gpu:
    """A device as nsys lists it."""

    device_id: int
    name: str
    copy_engines: int | None


@dataclass(frozen=True)
class Strings:
    """Texts by id."""

    texts: Mapping[int, str]
    table: str = "the table of texts"
    """What the source calls the place they come from."""

    def text(self, string_id: int) -> str:
        """The text, or "" for ABSENT and unknown ids."""
        return self.texts.get(string_id, "")

    def matching(self, ids: Ints, predicate: Callable[[str], bool]) -> Mask:
        """Rows whose text fulfils the predicate, which is asked once per distinct id."""
        found, position = numbered(ids)
        chosen = np.array([predicate(self.text(i)) for i in found.tolist()], dtype=np.bool_)
        return chosen[position] if chosen.any() else np.zeros(ids.shape, dtype=np.bool_)


Table = TypeVar("Table", bound=Columns)


@dataclass(frozen=True)
class Trace:
    """One report. A table that was not recorded is `Missing`; one without rows is a table."""

    info: CaptureInfo
    strings: Strings
    gpus: tuple[Gpu, ...]
    gpu_of: Mapping[DeviceKey, int]
    """nsys's GPU number for each process's device number, where the export maps them."""
    process_names: Mapping[int, str]
    thread_names: Mapping[tuple[int, int], str]
    kernels: Kernels | Missing
    copies: Copies | Missing
    memsets: Memsets | Missing
    api_calls: ApiCalls | Missing
    syncs: Syncs | Missing
    event_records: EventRecords | Missing
    ranges: Ranges | Missing
    nccl_calls: NcclCalls | Missing
    os_calls: OsCalls | Missing
    mpi_calls: MpiCalls | Missing
    directives: Directives | Missing
    overheads: Overheads | Missing
    page_faults: PageFaults | Missing
    streams: Streams | Missing
    contexts: Contexts | Missing
    backtraces: Backtraces | Missing
    stacks: Mapping[int, tuple[Frame, ...]]
    """Frames of each Python stack, innermost first."""
    call_sites: Mapping[int, Frame]
    """The user's innermost frame of each call chain, where there are no Python stacks."""
    single_kernels: Missing | None = None
    """Why `kernels` holds blocks of whole graphs alone, where it does."""

    def gpu_name(self, key: DeviceKey) -> str:
        """Product name of a process's device, or ""."""
        number = self.gpu_of.get(key, key.device_id)
        return next((gpu.name for gpu in self.gpus if gpu.device_id == number), "")

    def copy_engines(self, key: DeviceKey) -> int | None:
        """Number of asynchronous copy engines of a process's device, where known."""
        number = self.gpu_of.get(key, key.device_id)
        return next((gpu.copy_engines for gpu in self.gpus if gpu.device_id == number), None)


def rows_or_none(table: Table | Missing, kind: type[Table]) -> Table:
    """The table, or one without rows where it is missing.

    For passes that may treat both alike; what must not is a check of the capture.
    """
    return kind.none() if isinstance(table, Missing) else table


def pids_of(tables: Iterable[Columns | Missing]) -> list[int]:
    """Distinct process ids over tables that have a `pid` column, ascending."""
    found: set[int] = set()
    for table in tables:
        if not isinstance(table, Missing):
            found.update(distinct(getattr(table, "pid")).tolist())  # noqa: B009
    found.discard(ABSENT)
    return sorted(found)
