"""What one recording holds, in our words: whoever recorded it, nanoseconds, read-only.

All times share one origin (the start of collection, or whatever the recorder shifted it to). Rows
name their process by its number in `Trace.processes`, so that processes of different machines in
one recording stay apart. Correlation, context and stream ids are unique only within a process.

An id is any number from 0 on, and 0 is one like the others: stream 0, event 0, call 0. ABSENT, and
nothing else, says that a row has none; sources number anew what could be mistaken for it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import PurePath
from typing import NamedTuple, TypeVar

import numpy as np

from overlapcheck.capture_info import CaptureInfo
from overlapcheck.columns import ABSENT, Columns, Ints, Mask
from overlapcheck.grouping import distinct, numbered
from overlapcheck.kinds import DeviceKey, ProcessKey
from overlapcheck.nccl_calls import NcclCalls
from overlapcheck.recorder import UNKNOWN_RECORDER, Content, Recorder
from overlapcheck.trace_tables import (
    ApiCalls,
    Backtraces,
    Contexts,
    Copies,
    Directives,
    EventRecords,
    Kernels,
    Memsets,
    MpiCalls,
    OsCalls,
    Overheads,
    PageFaults,
    Ranges,
    Streams,
    Syncs,
)


class Frame(NamedTuple):
    """One frame of a stack."""

    file: str
    """Source file, or module where no line is known."""
    line: int
    """0 where not known."""
    function: str


@dataclass(frozen=True)
class Missing:
    """A table that cannot be had from this recording, which is not the same as an empty one."""

    table: Content
    """What it would hold; `Recorder.record_again` says how to get it."""
    why: str = "the recording holds no such rows"


@dataclass(frozen=True)
class Gpu:
    """A device as the recording lists it."""

    device_id: int
    name: str
    copy_engines: int | None
    multiprocessors: int | None = None
    compute_capability: int | None = None
    """Its major number."""


@dataclass(frozen=True)
class Process:
    """A process that rows belong to."""

    key: ProcessKey
    name: str = ""
    """Its executable; "" where not recorded."""

    @property
    def title(self) -> str:
        """Name and operating-system pid, as far as they are known."""
        name = PurePath(self.name).name or "process"
        return name if self.key.pid == ABSENT else f"{name} ({self.key.pid})"


@dataclass(frozen=True)
class Strings:
    """Texts by id."""

    texts: Mapping[int, str] = field(default_factory=dict)
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
    """One recording. A table that was not recorded is `Missing`; one without rows is a table.

    A source gives what it can read: what it leaves out is missing.
    """

    info: CaptureInfo
    processes: tuple[Process, ...]
    """By the number that rows have for them."""
    strings: Strings
    kernels: Kernels | Missing = Missing(Content.KERNELS)
    copies: Copies | Missing = Missing(Content.COPIES)
    memsets: Memsets | Missing = Missing(Content.MEMSETS)
    api_calls: ApiCalls | Missing = Missing(Content.CALLS)
    syncs: Syncs | Missing = Missing(Content.SYNCS)
    event_records: EventRecords | Missing = Missing(Content.EVENT_RECORDS)
    ranges: Ranges | Missing = Missing(Content.RANGES)
    nccl_calls: NcclCalls | Missing = Missing(Content.NCCL_CALLS)
    os_calls: OsCalls | Missing = Missing(Content.OS_CALLS)
    mpi_calls: MpiCalls | Missing = Missing(Content.MPI_CALLS)
    directives: Directives | Missing = Missing(Content.DIRECTIVES)
    overheads: Overheads | Missing = Missing(Content.OVERHEADS)
    page_faults: PageFaults | Missing = Missing(Content.PAGE_FAULTS)
    streams: Streams | Missing = Missing(Content.STREAMS)
    contexts: Contexts | Missing = Missing(Content.CONTEXTS)
    backtraces: Backtraces | Missing = Missing(Content.BACKTRACES)
    gpus: tuple[Gpu, ...] = ()
    gpu_of: Mapping[DeviceKey, int] = field(default_factory=dict)
    """Number among `gpus` of each process's device, where processes count them differently."""
    thread_names: Mapping[tuple[int, int], str] = field(default_factory=dict)
    """By number of the process, and thread."""
    stacks: Mapping[int, tuple[Frame, ...]] = field(default_factory=dict)
    """Frames of each Python stack, innermost first."""
    call_sites: Mapping[int, Frame] = field(default_factory=dict)
    """The user's innermost frame of each call chain, where there are no Python stacks."""
    single_kernels: Missing | None = None
    """Why `kernels` holds blocks of whole graphs alone, where it does."""
    recorder: Recorder = UNKNOWN_RECORDER
    """Who made the recording, and how to make one that lacks less."""

    def device_key(self, process: int, device_id: int) -> DeviceKey:
        """Identity of a device of a process, by the process's number."""
        key = self.processes[process].key
        return DeviceKey(key.pid, device_id, key.host)

    def gpu(self, key: DeviceKey) -> Gpu | None:
        """A process's device, where the recording lists it."""
        number = self.gpu_of.get(key, key.device_id)
        return next((gpu for gpu in self.gpus if gpu.device_id == number), None)

    def gpu_name(self, key: DeviceKey) -> str:
        """Product name of a process's device, or ""."""
        gpu = self.gpu(key)
        return gpu.name if gpu else ""

    def copy_engines(self, key: DeviceKey) -> int | None:
        """Number of asynchronous copy engines of a process's device, where known."""
        gpu = self.gpu(key)
        return gpu.copy_engines if gpu else None


def rows_or_none(table: Table | Missing, kind: type[Table]) -> Table:
    """The table, or one without rows where it is missing.

    For passes that may treat both alike; what must not is a check of the capture.
    """
    return kind.none() if isinstance(table, Missing) else table


def processes_of(tables: Iterable[Columns | Missing]) -> list[int]:
    """Numbers of the processes that have rows in tables with a `process` column, ascending."""
    found: set[int] = set()
    for table in tables:
        if not isinstance(table, Missing):
            found.update(distinct(getattr(table, "process")).tolist())  # noqa: B009
    found.discard(ABSENT)
    return sorted(found)
