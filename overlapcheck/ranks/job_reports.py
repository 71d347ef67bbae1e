"""The reports of a job's ranks, before anybody has read them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from overlapcheck.job import Job
from overlapcheck.ranks.naming import rank_pattern
from overlapcheck.report_result import LostReport
from overlapcheck.thresholds import USUAL, Thresholds
from overlapcheck.user_patterns import UserPattern
from overlapcheck.verdict import Policy


@dataclass(frozen=True)
class JobReports:
    """Reports, the job that they are said to be of, and what is asked of it."""

    paths: Sequence[Path]
    """All reports; elsewhere they go by their positions here."""
    unread: Sequence[LostReport] = ()
    """What could hold further reports."""
    job: Job = field(default_factory=Job)
    policy: Policy = field(default_factory=Policy)
    """How many ranks there are to be, and how many may fail."""
    limits: Thresholds = USUAL
    """The numbers that decide, in the reports and over them."""

    @property
    def pattern(self) -> UserPattern | None:
        """The user's way to tell ranks from paths.

        Raises:
            PolicyInvalid: it is no regular expression, or names no rank.
        """
        return rank_pattern(self.job.rank_pattern) if self.job.rank_pattern else None
