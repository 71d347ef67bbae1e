"""`run --mark-steps`: ranges at optimizer steps, else at calls of the outermost module."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from overlapcheck.capture import start_hook
from overlapcheck.capture.spec import CaptureSpec
from overlapcheck.passes.window.steps import STEP_LIKE, family_of
from tests.capture.small_torch import small_torch
from tests.pictures import picture

SPEC = CaptureSpec(mark_steps=True)
PROGRAM = """
import torch
class Recorder:
    def __init__(self):
        self.open = 0
    def rangeStartA(self, name):
        print("begin", name)
        self.open += 1
        return self.open
    def rangeEnd(self, number):
        assert number == self.open, "not the range that is open"
        print("end")
if NVTX:
    torch.cuda.nvtx._nvtx = Recorder()
x = torch.ones(4, 8) if hasattr(torch, "ones") else 1
net = torch.nn.Sequential(torch.nn.Linear(8, 8), torch.nn.ReLU(), torch.nn.Linear(8, 1))
opt = torch.optim.SGD(list(net.parameters()), 0.1)
other = torch.optim.SGD(list(net.parameters()), 0.1)
"""
TRAINING = """
for i in range(3):
    net(x)
    opt.step()
    other.step()
with torch.no_grad():
    for i in range(4):
        print("valid", i)
        net(x)
"""
INFERENCE = """
with torch.no_grad():
    for i in range(5):
        print("call", i)
        net(x)
for i in range(2):
    opt.step()
"""
BARS = (
    (0, "xxxx................"),
    (1, "....xxxx............"),
    (2, "........xxxx........"),
    (3, "............xxxxxxxx"),
)
Marks = Callable[..., list[str]]


def marked(folder: Path, program: str, *, torch: Path | None, nvtx: bool = True) -> list[str]:
    """What a program prints that is run with the hook, and why it marked nothing."""
    text = PROGRAM.replace("NVTX", str(nvtx)) + program
    path = os.pathsep.join([str(torch)] if torch else [])
    added = start_hook.environment(SPEC, folder, {"PYTHONPATH": path})
    ran = subprocess.run(
        [sys.executable, "-W", "error", "-c", text],
        env={**os.environ, **added},
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.stderr == ""
    return [*ran.stdout.splitlines(), *start_hook.keep_logs(SPEC, folder, folder / "r.nsys-rep")]


@pytest.fixture
def marks(tmp_path: Path) -> Marks:
    """Runs a program under the small PyTorch."""
    torch = small_torch(tmp_path)
    return lambda program, **options: marked(tmp_path, program, torch=torch, **options)


def steps(kind: str, *numbers: int) -> list[str]:
    """Each ends before the next one begins."""
    return [line for n in numbers for line in (f"begin step {n} (--mark-steps, {kind})", "end")]


def test_a_step_lasts_from_one_optimizer_step_to_the_next(marks: Marks) -> None:
    found = marks("for i in range(3): net(x); opt.step(); print('stepped')")

    assert found == [
        line
        for number in range(3)
        for line in (f"begin step {number} (--mark-steps, optimizer)", "stepped", "end")
    ]


def test_of_several_optimizers_the_first_counts(marks: Marks) -> None:
    found = marks("for i in range(3): net(x); opt.step(); other.step()")

    assert found == steps("optimizer", 0, 1, 2)


def test_when_that_one_is_gone_the_next_counts(marks: Marks) -> None:
    program = "opt.step(); opt.step(); del opt; import gc; gc.collect(); other.step(); other.step()"

    assert marks(program) == steps("optimizer", 0, 1, 2, 3)


def test_a_step_does_not_go_on_into_validation(marks: Marks) -> None:
    found = marks(
        "for i in range(2): net(x); opt.step()\n"
        "print('valid')\n"
        "with torch.no_grad():\n"
        "    for i in range(4): net(x); print('out')"
    )

    *before, end, out, out2, out3, out4 = found
    assert before == [*steps("optimizer", 0, 1)[:-1], "valid"]
    assert (end, out, out2, out3, out4) == ("end", "out", "out", "out", "out")


def test_without_optimizers_the_outermost_module_counts_from_its_third_call(marks: Marks) -> None:
    found = marks("with torch.no_grad():\n  for i in range(5): net(x); print('out')")

    lines = [line for line in found if line != "out"]
    assert lines == steps("module", 0, 1, 2)
    assert found[:3] == ["out", "out", "begin step 0 (--mark-steps, module)"]


def test_a_module_that_raises_is_left_as_if_it_returned(marks: Marks) -> None:
    found = marks(
        "class Fails(torch.nn.ReLU):\n"
        "    def forward(self, x): raise OSError\n"
        "bad = torch.nn.Sequential(torch.nn.Linear(8, 8), Fails())\n"
        "with torch.no_grad():\n"
        "  for i in range(2):\n"
        "    try: bad(x)\n"
        "    except OSError: pass\n"
        "  for i in range(4): net(x)"
    )

    assert found == steps("module", 0, 1)


def test_modules_without_parameters_are_transforms_and_no_steps(marks: Marks) -> None:
    program = "with torch.no_grad():\n  for i in range(5): torch.nn.ReLU()(x); t(x)"

    assert marks("t = torch.nn.ReLU()\n" + program)[0].startswith("--mark-steps marked nothing")


def test_training_waits_for_an_optimizer_before_it_looks_at_modules(marks: Marks) -> None:
    few = marks("for i in range(20): net(x)\nfor i in range(2): net(x); opt.step()")
    assert few == steps("optimizer", 0, 1)


def test_training_without_optimizers_is_marked_by_modules(marks: Marks) -> None:
    assert marks("for i in range(34): net(x)") == steps("module", 0, 1, 2)


def test_optimizers_that_step_later_take_over(marks: Marks) -> None:
    program = "for i in range(2): net(x); opt.step()"
    found = marks(f"with torch.no_grad():\n  for i in range(4): net(x)\n{program}")

    assert found == [*steps("module", 0, 1, 2), *steps("optimizer", 3, 4)]


def test_a_forked_process_does_not_end_the_step_of_its_parent(marks: Marks) -> None:
    found = marks(
        "import os, sys\nfor i in range(2): opt.step()\nsys.stdout.flush()\npid = os.fork()\n"
        "if pid: os.waitpid(pid, 0)\nprint('parent' if pid else 'child')"
    )

    assert found == [*steps("optimizer", 0, 1)[:-1], "child", "parent", "end"]


@pytest.mark.skipif(importlib.util.find_spec("torch") is None, reason="needs PyTorch")
@pytest.mark.parametrize("program", [TRAINING, INFERENCE])
def test_the_real_pytorch_tells_as_much_as_the_small_one(
    marks: Marks, tmp_path: Path, program: str
) -> None:
    assert marks(program) == marked(tmp_path, program, torch=None)


@pytest.mark.parametrize(
    ("program", "why"),
    [
        ("net(x)", "no optimizer of PyTorch stepped, and no module was called again and again"),
        ("", "no optimizer of PyTorch stepped, and no module was called again and again"),
    ],
)
def test_where_there_is_nothing_to_mark_that_is_said(marks: Marks, program: str, why: str) -> None:
    (said,) = marks(program)

    assert said.startswith(f"--mark-steps marked nothing: {why}; ")


def test_a_pytorch_without_nvtx_is_left_alone(marks: Marks) -> None:
    (said,) = marks("for i in range(3): opt.step()", nvtx=False)

    assert "this PyTorch was built without NVTX" in said


def test_an_old_pytorch_is_left_alone(tmp_path: Path) -> None:
    old = "optimizer.register_optimizer_step_post_hook"
    program = f"import sitecustomize, torch.optim.optimizer as optimizer; del {old}\n"
    hooked = "import overlapcheck_step_marks as m; m.arm_optimizers(optimizer); print('armed')"
    found = marked(tmp_path, program + hooked, torch=small_torch(tmp_path))

    assert found[0] == "armed"
    assert "2.1 and later can" in found[1]


@pytest.mark.parametrize("kind", ["optimizer", "module"])
def test_the_last_mark_ends_with_the_program_and_is_no_step(kind: str) -> None:
    drawn = """
    s7  kernel k          |.aaa.bbb.ccc....d...|
    t1  cudaLaunchKernel  |a...b...c......d....|
    """
    rows = [drawn, *(f"t1  nvtx step {n} (--mark-steps, {kind})  |{bar}|" for n, bar in BARS)]
    window = picture("\n".join(rows), column_us=100).device().window

    assert (window.steps, window.end_ns) == (3, 12 * 100_000)


@pytest.mark.parametrize("kind", ["optimizer", "module"])
def test_marks_are_steps_by_their_name(kind: str) -> None:
    name = f"step 12 (--mark-steps, {kind})"

    assert STEP_LIKE.search(name)
    assert family_of(name) == f"step # (--mark-steps, {kind})"


def test_without_the_options_nothing_is_hooked(tmp_path: Path) -> None:
    assert start_hook.environment(CaptureSpec(), tmp_path, {}) == {}


def test_both_hooks_go_before_the_users_own_path(tmp_path: Path) -> None:
    spec = CaptureSpec(mark_steps=True, sync_debug=True)
    found = start_hook.environment(spec, tmp_path, {"PYTHONPATH": "/mine"})

    assert found["PYTHONPATH"].split(os.pathsep)[1:] == ["/mine"]
    assert {"OVERLAPCHECK_SYNC_LOG", "OVERLAPCHECK_STEP_LOG"} < set(found)
