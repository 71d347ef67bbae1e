"""Comparing whatever two results hold: two reports, or two jobs of many ranks."""

from __future__ import annotations

from overlapcheck.compare.compare import compare
from overlapcheck.compare.fleet import Job, compare_fleets
from overlapcheck.comparison import Comparison, NotComparable
from overlapcheck.fleet_comparison import FleetComparison
from overlapcheck.quantities import count_of
from overlapcheck.report import Report


def compare_either(
    base: Report | Job, new: Report | Job, *, limit: float | None = None, force: bool = False
) -> Comparison | FleetComparison:
    """What changed from one side to the other, see `compare` and `compare_fleets`.

    Raises:
        NotComparable: one side is a job of many ranks and the other one report; or as of these.
    """
    if isinstance(base, Report) and isinstance(new, Report):
        return compare(base, new, limit=limit, force=force)
    if isinstance(base, Job) and isinstance(new, Job):
        return compare_fleets(base, new, limit=limit, force=force)
    job, report = (base, new) if isinstance(base, Job) else (new, base)
    assert isinstance(job, Job) and isinstance(report, Report)
    ranks = count_of(len(job.report.rows), "rank")
    raise NotComparable(
        f"not comparable: {job.name} is a job of {ranks}, {report.capture.report} is one report",
        "compare two jobs (folders, or what analyze FOLDER -o FILE.json wrote), or two reports",
    )
