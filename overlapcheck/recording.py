"""The order of the stages of a run: record, judge; where it settles something, run again."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from pathlib import Path
from typing import TypedDict, Unpack

from overlapcheck.capture.discovery import find_nsys
from overlapcheck.capture.outside_repair import outside_repairs
from overlapcheck.capture.second_run import ControlPlan, SecondRuns
from overlapcheck.capture.spec import CaptureSpec
from overlapcheck.captured import CapturedReport
from overlapcheck.errors import OverlapcheckError
from overlapcheck.measurements import WindowSource
from overlapcheck.pace import PaceSource
from overlapcheck.passes.pace.control import control_of
from overlapcheck.passes.pace.same_run import other_steps
from overlapcheck.pipeline import analyze, read_trace
from overlapcheck.proving import Judging, with_proofs
from overlapcheck.reading import Reading
from overlapcheck.report import Report
from overlapcheck.selection import Selection
from overlapcheck.verdict import Policy


def _as_recorded(_: CapturedReport) -> AbstractContextManager[None]:
    return nullcontext()


class JudgingOptions(TypedDict, total=False):
    """Arguments of `analyze` that `run` hands on."""

    policy: Policy | None
    selection: Selection | None


def run(  # noqa: PLR0913  # each a question of its own, by name
    command: Sequence[str],
    *,
    spec: CaptureSpec | None = None,
    reading: Reading | None = None,
    control: str | int = "auto",
    prove: Sequence[str] = (),
    judging: Judging = _as_recorded,
    **options: Unpack[JudgingOptions],
) -> Report:
    """Record a program, then judge the recording; where the host is late, at the own pace.

    Args:
        command: program and arguments.
        spec: what to record and where to leave it; None takes what disturbs least and proves most.
        reading: with which nsys it is recorded, how it is read, and who is told meanwhile.
        control: whether the program runs once more, with NVTX ranges alone recorded, so that the
            verdict is on its own pace: "auto" where that would settle something, "always", "never",
            or how many times, in turns with as many recordings. What goes wrong then costs nothing
            of the first verdict.
        prove: ids of causes to repair from outside: for each the program runs again, and what that
            wins is in `proved`, beside what was predicted. What goes wrong then costs no verdict.
        judging: entered when a recording lies in its place and the program's end is known, and
            left when it is judged; what it raises keeps it from being judged. Entered once more
            when there are controls, with these, and for each recording of the repaired program.
        options: policy and selection, see `analyze`.

    Returns:
        The report, with `captured` saying where the recordings lie and how the program ended.

    Raises:
        OverlapcheckError: one line that says what is wrong and what to do.
    """
    spec, reading = spec or CaptureSpec(), reading or Reading()
    plan, repairs = ControlPlan.of(control), outside_repairs(prove)
    nsys = find_nsys(reading.nsys)
    program = SecondRuns(command, spec, nsys, progress=reading.progress, warn=reading.warn)
    reading = replace(reading, nsys=nsys.path)
    report = _recorded(program, spec, reading, plan, judging, options)
    if repairs:
        report = with_proofs(report, repairs, program, judging, options.get("selection"), reading)
    return _sanitized(report, command, spec, reading) if spec.sanitizer else report


def _sanitized(
    report: Report, command: Sequence[str], spec: CaptureSpec, reading: Reading
) -> Report:
    """The report with a second opinion on the order of streams, from another run."""
    from overlapcheck.capture.sanitizer import sanitize
    from overlapcheck.streams.second_opinion import with_second_opinion

    reading.progress(f"running {Path(command[0]).name} again under PyTorch's CUDA sanitizer")
    at_most_s = spec.delay_s + spec.duration_s if spec.duration_s else 0
    return with_second_opinion(report, sanitize(command, at_most_s=at_most_s))


def _recorded(  # noqa: PLR0913  # arguments of `run`
    again: SecondRuns,
    spec: CaptureSpec,
    reading: Reading,
    plan: ControlPlan,
    judging: Judging,
    options: JudgingOptions,
) -> Report:
    """Record and judge, see `run`."""
    captured = again.first()
    if spec.keep_in:
        reading = replace(reading, keep_export=captured.report.with_suffix(".sqlite"))
    with judging(captured):
        first = analyze(captured.report, reading=reading, **options)
    first = replace(first, captured=captured)
    has_steps = any(one.window.source == WindowSource.NVTX_STEPS for one in first.devices)
    if not again.announced(plan, captured, first.wants_control, has_steps=has_steps):
        return first
    runs = again.controls(plan, captured)
    if not runs.controls:
        return first
    try:
        with judging(runs):
            second = _by_controls(first, runs, again, reading, options)
    except (OverlapcheckError, KeyboardInterrupt) as error:
        again.keep_first(getattr(error, "message", "") or "interrupted", runs)
        second = first
    return replace(second, captured=runs)


def _by_controls(
    first: Report,
    runs: CapturedReport,
    again: SecondRuns,
    reading: Reading,
    options: JudgingOptions,
) -> Report:
    """The first recording judged once more, by controls; where they tell nothing, as it was.

    Args:
        first: of the recording alone.
        runs: the same recording, with controls.
        again: told why the first verdict is kept.
        reading: of the recording.
        options: of `analyze`.
    """
    beside = replace(reading, keep_export=None, timeline=False)
    otherwise = {}
    if again.to_its_end and first.measurements is not None:
        for control in runs.controls:
            held = control_of(control.name, read_trace(control, reading=beside))
            otherwise[control] = other_steps(first.measurements, held)
    alike = [control for control in runs.controls if not otherwise.get(control)]
    second = first
    if alike:
        second = analyze(runs.report, reading=reading, control=alike, **options)
    repeats = [analyze(one, reading=beside, **options) for one in runs.repeats]
    again.tell_spread([_step_ns(one) for one in repeats], _step_ns(first))
    paces = [device.pace for device in second.devices if device.pace is not None]
    if any(pace.source is PaceSource.CONTROL for pace in paces):
        return second
    reasons = [*(why for why in otherwise.values() if why), *(pace.why for pace in paces)]
    again.keep_first(next(filter(None, reasons), "no steps that could be timed"), runs)
    return first


def _step_ns(report: Report) -> float | None:
    """Mean length of the judged steps of the device where they take longest."""
    devices = [one for one in report.devices if one.window.steps]
    return max((one.window_ns / (one.window.steps or 1) for one in devices), default=None)
