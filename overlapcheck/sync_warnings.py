"""PyTorch's own warnings that an operation synchronised, logged by `run --sync-debug`."""

from __future__ import annotations

from dataclasses import dataclass

from overlapcheck.finding import SourceLine

LOG_SUFFIX = ".sync.jsonl"
"""Of the log beside a report: `train.nsys-rep.sync.jsonl`."""


@dataclass(frozen=True)
class SyncWarning:
    """One synchronising operation."""

    utc_ns: int
    pid: int
    """The operating system's."""
    place: SourceLine
