"""A real nsys records a real program twice; only the GPU is drawn (tests/drawn_gpu.py)."""

from __future__ import annotations

import json
import signal
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from overlapcheck.pipeline import read_trace
from tests.conftest import ROOT

if TYPE_CHECKING:
    from tests.capture.conftest import Machine, Running

pytestmark = [pytest.mark.nsys, pytest.mark.usefixtures("real_nsys")]

LATE_HOST = f"""
import json, os, subprocess, sys, time
sys.path.insert(0, {str(ROOT / "tests")!r})
import nvtx_client
with open("runs", "a") as log:
    shown = {{name: os.environ.get(name) for name in ("TMPDIR", "MINE")}}
    log.write(json.dumps([sys.argv[1:], os.getcwd(), shown]) + chr(10))
second = len(open("runs").readlines()) == 2
print("run", 1 + second, flush=True)
SECOND
for number in range(12):
    nvtx_client.rangePushA(f"step {{number}}")
    time.sleep(0.002)
    nvtx_client.rangePop()
time.sleep(0.2)
"""
FIRST = "train.nsys-rep"
CONTROL = "train.control.nsys-rep"


def start(machine: Machine, *options: str, second: str = "", **environment: str) -> Running:
    """Run the program, which does something else at the beginning of its second run."""
    program = LATE_HOST.replace("SECOND", f"if second: {second}" if second else "")
    outputs = ("-o", FIRST, "-o", "result.json")
    return machine.start(
        *("run", "--no-cache", *outputs, *options, sys.executable, "-c", program, "a b"),
        module="tests.drawn_gpu",
        environment={"MINE": "kept", **environment},
    )


def verdict(machine: Machine) -> Any:
    result = json.loads((machine.work / "result.json").read_text())["verdict"]
    return result["outcome"], result["basis"]


def test_a_late_host_is_judged_at_its_own_pace(machine: Machine, tmp_path: Path) -> None:
    (tmp_path / "sitecustomize.py").write_text('open("users_own", "a").write("ran ")')
    ended = start(machine, "--mark-steps", PYTHONPATH=f"{ROOT}:{tmp_path}").end()

    assert (ended.exit_code, verdict(machine)) == (0, ("PASS", "own pace")), ended.stderr
    assert ended.stdout.splitlines()[:2] == ["run 1", "run 2"]
    assert [path.name for path in machine.reports()] == [CONTROL, FIRST]
    same = [["a b"], str(machine.work), {"TMPDIR": str(machine.tmp), "MINE": "kept"}]
    runs = (machine.work / "runs").read_text().splitlines()
    assert [json.loads(run) for run in runs] == [same, same]
    # nsys starts a Python of ours before the program, which has no start hooks.
    assert (machine.work / "users_own").read_text().count("ran") >= 2
    first, control = (read_trace(machine.work / name).info.traced for name in (FIRST, CONTROL))
    assert "measuring" not in ended.stderr.partition(" again with ")[2].partition("writing")[0]
    assert control < first
    assert len(control) == 1
    nothing_marked, report, again, where = ended.said
    assert "--mark-steps marked nothing: the program imported no PyTorch" in nothing_marked
    assert report == f"overlapcheck: the report is {FIRST}"
    assert f"running {sys.executable} again with NVTX ranges alone recorded: time of" in again
    assert where == f"overlapcheck: the control is {CONTROL}"


def assert_first_is_kept(machine: Machine, running: Running, why: str) -> None:
    ended = running.end()

    assert (ended.exit_code, verdict(machine)) == (1, ("FAIL", "as recorded")), ended.stderr
    assert why in ended.said[-1]
    assert "the verdict is as recorded" in ended.said[-1]
    assert machine.work / FIRST in machine.reports()
    for path in machine.tmp.glob("drawn.*"):
        path.unlink()
    machine.assert_clean()


def test_one_that_hangs_is_ended_with_all_that_it_started(machine: Machine) -> None:
    hangs = 'subprocess.Popen(["sleep", "600"], start_new_session=True); time.sleep(600)'
    running = start(machine, second=hangs, LIMIT_S="2.5")

    assert_first_is_kept(machine, running, "had not ended after 2 s")


def test_an_interrupted_second_run(machine: Machine) -> None:
    running = start(machine, second='open("asleep", "w"); time.sleep(600)')
    running.wait_for((machine.work / "asleep").exists)
    running.send(signal.SIGINT)

    assert_first_is_kept(machine, running, "stopped by SIGINT while")
