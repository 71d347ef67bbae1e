"""The pytest plugin: assert on the overlap of a program, and read the first cause where it fails.

    def test_copies_hide(overlapcheck_run):
        run = overlapcheck_run(["python", "train.py", "--max-steps", "30"])
        assert run.overlap("h2d") >= 0.8
        assert run.outcome == "PASS"

The policy file of the project holds here too; keyword arguments beat it. Nothing heavy is imported
before a fixture is used.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from overlapcheck.capture.spec import CaptureSpec
    from overlapcheck.captured import CapturedReport
    from overlapcheck.finding import Finding
    from overlapcheck.policy.resolve import Source
    from overlapcheck.report import DeviceReport, Report
    from overlapcheck.selection import Selection
    from overlapcheck.verdict import Policy

_SHARE_DIGITS = 4
_ERROR_MARK = "overlapcheck_error"
"""Attribute of a test's report; attributes travel with it, from worker processes too."""


class NotProven(AssertionError):
    """The recording cannot tell: there is no number to compare, and none is made up."""


class ProgramFailed(AssertionError):
    """The profiled program ended with an error."""


class Share(float):
    """A share of one that knows where it comes from; a comparison that fails tells the cause."""

    name: str
    judged: Judged

    @classmethod
    def of(cls, value: float, name: str, judged: Judged) -> Share:
        """A measured share."""
        share = cls(value)
        share.name, share.judged = name, judged
        return share

    def __repr__(self) -> str:
        return f"{self:.{_SHARE_DIGITS}g}"


class OutcomeOf(str):
    """PASS, FAIL or INCONCLUSIVE; a comparison that fails tells the checks and the cause."""

    judged: Judged

    @classmethod
    def of(cls, judged: Judged) -> OutcomeOf:
        """The outcome of a run."""
        outcome = cls(judged.report.verdict.outcome.value)
        outcome.judged = judged
        return outcome


@dataclass(frozen=True)
class Judged:
    """One judged report. Of several devices, each number is that of the worst."""

    report: Report

    @property
    def outcome(self) -> OutcomeOf:
        """The verdict under the limits asked for: "PASS", "FAIL" or "INCONCLUSIVE"."""
        return OutcomeOf.of(self)

    @property
    def findings(self) -> tuple[Finding, ...]:
        """Causes, costliest first."""
        return self.report.findings

    @property
    def recoverable(self) -> Share:
        """Share of the time that perfect overlap could win back at most.

        Raises:
            NotProven: the recording is incomplete.
        """
        shares = [one.recoverable for one in self._devices() if one.recoverable is not None]
        if not shares:
            raise NotProven("recoverable: the window is empty")
        return Share.of(max(shares), "recoverable", self)

    def overlap(self, direction: str, device: int | None = None) -> Share:
        """Share of the copy time of a direction that runs under compute.

        Args:
            direction: "h2d", "d2h" or "p2p".
            device: only this one; None takes the worst of those with such copies.

        Raises:
            NotProven: the recording is incomplete, or has no such copies.
        """
        known = ("h2d", "d2h", "p2p")
        if direction not in known:
            raise ValueError(f"overlap({direction!r}): the direction is one of {', '.join(known)}")
        shares = [
            copies.overlap
            for one in self._devices()
            if device in (None, one.device) and (copies := one.copies.get(direction))
            if copies.overlap is not None
        ]
        if not shares:
            raise NotProven(f"overlap {direction}: no {direction} copy in the window")
        return Share.of(min(shares), f"overlap {direction}", self)

    def _devices(self) -> tuple[DeviceReport, ...]:
        """The devices, if the recording can carry a number at all."""
        from overlapcheck.verdict import Outcome

        for check in self.report.verdict.checks:
            if check.name == "capture" and check.outcome is Outcome.INCONCLUSIVE:
                raise NotProven(f"{check.reason}; what to do: {check.settle_with}")
        return self.report.devices


@pytest.fixture
def overlapcheck_analyze(pytestconfig: pytest.Config) -> Callable[..., Judged]:
    """Judge a report: `overlapcheck_analyze(path, **limits)`.

    Limits are the settings of the policy file with underscores, in percent: min_overlap=90,
    ceiling=False, fail_on=["host-sync"], steps="my step #"; and profile, config, no_config.
    """

    def analyze(path: str | Path, **limits: Any) -> Judged:
        from overlapcheck import pipeline

        with _as_error():
            policy, selection = _resolved(limits, pytestconfig.rootpath, "overlapcheck_analyze()")
            return Judged(pipeline.analyze(path, policy=policy, selection=selection))

    return analyze


@pytest.fixture
def overlapcheck_run(pytestconfig: pytest.Config, tmp_path: Path) -> Callable[..., Judged]:
    """Profile a program with nsys, then judge: `overlapcheck_run(command, **options)`.

    Options are those of `overlapcheck run` that say what to record (nsys, delay, duration,
    capture_range, backtrace, event_trace, nsys_args), and the limits of `overlapcheck_analyze`.
    """

    def run(command: Sequence[str], **options: Any) -> Judged:
        from overlapcheck import pipeline
        from overlapcheck.reading import Reading

        nsys = options.pop("nsys", None)
        spec, limits = _recorded(options, tmp_path)
        with _as_error():
            policy, selection = _resolved(limits, pytestconfig.rootpath, "overlapcheck_run()")
            report = pipeline.run(
                command,
                spec=spec,
                reading=Reading(nsys=nsys),
                judging=partial(_if_ended_well, command[0]),
                policy=policy,
                selection=selection,
            )
        return Judged(report)

    return run


@contextmanager
def _if_ended_well(program: str, captured: CapturedReport) -> Generator[None, None, None]:
    if captured.program_failed:
        raise ProgramFailed(f"{program} {captured.ending}")
    yield


def _recorded(options: Mapping[str, Any], folder: Path) -> tuple[CaptureSpec, dict[str, Any]]:
    """What to record, by the names of the command line, and what is left of the options."""
    from overlapcheck.capture.spec import CaptureSpec, parse_nsys_args

    left = dict(options)
    spec = CaptureSpec(
        event_trace=left.pop("event_trace", False),
        backtrace=left.pop("backtrace", False),
        delay_s=left.pop("delay", 0),
        duration_s=left.pop("duration", 0),
        capture_range=left.pop("capture_range", ""),
        extra=parse_nsys_args(left.pop("nsys_args", "")),
        keep_in=folder,
    )
    return spec, left


def _resolved(limits: Mapping[str, Any], root: Path, caller: str) -> tuple[Policy, Selection]:
    from overlapcheck.causes import causes
    from overlapcheck.policy.resolve import resolve, settings_of
    from overlapcheck.policy.settings import read_contents
    from overlapcheck.policy.values import Place

    source, own = _source(limits, root)
    given = read_contents(own, Place(caller), caller, causes()).base
    return resolve(settings_of(source, causes()), given)


def _source(limits: Mapping[str, Any], root: Path) -> tuple[Source, dict[str, Any]]:
    """Which policy file, and what is left of the keyword arguments, by the keys of the file."""
    from overlapcheck.policy.resolve import Source

    settings: dict[str, Any] = {
        key.replace("_", "-"): list(value) if isinstance(value, tuple | set | frozenset) else value
        for key, value in limits.items()
    }
    config = settings.pop("config", None)
    source = Source(
        Path(config) if config is not None else None,
        settings.pop("no-config", False),
        settings.pop("profile", None),
        root,
    )
    return source, settings


@contextmanager
def _as_error() -> Generator[None, None, None]:
    """Nothing that goes wrong in here is an assertion of the test, except what the program did."""
    from overlapcheck.errors import foreseen

    try:
        yield
    except ProgramFailed:
        raise
    except Exception as error:
        told = foreseen(error)
        if told is error:
            raise
        raise told from error


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    call: pytest.CallInfo[None],
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Mark what is an error of ours, or of a file, and so no finding about the program."""
    from overlapcheck.errors import OverlapcheckError

    report = yield
    if call.excinfo is not None and call.excinfo.errisinstance(OverlapcheckError):
        vars(report)[_ERROR_MARK] = True
    return report


def pytest_report_teststatus(report: pytest.TestReport) -> tuple[str, str, str] | None:
    """Such a test has an error; it did not fail."""
    if report.failed and vars(report).get(_ERROR_MARK):
        return "error", "E", "ERROR"
    return None


def pytest_assertrepr_compare(op: str, left: object, right: object) -> list[str] | None:
    """What a failed comparison of a measured number says: both numbers, then the first cause."""
    for value in (left, right):
        if isinstance(value, Share):
            said = f"{_told(left)} {op} {_told(right)}"
            return [said, *_explanation(value.judged, checks=False)]
        if isinstance(value, OutcomeOf):
            return [f"{left} {op} {right}", *_explanation(value.judged, checks=True)]
    return None


def _told(value: object) -> str:
    from overlapcheck.quantities import percent

    if isinstance(value, Share):
        return f"{value.name} {percent(value)}"
    return percent(value) if isinstance(value, float) else repr(value)


def _explanation(judged: Judged, *, checks: bool) -> list[str]:
    """The report and its first material cause with evidence and advice."""
    from overlapcheck.finding import MATERIAL_SHARE
    from overlapcheck.quantities import percent
    from overlapcheck.verdict import Outcome

    lines = [f"report: {judged.report.capture.report}"]
    if checks:
        lines += [
            f"{check.outcome} {check.name}: {check.reason} (limit: {check.limit_from})"
            for check in judged.report.verdict.checks
            if check.outcome is not Outcome.PASS
        ]
    first = next((found for found in judged.findings if found.share >= MATERIAL_SHARE), None)
    if first is None:
        return [*lines, "no cause costs 2 % of the time or more"]
    lines.append(
        f"first cause: {first.cause}, {first.cost_text}, {percent(first.share)} of the time"
    )
    lines += [f"  - {fact}" for fact in first.evidence[:2]]
    lines += [f"  at {place.file}:{place.line} ({place.function})" for place in first.source[:1]]
    return [*lines, f"  do: {first.advice}", f"  unless {first.caveat}"]
