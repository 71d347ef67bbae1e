"""`run --prove`: a real nsys records a real program twice; only the GPU is drawn."""

from __future__ import annotations

import json
import signal
import sys
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from tests.capture.conftest import Machine, Running

pytestmark = pytest.mark.nsys

PROGRAM = """
import os, sys, time
with open("runs", "a") as log:
    print(*sys.argv[1:], os.environ.get("CUDA_LAUNCH_BLOCKING"), file=log)
second = len(open("runs").readlines()) == 2
SECOND
"""
FIRST = "train.nsys-rep"
REPAIRED = "train.prove-launch-blocking.nsys-rep"


def start(machine: Machine, cause: str = "launch-blocking", *, second: str = "") -> Running:
    """Run the program, which does something else in its second run."""
    program = PROGRAM.replace("SECOND", f"if second: {second}" if second else "")
    outputs = ("-o", FIRST, "-o", "result.json", "--control", "never", "--prove", cause)
    return machine.start(
        *("run", "--no-cache", *outputs, sys.executable, "-c", program, "a b"),
        module="tests.drawn_gpu",
        environment={"PROVES": "1", "CUDA_LAUNCH_BLOCKING": "1"},
    )


def result(machine: Machine) -> Any:
    for path in machine.tmp.glob("drawn.*"):
        path.unlink()
    machine.assert_clean()
    return json.loads((machine.work / "result.json").read_text())


@pytest.mark.usefixtures("real_nsys")
def test_the_program_runs_again_without_the_cause(machine: Machine) -> None:
    ended = start(machine).end()

    assert ended.exit_code == 1, ended.stderr
    assert (machine.work / "runs").read_text() == "a b 1\na b 0\n"
    assert [path.name for path in machine.reports()] == [FIRST, REPAIRED]
    (proof,) = result(machine)["proved"]
    assert (proof["fix"], proof["report"]) == (["launch-blocking"], REPAIRED)
    assert (proof["before_ns"], proof["measured_ns"]) == (20_000_000, 16_000_000)
    assert proof["low_ns"] <= proof["predicted_ns"] <= proof["high_ns"]
    assert ended.said[1:] == [
        f"overlapcheck: running {sys.executable} again, --prove launch-blocking:"
        " CUDA_LAUNCH_BLOCKING unset",
        f"overlapcheck: the recording of the repaired program is {REPAIRED}",
    ]
    verdict, blank, proved, *_ = ended.stdout.splitlines()
    assert (verdict[:4], blank) == ("FAIL", "")
    assert proved.split()[:2] == ["proved", "launch-blocking"]


@pytest.mark.usefixtures("real_nsys")
def test_one_that_is_interrupted_keeps_the_verdict(machine: Machine) -> None:
    running = start(machine, second='open("asleep", "w"); time.sleep(600)')
    running.wait_for((machine.work / "asleep").exists)
    running.send(signal.SIGINT)
    ended = running.end()

    assert ended.exit_code == 1, ended.stderr
    assert "nothing proved, the verdict stands" in ended.said[-1]
    assert result(machine)["proved"] == []


def test_what_cannot_be_repaired_is_refused_before_the_program_runs(machine: Machine) -> None:
    ended = start(machine, "launch-blocking, host-sync").end()

    assert (ended.exit_code, ended.stdout) == (2, "")
    assert "--prove host-sync: it cannot be repaired from outside; use launch-block" in ended.stderr
    assert not (machine.work / "runs").exists()
