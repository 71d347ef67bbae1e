"""`overlapcheck run`: options reach the capture, the command's own options reach the command."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from overlapcheck.capture.discovery import Nsys
from overlapcheck.capture.spec import CaptureSpec
from overlapcheck.captured import CapturedReport
from overlapcheck.cli import cli
from overlapcheck.errors import (
    CaptureFailed,
    ExitCode,
    NsysNotFound,
    OutputUnwritable,
    OverlapcheckError,
    PolicyInvalid,
)
from overlapcheck.sanitizer_run import SanitizerRun
from tests.renderers.reports import REPORTS

NSYS = Nsys(Path("/n/nsys"), "2025.3.1.90-1")


@dataclass
class Stages:
    """What `run` told each stage."""

    profiled: dict[str, Any] = field(default_factory=dict)
    analyzed: dict[str, Any] = field(default_factory=dict)
    results: tuple[Path, ...] = ()
    program_exit: int = 0
    stopped_by: str = ""
    verdict: ExitCode = ExitCode.PASS
    capture_error: OverlapcheckError | None = None


@pytest.fixture
def stages(monkeypatch: pytest.MonkeyPatch) -> Stages:
    told = Stages()

    def profile(spec: CaptureSpec, command: Sequence[str], nsys: Nsys, **_: Any) -> Any:
        told.profiled = {"spec": spec, "command": tuple(command), "nsys": nsys}
        if told.capture_error:
            raise told.capture_error
        report = Path("step.nsys-rep")
        return CapturedReport(report, told.program_exit, told.stopped_by, ("a warning",))

    def analyze(report: Path, **options: Any) -> Any:
        told.analyzed = {"report": report, **options}
        return REPORTS["pass"]

    def deliver(_: Any, judging: Any) -> ExitCode:
        told.results = judging.outputs
        return told.verdict

    monkeypatch.setattr("overlapcheck.recording.find_nsys", lambda _: NSYS)
    monkeypatch.setattr("overlapcheck.capture.second_run.profile", profile)
    monkeypatch.setattr("overlapcheck.recording.analyze", analyze)
    monkeypatch.setattr("overlapcheck.cli.output.deliver", deliver)
    return told


def run(*arguments: str) -> Result:
    return CliRunner().invoke(cli, ["run", *arguments], standalone_mode=False)


@pytest.mark.parametrize(
    ("arguments", "command"),
    [
        (["python", "train.py", "--skip", "3"], ("python", "train.py", "--skip", "3")),
        (["--skip", "2", "python", "-o", "x"], ("python", "-o", "x")),
        (["--", "python", "--", "x"], ("python", "--", "x")),
        (["prog", "--help"], ("prog", "--help")),
    ],
)
def test_ours_end_where_the_command_begins(
    stages: Stages, arguments: list[str], command: tuple[str, ...]
) -> None:
    assert run(*arguments).exception is None
    assert stages.profiled["command"] == command


def test_options_become_a_spec(stages: Stages) -> None:
    run(
        *("--delay", "5", "--duration", "30", "--backtrace", "--event-trace"),
        *("--light", "--mark-steps"),
        *("--capture-range", "nvtx:step", "--nsys-args", "--gpu-metrics-devices=0 -s 'a b'"),
        "prog",
    )
    assert stages.profiled["spec"] == CaptureSpec(
        event_trace=True,
        backtrace=True,
        light=True,
        mark_steps=True,
        delay_s=5,
        duration_s=30,
        capture_range="nvtx:step",
        extra=("--gpu-metrics-devices=0", "-s", "a b"),
    )


def test_defaults(stages: Stages) -> None:
    run("prog")
    assert stages.profiled["spec"] == CaptureSpec()
    assert stages.analyzed["report"] == Path("step.nsys-rep")
    assert stages.analyzed["reading"].nsys == NSYS.path


def test_report_among_the_outputs_is_where_the_report_stays(stages: Stages) -> None:
    run("-o", "result.json", "-o", "out/step.nsys-rep", "prog")
    assert stages.profiled["spec"] == CaptureSpec(keep_as=Path("out/step.nsys-rep"))
    assert stages.results == (Path("result.json"),)


def test_the_export_lies_beside_a_report_that_was_asked_for(stages: Stages) -> None:
    run("--keep", "out", "prog")
    assert stages.analyzed["reading"].keep_export == Path("step.sqlite")

    run("--no-cache", "prog")
    reading = stages.analyzed["reading"]
    assert (reading.keep_export, reading.cache) == (None, False)


def test_keep(stages: Stages) -> None:
    run("--keep", "out", "prog")
    assert stages.profiled["spec"] == CaptureSpec(keep_in=Path("out"))


@pytest.mark.parametrize(
    ("program_exit", "stopped_by", "verdict", "exit_code"),
    [
        (0, "", ExitCode.PASS, ExitCode.PASS),
        (0, "", ExitCode.FAIL, ExitCode.FAIL),
        (3, "", ExitCode.PASS, ExitCode.PROGRAM_FAILED),
        (139, "", ExitCode.FAIL, ExitCode.PROGRAM_FAILED),
        (130, "SIGINT", ExitCode.PASS, ExitCode.PASS),
        (143, "--duration 5", ExitCode.INCONCLUSIVE, ExitCode.INCONCLUSIVE),
    ],
)
def test_exit_code(
    stages: Stages, program_exit: int, stopped_by: str, verdict: ExitCode, exit_code: ExitCode
) -> None:
    stages.program_exit, stages.stopped_by, stages.verdict = program_exit, stopped_by, verdict
    result = run("prog")
    assert result.return_value == exit_code
    ends_early = stopped_by.startswith("--duration")
    assert ("exit code" in result.stderr) == (program_exit != 0 and not ends_early)
    assert ("prog was stopped after 5 s, as asked" in result.stderr) == ends_early
    assert "the report is step.nsys-rep" in result.stderr
    assert "a warning" in result.stderr
    assert result.stdout == ""


def test_failed_capture_is_not_analyzed(stages: Stages) -> None:
    stages.capture_error = CaptureFailed("no report", "look")
    assert run("prog").exception is stages.capture_error
    assert stages.analyzed == {}


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["--capture-range", "steps", "prog"], "unknown kind of range"),
        (["--nsys-args", "'", "prog"], "--nsys-args"),
        (["-o", "a.nsys-rep", "-o", "b.nsys-rep", "prog"], "there is one report"),
        (["--keep", "d", "-o", "a.nsys-rep", "prog"], "both say where the report goes"),
        (["--control", "often", "prog"], "not auto, always, never or a number"),
        (["--keep", "a.nsys-rep", "prog"], "names a folder"),
    ],
)
def test_wrong_options_are_told_before_anything_runs(
    stages: Stages, arguments: list[str], says: str
) -> None:
    error = run(*arguments).exception
    assert isinstance(error, PolicyInvalid)
    assert says in error.message
    assert stages.profiled == {}


@pytest.mark.parametrize("arguments", [[], ["--no-such-option", "prog"], ["--delay", "-1", "prog"]])
def test_usage_errors(stages: Stages, arguments: list[str]) -> None:
    result = CliRunner().invoke(cli, ["run", *arguments])
    assert result.exit_code == ExitCode.USAGE
    assert stages.profiled == {}


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (["-o", "gone/result.json"], "gone/result.json: cannot write the result (No such file"),
        (
            ["-o", "result.json", "-o", "folder.xml"],
            "folder.xml: cannot write the result (Is a dir",
        ),
        (["--tables", "file/tables"], "file/tables: cannot write the result (Not a directory"),
    ],
)
def test_results_that_cannot_be_written_are_told_before_the_program_runs(
    stages: Stages,
    options: list[str],
    says: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "folder.xml").mkdir()
    (tmp_path / "file").touch()
    error = run(*options, "prog").exception

    assert isinstance(error, OutputUnwritable)
    assert error.message.startswith(says)
    assert stages.profiled == {}
    assert sorted(path.name for path in tmp_path.iterdir()) == ["file", "folder.xml"]


def test_results_beside_a_report_in_a_folder_that_is_yet_to_be_made(
    stages: Stages, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    run("--keep", "out", "-o", "out/result.json", "--tables", "out/tables", "prog")

    assert stages.results == (Path("out/result.json"),)


def test_looking_for_room_touches_nothing_that_is_there(
    stages: Stages, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("result.json").write_text("before")
    run("-o", "result.json", "prog")

    assert stages.results == (Path("result.json"),)
    assert [path.name for path in tmp_path.iterdir()] == ["result.json"]
    assert Path("result.json").read_text() == "before"


def test_force_replaces_the_report(stages: Stages) -> None:
    run("--force", "-o", "step.nsys-rep", "prog")

    assert stages.profiled["spec"].replace_report


# ---- the command for a cluster


@pytest.fixture
def nsys_of_a_node(monkeypatch: pytest.MonkeyPatch) -> None:
    flags = frozenset(("--trace", "--sample", "--cpuctxsw", "--output", "--force-overwrite"))
    monkeypatch.setattr("overlapcheck.capture.discovery.flags_of", lambda *_: flags)


@pytest.mark.usefixtures("nsys_of_a_node")
def test_the_command_of_nsys_is_printed_and_nothing_runs(stages: Stages) -> None:
    done = run("--print-command", "-o", "%h/step.nsys-rep", "python", "train.py", "a b")

    assert done.stdout == (
        "nsys profile --trace=cuda,nvtx,osrt --output=%h/step.nsys-rep --sample=none"
        " --cpuctxsw=none python train.py 'a b'\n"
    )
    assert stages.profiled == {}


@pytest.mark.usefixtures("nsys_of_a_node")
def test_each_process_has_a_report_of_its_own(stages: Stages) -> None:
    told = run("--print-command", "--keep", "runs", "--force", "srun", "python", "train.py").stdout

    assert re.search(r" --output=runs/overlapcheck-train-[0-9-]+-%h-%p\.nsys-rep ", told)
    assert "--force-overwrite=true" in told
    assert "--trace=cuda,nvtx,osrt " in told  # This nsys cannot trace MPI.


def test_the_command_can_be_made_where_there_is_no_nsys(
    stages: Stages, monkeypatch: pytest.MonkeyPatch
) -> None:
    def none(_: object) -> Nsys:
        raise NsysNotFound("no nsys")

    monkeypatch.setattr("overlapcheck.capture.discovery.find_nsys", none)
    done = run("--print-command", "--capture-range", "nvtx:step", "--sync-debug", "mpirun", "prog")

    assert done.stdout.startswith(
        "env NSYS_NVTX_PROFILER_REGISTER_ONLY=0 nsys profile --trace=cuda,nvtx,osrt,mpi"
    )
    assert "--nvtx-capture=step@*" in done.stdout.replace("'", "")
    assert "there is no nsys here" in done.stderr
    assert "--sync-debug needs overlapcheck run" in done.stderr


def test_the_sanitizer_gets_the_command_once_more_and_its_answer_counts(
    stages: Stages, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[tuple[tuple[str, ...], int]] = []

    def sanitize(command: Sequence[str], *, at_most_s: int) -> SanitizerRun:
        asked.append((tuple(command), at_most_s))
        return SanitizerRun((), 3)

    delivered: list[Any] = []
    monkeypatch.setattr("overlapcheck.capture.sanitizer.sanitize", sanitize)

    def deliver(report: Any, _: Any) -> ExitCode:
        delivered.append(report)
        return ExitCode.PASS

    monkeypatch.setattr("overlapcheck.cli.output.deliver", deliver)
    run("--duration", "5", "--sanitizer", "python", "train.py")
    run("python", "train.py")

    assert asked == [(("python", "train.py"), 5)]
    names = [[check.name for check in report.verdict.checks] for report in delivered]
    assert ["sanitizer" in found for found in names] == [True, False]
