"""The pytest plugin: assert on the overlap of a program, and read the first cause where it fails.

    def test_copies_hide(overlapcheck_run):
        run = overlapcheck_run(["python", "train.py", "--max-steps", "30"])
        assert run.overlap("h2d") >= 0.8
        assert run.outcome == "PASS"

The policy file of the project holds here too; keyword arguments beat it. Nothing heavy is imported
before a fixture is used.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import pytest

from overlapcheck.errors import TRACEBACK
from overlapcheck.judged import Judged, JudgedJob, failed_comparison

if TYPE_CHECKING:
    from overlapcheck.capture.spec import CaptureSpec
    from overlapcheck.captured import CapturedReport
    from overlapcheck.policy.resolve import Source
    from overlapcheck.selection import Selection
    from overlapcheck.verdict import Policy

_Made = TypeVar("_Made")
_ERROR_MARK = "overlapcheck_error"
"""Attribute of a test's report; attributes travel with it, from worker processes too."""


class ProgramFailed(AssertionError):
    """The profiled program ended with an error."""


@pytest.fixture
def overlapcheck_analyze(pytestconfig: pytest.Config) -> Callable[..., Judged | JudgedJob]:
    """Judge a report or a job: `overlapcheck_analyze(path, **limits)`.

    Several paths (positional, or one list), a folder, a glob or "@LIST" are the ranks of one job:
    every number is then that of the worst rank, and the verdict on all.

    Limits are the settings of the policy file with underscores, but as everywhere in Python shares
    of one: min_overlap=0.9, ceiling=False, fail_on=["host-sync"], steps="my step #"; and profile,
    config, no_config.
    """

    def analyze(*paths: str | Path | Sequence[str | Path], **limits: Any) -> Judged | JudgedJob:
        __tracebackhide__ = True

        def judged() -> Judged | JudgedJob:
            policy, selection = _resolved(limits, pytestconfig.rootpath, "overlapcheck_analyze()")
            return _judged(_flat(paths), policy, selection)

        return _without_our_frames(judged)

    return analyze


def _flat(paths: Sequence[str | Path | Sequence[str | Path]]) -> list[str]:
    found = [[one] if isinstance(one, str | Path) else one for one in paths]
    return [str(path) for several in found for path in several]


def _judged(paths: list[str], policy: Policy, selection: Selection) -> Judged | JudgedJob:
    """One report, or the ranks of a job in this process: the test may not be importable."""
    from overlapcheck import pipeline
    from overlapcheck.errors import PolicyInvalid
    from overlapcheck.ranks.inputs import is_several
    from overlapcheck.reading import Reading
    from overlapcheck.sources import recognised

    if not paths:
        raise PolicyInvalid("overlapcheck_analyze(): no report", "give a path, or several")
    if policy.expect_ranks is None and not is_several(paths, recognised):
        return Judged(pipeline.analyze(paths[0], policy=policy, selection=selection))
    alone = Reading(jobs=1)
    return JudgedJob(
        pipeline.analyze_ranks(paths, policy=policy, selection=selection, reading=alone)
    )


@pytest.fixture
def overlapcheck_run(pytestconfig: pytest.Config, tmp_path: Path) -> Callable[..., Judged]:
    """Profile a program with nsys, then judge: `overlapcheck_run(command, **options)`.

    Options are those of `overlapcheck run` that say what to record (nsys, delay, duration,
    capture_range, backtrace, sync_debug, light, mark_steps, control, event_trace, nsys_args), and
    the limits of `overlapcheck_analyze`.
    """

    def run(command: Sequence[str], **options: Any) -> Judged:
        __tracebackhide__ = True
        from overlapcheck.reading import Reading
        from overlapcheck.recording import run as record

        control = options.pop("control", "auto")
        nsys = options.pop("nsys", None)
        spec, limits = _recorded(options, tmp_path)

        def judged() -> Judged:
            policy, selection = _resolved(limits, pytestconfig.rootpath, "overlapcheck_run()")
            report = record(
                command,
                spec=spec,
                reading=Reading(nsys=nsys),
                control=control,
                judging=partial(_if_ended_well, command[0]),
                policy=policy,
                selection=selection,
            )
            return Judged(report)

        return _without_our_frames(judged)

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
        sync_debug=left.pop("sync_debug", False),
        light=left.pop("light", False),
        mark_steps=left.pop("mark_steps", False),
        delay_s=left.pop("delay", 0),
        duration_s=left.pop("duration", 0),
        capture_range=left.pop("capture_range", ""),
        extra=parse_nsys_args(left.pop("nsys_args", "")),
        keep_in=folder,
    )
    return spec, left


def _resolved(limits: Mapping[str, Any], root: Path, caller: str) -> tuple[Policy, Selection]:
    from overlapcheck.causes import causes
    from overlapcheck.policy.python_limits import in_percent
    from overlapcheck.policy.resolve import resolve, settings_of
    from overlapcheck.policy.settings import read_contents
    from overlapcheck.policy.values import Place

    source, own = _source(limits, root)
    shares = in_percent(own, caller)
    given = read_contents(shares, Place(caller), caller, causes()).base
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


def _without_our_frames(work: Callable[[], _Made]) -> _Made:
    """Run work of ours; what goes wrong in it is told without it.

    Nothing of that is an assertion of the test, except what the program did.
    """
    __tracebackhide__ = True
    from overlapcheck.errors import foreseen

    try:
        return work()
    except ProgramFailed as error:
        raise error.with_traceback(None) from None
    except Exception as error:
        if os.environ.get(TRACEBACK):
            raise foreseen(error) from error
        raise foreseen(error).with_traceback(None) from None


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
    """See `failed_comparison`."""
    return failed_comparison(op, left, right)
