"""Facts about a recording: who made it, how, and what nsys had to say about it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import IntEnum, StrEnum

from overlapcheck.rank_hints import RankHints


class Severity(IntEnum):
    """Severity of a diagnostic message of nsys."""

    INFORMATION = 1
    WARNING = 2
    ERROR = 3
    VERBOSE = 4


@dataclass(frozen=True)
class Diagnostic:
    """A message that nsys stored in the report."""

    severity: int
    text: str
    pid: int
    """ABSENT where it concerns no process."""


class GraphGranularity(StrEnum):
    """How CUDA graph launches were recorded."""

    GRAPH = "graph"
    NODE = "node"
    UNKNOWN = "unknown"


@dataclass(frozen=True)
class CaptureInfo:
    """Facts about the recording, free of environment, user and host name."""

    nsys_version: str
    """Product version of the exporter; "" before 2022."""
    schema_version: str
    program: str
    """The profiled command with its arguments; "" where not recorded."""
    traced: frozenset[str]
    """Kinds that were asked for, as nsys names them (Cuda, NvtxEvents, OSRuntime)."""
    graph_granularity: GraphGranularity
    driver_version: str
    environment: Mapping[str, str]
    """Only CUDA_* and NCCL_* variables that change how a program runs."""
    diagnostics: tuple[Diagnostic, ...]
    utc_start_ns: int | None
    """UTC of the trace's time 0, ns since 1970."""
    dropped_untimed: int
    """GPU rows without timestamps, left out."""
    dropped_backward: int = 0
    """GPU rows that end before they start, left out."""
    ranks: RankHints = field(default_factory=RankHints)
    """Ranks that the report names."""
