"""Every wrong input is told apart by content and answered in one line that says what to do."""

from __future__ import annotations

import os
import random
import stat
from pathlib import Path

import pytest

from overlapcheck.errors import InputUnreadable, NotAReport, OverlapcheckError, ReportDamaged
from overlapcheck.sources.nsys.identify import InputKind, identify

REPORT = b"NVIDIA Tegra Profiler Report 2023@4@4@54-234433681190v0" + bytes(500) + b"U3w[END]"
STREAM = b"U3w[END]NVIDIA Nsight Systems Stream 2023.4.4.54-234433681190v0" + bytes(500)
SQLITE = b"SQLite format 3\0" + bytes(100)


@pytest.mark.parametrize(
    ("content", "kind"),
    [(REPORT, InputKind.REPORT), (STREAM, InputKind.STREAM), (SQLITE, InputKind.SQLITE)],
)
@pytest.mark.parametrize("name", ["x.nsys-rep", "x.qdrep", "x.sqlite", "x.txt", "x"])
def test_content_decides_and_not_the_name(
    tmp_path: Path, content: bytes, kind: InputKind, name: str
) -> None:
    path = tmp_path / name
    path.write_bytes(content)
    assert identify(path) is kind


@pytest.mark.parametrize(
    ("content", "error", "says"),
    [
        (b"", NotAReport, "the file is empty"),
        (b"step 1\nstep 2\n", NotAReport, "but a text file"),
        ("é".encode() * 400, NotAReport, "but a text file"),
        (b'{"traceEvents": []}', NotAReport, "but JSON"),
        (b"PAR1" + bytes(50), NotAReport, "but a Parquet file"),
        (b"\xfd7zXZ\0" + bytes(50), NotAReport, "unxz"),
        (random.Random(1).randbytes(4000), NotAReport, "not an Nsight Systems report"),
        (REPORT[:-100], ReportDamaged, "the report is truncated"),
        (REPORT[:40], ReportDamaged, "the report is truncated"),
    ],
)
def test_what_is_no_report_is_named(
    tmp_path: Path, content: bytes, error: type[OverlapcheckError], says: str
) -> None:
    path = tmp_path / "step.nsys-rep"
    path.write_bytes(content)
    with pytest.raises(error) as caught:
        identify(path)
    _assert_one_line_naming(caught.value, path)
    assert says in str(caught.value)


def test_missing_file(tmp_path: Path) -> None:
    with pytest.raises(InputUnreadable, match="no such file") as caught:
        identify(tmp_path / "gone.nsys-rep")
    _assert_one_line_naming(caught.value, tmp_path / "gone.nsys-rep")


def test_dangling_link(tmp_path: Path) -> None:
    link = tmp_path / "link.nsys-rep"
    link.symlink_to(tmp_path / "gone")
    with pytest.raises(InputUnreadable, match="a link to a missing file"):
        identify(link)


def test_fifo_is_not_waited_for(tmp_path: Path) -> None:
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)
    with pytest.raises(InputUnreadable, match="not a regular file"):
        identify(fifo)


def test_directory_names_the_reports_inside(tmp_path: Path) -> None:
    for name in ("b.sqlite", "a.nsys-rep", "c.qdrep", "d.nsys-rep", "notes.txt"):
        (tmp_path / name).touch()
    with pytest.raises(InputUnreadable) as caught:
        identify(tmp_path)
    assert f"{tmp_path}/a.nsys-rep, {tmp_path}/b.sqlite" in caught.value.hint
    assert "and 1 more" in caught.value.hint
    assert "notes.txt" not in caught.value.hint


def test_empty_directory(tmp_path: Path) -> None:
    with pytest.raises(InputUnreadable, match="a directory, with no report in it"):
        identify(tmp_path)


def test_no_permission(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "secret.nsys-rep"
    path.write_bytes(REPORT)
    path.chmod(0)
    if os.geteuid() == 0:
        # Root reads everything; the kernel's answer to anybody else is this error.
        def refuse(self: Path, *_: object) -> None:
            if not stat.S_IMODE(self.stat().st_mode) & 0o444:
                raise PermissionError(13, "Permission denied", str(self))

        monkeypatch.setattr(Path, "open", refuse)
    with pytest.raises(InputUnreadable, match="Permission denied") as caught:
        identify(path)
    _assert_one_line_naming(caught.value, path)
    assert "chmod" in caught.value.hint


def _assert_one_line_naming(error: OverlapcheckError, path: Path) -> None:
    assert "\n" not in str(error)
    assert str(path) in error.message
    assert error.hint
    assert error.exit_code == 4
