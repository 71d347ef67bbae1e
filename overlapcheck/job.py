"""The job whose ranks the reports are of."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Job:
    """What a user knows of a job that its reports may not say."""

    rank_pattern: str | None = None
    """Regular expression that finds the rank in a report's path, as a group named rank; None looks
    at the names and into the reports."""
    same_host: bool = False
    """Whether all ranks ran on one machine, and so share one clock."""
