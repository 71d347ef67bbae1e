"""The order of the stages; no other file knows it.

What only several ranks or a page need is imported where it is used: a verdict must not wait for it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypedDict, Unpack

from overlapcheck.capture.export import export_sqlite
from overlapcheck.causes._ranking import findings
from overlapcheck.causes._sync_debug import with_sync_warnings
from overlapcheck.checks.allowed import mark_allowed
from overlapcheck.checks.judge import judge
from overlapcheck.checks.own_pace import over_the_spread, why_control, with_basis
from overlapcheck.errors import OverlapcheckError
from overlapcheck.finding import Finding
from overlapcheck.measurements import Measurements, WindowSource
from overlapcheck.pace import PaceSource
from overlapcheck.passes import measure as passes
from overlapcheck.passes.pace.at_pace import at, with_paces, without_lateness
from overlapcheck.passes.pace.control import control_of
from overlapcheck.passes.pace.own_pace import own_paces
from overlapcheck.passes.pace.same_run import other_steps
from overlapcheck.recorder import UNKNOWN_RECORDER
from overlapcheck.report import Report
from overlapcheck.reporting.build import build_report
from overlapcheck.reporting.source_lines import located
from overlapcheck.reporting.sync_log import read_sync_log
from overlapcheck.selection import Selection
from overlapcheck.source import NeedsExport, Source, recorder_of
from overlapcheck.sources import recognised, source_of
from overlapcheck.trace import Trace
from overlapcheck.verdict import Policy, Verdict

if TYPE_CHECKING:
    from overlapcheck.capture.second_run import SecondRuns
    from overlapcheck.capture.spec import CaptureSpec
    from overlapcheck.captured import CapturedReport
    from overlapcheck.fleet import FleetReport

Progress = Callable[[str], None]
"""Told what begins now, as a clause: "exporting train.nsys-rep"."""


def _as_recorded(_: CapturedReport) -> AbstractContextManager[None]:
    return nullcontext()


class JudgingOptions(TypedDict, total=False):
    """Arguments of `analyze` that `run` hands on."""

    policy: Policy | None
    selection: Selection | None
    timeline: bool
    source_root: Path | None
    cache: bool


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
    sources: Sequence[Source] = (),
) -> Trace:
    """Read a recording: an Nsight Systems report, its export, or what another source reads.

    Args:
        path: .nsys-rep, .qdrep, .sqlite, or a parquetdir or arrowdir folder, told apart by content.
            A report is exported with the real nsys.
        nsys: the nsys to export with; None finds one.
        progress: told what begins.
        window_ns: read only the rows that this part of the trace, [start, end), is judged by.
        cache: whether exports are kept in the user's cache folder, and found there.
        keep_export: leave the export there instead.
        warn: told what is kept, and which kept export is not believed.
        sources: asked whether they know the recording before those that are installed.

    Raises:
        OverlapcheckError: one line that names the file and what to do.
    """
    recording = Path(path)
    source = source_of(recording, sources)
    if not (isinstance(source, NeedsExport) and source.needs_export(recording)):
        progress(f"reading {recording.absolute().name}")  # "." has no name
        return _read(source, recording, window_ns)
    progress(f"exporting {recording.name}")
    with export_sqlite(
        recording, nsys=nsys, keep_as=keep_export, cache=cache, progress=progress, warn=warn
    ) as exported:
        progress(f"reading {recording.name}")
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
    nsys: Path | None = None,
    progress: Progress = silent,
    timeline: bool = True,
    source_root: Path | None = None,
    cache: bool = True,
    keep_export: Path | None = None,
    warn: Progress = silent,
    sources: Sequence[Source] = (),
    control: Sequence[str | Path] = (),
    step_time: float | None = None,
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
        sources: see `read_trace`.
        control: recordings of the same program with NVTX alone, reports or exports: they tell its
            own pace, and the verdict is on that.
        step_time: length of a step, ns, when nothing records; it does what a control does.

    Raises:
        OverlapcheckError: one line that names the file and what to do.
    """
    policy, selection = policy or Policy(), selection or Selection()
    if step_time is not None:
        selection = replace(selection, step_time_ns=step_time)
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
        sources=sources,
    )
    progress(f"measuring {Path(path).name}")
    recorded = measure(trace, replace(selection, ranges=ranges))
    read = partial(read_trace, nsys=nsys, progress=progress, cache=cache, sources=sources)
    controls = [control_of(Path(one).name, read(one, warn=warn)) for one in control]
    measured = with_paces(recorded, own_paces(recorded, controls, selection.step_time_ns))
    warnings = read_sync_log(Path(path))
    found = with_sync_warnings(findings(measured), warnings, measured, trace.info.utc_start_ns)
    roots = tuple(root.absolute() for root in (source_root, Path.cwd()) if root is not None)
    found = tuple(located(finding, roots) for finding in found)
    found = mark_allowed(found, measured, policy)
    judged = _judged(recorded, measured, policy, found)
    report = build_report(
        Path(path).absolute(), trace, measured, judged.verdict, found, timeline=timeline
    )
    return replace(report, wants_control=judged.wants_control)


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


def run(
    command: Sequence[str],
    *,
    spec: CaptureSpec | None = None,
    nsys: Path | None = None,
    keep_as: Path | None = None,
    keep_in: Path | None = None,
    control: str | int = "auto",
    judging: Callable[[CapturedReport], AbstractContextManager[None]] = _as_recorded,
    progress: Progress = silent,
    warn: Progress = silent,
    **options: Unpack[JudgingOptions],
) -> Report:
    """Record a program, then judge the recording; where the host is late, at the own pace.

    Args:
        command: program and arguments.
        spec: what to record; None takes what disturbs least and proves most.
        nsys: the nsys to record with; None finds one.
        keep_as: file for the recording; None takes a name that says program and time.
        keep_in: folder for the recording and its export; None is the current one, without export.
        control: whether the program runs once more, with NVTX ranges alone recorded, so that the
            verdict is on its own pace: "auto" where that would settle something, "always", "never",
            or how many times, in turns with as many recordings. What goes wrong then costs nothing
            of the first verdict.
        judging: entered when a recording lies in its place and the program's end is known, and
            left when it is judged; what it raises keeps it from being judged. Entered once more
            when there are controls, with these.
        progress: told what begins.
        warn: told at once what the user should know.
        options: policy, selection, timeline, source_root and cache, see `analyze`.

    Returns:
        The report, with `captured` saying where the recordings lie and how the program ended.

    Raises:
        OverlapcheckError: one line that says what is wrong and what to do.
    """
    from overlapcheck.capture.discovery import find_nsys
    from overlapcheck.capture.profile import profile
    from overlapcheck.capture.second_run import ControlPlan, SecondRuns
    from overlapcheck.capture.spec import CaptureSpec

    plan = ControlPlan.of(control)
    found = find_nsys(nsys)
    spec = spec or CaptureSpec()
    again = SecondRuns(command, spec, found, progress=progress, warn=warn)
    captured = profile(spec, command, found, keep_as, keep_in, progress=progress, warn=warn)
    judge_it = partial(
        analyze,
        nsys=found.path,
        progress=progress,
        keep_export=captured.report.with_suffix(".sqlite") if keep_in else None,
        warn=warn,
        **options,
    )
    with judging(captured):
        first = replace(judge_it(captured.report), captured=captured)
    has_steps = any(one.window.source == WindowSource.NVTX_STEPS for one in first.devices)
    if not again.announced(plan, captured, first.wants_control, has_steps=has_steps):
        return first
    runs = again.controls(plan, captured)
    if not runs.controls:
        return first
    report = _at_own_pace(first, runs, judge_it, judging, again)
    return replace(report, captured=runs)


def _at_own_pace(
    first: Report,
    runs: CapturedReport,
    judge_it: Callable[..., Report],
    judging: Callable[[CapturedReport], AbstractContextManager[None]],
    again: SecondRuns,
) -> Report:
    """The first recording judged once more, by controls; where they tell nothing, as it was.

    Args:
        first: of the recording alone.
        runs: the same recording, with controls.
        judge_it: judges a recording, by arguments of `analyze`.
        judging: see `run`.
        again: told why the first verdict is kept.
    """
    other = ""
    try:
        with judging(runs):
            told = {one: _did_otherwise(first, one, again) for one in runs.controls}
            other = next(filter(None, told.values()), "")
            alike = [control for control, why in told.items() if not why]
            second = judge_it(runs.report, control=alike) if alike else first
            again.tell_spread([_step_ns(judge_it(one)) for one in runs.repeats], _step_ns(first))
    except (OverlapcheckError, KeyboardInterrupt) as error:
        again.keep_first(getattr(error, "message", "") or "interrupted", runs)
        return first
    paces = [device.pace for device in second.devices if device.pace is not None]
    if any(pace.source is PaceSource.CONTROL for pace in paces):
        return second
    why = other or next((pace.why for pace in paces if pace.why), "no steps that could be timed")
    again.keep_first(why, runs)
    return first


def _did_otherwise(first: Report, control: Path, again: SecondRuns) -> str:
    """What a control did otherwise than the recording, as a clause; "" where it did the same."""
    if not again.to_its_end or first.measurements is None:
        return ""
    trace = read_trace(control, nsys=again.nsys)
    clause = other_steps(first.measurements, control_of(control.name, trace))
    return clause and f"{control.name}: {clause}"


def _step_ns(report: Report) -> float | None:
    """Mean length of the judged steps of the device where they take longest."""
    devices = [one for one in report.devices if one.window.steps]
    return max((one.window_ns / (one.window.steps or 1) for one in devices), default=None)


def analyze_rank(path: Path, *, controls: Mapping[Path, Sequence[Path]], **options: Any) -> Report:
    """One of several reports, with the control recordings that belong to it; else as `analyze`."""
    return analyze(path, control=controls.get(path, ()), **options)


def draw(path: Path, **options: Any) -> str:
    """The HTML page of one report, with its timeline; arguments and errors as of `analyze_rank`."""
    from overlapcheck.renderers.html import HtmlRenderer

    return HtmlRenderer().render(analyze_rank(path, **{"controls": {}, **options}))


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
    sources: Sequence[Source] = (),
    control: Sequence[str | Path] = (),
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
        sources: see `read_trace`; with several workers they are pickled.
        control: see `analyze`; one for all reports, or one for each.

    Raises:
        OverlapcheckError: an argument names nothing, or not one report could be judged.
    """
    from overlapcheck.ranks.controls import controls_by_report
    from overlapcheck.ranks.inputs import expand
    from overlapcheck.ranks.naming import rank_pattern as compiled
    from overlapcheck.ranks.pool import LocalPool, ThisProcess
    from overlapcheck.ranks.run import Engine, judge_fleet
    from overlapcheck.ranks.work import usable_cores

    found = expand([str(report) for report in reports], partial(recognised, more=sources))
    paths = found.reports
    jobs = min(jobs or usable_cores(), len(paths))
    engine: Engine = ThisProcess() if jobs == 1 else LocalPool(jobs)
    return judge_fleet(
        paths,
        partial(
            analyze_rank,
            controls=controls_by_report(paths, tuple(map(Path, control))),
            policy=policy,
            selection=selection,
            nsys=nsys,
            timeline=False,
            source_root=source_root,
            cache=cache,
            sources=sources,
        ),
        engine,
        pattern=compiled(rank_pattern) if rank_pattern else None,
        same_host=same_host,
        policy=policy,
        unread=found.unread,
    )
