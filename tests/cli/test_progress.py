"""How far reading a file has come, and how long it will take."""

from __future__ import annotations

import re
import sys
import time
from pathlib import Path

import pytest

import overlapcheck
from overlapcheck.cli import progress
from tests.cli.test_words import HIDDEN
from tests.pictures import picture


@pytest.fixture(autouse=True)
def at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("PATIENCE_S", "LIVE_S", "QUIET_S"):
        monkeypatch.setattr(progress, name, 0.01)


@pytest.fixture
def counter(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """What the system says this process has read."""
    counted = tmp_path / "io"
    counted.write_text("rchar: 1000\n")
    monkeypatch.setattr(progress, "_COUNTED", counted)
    return counted


def told(capsys: pytest.CaptureFixture[str], pattern: str) -> str:
    """What was said, as soon as it fits."""
    said = ""
    for _ in range(500):
        said += capsys.readouterr().err
        if re.search(pattern, said):
            return said
        time.sleep(0.01)
    raise AssertionError(said)


@pytest.mark.parametrize("live", [False, True])
def test_the_share_of_a_file_and_the_time_left(
    live: bool,
    counter: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    (tmp_path / "train.sqlite").write_bytes(bytes(10_000))
    monkeypatch.setattr(sys.stderr, "isatty", lambda: live)
    with progress.shown() as stages:
        stages("reading train.sqlite")
        stages.opens(tmp_path / "train.sqlite")
        counter.write_text("rchar: 6000\n")
        told(capsys, r"reading train\.sqlite: 50 %, about \d+ s left")
        counter.write_text("rchar: 60000\n")
        said = told(capsys, r"reading train\.sqlite: 99 %, about 0 s left")
        stages("measuring train.sqlite")
        said = told(capsys, r"measuring train\.sqlite \.\.\.")
        time.sleep(0.05)
        said += capsys.readouterr().err

    assert "%" not in said[said.index("measuring") :]


def test_a_folder_of_tables_is_as_large_as_its_files(
    counter: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "tables"
    folder.mkdir()
    for name in ("a", "b"):
        (folder / name).write_bytes(bytes(1000))
    with progress.shown() as stages:
        stages("reading tables")
        stages.opens(folder)
        counter.write_text("rchar: 1500\n")
        told(capsys, r"reading tables: 25 %")


def test_without_a_counter_there_is_no_percentage(
    counter: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    counter.unlink()
    with progress.shown() as stages:
        stages("reading train.sqlite")
        stages.opens(tmp_path)
        said = told(capsys, r"reading train\.sqlite \.\.\.")
        time.sleep(0.05)

    assert "%" not in said + capsys.readouterr().err


def test_what_is_read_is_told_by_the_pipeline(tmp_path: Path) -> None:
    export = picture(HIDDEN, column_us=100).export(tmp_path / "hidden.sqlite")
    opened: list[Path] = []
    overlapcheck.analyze(export, reading=overlapcheck.Reading(opened=opened.append))

    assert opened == [export]
