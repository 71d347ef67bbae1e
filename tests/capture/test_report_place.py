"""A finished report has a telling name, replaces nothing, and is never lost."""

from __future__ import annotations

import errno
import stat
from datetime import datetime
from pathlib import Path

import pytest

from overlapcheck.capture import report_place
from overlapcheck.capture.report_place import keep, report_name, require_free, wanted_path
from overlapcheck.errors import OutputUnwritable

WHEN = datetime(2025, 1, 2, 3, 4, 5)


@pytest.mark.parametrize(
    ("command", "environment", "name"),
    [
        (["python", "-u", "src/train.py"], {}, "overlapcheck-train-20250102-030405.nsys-rep"),
        (["./build/a.out", "x"], {}, "overlapcheck-a.out-20250102-030405.nsys-rep"),
        (["torchrun", "ddp.py"], {"RANK": "3"}, "overlapcheck-ddp-20250102-030405-rank3.nsys-rep"),
        (["a"], {"SLURM_PROCID": "0"}, "overlapcheck-a-20250102-030405-rank0.nsys-rep"),
        (["a"], {"OMPI_COMM_WORLD_RANK": "7"}, "overlapcheck-a-20250102-030405-rank7.nsys-rep"),
        (["a"], {"RANK": "../x"}, "overlapcheck-a-20250102-030405.nsys-rep"),
        (["my prog"], {}, "overlapcheck-my_prog-20250102-030405.nsys-rep"),
    ],
)
def test_name(command: list[str], environment: dict[str, str], name: str) -> None:
    assert report_name(command, WHEN, environment) == name


def test_path_asked_for_is_told_apart_by_rank() -> None:
    asked = Path("out/step.nsys-rep")
    assert wanted_path(asked, "d", {}, Path()) == asked
    assert wanted_path(asked, "d", {"RANK": "1"}, Path()) == Path("out/step-rank1.nsys-rep")
    assert wanted_path(None, "d", {"RANK": "1"}, Path("k")) == Path("k/d")


def test_taken_and_missing_places_are_refused(tmp_path: Path) -> None:
    taken = tmp_path / "step.nsys-rep"
    taken.touch()
    with pytest.raises(OutputUnwritable, match="exists already"):
        require_free(taken)
    with pytest.raises(OutputUnwritable, match="no such directory"):
        require_free(tmp_path / "gone" / "step.nsys-rep")
    require_free(tmp_path / "other.nsys-rep")
    require_free(taken, replaceable=True)
    with pytest.raises(OutputUnwritable, match="exists already"):
        require_free(tmp_path, replaceable=True)


def test_what_may_be_replaced_is(tmp_path: Path) -> None:
    wanted = tmp_path / "step.nsys-rep"
    wanted.write_text("mine")
    kept = keep(_finished(tmp_path), wanted, tmp_path, replaceable=True)

    assert (kept.path, kept.warning) == (wanted, "")
    assert wanted.read_text() == "recorded"


def test_kept_beside_what_took_its_name(tmp_path: Path) -> None:
    for name in ("step.nsys-rep", "step-2.nsys-rep"):
        (tmp_path / name).write_text("mine")
    kept = keep(_finished(tmp_path), tmp_path / "step.nsys-rep", tmp_path)
    assert kept.path == tmp_path / "step-3.nsys-rep"
    assert kept.path.read_text() == "recorded"
    assert "was taken meanwhile" in kept.warning
    assert (tmp_path / "step.nsys-rep").read_text() == "mine"


def test_other_file_system(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def across(self: Path, _: object) -> Path:
        raise OSError(errno.EXDEV, "Invalid cross-device link")

    monkeypatch.setattr(Path, "replace", across)
    finished = _finished(tmp_path)
    kept = keep(finished, tmp_path / "step.nsys-rep", tmp_path)
    assert kept.path.read_text() == "recorded"
    assert kept.warning == ""
    assert not finished.exists()


def test_full_disks_leave_no_half_file_and_lose_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Only the file system that holds the report already can keep it."""
    rename = Path.replace

    def same_place_only(self: Path, target: Path) -> Path:
        if tmp_path / "last" not in target.parents:
            raise OSError(errno.EXDEV, "Invalid cross-device link")
        return rename(self, target)

    def full(source: object, target: Path) -> None:
        target.write_text("recor")
        raise OSError(errno.ENOSPC, "No space left on device")

    for name in ("wanted", "tmp", "last"):
        (tmp_path / name).mkdir()
    monkeypatch.setattr(Path, "replace", same_place_only)
    monkeypatch.setattr("shutil.copyfile", full)
    monkeypatch.setattr(report_place, "fallback_directory", lambda: tmp_path / "tmp")
    finished, wanted = _finished(tmp_path), tmp_path / "wanted" / "step.nsys-rep"
    kept = keep(finished, wanted, tmp_path / "last")
    assert kept.path.parent.parent == tmp_path / "last"
    modes = [stat.S_IMODE(path.stat().st_mode) for path in (kept.path.parent, kept.path)]
    assert modes == [0o700, 0o600]
    assert kept.path.read_text() == "recorded"
    assert "No space left on device" in kept.warning
    assert list((tmp_path / "wanted").iterdir()) == list((tmp_path / "tmp").iterdir()) == []


def test_nowhere_to_go(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(report_place, "fallback_directory", lambda: tmp_path / "gone")
    finished = _finished(tmp_path)
    with pytest.raises(OutputUnwritable, match="cannot keep the report"):
        keep(finished, tmp_path / "gone" / "step.nsys-rep", tmp_path / "gone")
    assert finished.read_text() == "recorded"


def _finished(tmp_path: Path) -> Path:
    (tmp_path / "scratch").mkdir()
    finished = tmp_path / "scratch" / "report.nsys-rep"
    finished.write_text("recorded")
    return finished
