"""`run(prove=...)`: the program runs again with a cause repaired; recordings are drawn."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

import overlapcheck
from overlapcheck.capture.discovery import Nsys
from overlapcheck.capture.outside_repair import outside_repairs
from overlapcheck.capture.spec import CaptureSpec, control_spec
from overlapcheck.captured import CapturedReport, first_run_of
from overlapcheck.errors import CaptureFailed, Interrupted, PolicyInvalid
from overlapcheck.proved import Proved
from overlapcheck.renderers._terminal_proved import proved_lines
from overlapcheck.report import Report
from overlapcheck.saved import restored
from overlapcheck.showing import text_of
from tests.drawn_gpu import STEPS, blocked, unblocked
from tests.pictures import Picture, picture

FIRST, SECOND = "train.nsys-rep", "train.prove-launch-blocking.nsys-rep"


def ranges(column_us: int) -> Picture:
    """A control: steps of 40 columns, and nothing else."""
    return picture(f"t1  nvtx step  |{'0' * 40}|", column_us=column_us, repeat=STEPS)


@dataclass
class Program:
    """What becomes of each run of the program, and what was asked of it."""

    folder: Path
    runs: list[Any] = field(default_factory=list)
    """Of each run after the first: what is recorded, an error, or how it ended."""
    first: dict[str, Any] = field(default_factory=dict)
    specs: list[CaptureSpec] = field(default_factory=list)
    said: list[str] = field(default_factory=list)

    def profile(self, spec: CaptureSpec, *_: Any, **__: Any) -> CapturedReport:
        self.specs.append(spec)
        place = spec.exactly or self.folder / FIRST
        run = self.runs.pop(0) if spec.exactly else blocked()
        if isinstance(run, BaseException):
            raise run
        ended = self.first if not spec.exactly else run if isinstance(run, dict) else {}
        if isinstance(run, Picture):
            run.export(place)
        return CapturedReport(place, **{"program_exit": 0, "stopped_by": "", "seconds": 4, **ended})

    def run(self, *causes: str, **options: Any) -> Report:
        reading = overlapcheck.Reading(warn=self.said.append)
        options = {"control": "never", **options}
        return overlapcheck.run(["prog", "x"], reading=reading, prove=causes, **options)


@pytest.fixture
def program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Program:
    made = Program(tmp_path)
    nsys = Nsys(Path("/n/nsys"), "2025.3.1.90-1")
    for name in ("PYTORCH_ALLOC_CONF", "PYTORCH_CUDA_ALLOC_CONF", "RANK"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr("overlapcheck.capture.discovery.find_nsys", lambda _: nsys)
    monkeypatch.setattr("overlapcheck.capture.second_run.profile", made.profile)
    return made


def test_what_was_predicted_stands_beside_what_was_measured(program: Program) -> None:
    program.runs = [unblocked()]
    report = program.run("launch-blocking")

    (proof,) = report.proved
    assert proof.fix == ("launch-blocking",)
    assert (proof.before_ns, proof.measured_ns) == (20_000_000, 16_000_000)
    assert proof.predicted_ns == pytest.approx(16_000_000, rel=0.01)
    assert proof.in_band
    assert (proof.own_before_ns, proof.own_measured_ns) == (None, None)
    assert proof.report == SECOND
    assert report.captured is not None
    assert report.captured.repaired == (program.folder / SECOND,)
    assert program.specs[1].variables == {"CUDA_LAUNCH_BLOCKING": "0"}
    assert program.said == [
        "running prog again, --prove launch-blocking: CUDA_LAUNCH_BLOCKING unset"
    ]


def test_it_is_told_after_the_verdict_and_saved(program: Program) -> None:
    program.runs = [unblocked()]
    report = program.run("launch-blocking")

    said = " ".join(text_of(report, "terminal").split())
    told = "measured 16.0 ms, recorded 20.0 ms per step: in the band"
    assert (
        said.index("FAIL") < said.index("proved launch-blocking (CUDA_LAUNCH_") < said.index(told)
    )
    assert restored(report.to_json()).proved == report.proved


def test_with_controls_the_own_pace_of_both_is_told(program: Program) -> None:
    program.runs = [ranges(450), unblocked(), ranges(400)]
    report = program.run("launch-blocking", control="always")

    (proof,) = report.proved
    pace = report.devices[0].pace
    assert pace is not None
    assert proof.own_before_ns == pace.own_ns == pytest.approx(20_000_000, rel=0.01)
    assert proof.own_measured_ns == pytest.approx(16_000_000, rel=0.01)
    assert [(spec.exactly or Path(FIRST)).name for spec in program.specs] == [
        FIRST,
        "train.control.nsys-rep",
        SECOND,
        "train.prove-launch-blocking.control.nsys-rep",
    ]
    assert program.specs[3].ranges_only
    assert program.specs[3].variables == {"CUDA_LAUNCH_BLOCKING": "0"}
    assert "at its own pace 16.0 ms per step, before 19.9 ms" in str(proved_lines([proof])[-1])


def test_a_repair_that_no_replay_knows_is_measured(program: Program) -> None:
    program.runs = [unblocked()]
    (proof,) = program.run("hardware-queue").proved

    assert (proof.predicted_ns, proof.in_band, proof.measured_ns) == (None, None, 16_000_000)
    assert "no replay predicts it" in " ".join(map(str, proved_lines([proof])))


@pytest.mark.parametrize("cause", ["host-sync", "", "pagable-copy"])
def test_what_cannot_be_repaired_is_refused_before_anything_runs(
    program: Program, cause: str
) -> None:
    with pytest.raises(PolicyInvalid, match="cannot be repaired from outside") as refused:
        program.run(cause)
    assert refused.value.hint == (
        "use launch-blocking, hardware-queue, allocation, module-load, pageable-copy"
    )
    assert program.specs == []


@pytest.mark.parametrize(
    ("run", "why"),
    [
        (CaptureFailed("prog had not ended after 72 s"), "prog had not ended after 72 s"),
        ({"program_exit": 3}, "prog ended with exit code 3 when it ran again"),
        (unblocked(STEPS - 2), "ran 10 steps of 'step #' where it ran 12 before"),
    ],
)
def test_a_run_that_goes_wrong_costs_its_proof_alone(program: Program, run: Any, why: str) -> None:
    alone = program.run()
    program.runs = [run, unblocked()]
    report = program.run("launch-blocking", "allocation")

    assert report.verdict == alone.verdict
    assert [proof.fix for proof in report.proved] == [("allocation",)]
    assert f"{why}: nothing proved, the verdict stands" in program.said[1]


@pytest.mark.parametrize(
    "stopped", [KeyboardInterrupt(), Interrupted("given up"), {"stopped_by": "SIGINT"}]
)
def test_a_signal_ends_all_that_are_left(program: Program, stopped: Any) -> None:
    program.runs = [stopped, unblocked()]
    report = program.run("launch-blocking", "allocation")

    assert (report.proved, len(program.specs)) == ((), 2)
    assert program.said[-1].endswith("nothing proved, the verdict stands")


def test_a_signal_while_it_is_measured(program: Program) -> None:
    def judging(runs: CapturedReport) -> AbstractContextManager[None]:
        if runs.repaired:
            raise Interrupted("stopped by SIGINT while analysing")
        return nullcontext()

    program.runs = [unblocked()]
    assert program.run("launch-blocking", judging=judging).proved == ()


@pytest.mark.parametrize(
    ("first", "said"),
    [({"program_exit": 3}, []), ({"stopped_by": "SIGTERM"}, ["so it does not run again"])],
)
def test_a_program_that_failed_or_was_stopped_is_not_run_again(
    program: Program, first: dict[str, Any], said: list[str]
) -> None:
    program.first = first
    program.run("launch-blocking")

    assert len(program.specs) == 1
    assert [text in found for text, found in zip(said, program.said, strict=True)] == [True] * len(
        said
    )


@pytest.mark.parametrize(
    ("there", "added"),
    [
        ({}, {"PYTORCH_CUDA_ALLOC_CONF": "expandable_segments:True"}),
        (
            {"PYTORCH_CUDA_ALLOC_CONF": "backend:native,expandable_segments:False"},
            {"PYTORCH_CUDA_ALLOC_CONF": "backend:native,expandable_segments:True"},
        ),
        (
            {"PYTORCH_ALLOC_CONF": "max_split_size_mb:64"},
            {"PYTORCH_ALLOC_CONF": "max_split_size_mb:64,expandable_segments:True"},
        ),
    ],
)
def test_settings_of_the_allocator_are_kept(there: dict[str, str], added: dict[str, str]) -> None:
    (repair,) = outside_repairs(["allocation", "allocation"])

    assert repair.into(CaptureSpec(), there).variables == added


def test_memory_is_pinned_in_controls_too() -> None:
    (repair,) = outside_repairs(["pageable-copy"])

    assert control_spec(repair.into(CaptureSpec(), {})).pin_memory


def test_a_folder_knows_that_it_is_no_rank() -> None:
    for name in (SECOND, "train.prove-allocation-2.control.nsys-rep"):
        assert first_run_of(Path(name).with_suffix("")) == Path("train")


def test_outside_of_the_band() -> None:
    proof = Proved(("allocation",), "x", "y", 9_000_000, 8_000_000, 5_000_000, 4_000_000, 6_000_000)

    assert "outside of the band" in " ".join(map(str, proved_lines([proof])))
