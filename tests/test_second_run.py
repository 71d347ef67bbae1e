"""`run` judges a program at its own pace by running it again; whatever fails then costs nothing."""

from __future__ import annotations

import math
import os
import tempfile
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest

import overlapcheck
from overlapcheck.capture import second_run
from overlapcheck.capture.discovery import Nsys
from overlapcheck.capture.second_run import ControlPlan, When, rank_of_several
from overlapcheck.capture.spec import CaptureSpec, control_spec
from overlapcheck.captured import CapturedReport
from overlapcheck.errors import CaptureFailed, Interrupted, PolicyInvalid
from overlapcheck.report import Report
from overlapcheck.verdict import Basis, Outcome
from tests.drawn_gpu import STEPS, drawing
from tests.pictures import picture

NSYS = Nsys(Path("/n/nsys"), "2025.3.1.90-1")


def control(steps: int = STEPS, name: str = "step", column_us: int = 1000) -> Callable[[Path], Any]:
    """Writes a recording of steps of `2 * column_us`, and nothing else."""
    return picture(f"t1  nvtx {name}  |00|", column_us=column_us, repeat=steps).export


@dataclass
class Program:
    """What becomes of each run of the program, and what was asked of it."""

    folder: Path
    controls: list[Any] = field(default_factory=lambda: [control()])
    """Of each second run under NVTX alone: what writes its recording, or an error."""
    first: dict[str, Any] = field(default_factory=dict)
    """Of the first run: fields of a CapturedReport."""
    ended: dict[str, Any] = field(default_factory=dict)
    """The same of all others."""
    specs: list[CaptureSpec] = field(default_factory=list)
    said: list[str] = field(default_factory=list)

    def profile(self, spec: CaptureSpec, *_: Any, **__: Any) -> CapturedReport:
        self.specs.append(spec)
        place = spec.exactly or self.folder / "train.nsys-rep"
        write = self.controls.pop(0) if spec.ranges_only else drawing().export
        if isinstance(write, BaseException):
            raise write
        write(place)
        ordinary = CapturedReport(place, 0, "", seconds=4.0)
        return replace(ordinary, **(self.ended if spec.exactly else self.first))

    def run(self, **options: Any) -> Report:
        reading = overlapcheck.Reading(warn=self.said.append)
        return overlapcheck.run(["prog", "x"], reading=reading, **options)

    @property
    def kinds(self) -> list[str]:
        return ["control" if spec.ranges_only else "recording" for spec in self.specs]


@pytest.fixture
def program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Program:
    made = Program(tmp_path)
    for rank in ("RANK", "SLURM_PROCID", "OMPI_COMM_WORLD_RANK", "PMI_RANK"):
        monkeypatch.delenv(rank, raising=False)
    monkeypatch.setattr("overlapcheck.recording.find_nsys", lambda _: NSYS)
    monkeypatch.setattr("overlapcheck.capture.second_run.profile", made.profile)
    return made


def assert_first_is_kept(program: Program, report: Report, why: str) -> None:
    assert (report.verdict.outcome, report.verdict.basis) == (Outcome.FAIL, Basis.AS_RECORDED)
    assert why in program.said[-1]
    assert "the verdict is as recorded" in program.said[-1]
    assert "--step-time" in program.said[-1]
    assert report.captured is not None
    assert report.captured.report == program.folder / "train.nsys-rep"


class TestWhen:
    def test_a_late_host_that_decides_has_the_program_run_again(self, program: Program) -> None:
        report = program.run()

        assert program.kinds == ["recording", "control"]
        assert (report.verdict.outcome, report.verdict.basis) == (Outcome.PASS, Basis.OWN_PACE)
        assert program.said == [
            "running prog again with NVTX ranges alone recorded: time of a late host (host-starved,"
            " launch-bound, 57.7 % of the window) decides recoverable"
        ]
        assert report.captured is not None
        assert report.captured.controls == (program.folder / "train.control.nsys-rep",)
        assert report.captured.controls[0].exists()

    def test_never(self, program: Program) -> None:
        report = program.run(control="never")

        assert program.kinds == ["recording"]
        assert report.verdict.outcome is Outcome.FAIL
        assert program.said == []

    @pytest.mark.parametrize(("asked", "runs"), [("auto", 1), ("always", 2)])
    def test_a_host_that_is_never_late_is_asked_again_only_by_always(
        self, program: Program, monkeypatch: pytest.MonkeyPatch, asked: str, runs: int
    ) -> None:
        busy = picture(
            f"""
            s7  kernel k          |.{"a" * 39}|
            t1  cudaLaunchKernel  |a{"." * 39}|
            t1  nvtx step         |{"0" * 40}|
            """,
            column_us=500,
            repeat=STEPS,
        )
        monkeypatch.setattr("tests.test_second_run.drawing", lambda: busy)
        program.run(control=asked)

        assert len(program.kinds) == runs
        assert [": --control asks for it" in said for said in program.said] == [True] * (runs - 1)

    def test_steps_that_no_range_marks_cannot_be_timed(
        self, program: Program, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        rows = str(drawing()).replace("nvtx step ", "nvtx part ")
        assert "nvtx part" in rows
        text = "\n".join(line for line in rows.splitlines() if "|" in line)
        unmarked = picture(text, column_us=500, repeat=STEPS)
        monkeypatch.setattr("tests.test_second_run.drawing", lambda: unmarked)
        program.run(control="always")

        assert program.kinds == ["recording"]
        assert "--mark-steps" in program.said[-1]

    def test_a_program_that_failed_is_not_run_again(self, program: Program) -> None:
        program.first = {"program_exit": 3}
        program.run(control="always")

        assert (program.kinds, program.said) == (["recording"], [])

    def test_nor_one_that_was_stopped(self, program: Program) -> None:
        program.first = {"program_exit": 130, "stopped_by": "SIGINT"}
        program.run()

        assert program.kinds == ["recording"]
        assert "was stopped, so it does not run again" in program.said[0]

    @pytest.mark.parametrize(("asked", "runs"), [("auto", 1), ("always", 2)])
    def test_one_of_several_ranks_runs_again_only_where_all_do(
        self, program: Program, monkeypatch: pytest.MonkeyPatch, asked: str, runs: int
    ) -> None:
        monkeypatch.setenv("RANK", "3")
        monkeypatch.setenv("WORLD_SIZE", "8")
        program.run(control=asked)

        assert len(program.kinds) == runs
        assert ("rank 3 of 8 does not run again by itself" in program.said[0]) == (runs == 1)

    @pytest.mark.parametrize("asked", ["sometimes", "0", "-1", "1.5", ""])
    def test_what_else_is_asked_for_is_refused_before_anything_runs(
        self, program: Program, asked: str
    ) -> None:
        with pytest.raises(PolicyInvalid, match="not auto, always, never or a number"):
            program.run(control=asked)
        assert program.kinds == []

    def test_plans(self) -> None:
        assert ControlPlan.of("never").when is When.NEVER
        assert ControlPlan.of("2") == ControlPlan.of(2) == ControlPlan(When.ALWAYS, 2)


class TestHow:
    def test_the_same_part_is_recorded_with_nothing_but_ranges(self, program: Program) -> None:
        spec = CaptureSpec(
            event_trace=True,
            backtrace=True,
            mark_steps=True,
            delay_s=1,
            duration_s=9,
            capture_range="nvtx:train",
            extra=("--gpu-metrics-device=0", "-e", "A=1,B=2", "--wait=all", "-t", "cuda"),
        )
        program.run(spec=spec, control="always")

        assert program.specs[1] == CaptureSpec(
            exactly=program.folder / "train.control.nsys-rep",
            limit_s=72.0,
            ranges_only=True,
            mark_steps=True,
            delay_s=1,
            duration_s=9,
            capture_range="nvtx:train",
            extra=("-e", "A=1,B=2", "--wait=all"),
        )

    def test_a_range_that_cuda_calls_open_is_left_out_for_nsys_would_record_cuda(self) -> None:
        assert control_spec(CaptureSpec(capture_range="cudaProfilerApi")).capture_range == ""

    def test_it_may_take_three_times_as_long_and_a_minute(self, program: Program) -> None:
        program.run()

        assert [spec.limit_s for spec in program.specs] == [math.inf, 3 * 4 + 60]

    def test_several_controls_alternate_with_recordings(self, program: Program) -> None:
        program.controls = [control(column_us=c) for c in (1000, 1100, 900)]
        report = program.run(control=3)

        assert [spec.exactly and spec.exactly.name for spec in program.specs] == [
            None,
            "train.control.nsys-rep",
            "train.again.nsys-rep",
            "train.control-2.nsys-rep",
            "train.again-2.nsys-rep",
            "train.control-3.nsys-rep",
        ]
        assert report.devices[0].pace is not None
        assert report.devices[0].pace.controls == 3
        assert "running prog 3 times, in turns with recordings," in program.said[0]
        assert program.said[-1] == (
            "steps took 18.9 ms as judged, and 18.9 ms, 18.9 ms when recorded again"
        )

    def test_a_name_that_is_taken_is_not_written_over(self, program: Program) -> None:
        (program.folder / "train.control.nsys-rep").write_text("mine")
        program.run()

        assert program.specs[1].exactly == program.folder / "train.control-2.nsys-rep"

    def test_a_file_on_standard_input_is_read_again_from_where_it_stood(
        self, program: Program, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        seen = []
        profile = program.profile

        def reading(*arguments: Any, **options: Any) -> Any:
            seen.append(os.read(0, 3))
            return profile(*arguments, **options)

        monkeypatch.setattr("overlapcheck.capture.second_run.profile", reading)
        ours = os.dup(0)
        with tempfile.TemporaryFile() as file:
            file.write(b"heading, lines")
            file.flush()
            os.dup2(file.fileno(), 0)
            os.lseek(0, 5, os.SEEK_SET)
            try:
                program.run()
            finally:
                os.dup2(ours, 0)
                os.close(ours)
        assert seen == [b"ng,", b"ng,"]

    @pytest.mark.parametrize(("port", "other"), [("29500", "29501"), ("65535", "49152")])
    def test_workers_of_torchrun_meet_anew(
        self, program: Program, monkeypatch: pytest.MonkeyPatch, port: str, other: str
    ) -> None:
        monkeypatch.setenv("TORCHELASTIC_USE_AGENT_STORE", "True")
        monkeypatch.setenv("MASTER_PORT", port)
        program.run()

        meeting = {"TORCHELASTIC_USE_AGENT_STORE": "False", "MASTER_PORT": other}
        assert program.specs[1].environment == meeting

    @pytest.mark.parametrize(
        ("environment", "which"),
        [
            ({"RANK": "0", "WORLD_SIZE": "2"}, "rank 0 of 2"),
            ({"SLURM_PROCID": "5", "SLURM_STEP_NUM_TASKS": "16"}, "rank 5 of 16"),
            ({"OMPI_COMM_WORLD_RANK": "1", "OMPI_COMM_WORLD_SIZE": "4"}, "rank 1 of 4"),
            ({"RANK": "0", "WORLD_SIZE": "1"}, ""),
            ({"SLURM_PROCID": "0", "SLURM_NTASKS": "8"}, ""),  # a batch script, no step of it
            ({}, ""),
        ],
    )
    def test_ranks_know_their_job(self, environment: dict[str, str], which: str) -> None:
        assert rank_of_several(environment) == which


class TestWhatGoesWrong:
    @pytest.mark.parametrize(
        ("ended", "why"),
        [
            ({"program_exit": 3}, "prog ended with exit code 3 when it ran again"),
            ({"program_exit": 139}, "prog was ended by SIGSEGV (exit code 139) when it ran again"),
            ({"program_exit": 130, "stopped_by": "SIGINT"}, "stopped by SIGINT while prog ran"),
        ],
    )
    def test_another_end(self, program: Program, ended: dict[str, Any], why: str) -> None:
        program.ended = ended

        assert_first_is_kept(program, program.run(), why)

    @pytest.mark.parametrize(
        "error",
        [
            CaptureFailed("prog had not ended after 72 s"),
            Interrupted("given up while nsys was writing the report"),
            KeyboardInterrupt(),
        ],
    )
    def test_no_recording(self, program: Program, error: BaseException) -> None:
        program.controls = [error]

        assert_first_is_kept(program, program.run(), getattr(error, "message", "interrupted"))

    @pytest.mark.parametrize(
        ("write", "why"),
        [
            (
                control(steps=STEPS - 2),
                "ran 10 steps of 'step #' where it ran 12 before",
            ),
            (control(name="batch"), "ran 0 steps of 'step #' where it ran 12 before"),
            (drawing().export, "CUDA was recorded in it too"),
            (lambda path: path.write_text("no report"), "not an Nsight Systems report"),
        ],
    )
    def test_another_behaviour(self, program: Program, write: Any, why: str) -> None:
        program.controls = [write]
        report = program.run()

        assert_first_is_kept(program, report, why)
        assert report.captured is not None
        assert len(report.captured.controls) == 1

    def test_under_a_time_limit_a_faster_run_has_more_steps(self, program: Program) -> None:
        program.controls = [control(steps=STEPS + 5)]
        program.first = program.ended = {"program_exit": 143, "stopped_by": "--duration 5"}
        report = program.run(spec=CaptureSpec(duration_s=5))

        assert report.verdict.basis is Basis.OWN_PACE

    def test_controls_that_were_made_before_one_failed_are_used(self, program: Program) -> None:
        program.controls = [control(), CaptureFailed("prog had not ended after 72 s")]
        report = program.run(control=2)

        assert report.verdict.basis is Basis.OWN_PACE
        assert "prog had not ended after 72 s: judging with what there is" in program.said

    def test_a_signal_while_controls_are_read(self, program: Program) -> None:
        def judging(runs: CapturedReport) -> AbstractContextManager[None]:
            if runs.controls:
                raise Interrupted("stopped by SIGINT while analysing train.control.nsys-rep")
            return nullcontext()

        report = program.run(judging=judging)
        assert_first_is_kept(program, report, "stopped by SIGINT while analysing")

    def test_a_policy_that_makes_no_sense_is_told_before_a_second_run(
        self, program: Program
    ) -> None:
        with pytest.raises(PolicyInvalid):
            program.run(selection=overlapcheck.Selection(skip=STEPS), control="always")
        assert program.kinds == ["recording"]


def test_limits_are_the_documented_ones() -> None:
    assert (second_run.TIMES_AS_LONG, second_run.ALLOWANCE_S) == (3.0, 60.0)
