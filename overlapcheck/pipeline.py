"""The order of the stages; no other file knows it.

What only several ranks or a page need is imported where it is used: a verdict must not wait for it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from overlapcheck.capture.export import export_sqlite
from overlapcheck.causes._ranking import findings
from overlapcheck.causes._sync_debug import with_sync_warnings
from overlapcheck.checks.allowed import mark_allowed
from overlapcheck.checks.judge import judge
from overlapcheck.measurements import Measurements
from overlapcheck.passes import measure as passes
from overlapcheck.report import Report
from overlapcheck.reporting.build import build_report
from overlapcheck.reporting.source_lines import located
from overlapcheck.reporting.sync_log import read_sync_log
from overlapcheck.selection import Selection
from overlapcheck.sources.nsys import read as ingest
from overlapcheck.sources.nsys.columnar import is_table_folder
from overlapcheck.sources.nsys.identify import InputKind, identify
from overlapcheck.trace import Trace
from overlapcheck.verdict import Policy

if TYPE_CHECKING:
    from overlapcheck.fleet import FleetReport

Progress = Callable[[str], None]
"""Told what begins now, as a clause: "exporting train.nsys-rep"."""


def silent(_: str) -> None:
    """Progress that nobody wants to see."""


def read_trace(
    path: str | Path,
    *,
    nsys: Path | None = None,
    progress: Progress = silent,
    window_ns: tuple[int, int] | None = None,
    cache: bool = True,
    keep_export: Path | None = None,
    warn: Progress = silent,
) -> Trace:
    """Read an Nsight Systems report or its export.

    Args:
        path: .nsys-rep, .qdrep, .sqlite, or a parquetdir or arrowdir folder, told apart by content.
            A report is exported with the real nsys.
        nsys: the nsys to export with; None finds one.
        progress: told what begins.
        window_ns: read only the rows that this part of the trace, [start, end), is judged by.
        cache: whether exports are kept in the user's cache folder, and found there.
        keep_export: leave the export there instead.
        warn: told what is kept, and which kept export is not believed.

    Raises:
        OverlapcheckError: one line that names the file and what to do.
    """
    source = Path(path)
    if identify(source) in (InputKind.SQLITE, InputKind.TABLES):
        progress(f"reading {source.absolute().name}")  # "." has no name
        return ingest.read_trace(source, window_ns)
    progress(f"exporting {source.name}")
    with export_sqlite(
        source, nsys=nsys, keep_as=keep_export, cache=cache, progress=progress, warn=warn
    ) as exported:
        progress(f"reading {source.name}")
        return ingest.read_trace(exported.path, window_ns)


def measure(trace: Trace, selection: Selection | None = None) -> Measurements:
    """Measure every (process, device) that ran kernels.

    Raises:
        PolicyInvalid: the selection names steps or a device that the trace does not have.
    """
    return passes.measure(trace, selection or Selection())


def analyze(
    path: str | Path,
    *,
    policy: Policy | None = None,
    selection: Selection | None = None,
    nsys: Path | None = None,
    progress: Progress = silent,
    timeline: bool = True,
    source_root: Path | None = None,
    cache: bool = True,
    keep_export: Path | None = None,
    warn: Progress = silent,
) -> Report:
    """Read, measure, explain, judge.

    Args:
        path: a report or its export, see `read_trace`.
        policy: limits; None takes the defaults.
        selection: what part to measure; None takes the steady steps of every device.
        nsys: the nsys to export with; None finds one.
        progress: told what begins.
        timeline: whether to draw the timeline, which HTML and Perfetto show; False saves its time.
        source_root: folder of the program's source, whose lines may be shown beside those of the
            current directory's.
        cache: see `read_trace`.
        keep_export: see `read_trace`.
        warn: see `read_trace`.

    Raises:
        OverlapcheckError: one line that names the file and what to do.
    """
    policy, selection = policy or Policy(), selection or Selection()
    # What has limits of its own must be measured apart.
    ranges = tuple(dict.fromkeys((*selection.ranges, *policy.ranges)))
    trace = read_trace(
        path,
        nsys=nsys,
        progress=progress,
        window_ns=selection.window_ns,
        cache=cache,
        keep_export=keep_export,
        warn=warn,
    )
    progress(f"measuring {Path(path).name}")
    measured = measure(trace, replace(selection, ranges=ranges))
    warnings = read_sync_log(Path(path))
    found = with_sync_warnings(findings(measured), warnings, measured, trace.info.utc_start_ns)
    roots = tuple(root.absolute() for root in (source_root, Path.cwd()) if root is not None)
    found = tuple(located(finding, roots) for finding in found)
    found = mark_allowed(found, measured, policy)
    verdict = judge(measured, policy, found)
    return build_report(Path(path).absolute(), trace, measured, verdict, found, timeline=timeline)


def draw(
    path: Path,
    *,
    policy: Policy | None = None,
    selection: Selection | None = None,
    nsys: Path | None = None,
    source_root: Path | None = None,
    cache: bool = True,
) -> str:
    """The HTML page of one report, with its timeline; arguments and errors as of `analyze`."""
    from overlapcheck.renderers.html import HtmlRenderer

    report = analyze(
        path,
        policy=policy,
        selection=selection,
        nsys=nsys,
        source_root=source_root,
        cache=cache,
    )
    return HtmlRenderer().render(report)


def analyze_ranks(
    reports: Sequence[str | Path],
    *,
    policy: Policy | None = None,
    selection: Selection | None = None,
    nsys: Path | None = None,
    jobs: int | None = None,
    rank_pattern: str | None = None,
    same_host: bool = False,
    source_root: Path | None = None,
    cache: bool = True,
) -> FleetReport:
    """Judge the reports of all ranks of a job, and compare them.

    Workers are processes that import the calling program anew: call it from below
    `if __name__ == "__main__":`, or with jobs=1, which stays in this process.

    Args:
        reports: reports, folders, globs, or @FILE for a list.
        policy: limits on every rank, how many there are and may fail; None takes the defaults.
        selection: what part of each to measure.
        nsys: the nsys to export with; None finds one.
        jobs: reports judged at once; None takes as many as there are cores.
        rank_pattern: the rank in a report's path, as a group named rank; None looks at the names
            and into the reports.
        same_host: whether all reports share one clock.
        source_root: folder of the program's source.
        cache: see `read_trace`.

    Raises:
        OverlapcheckError: an argument names nothing, or not one report could be judged.
    """
    from overlapcheck.ranks.inputs import expand
    from overlapcheck.ranks.naming import rank_pattern as compiled
    from overlapcheck.ranks.pool import LocalPool, ThisProcess
    from overlapcheck.ranks.run import Engine, judge_fleet
    from overlapcheck.ranks.work import usable_cores

    found = expand([str(report) for report in reports], is_table_folder)
    paths = found.reports
    jobs = min(jobs or usable_cores(), len(paths))
    engine: Engine = ThisProcess() if jobs == 1 else LocalPool(jobs)
    return judge_fleet(
        paths,
        partial(
            analyze,
            policy=policy,
            selection=selection,
            nsys=nsys,
            timeline=False,
            source_root=source_root,
            cache=cache,
        ),
        engine,
        pattern=compiled(rank_pattern) if rank_pattern else None,
        same_host=same_host,
        policy=policy,
        unread=found.unread,
    )
