"""A program that is about to be ended has its recording collected first."""

from __future__ import annotations

import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from overlapcheck.capture import early_end
from overlapcheck.capture.disk_guard import DiskGuard
from overlapcheck.capture.early_end import EarlyEnd
from tests.capture.conftest import wait_for


@pytest.fixture
def nsys() -> Iterator[subprocess.Popen[bytes]]:
    child = subprocess.Popen(["sleep", "1000"])
    yield child
    child.kill()
    child.wait()


@pytest.fixture
def end_with(tmp_path: Path, nsys: subprocess.Popen[bytes]) -> Iterator[Callable[[str], EarlyEnd]]:
    made: list[EarlyEnd] = []

    def make(script: str) -> EarlyEnd:
        tool = tmp_path / "nsys"
        tool.write_text(f'#!/bin/sh\ncd {tmp_path}\necho "$@" >>words\n{script}\n')
        tool.chmod(0o755)
        made.append(EarlyEnd(nsys, str(tool), {"PATH": "/usr/bin:/bin"}, tmp_path / "stop.log"))
        return made[-1]

    yield make
    (tmp_path / "go").touch()
    wait_for(lambda: not any(end.is_writing for end in made))


WAITS = "while [ ! -e go ]; do sleep 0.02; done"


def test_stop_names_the_session_and_is_said_once(
    tmp_path: Path, nsys: subprocess.Popen[bytes], end_with: Callable[[str], EarlyEnd]
) -> None:
    end = end_with("exit 0")
    assert not end.has_begun
    assert not end.has_collected
    end.begin()
    end.begin()
    wait_for(lambda: not end.is_writing)
    assert (tmp_path / "words").read_text() == f"stop --session=profile-{nsys.pid}\n"


def test_collected_before_the_report_is_written(
    tmp_path: Path, end_with: Callable[[str], EarlyEnd]
) -> None:
    end = end_with(f"while [ ! -e collect ]; do sleep 0.02; done; echo Generating x; {WAITS}")
    end.begin()
    assert not end.has_collected
    (tmp_path / "collect").touch()
    wait_for(lambda: end.has_collected)
    assert end.is_writing


def test_failing_stop_does_not_hold_the_signal_back(end_with: Callable[[str], EarlyEnd]) -> None:
    end = end_with("exit 1")
    end.begin()
    wait_for(lambda: end.has_collected)


def test_hanging_stop_does_not_hold_the_signal_back_for_ever(
    end_with: Callable[[str], EarlyEnd], monkeypatch: pytest.MonkeyPatch
) -> None:
    end = end_with(WAITS)
    end.begin()
    assert not end.has_collected
    monkeypatch.setattr(early_end, "PATIENCE_S", 0.0)
    assert end.has_collected
    assert end.is_writing


def test_missing_tool(tmp_path: Path, nsys: subprocess.Popen[bytes]) -> None:
    end = EarlyEnd(nsys, str(tmp_path / "gone"), {}, tmp_path / "stop.log")
    end.begin()
    assert end.has_collected
    assert not end.is_writing


def test_large_recording_is_warned_of_once_and_goes_on(
    tmp_path: Path, end_with: Callable[[str], EarlyEnd], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("overlapcheck.capture.disk_guard.LARGE_RECORDING_BYTES", 1000)
    monkeypatch.setattr("overlapcheck.capture.disk_guard.LOOK_EVERY_S", 0.0)
    (tmp_path / "report.qdstrm").write_bytes(bytes(10_000))
    end = end_with("exit 0")
    said: list[str] = []
    guard = DiskGuard(end, tmp_path, said.append)
    guard.look()
    guard.look()
    assert len(said) == 1
    assert "shorten it with --duration or --capture-range" in said[0]
    assert not end.has_begun


def test_room_for_the_report_is_kept(
    tmp_path: Path, end_with: Callable[[str], EarlyEnd], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("overlapcheck.capture.disk_guard.free_bytes", lambda _: 200 << 20)
    monkeypatch.setattr("overlapcheck.capture.disk_guard.LOOK_EVERY_S", 0.0)
    end = end_with("exit 0")
    said: list[str] = []
    guard = DiskGuard(end, tmp_path, said.append)
    guard.look()
    assert said == []
    monkeypatch.setattr("overlapcheck.capture.disk_guard.recorded_bytes", lambda _: 500 << 20)
    guard.look()
    assert end.has_begun
    assert "only 200 MB free" in said[0]
