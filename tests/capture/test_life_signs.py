"""An nsys that is broken while it records: not waited for, and not read without end."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from overlapcheck.capture import life_signs
from overlapcheck.capture.discovery import probe
from overlapcheck.capture.life_signs import LifeSigns
from overlapcheck.capture.profile import profile
from overlapcheck.capture.spec import CaptureSpec
from overlapcheck.errors import CaptureFailed

MEGABYTE = 1 << 20


def test_an_nsys_that_hangs_after_the_program_is_ended(
    tmp_path: Path, fake_nsys: Callable[..., Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(life_signs, "STALL_S", 2.0)
    said: list[str] = []
    nsys = probe(fake_nsys(profile='"$@"; sleep 1000'))

    with pytest.raises(CaptureFailed):
        profile(CaptureSpec(keep_in=tmp_path), ["true"], nsys, warn=said.append)

    assert said == ["nsys hangs while it writes the report, and has been ended"]


def test_a_program_that_runs_for_long_is_no_sign_of_a_hang(
    tmp_path: Path, fake_nsys: Callable[..., Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(life_signs, "STALL_S", 2.0)
    nsys = probe(fake_nsys(profile='"$@"; printf report >"$output"'))

    taken = profile(CaptureSpec(keep_in=tmp_path), ["sleep", "5"], nsys)

    assert taken.report.read_bytes() == b"report"


def test_what_nsys_prints_without_end_takes_no_room(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(life_signs, "MOST_OUTPUT_BYTES", MEGABYTE)
    monkeypatch.setattr(life_signs, "LOOK_EVERY_S", 0.0)
    signs = LifeSigns(tmp_path)
    log = os.open(tmp_path / "nsys.log", os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    sizes = []
    for _ in range(20):
        os.write(log, bytes(MEGABYTE // 2))
        assert not signs.hangs(writing=True)
        sizes.append((tmp_path / "nsys.log").stat().st_size)
    os.close(log)

    assert max(sizes) <= 2 * MEGABYTE
