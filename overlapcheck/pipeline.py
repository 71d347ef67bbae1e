"""The order of the stages; no other file knows it.

What only several ranks or a page need is imported where it is used: a verdict must not wait for it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, TypedDict, Unpack

from overlapcheck.capture.export import export_sqlite
from overlapcheck.causes._ranking import findings
from overlapcheck.causes._sync_debug import with_sync_warnings
from overlapcheck.checks.allowed import mark_allowed
from overlapcheck.checks.judge import judge
from overlapcheck.errors import NoSteadySteps, PolicyInvalid
from overlapcheck.finding import MATERIAL_SHARE
from overlapcheck.job import Job
from overlapcheck.measurements import DeviceMeasurements, Measurements
from overlapcheck.passes import measure as passes
from overlapcheck.reading import Reading, silent
from overlapcheck.recorder import UNKNOWN_RECORDER
from overlapcheck.report import Report
from overlapcheck.reporting.build import build_report, with_timelines
from overlapcheck.reporting.source_lines import located
from overlapcheck.reporting.sync_log import read_sync_log
from overlapcheck.selection import Selection
from overlapcheck.source import NeedsExport, Source, recorder_of
from overlapcheck.sources import recognised, source_of
from overlapcheck.trace import Trace
from overlapcheck.verdict import Policy

if TYPE_CHECKING:
    from overlapcheck.capture.spec import CaptureSpec
    from overlapcheck.captured import CapturedReport
    from overlapcheck.fleet import FleetReport
    from overlapcheck.forecast import Forecast
    from overlapcheck.kinds import DeviceKey
    from overlapcheck.predicted import WhatIf
    from overlapcheck.step_graph import StepGraph

MOST_REPLAYED = 20_000
"""Operations; of steps that together hold more, the last ones are replayed."""
MOST_OF_LONG_STEPS = 500_000
"""The same where not even a few steps hold so few."""
MOST_RANKED_BY = 4_000
"""The same for ranking causes, over all devices: an analysis must not take much longer for it."""


def _as_recorded(_: CapturedReport) -> AbstractContextManager[None]:
    return nullcontext()


class JudgingOptions(TypedDict, total=False):
    """Arguments of `analyze` that `run` hands on."""

    policy: Policy | None
    selection: Selection | None


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
    recording, reading = Path(path), reading or Reading()
    source = source_of(recording, reading.sources)
    if not (isinstance(source, NeedsExport) and source.needs_export(recording)):
        reading.progress(f"reading {recording.absolute().name}")  # "." has no name
        return _read(source, recording, window_ns)
    reading.progress(f"exporting {recording.name}")
    with export_sqlite(recording, reading) as exported:
        reading.progress(f"reading {recording.name}")
        return _read(source, exported.path, window_ns)


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
) -> Report:
    """Read, measure, explain, judge.

    Args:
        path: a report or its export, see `read_trace`.
        policy: limits; None takes the defaults.
        selection: what part to measure; None takes the steady steps of every device.
        reading: how it is read, and who is told meanwhile; None takes the defaults.

    Raises:
        OverlapcheckError: one line that names the file and what to do.
    """
    policy, selection = policy or Policy(), selection or Selection()
    reading = reading or Reading()
    # What has limits of its own must be measured apart.
    ranges = tuple(dict.fromkeys((*selection.ranges, *policy.ranges)))
    trace = read_trace(path, reading=reading, window_ns=selection.window_ns)
    reading.progress(f"measuring {Path(path).name}")
    measured = measure(trace, replace(selection, ranges=ranges))
    warnings = read_sync_log(Path(path))
    found = findings(measured, forecasts_of(trace, measured))
    found = with_sync_warnings(found, warnings, measured, trace.info.utc_start_ns)
    roots = tuple(r.absolute() for r in (reading.source_root, Path.cwd()) if r is not None)
    found = tuple(located(finding, roots) for finding in found)
    found = mark_allowed(found, measured, policy)
    verdict = judge(measured, policy, found)
    report = build_report(Path(path).absolute(), trace, measured, verdict, found)
    return with_timelines(report, trace, measured) if reading.timeline else report


def forecasts_of(trace: Trace, measured: Measurements) -> dict[DeviceKey, Forecast]:
    """What repairs would win on each device of which enough is idle to win anything.

    A few steps are replayed; devices whose steps are too long to replay a few have no forecast.
    """
    waiting = [
        device
        for device in measured.devices
        if len(device.steps) and device.idle_ns >= MATERIAL_SHARE * device.length_ns
    ]
    if not waiting:
        return {}
    from overlapcheck.passes.replay.device_graph import device_graph
    from overlapcheck.whatif.forecast import forecast
    from overlapcheck.whatif.predict import Predictor

    most = MOST_RANKED_BY // len(waiting)
    graphs = [(device, device_graph(trace, device, most)) for device in waiting]
    return {
        device.key: forecast(device, Predictor.of(graph), chains=False)
        for device, graph in graphs
        if graph is not None
    }


def predict(
    path: str | Path,
    *,
    fix: Sequence[str] = (),
    verify: str | Path | None = None,
    selection: Selection | None = None,
    reading: Reading | None = None,
) -> WhatIf:
    """Predict what repairing causes would win, by replaying the steady steps without them.

    Args:
        path: a recording, see `read_trace`.
        fix: ids of causes to repair together; none takes every repair, and the best of them.
        verify: a recording of the repaired program, which the prediction is compared with.
        selection: what part to measure; of several devices, the one with the longest steps counts.
        reading: how it is read, and who is told meanwhile.

    Raises:
        NoSteadySteps: there are too few steps to tell a pace.
        PolicyInvalid: no repair is known for a cause.
        OverlapcheckError: one line that names the file and what to do.
    """
    from overlapcheck.whatif.forecast import forecast
    from overlapcheck.whatif.predict import Predictor
    from overlapcheck.whatif.repairs import REPAIRS
    from overlapcheck.whatif.told import checked, told

    known = sorted(repair.reason.cause for repair in REPAIRS)
    for cause in fix:
        if cause not in known:
            raise PolicyInvalid(
                f"--fix {cause}: no repair of it can be predicted", f"use {', '.join(known)}"
            )
    reading, selection = reading or Reading(), selection or Selection()
    trace = read_trace(path, reading=reading, window_ns=selection.window_ns)
    reading.progress(f"measuring {Path(path).name}")
    measured = measure(trace, selection)
    device, graph = _slowest(Path(path), trace, measured)
    reading.progress("replaying")
    predictor = Predictor.of(graph)
    forced = predictor.forced(fix) if fix else None
    found = told(trace, device, forecast(device, predictor), forced)
    found = replace(
        found,
        report=str(Path(path).absolute()),
        others=tuple(one.key for one in measured.devices if one is not device),
    )
    if verify is None:
        return found
    after = read_trace(verify, reading=reading)
    _, repaired = _slowest(Path(verify), after, measure(after, selection))
    return checked(found, Path(verify).name, Predictor.of(repaired).step_ns)


def _slowest(
    path: Path, trace: Trace, measured: Measurements
) -> tuple[DeviceMeasurements, StepGraph]:
    """The device with the longest steps, and those."""
    from overlapcheck.passes.replay.device_graph import device_graph

    with_steps = [one for one in measured.devices if len(one.steps)]
    for device in sorted(with_steps, key=lambda one: -int(one.steps.step_ns.max())):
        graph = device_graph(trace, device, MOST_REPLAYED)
        graph = graph or device_graph(trace, device, MOST_OF_LONG_STEPS)
        if graph is not None:
            return device, graph
    raise NoSteadySteps(
        f"{path.name}: no steady steps to replay",
        "name the steps with NVTX ranges ('step 1', 'step 2' ...), or say which they are: --steps",
    )


def run(
    command: Sequence[str],
    *,
    spec: CaptureSpec | None = None,
    reading: Reading | None = None,
    judging: Callable[[CapturedReport], AbstractContextManager[None]] = _as_recorded,
    **options: Unpack[JudgingOptions],
) -> Report:
    """Record a program, then judge the recording.

    Args:
        command: program and arguments.
        spec: what to record and where to leave it; None takes what disturbs least and proves most.
        reading: with which nsys it is recorded, how it is read, and who is told meanwhile.
        judging: entered when the recording lies in its place and the program's end is known, and
            left when it is judged; what it raises keeps it from being judged.
        options: policy and selection, see `analyze`.

    Returns:
        The report, with `captured` saying where the recording lies and how the program ended.

    Raises:
        OverlapcheckError: one line that says what is wrong and what to do.
    """
    from overlapcheck.capture.discovery import find_nsys
    from overlapcheck.capture.profile import profile
    from overlapcheck.capture.spec import CaptureSpec

    spec, reading = spec or CaptureSpec(), reading or Reading()
    nsys = find_nsys(reading.nsys)
    captured = profile(spec, command, nsys, progress=reading.progress, warn=reading.warn)
    reading = replace(reading, nsys=nsys.path)
    if spec.keep_in:
        reading = replace(reading, keep_export=captured.report.with_suffix(".sqlite"))
    with judging(captured):
        report = analyze(captured.report, reading=reading, **options)
    return replace(report, captured=captured)


def draw(
    path: Path,
    *,
    policy: Policy | None = None,
    selection: Selection | None = None,
    reading: Reading | None = None,
) -> str:
    """The HTML page of one report, with its timeline; arguments and errors as of `analyze`."""
    from overlapcheck.renderers.html import HtmlRenderer

    reading = replace(reading or Reading(), timeline=True)
    report = analyze(path, policy=policy, selection=selection, reading=reading)
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
        job: how its ranks are told apart, and whether they share one clock.
        policy: limits on every rank, how many there are and may fail; None takes the defaults.
        selection: what part of each to measure.
        reading: how each is read, and how many at once. Workers tell nobody, and no timeline is
            read; with several workers the sources are pickled.

    Raises:
        OverlapcheckError: an argument names nothing, or not one report could be judged.
    """
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
    each = replace(reading, timeline=False, progress=silent, warn=silent)
    return judge_fleet(
        JobReports(found.reports, found.unread, job or Job(), policy or Policy(), limits),
        partial(analyze, policy=policy, selection=selection, reading=each),
        engine,
    )
