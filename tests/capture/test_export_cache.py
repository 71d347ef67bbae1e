"""A kept export is used only where it is, byte for byte, what was exported from this report."""

from __future__ import annotations

import os
import shutil
import sqlite3
import stat
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from overlapcheck.capture import export_cache
from overlapcheck.capture.cache_folder import cache_folder
from overlapcheck.capture.export import ExportedReport, export_sqlite
from overlapcheck.capture.export_cache import ExportCache, is_whole_sqlite
from overlapcheck.errors import OutputUnwritable
from overlapcheck.reading import Reading

CONTENT = b"NVIDIA Tegra Profiler Report 2025@3@1@90-1 and so on"
OTHER = 1 + max(os.geteuid(), 4321)
as_root = pytest.mark.skipif(os.geteuid() != 0, reason="giving files away takes root")


@pytest.fixture
def report(tmp_path: Path) -> Path:
    (tmp_path / "reports").mkdir()
    path = tmp_path / "reports" / "step.nsys-rep"
    path.write_bytes(CONTENT)
    return path


@pytest.fixture
def export(report: Path, tmp_path: Path, fake_nsys: Callable[..., Path]) -> Callable[..., Exported]:
    database(tmp_path / "whole", "exported")
    tool = fake_nsys(export=f'cp {tmp_path}/whole "$output"')

    def run(**options: object) -> Exported:
        said: list[str] = []
        options = {"nsys": tool, "warn": said.append} | options
        with export_sqlite(report, Reading(**options)) as done:  # type: ignore[arg-type]
            return Exported(done, said, text_of(done.path))

    return run


class Exported:
    """What came of an export."""

    def __init__(self, done: ExportedReport, said: list[str], text: str) -> None:
        self.path, self.cached, self.temporary = done.path, done.cached, done.temporary
        self.said, self.text = said, text


Export = Callable[..., Exported]


def database(path: Path, text: str) -> None:
    path.unlink(missing_ok=True)
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("CREATE TABLE StringIds (id INTEGER PRIMARY KEY, value TEXT)")
        connection.execute("INSERT INTO StringIds VALUES (1, ?)", [text])
        connection.commit()


def text_of(path: Path) -> str:
    with closing(sqlite3.connect(path)) as connection:
        return str(connection.execute("SELECT value FROM StringIds").fetchone()[0])


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_it_is_kept_for_this_user_alone_and_announced(report: Path, export: Export) -> None:
    first, again = export(), export()

    assert (first.cached, again.cached, again.path) == (False, True, first.path)
    (said,) = first.said
    assert f"the export of {report.name}" in said
    assert "--no-cache" in said
    assert "overlapcheck cache --clear" in said
    assert again.said == []
    assert first.path.is_relative_to(cache_folder())
    assert [mode(p) for p in (first.path, *first.path.parents[:3])] == [0o600] + [0o700] * 3
    assert [p.name for p in report.parent.iterdir()] == [report.name]


def _swapped(path: Path) -> None:
    database(path, "planted")


def _rotten(path: Path) -> None:
    content = bytearray(path.read_bytes())
    content[-1] ^= 1
    times = path.stat()
    path.write_bytes(content)
    os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns))


def _truncated(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-4096])


def _without_record(path: Path) -> None:
    path.with_name("record").unlink()


def _record_of_another(path: Path) -> None:
    record = path.with_name("record")
    record.write_text(record.read_text().replace("a", "b"))


def _endless_record(path: Path) -> None:
    record = path.with_name("record")
    record.unlink()
    os.mkfifo(record, 0o600)


def _linked(path: Path) -> None:
    elsewhere = path.parents[3] / "elsewhere.sqlite"
    shutil.move(path, elsewhere)
    path.symlink_to(elsewhere)


def _writable(path: Path) -> None:
    path.chmod(0o666)


def _given_away(path: Path) -> None:
    os.chown(path, OTHER, -1)


@pytest.mark.parametrize(
    "altered",
    [
        _swapped,
        _rotten,
        _truncated,
        _without_record,
        _record_of_another,
        _endless_record,
        _linked,
        _writable,
        pytest.param(_given_away, marks=as_root),
    ],
)
def test_an_altered_export_is_made_anew_and_said(
    altered: Callable[[Path], None], export: Export
) -> None:
    kept = export().path
    altered(kept)

    again = export()

    assert (again.cached, again.text) == (False, "exported")
    assert "the kept export is not used" in again.said[0]
    assert not kept.is_symlink()
    assert export().cached


def test_an_altered_export_does_not_stand_in_for_a_missing_nsys(
    export: Export, monkeypatch: pytest.MonkeyPatch
) -> None:
    from overlapcheck.errors import NsysNotFound

    def nowhere(_: object) -> None:
        raise NsysNotFound("nsys not found")

    kept = export().path
    monkeypatch.setattr("overlapcheck.capture.export.find_nsys", nowhere)
    assert export(nsys=None).cached
    _swapped(kept)

    with pytest.raises(NsysNotFound):
        export(nsys=None)


def test_the_export_of_one_report_is_not_that_of_another(report: Path, export: Export) -> None:
    kept = export().path
    report.write_bytes(CONTENT + b"!")
    other = export().path.parent
    shutil.copytree(kept.parent, other, dirs_exist_ok=True)

    assert not export().cached


def test_a_report_replaced_while_it_is_exported_is_not_kept(
    report: Path, tmp_path: Path, export: Export, fake_nsys: Callable[..., Path]
) -> None:
    tool = fake_nsys(export=f'printf !!! >>{report}; cp {tmp_path}/whole "$output"')

    assert export(nsys=tool).temporary
    assert ExportCache().entries() == []


def test_without_the_cache_nothing_is_used_or_kept(export: Export) -> None:
    kept = export().path
    without = export(cache=False)

    assert (without.cached, without.temporary, without.said) == (False, True, [])
    assert not without.path.exists()
    assert ExportCache().entries() == [kept.parent]


def test_an_export_asked_for_beside_its_report_lies_there(report: Path, export: Export) -> None:
    beside = report.with_suffix(".sqlite")

    assert export(keep_export=beside).path == beside
    assert is_whole_sqlite(beside)
    assert mode(beside) == 0o600
    assert not ExportCache().entries()

    beside.write_text("mine")
    assert export(keep_export=beside).temporary
    assert beside.read_text() == "mine"
    assert sorted(p.name for p in report.parent.iterdir()) == [report.name, beside.name]


# ---- room


def test_what_was_not_used_for_longest_makes_room(
    report: Path, export: Export, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept = []
    for number in range(3):
        report.write_bytes(CONTENT + bytes([number]))
        kept.append(export().path.parent)
        os.utime(kept[-1] / "record", ns=(number, number))
    report.write_bytes(CONTENT + bytes([0]))
    assert export().cached
    size = export_cache.size_of(kept[0])
    monkeypatch.setattr(export_cache, "MOST_BYTES", 3 * size)

    report.write_bytes(CONTENT + b"new")
    new = export().path.parent

    assert sorted(ExportCache().entries()) == sorted([kept[0], kept[2], new])


def test_an_export_larger_than_the_cache_is_temporary(
    export: Export, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(export_cache, "MOST_BYTES", 10)

    assert export().temporary
    assert list(ExportCache().folder.iterdir()) == []


def test_an_export_that_is_being_read_stays(report: Path, export: Export) -> None:
    export()
    read = ExportCache().find(export_cache.digest(report), None, lambda _: None)
    assert read is not None

    assert ExportCache().clear() == 1
    assert read.path.exists()

    os.close(read.lock)
    assert ExportCache().clear() == 0
    assert not read.path.exists()


def test_what_a_killed_process_left_is_removed_after_a_day(export: Export) -> None:
    left, fresh = ExportCache().work_folder(), ExportCache().work_folder()
    os.utime(left, (0, 0))

    export()

    assert not left.exists()
    assert fresh.exists()


# ---- the folder


@pytest.mark.parametrize("how", ["writable", "link", pytest.param("given away", marks=as_root)])
def test_a_folder_that_others_may_write_to_is_not_used(how: str, export: Export) -> None:
    folder = cache_folder()
    if how == "writable":
        folder.chmod(0o777)
    elif how == "link":
        folder.rename(folder.with_name("elsewhere"))
        folder.symlink_to("elsewhere")
    else:
        os.chown(folder, OTHER, -1)

    done = export()

    assert done.temporary
    assert f"{folder}: not used" in done.said[0]
    assert "XDG_CACHE_HOME" in done.said[0]


def test_a_folder_that_others_can_read_is_closed() -> None:
    cache_folder().chmod(0o755)

    assert mode(cache_folder()) == 0o700


def test_a_relative_cache_folder_is_none(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("XDG_CACHE_HOME", "cache")

    assert cache_folder() == tmp_path / "home" / ".cache" / "overlapcheck"


def test_a_place_that_cannot_be_made_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", "/dev/null")

    with pytest.raises(OutputUnwritable, match="not used"):
        cache_folder()
