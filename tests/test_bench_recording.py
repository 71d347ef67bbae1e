"""What a recording costs, and own paces, as the benches print them."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

from bench import own_pace, recording_cost
from bench.contest import DidNotFinish
from bench.step_time import Run, timed
from overlapcheck.capture.discovery import Nsys

NSYS = Nsys(Path("/n/nsys"), "2023.4.4.54")
FLAGS = frozenset(("--trace", "--output", "--cuda-graph-trace"))


def program(says: str, code: int = 0) -> list[str]:
    return [sys.executable, "-c", f"import sys; print({says!r}); sys.exit({code})"]


class TestStepTime:
    def test_is_what_the_program_prints_and_of_several_ranks_the_longest(self) -> None:
        said = '{"program": "p", "ms": 20.5}\n{"program": "p", "ms": 21.25}'

        assert timed(program(said)).step_ms == 21.25
        assert timed(program("step took 3.5 ms"), r"took ([0-9.]+) ms").step_ms == 3.5

    def test_a_program_that_prints_none_is_no_benchmark(self) -> None:
        with pytest.raises(DidNotFinish, match=r"printed no step time \(exit code 3"):
            timed(program("hello", code=3))


class TestRecordingCost:
    @pytest.fixture(autouse=True)
    def _no_nsys(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(recording_cost, "find_nsys", lambda _: NSYS)
        monkeypatch.setattr(recording_cost, "flags_of", lambda *_: FLAGS)
        monkeypatch.setattr(recording_cost, "timed", self.run)
        self.ran: list[str] = []

    def run(self, command: list[str], *_: Any) -> Run:
        traced = next((word for word in command if word.startswith("--trace=")), "")
        self.ran.append(traced)
        if traced == "--trace=cuda,nvtx":
            raise DidNotFinish("nsys printed no step time")
        for word in command:
            if word.startswith("--output="):
                Path(word.removeprefix("--output=")).write_bytes(b"x" * 2**20)
        return Run({"": 2.0, "--trace=nvtx": 2.1}.get(traced, 3.0), 1.0)

    def test_every_way_runs_once_per_round_in_turns(
        self, capsys: pytest.CaptureFixture[str]
    ) -> None:
        ways = ["control", "light", "default", "event-trace"]
        assert recording_cost.main(["--rounds", "2", "--only", *ways, "--", "prog"]) == 0

        plain, control, light, default = "", "--trace=nvtx", "--trace=cuda,nvtx", "cuda,nvtx,osrt"
        assert self.ran == [
            *(plain, control, light, f"--trace={default}"),
            *(plain, control, f"--trace={default}"),
        ]
        rows = [" ".join(line.split()) for line in capsys.readouterr().out.splitlines()]
        assert "| unrecorded | 2.00 (2.00-2.00) | | | 1.0 |" in rows
        assert "| control | 2.10 (2.10-2.10) | +5.0 % | 1.0 MiB | 1.0 |" in rows
        assert "| default | 3.00 (3.00-3.00) | +50.0 % | 1.0 MiB | 1.0 |" in rows
        assert "light: nsys printed no step time" in rows
        assert "event-trace: no --cuda-event-trace" in rows

    def test_without_the_program_itself_there_is_nothing_to_compare(
        self, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
    ) -> None:
        def fail(*_: Any) -> Run:
            raise DidNotFinish("prog printed no step time")

        monkeypatch.setattr(recording_cost, "timed", fail)

        assert recording_cost.main(["--", "prog"]) == 2
        assert "bench: prog printed no step time" in capsys.readouterr().err


def report(*paces: dict[str, Any] | None) -> dict[str, Any]:
    verdict = {"outcome": "PASS", "basis": "own pace"}
    return {"verdict": verdict, "devices": [{"pace": pace} for pace in paces]}


def pace(recorded: int, own: int | None, source: str | None = "control") -> dict[str, Any]:
    low, high = (own - 10**5, own + 10**5) if own else (None, None)
    return {
        "recorded_ns": recorded,
        "own_ns": own,
        "low_ns": low,
        "high_ns": high,
        "source": source,
    }


class TestOwnPace:
    def test_is_that_of_the_slowest_device(self) -> None:
        found = own_pace.read(report(pace(10**7, 9 * 10**6), None, pace(12 * 10**6, 8 * 10**6)))

        assert (found.recorded_ms, found.own_text) == (10.0, "9.00 (8.90-9.10)")
        assert (found.outcome, found.basis, found.source) == ("PASS", "own pace", "control")

    def test_a_report_without_steps_has_none(self) -> None:
        with pytest.raises(DidNotFinish, match="no pace"):
            own_pace.read(report(None))

    def test_stands_beside_what_the_program_says(self) -> None:
        known = own_pace.read(report(pace(12 * 10**6, 10**7)))
        unknown = own_pace.read(report(pace(12 * 10**6, None, None)))
        rows = [" ".join(row.split()) for row in own_pace.table([10.1, 10.3], [known, unknown])]

        assert rows[2:] == [
            "| 1 | 10.10 | 12.00 | 10.00 (9.90-10.10) | -1.0 % | PASS own pace |",
            "| 2 | 10.30 | 12.00 | not known | | PASS own pace |",
            "| median | 10.20 (10.10-10.30) | 12.00 (12.00-12.00) | 10.00 | -2.0 % |"
            " from: control, none |",
        ]
