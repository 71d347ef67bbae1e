"""The order of the stages of an analysis, from a recording to its report.

What only an export, several ranks or a page need is imported where it is used: a verdict must not
wait for it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, NamedTuple

from overlapcheck.causes.ranking.findings import findings
from overlapcheck.causes.ranking.sync_debug import with_sync_warnings
from overlapcheck.checks.allowed import mark_allowed
from overlapcheck.checks.judge import judge
from overlapcheck.checks.own_pace import over_the_spread, why_control, with_basis
from overlapcheck.errors import NotTrimmed
from overlapcheck.finding import Finding
from overlapcheck.job import Job
from overlapcheck.measurements import Measurements
from overlapcheck.passes import measure as passes
from overlapcheck.passes.pace.at_pace import at, with_paces, without_lateness
from overlapcheck.passes.pace.control import control_of
from overlapcheck.passes.pace.own_pace import own_paces
from overlapcheck.reading import Reading, ignored, silent
from overlapcheck.recorder import UNKNOWN_RECORDER
from overlapcheck.report import Report
from overlapcheck.reporting.build import build_report, with_drawings
from overlapcheck.reporting.source_lines import located
from overlapcheck.reporting.sync_log import read_sync_log
from overlapcheck.selection import Selection
from overlapcheck.source import NeedsExport, Shares, Source, recorder_of
from overlapcheck.sources import recognised, source_of
from overlapcheck.trace import Trace
from overlapcheck.verdict import Policy, Verdict

if TYPE_CHECKING:
    from overlapcheck.fleet import FleetReport
    from overlapcheck.shared_part import Trimmed
    from overlapcheck.stream_contract import StreamContract
    from overlapcheck.stream_report import StreamReport


def read_trace(
    path: str | Path,
    *,
    reading: Reading | None = None,
    window_ns: tuple[int, int] | None = None,
) -> Trace:
    """Read a recording: an Nsight Systems report, its export, or what another source reads.

    Args:
        path: .nsys-rep, .qdrep, .sqlite, or a parquetdir or arrowdir folder, told apart by content.
            A report is exported with the real nsys.
        reading: with what, and where the export stays; None takes the defaults.
        window_ns: read only the rows that this part of the trace, [start, end), is judged by.

    Raises:
        OverlapcheckError: one line that names the file and what to do.
    """
    with _opened(Path(path), reading or Reading()) as (source, readable):
        return _read(source, readable, window_ns)


@contextmanager
def _opened(recording: Path, reading: Reading) -> Iterator[tuple[Source, Path]]:
    """What reads a recording, and what it is to read: the recording itself, or its export."""
    source = source_of(recording, reading.sources)
    if not (isinstance(source, NeedsExport) and source.needs_export(recording)):
        reading.progress(f"reading {recording.absolute().name}")  # "." has no name
        reading.opened(recording)
        yield source, recording
        return
    from overlapcheck.capture.export import export_sqlite

    reading.progress(f"exporting {recording.name}")
    with export_sqlite(recording, reading) as exported:
        reading.progress(f"reading {recording.name}")
        reading.opened(exported.path)
        yield source, exported.path


def _read(source: Source, path: Path, window_ns: tuple[int, int] | None) -> Trace:
    """A trace that knows what to do about what it lacks."""
    trace = source.read(path, window_ns)
    known = trace.recorder is not UNKNOWN_RECORDER
    return trace if known else replace(trace, recorder=recorder_of(source))


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
    reading: Reading | None = None,
    control: Sequence[str | Path] = (),
) -> Report:
    """Read, measure, explain, judge.

    Args:
        path: a report or its export, see `read_trace`.
        policy: limits; None takes the defaults.
        selection: what part to measure; None takes the steady steps of every device.
        reading: how it is read, and who is told meanwhile; None takes the defaults.
        control: recordings of the same program with NVTX alone, reports or exports: they tell its
            own pace, and the verdict is on that. `Selection.step_time_ns` does the same.

    Raises:
        OverlapcheckError: one line that names the file and what to do.
    """
    from overlapcheck.predicting import forecasts_of

    policy, selection = policy or Policy(), selection or Selection()
    reading = reading or Reading()
    # What has limits of its own must be measured apart.
    ranges = tuple(dict.fromkeys((*selection.ranges, *policy.ranges)))
    trace = read_trace(path, reading=reading, window_ns=selection.window_ns)
    reading.progress(f"measuring {Path(path).name}")
    waits = policy.streams is not None or reading.timeline
    recorded = measure(trace, replace(selection, ranges=ranges, stream_waits=waits))
    measured = at_own_pace(recorded, control, selection, reading)
    warnings = read_sync_log(Path(path))
    found = findings(measured, forecasts_of(trace, measured))
    found = with_sync_warnings(found, warnings, measured, trace.info.utc_start_ns)
    roots = tuple(r.absolute() for r in (reading.source_root, Path.cwd()) if r is not None)
    found = tuple(located(finding, roots) for finding in found)
    found = mark_allowed(found, measured, policy)
    judged = _judged(recorded, measured, policy, found)
    verdict = judged.verdict
    streams = _streams(Path(path).name, measured, policy) if waits else None
    if streams is not None and policy.streams is not None:
        from overlapcheck.streams.checks import stream_checks

        verdict = verdict.with_checks(stream_checks(measured, streams.checks, policy))
    report = build_report(Path(path).absolute(), trace, measured, verdict, found)
    report = replace(report, wants_control=judged.wants_control, streams=streams)
    return with_drawings(report, trace, measured, reading)


def at_own_pace(
    recorded: Measurements, control: Sequence[str | Path], selection: Selection, reading: Reading
) -> Measurements:
    """The measurements at the program's own pace, where it is known; else as recorded."""
    beside = replace(reading, keep_export=None)
    controls = [control_of(Path(one).name, read_trace(one, reading=beside)) for one in control]
    return with_paces(recorded, own_paces(recorded, controls, selection.step_time_ns))


class _Judged(NamedTuple):
    """A verdict, and what a control recording would settle of it."""

    verdict: Verdict
    wants_control: str | None


def _judged(
    recorded: Measurements, measured: Measurements, policy: Policy, found: tuple[Finding, ...]
) -> _Judged:
    """Judge at the own pace where it is known, and at those it may be; else as recorded."""

    def at_pace(other: Measurements) -> Verdict:
        return judge(other, policy, findings(other) if policy.fail_on else ())

    verdict = judge(measured, policy, found)
    paces = [device.pace for device in measured.devices]
    bounds = {
        tuple(pace.low_ns if pace else None for pace in paces),
        tuple(pace.high_ns if pace else None for pace in paces),
    }
    if len(bounds) > 1:
        others = [at_pace(at(recorded, step_ns)) for step_ns in bounds]
        verdict = over_the_spread(verdict, others, measured)
    best = at_pace(without_lateness(measured, ledgers=bool(policy.fail_on)))
    return _Judged(with_basis(verdict, best, measured), why_control(verdict, best, measured))


def _streams(name: str, measured: Measurements, policy: Policy) -> StreamReport:
    from overlapcheck.streams.report import stream_report

    return stream_report(name, measured, policy.streams)


def streams(
    path: str | Path,
    *,
    selection: Selection | None = None,
    contract: StreamContract | None = None,
    reading: Reading | None = None,
) -> StreamReport:
    """Find out which stream waits for which, and whether that is as agreed.

    Args:
        path: a report or its export, see `read_trace`.
        selection: what part to measure; None takes the steady steps.
        contract: what was agreed on; None only looks.
        reading: how it is read, and who is told meanwhile; None takes the defaults.

    Raises:
        OverlapcheckError: one line that names the file and what to do.
    """
    from overlapcheck.streams.report import stream_report

    selection = replace(selection or Selection(), stream_waits=True)
    reading = reading or Reading()
    trace = read_trace(path, reading=reading, window_ns=selection.window_ns)
    reading.progress(f"measuring {Path(path).name}")
    return stream_report(Path(path).absolute().name, measure(trace, selection), contract)


def analyze_rank(path: Path, *, controls: Mapping[Path, Sequence[Path]], **options: Any) -> Report:
    """One of several reports, with the control recordings that belong to it; else as `analyze`."""
    return analyze(path, control=controls.get(path, ()), **options)


def trim(path: str | Path, *, rename: bool = False, reading: Reading | None = None) -> Trimmed:
    """The least of a recording that gives the same verdict and first cause, and names nobody.

    Environment, arguments, paths, users, hosts, processes and threads are left out or called by
    number; default limits judge both.

    Args:
        path: a report or its export, see `read_trace`.
        rename: whether the program's own kernels and ranges are called by number, too.
        reading: how it is read, and who is told meanwhile; None takes the defaults.

    Raises:
        OverlapcheckError: one line that names the file and what to do.
    """
    from overlapcheck.sharing.trim import trim as trimmed

    path, reading = Path(path), replace(reading or Reading(), timeline=False)
    quiet = replace(reading, progress=silent)
    with _opened(path, reading) as (source, readable), TemporaryDirectory() as folder:
        if not isinstance(source, Shares):
            raise NotTrimmed(
                f"{path.name}: recordings of {source.name} cannot be trimmed",
                "give a report of nsys, or its export",
            )

        def judged(content: bytes) -> Report:
            small = Path(folder, "part.sqlite")
            small.write_bytes(content)
            return analyze(small, reading=quiet)

        whole = _read(source, readable, None), analyze(readable, reading=quiet)
        reading.progress(f"trimming {path.name}")
        write = partial(source.shared, readable)
        return trimmed(path.name, whole, write, judged, rename=rename)


def draw(
    path: Path,
    *,
    policy: Policy | None = None,
    selection: Selection | None = None,
    reading: Reading | None = None,
    controls: Mapping[Path, Sequence[Path]] | None = None,
) -> str:
    """The HTML page of one report, with its timeline; arguments and errors as of `analyze`."""
    from overlapcheck.renderers.html import HtmlRenderer

    reading, control = replace(reading or Reading(), timeline=True), (controls or {}).get(path, ())
    report = analyze(path, policy=policy, selection=selection, reading=reading, control=control)
    return HtmlRenderer().render(report)


def analyze_ranks(
    reports: Sequence[str | Path],
    *,
    job: Job | None = None,
    policy: Policy | None = None,
    selection: Selection | None = None,
    reading: Reading | None = None,
) -> FleetReport:
    """Judge the reports of all ranks of a job, and compare them.

    Workers are processes that import the calling program anew: call it from below
    `if __name__ == "__main__":`, or with `Reading(jobs=1)`, which stays in this process.

    Args:
        reports: reports, folders, globs, or @FILE for a list.
        job: how its ranks are told apart, whether they share one clock, and its control recordings.
        policy: limits on every rank, how many there are and may fail; None takes the defaults.
        selection: what part of each to measure.
        reading: how each is read, and how many at once. Workers tell nobody, and no timeline is
            read; with several workers the sources are pickled.

    Raises:
        OverlapcheckError: an argument names nothing, or not one report could be judged.
    """
    from overlapcheck.ranks.controls import controls_by_report
    from overlapcheck.ranks.inputs import expand
    from overlapcheck.ranks.job_reports import JobReports
    from overlapcheck.ranks.pool import LocalPool, ThisProcess
    from overlapcheck.ranks.run import Engine, judge_fleet
    from overlapcheck.ranks.work import usable_cores

    reading = reading or Reading()
    limits = (selection or Selection()).thresholds
    found = expand([str(report) for report in reports], partial(recognised, more=reading.sources))
    workers = min(reading.jobs or usable_cores(), len(found.reports))
    engine: Engine = ThisProcess() if workers == 1 else LocalPool(workers)
    each = replace(reading.of_rank, progress=silent, opened=ignored, warn=silent)
    job = job or Job()
    return judge_fleet(
        JobReports(found.reports, found.unread, job, policy or Policy(), limits),
        partial(
            analyze_rank,
            policy=policy,
            selection=selection,
            reading=each,
            controls=controls_by_report(found.reports, job.controls),
        ),
        engine,
    )
