"""Who made a recording, and what would make one that lacks less."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum


class Content(StrEnum):
    """What a recording can hold, and may lack."""

    # Tables of a trace.
    KERNELS = "kernels"
    COPIES = "copies"
    MEMSETS = "memsets"
    CALLS = "CUDA calls"
    SYNCS = "synchronisations"
    EVENT_RECORDS = "event records"
    RANGES = "NVTX ranges"
    NCCL_CALLS = "NCCL calls"
    OS_CALLS = "OS calls"
    MPI_CALLS = "MPI calls"
    DIRECTIVES = "directives"
    OVERHEADS = "profiler overhead"
    PAGE_FAULTS = "page faults"
    STREAMS = "stream descriptions"
    CONTEXTS = "contexts"
    BACKTRACES = "backtraces"
    # What tables may lack though they are there.
    GPU_WORK = "work of the GPU"
    LAUNCHED_WORK = "what was launched"
    WORK_OF_STEPS = "work of the steps"
    ALL_ROWS = "every row"
    GRAPH_NODES = "what runs inside graphs"
    COPY_KINDS = "kinds of copies"
    NAMES = "names"
    TRUE_TIMES = "times that can be"
    UNDISTURBED = "what the program does by itself"
    OTHER_USERS = "other users of the GPU"
    STEPS = "NVTX ranges around its steps, and nothing but those in a control of its own pace"
    OWN_PACE = "nothing but NVTX ranges, as a control of the program's own pace"


@dataclass(frozen=True)
class Recorder:
    """What made a recording.

    >>> kineto = Recorder("kineto", {Content.GRAPH_NODES: "profile with with_graphs=True"})
    >>> kineto.record_again(Content.GRAPH_NODES)
    'profile with with_graphs=True'
    >>> kineto.record_again(Content.NAMES)
    'record again, with names'
    """

    name: str = ""
    """As its users call it; "" where it is not known."""
    commands: Mapping[Content, str] = field(default_factory=dict)
    """What would record each content: a command, an option, or what to do, as a clause."""
    list_ranges: str = "look at the recording"
    """What lists the names of ranges in a recording."""

    def record_again(self, lacking: Content) -> str:
        """What to do to have a content, where a recording lacks it."""
        return self.commands.get(lacking) or f"record again, with {lacking}"


UNKNOWN_RECORDER = Recorder()
