"""The job whose ranks the reports are of."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Job:
    """What a user knows of a job that its reports may not say."""

    rank_pattern: str | None = None
    """Regular expression that finds the rank in a report's path, as a group named rank; None looks
    at the names and into the reports."""
    same_host: bool = False
    """Whether all ranks ran on one machine, and so share one clock."""
    controls: tuple[Path, ...] = ()
    """Recordings of the job with NVTX alone: one for all ranks, or one for each, in the order of
    the numbers in their names."""
