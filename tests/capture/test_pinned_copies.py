"""`run --prove pageable-copy`: PyTorch copies from pinned memory, and nothing else changes."""

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
from tests.capture.small_torch import small_torch

SPEC = CaptureSpec(pin_memory=True)
NOT_WAITED_FOR = "{'non_blocking': True}"
Runs = Callable[[str], list[str]]


def hooked(folder: Path, program: str, *paths: Path) -> list[str]:
    """What a program prints that is run with the hook, and why it changed nothing."""
    added = start_hook.environment(SPEC, folder, {"PYTHONPATH": os.pathsep.join(map(str, paths))})
    ran = subprocess.run(
        [sys.executable, "-W", "error", "-c", program],
        env={**os.environ, **added},
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.stderr == ""
    return [*ran.stdout.splitlines(), *start_hook.keep_logs(SPEC, folder, folder / "r.nsys-rep")]


@pytest.fixture
def runs(tmp_path: Path) -> Runs:
    """Runs a program under the small PyTorch."""
    torch = small_torch(tmp_path)
    begin = "import torch; from torch.utils.data import DataLoader; T = torch.Tensor; x = T()\n"
    return lambda program: hooked(tmp_path, begin + program, torch)


@pytest.mark.parametrize(
    ("call", "made"),
    [
        ("x.to('cuda:1')", "to cuda:1 " + NOT_WAITED_FOR),
        ("x.to(0)", "to 0 " + NOT_WAITED_FOR),
        ("x.to('cuda', None, False)", "to cuda None " + NOT_WAITED_FOR),
        ("x.to('cuda', None, False, True)", "to cuda None {'copy': True, 'non_blocking': True}"),
        ("x.to(T('cuda'), False)", "to TENSOR " + NOT_WAITED_FOR),
        ("x.to(device='cuda')", "to {'device': 'cuda', 'non_blocking': True}"),
        ("x.cuda()", "cuda " + NOT_WAITED_FOR),
        ("x.cuda(1, False)", "cuda 1 " + NOT_WAITED_FOR),
        ("T('cuda').copy_(x)", "copy_ True"),
    ],
)
def test_copies_to_the_device_come_from_pinned_memory(runs: Runs, call: str, made: str) -> None:
    assert runs(call) == ["pin", f"pinned {made}"]


def test_what_is_pinned_is_only_not_waited_for(runs: Runs) -> None:
    assert runs("T(pinned=True).cuda()") == [f"pinned cuda {NOT_WAITED_FOR}"]


@pytest.mark.parametrize(
    "call",
    [
        "x.to('cpu')",
        "x.to('float16')",
        "x.to(torch.device('cpu'))",
        "x.to(T())",
        "x.to(True)",
        "T('cuda').to('cuda')",
        "x.requires_grad = True; x.to('cuda')",
        "x.layout = 'sparse'; x.to('cuda')",
        "type('Parameter', (T,), {})().to('cuda')",
        "torch.compiler.is_compiling = lambda: True; x.to('cuda')",
    ],
)
def test_everything_else_is_left_alone(runs: Runs, call: str) -> None:
    made, why = runs(call)

    assert not made.startswith("pinned")
    assert made.endswith("{}")
    assert why == (
        "--prove pageable-copy changed nothing of the program: no tensor of the host was copied"
    )


@pytest.mark.parametrize(
    ("program", "pins"),
    [
        ("for i in range(3): x.cuda()", 1),
        ("for i in range(3): x.cuda(); x._version += 1", 3),
        ("for i in range(3): T().cuda()", 3),
        ("T().address = x.address\nx.cuda()\ny = T(); y.address = x.address; y.cuda()", 2),
        ("for i in range(3):\n  y = T(base=x); y.address = 7; y.cuda()", 1),
        ("for i in range(3):\n  y = T(base=x); y.cuda()", 3),
        ("y = T(owned=False)\nfor i in range(3): y.cuda()", 3),
    ],
)
def test_only_what_comes_again_unchanged_is_pinned_once(
    runs: Runs, program: str, pins: int
) -> None:
    assert runs(program).count("pin") == pins


def test_what_is_kept_is_bounded_and_let_go_with_its_tensor(runs: Runs) -> None:
    found = runs(
        "import overlapcheck_pinned_copies as hook\nhook.MOST_KEPT_BYTES = 2048\n"
        "many = [T() for i in range(3)]\n"
        "for y in many + many: y.cuda()\nprint(hook.pinned._bytes)\n"
        "y = many = None\nprint(hook.pinned._bytes, len(hook.pinned._kept))"
    )

    assert found.count("pin") == 4
    assert found[-2:] == ["2048", "0 0"]


@pytest.mark.parametrize(
    ("arguments", "made"),
    [
        ("[], 8", "8 True False"),
        ("[], pin_memory=False", "1 True False"),
        ("[], 8, None, None, None, 0, None, False, True", "8 True True"),
    ],
)
def test_every_loader_pins(runs: Runs, arguments: str, made: str) -> None:
    assert runs(f"DataLoader({arguments})") == [f"loader {made}"]


def test_a_program_without_pytorch_is_told(tmp_path: Path) -> None:
    (said,) = hooked(tmp_path, "pass")

    assert said.endswith("changed nothing of the program: it imported no PyTorch")


@pytest.mark.skipif(importlib.util.find_spec("torch") is None, reason="needs PyTorch")
def test_the_real_pytorch_takes_the_hook(tmp_path: Path) -> None:
    program = (
        "import torch; x = torch.ones(4); print(x.to('cpu', torch.int64).sum().item())\n"
        "print(torch.Tensor.to.__module__, x.copy_(torch.zeros(4)).sum().item())"
    )
    assert hooked(tmp_path, program)[:2] == ["4", "overlapcheck_pinned_copies 0.0"]
