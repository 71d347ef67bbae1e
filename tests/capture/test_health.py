"""Each thing that would stop or weaken a capture is told with the command that fixes it."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from overlapcheck.capture import health, importer
from overlapcheck.capture.discovery import Nsys, probe
from overlapcheck.capture.health import (
    Health,
    HealthCheck,
    State,
    check_backtrace,
    check_cupti_users,
    check_gpu,
    check_importer,
    check_inside_nsys,
    check_places,
    check_trial,
    examine,
)
from overlapcheck.capture.importer import IMPORTER
from overlapcheck.errors import NsysNotFound


@pytest.mark.nsys
def test_real_nsys_is_healthy(real_nsys: Nsys) -> None:
    assert check_importer(real_nsys).state is State.OK
    trial = check_trial(real_nsys)
    assert trial.state is State.OK
    assert "a report of" in trial.found


def test_no_nsys(monkeypatch: pytest.MonkeyPatch) -> None:
    def nowhere(_: object) -> Nsys:
        raise NsysNotFound("nsys not found: looked everywhere", "install it")

    monkeypatch.setattr(health, "find_nsys", nowhere)
    found = examine()
    assert found.checks[0] == HealthCheck(
        "nsys", State.PROBLEM, "nsys not found: looked everywhere", "install it"
    )
    assert not found.usable


def test_only_problems_make_it_unusable() -> None:
    note = HealthCheck("a", State.NOTE, "x", "y")
    assert Health((HealthCheck("b", State.OK, "x"), note)).usable
    assert not Health((note, HealthCheck("c", State.PROBLEM, "x", "y"))).usable


def test_target_only_installation(
    fake_nsys: Callable[..., Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(importer, "installed", lambda: ())
    check = check_importer(probe(fake_nsys()))
    assert check.state is State.PROBLEM
    assert "target-only installation" in check.found
    assert "nsight-systems=2023.4.4" in check.fix


@pytest.mark.nsys
def test_importer_without_its_libraries(
    real_nsys: Nsys, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(importer, "installed", lambda: ())
    good = next(importer.importers(real_nsys))
    (tmp_path / "target-linux-x64").mkdir()
    (tmp_path / "host-linux-x64").mkdir()
    shutil.copy(good, tmp_path / "host-linux-x64")
    check = check_importer(Nsys(tmp_path / "target-linux-x64" / "nsys", real_nsys.version))
    assert check.state is State.PROBLEM
    assert f"{tmp_path}/host-linux-x64/{IMPORTER} lacks " in check.found
    assert "libAnalysis.so" in check.found
    assert check.fix


@pytest.mark.nsys
def test_importer_in_the_other_half_of_a_split_tree(real_nsys: Nsys, tmp_path: Path) -> None:
    target = tmp_path / "target-linux-x64"
    target.mkdir()
    check = check_importer(Nsys(target / "nsys", real_nsys.version))
    assert check.state is State.NOTE
    assert "split tree" in check.found
    assert check.fix.endswith(f" {tmp_path}/host-linux-x64")


def test_trial_tells_why_it_failed(fake_nsys: Callable[..., Path]) -> None:
    check = check_trial(probe(fake_nsys(profile="echo 'no ptrace for you' >&2; exit 1")))
    assert check.state is State.PROBLEM
    assert "did not start the program: no ptrace for you" in check.found


def test_old_nsys_has_no_backtraces(fake_nsys: Callable[..., Path]) -> None:
    check = check_backtrace(probe(fake_nsys()))
    assert check.state is State.NOTE
    assert "records no Python source lines" in check.found


def test_inside_nsys() -> None:
    assert check_inside_nsys({}).state is State.OK
    inside = check_inside_nsys({"NSYS_PROFILING_SESSION_ID": "1"})
    assert (inside.state, inside.fix) == (State.PROBLEM, "leave out the outer nsys")


def test_gpu_named_by_the_driver() -> None:
    check = check_gpu(lambda: ("NVIDIA H200, driver 580.1", "NVIDIA H200, driver 580.1"))
    assert check.state is State.OK
    assert check.found == "NVIDIA H200, driver 580.1; NVIDIA H200, driver 580.1"


@pytest.mark.skipif(Path("/proc/driver/nvidia").exists(), reason="this machine has a GPU")
def test_no_gpu() -> None:
    check = check_gpu(lambda: ())
    assert check.state is State.PROBLEM
    assert "no NVIDIA GPU or driver" in check.found
    assert "--gpus all" in check.fix


def test_closed_directory_is_a_note(tmp_path: Path) -> None:
    assert check_places(tmp_path).state is State.OK
    tmp_path.chmod(0o555)
    try:
        check = check_places(tmp_path)
    finally:
        tmp_path.chmod(0o755)
    assert check.state is State.NOTE
    assert f"{tmp_path} is not writable" in check.found
    assert "--keep" in check.fix


def test_no_room_anywhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(health, "free_bytes", lambda _: 1 << 20)
    check = check_places(tmp_path)
    assert check.state is State.PROBLEM
    assert "256 MB" in check.found
    assert check.fix.startswith("export TMPDIR=")


def test_other_users_of_cupti(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(health, "_running", lambda _: iter([(12, "nv-hostengine"), (13, "ncu")]))
    checks = check_cupti_users({"CUDA_INJECTION64_PATH": "/x/libother.so"})
    assert [check.state for check in checks] == [State.NOTE] * 3
    assert [check.fix for check in checks] == [
        "unset CUDA_INJECTION64_PATH",
        "dcgmi profile --pause",
        "kill 13",
    ]
    monkeypatch.setattr(health, "_running", lambda _: iter(()))
    assert [check.state for check in check_cupti_users({})] == [State.OK]
