"""Facts about a recording: who made it, how, and what the recorder had to say about it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import IntEnum, StrEnum

from overlapcheck.kinds import ProcessKey
from overlapcheck.rank_hints import RankHints


class Severity(IntEnum):
    """Severity of a diagnostic message of the recorder."""

    INFORMATION = 1
    WARNING = 2
    ERROR = 3
    VERBOSE = 4


@dataclass(frozen=True)
class Diagnostic:
    """A message that the recorder stored in the recording."""

    severity: int
    text: str
    process: ProcessKey | None
    """None where it concerns no single one."""
    loses_rows: bool = False
    """Whether it says that the recording may lack rows; milder ones accompany sound recordings."""


class GraphGranularity(StrEnum):
    """How CUDA graph launches were recorded."""

    GRAPH = "graph"
    NODE = "node"
    UNKNOWN = "unknown"


@dataclass(frozen=True)
class CaptureInfo:
    """Facts about the recording, free of environment, user and host name."""

    recorder_version: str = ""
    """Version of what made the file that was read; "" where not known."""
    schema_version: str = ""
    """Of the layout of that file."""
    program: str = ""
    """The profiled command with its arguments; "" where not recorded."""
    traced: frozenset[str] = frozenset()
    """Kinds that were asked for, in the recorder's words; empty where not recorded."""
    asked_for_gpu_work: bool = False
    """Whether work of the GPU is known to be among them."""
    graph_granularity: GraphGranularity = GraphGranularity.UNKNOWN
    driver_version: str = ""
    environment: Mapping[str, str] = field(default_factory=dict)
    """Only CUDA_* and NCCL_* variables that change how a program runs."""
    diagnostics: tuple[Diagnostic, ...] = ()
    utc_start_ns: int | None = None
    """UTC of the trace's time 0, ns since 1970."""
    dropped_untimed: int = 0
    """GPU rows without timestamps, left out."""
    dropped_backward: int = 0
    """GPU rows that end before they start, left out."""
    ranks: RankHints = field(default_factory=RankHints)
    """Ranks that the recording names."""
