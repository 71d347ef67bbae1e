"""Exports are whole or absent, cached by content, and never touch a file of the user's."""

from __future__ import annotations

import hashlib
import os
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from overlapcheck.capture import tool as running
from overlapcheck.capture.discovery import Nsys, find_nsys
from overlapcheck.capture.export import WORK_PREFIX, export_sqlite
from overlapcheck.capture.export_cache import is_whole_sqlite
from overlapcheck.capture.export_failures import Remedy, explain, made_by
from overlapcheck.capture.profile import profile
from overlapcheck.capture.spec import CaptureSpec
from overlapcheck.errors import ExportFailed, NsysNotFound, ReportDamaged
from overlapcheck.reading import Reading

if TYPE_CHECKING:
    from tests.capture.conftest import Machine

HEADER = b"NVIDIA Tegra Profiler Report 2029@1@1@54-1 and so on"
FAKE = Nsys(Path("/n/nsys"), "2023.4.4.54-1")


@pytest.fixture(scope="session")
def recorded(tmp_path_factory: pytest.TempPathFactory, real_nsys: Nsys) -> Path:
    place = tmp_path_factory.mktemp("recorded") / "cpu.nsys-rep"
    return profile(CaptureSpec(keep_as=place), ["true"], real_nsys).report


@pytest.fixture
def report(recorded: Path, tmp_path: Path) -> Path:
    (tmp_path / "reports").mkdir()
    return Path(shutil.copy(recorded, tmp_path / "reports" / "step.nsys-rep"))


def names(report: Path) -> list[str]:
    return sorted(path.name for path in report.parent.iterdir())


# ---- with the real nsys


@pytest.mark.nsys
def test_second_export_is_the_first_one(report: Path, real_nsys: Nsys) -> None:
    first = export_sqlite(report, Reading(nsys=real_nsys.path))
    again = export_sqlite(report, Reading(nsys=real_nsys.path))
    assert (first.cached, again.cached) == (False, True)
    assert (first.temporary, again.temporary) == (False, False)
    assert first.path == again.path
    assert is_whole_sqlite(first.path)
    with closing(sqlite3.connect(first.path)) as database:
        assert database.execute("SELECT count(*) FROM StringIds").fetchone()[0] > 0
    assert names(report) == [report.name]


@pytest.mark.nsys
def test_what_we_left_beside_a_report_is_used_again_by_us_while_it_is_that(
    report: Path, real_nsys: Nsys
) -> None:
    beside = report.with_suffix(".sqlite")
    reading = Reading(nsys=real_nsys.path, keep_export=beside)
    first, again = export_sqlite(report, reading), export_sqlite(report, reading)
    assert (first.path, first.cached) == (again.path, not again.cached) == (beside, False)

    beside.write_bytes(beside.read_bytes())
    assert export_sqlite(report, reading).path != beside


@pytest.mark.nsys
def test_file_of_the_user_is_neither_used_nor_touched(report: Path, real_nsys: Nsys) -> None:
    mine = report.with_suffix(".sqlite")
    mine.write_text("mine")
    exported = export_sqlite(report, Reading(nsys=real_nsys.path))
    assert exported.path != mine
    assert mine.read_text() == "mine"


@pytest.mark.nsys
def test_replaced_report_is_exported_anew(report: Path, recorded: Path, real_nsys: Nsys) -> None:
    before = export_sqlite(report, Reading(nsys=real_nsys.path))
    stat = report.stat()
    other = bytearray(recorded.read_bytes())
    middle = len(other) // 2
    other[middle : middle + 400] = bytes(byte ^ 0xFF for byte in other[middle : middle + 400])
    report.write_bytes(other)
    # Same size, same times, same first and last bytes.
    os.utime(report, ns=(stat.st_atime_ns, stat.st_mtime_ns))
    assert report.stat().st_mtime_ns == stat.st_mtime_ns
    try:
        after = export_sqlite(report, Reading(nsys=real_nsys.path))
    except ReportDamaged:
        return
    assert not after.cached
    assert after.path != before.path


@pytest.mark.nsys
def test_truncated_cache_is_not_used(report: Path, real_nsys: Nsys) -> None:
    kept = export_sqlite(report, Reading(nsys=real_nsys.path)).path
    kept.write_bytes(kept.read_bytes()[:-4096])
    again = export_sqlite(report, Reading(nsys=real_nsys.path))
    assert not again.cached
    assert is_whole_sqlite(again.path)


@pytest.mark.nsys
def test_temporary_export_goes_with_the_process(report: Path, machine: Machine) -> None:
    script = (
        "from pathlib import Path; from overlapcheck.capture.export import export_sqlite\n"
        "from overlapcheck.reading import Reading\n"
        f"kept = export_sqlite(Path({str(report)!r}), Reading(cache=False))\n"
        "print(kept.path.stat().st_size)"
    )
    command = [sys.executable, "-c", script]
    done = subprocess.run(command, env=machine.environment(), capture_output=True, check=True)
    assert int(done.stdout) > 0
    assert names(report) == [report.name]
    machine.assert_clean()


@pytest.mark.nsys
def test_two_at_once(report: Path, machine: Machine) -> None:
    both = [machine.start("analyze", "--format", "json", str(report)) for _ in range(2)]
    ended = [running.end() for running in both]
    assert [one.exit_code for one in ended] == [3, 3]
    assert ended[0].stdout == ended[1].stdout
    assert names(report) == [report.name]
    machine.assert_clean()


DAMAGE: dict[str, Callable[[bytes], bytes]] = {
    "truncated": lambda content: content[: len(content) // 2],
    "flipped": lambda c: c[:20000] + bytes(b ^ 0xFF for b in c[20000:-20000]) + c[-20000:],
    "header only": lambda content: content[:100],
}


@pytest.mark.nsys
@pytest.mark.parametrize("kind", DAMAGE)
def test_damaged_report(report: Path, real_nsys: Nsys, kind: str) -> None:
    report.write_bytes(DAMAGE[kind](report.read_bytes()))
    with pytest.raises(ReportDamaged, match="truncated or corrupt") as caught:
        export_sqlite(report, Reading(nsys=real_nsys.path))
    assert str(report) in caught.value.message
    assert names(report) == [report.name]


@pytest.mark.nsys
def test_report_of_a_newer_nsys(report: Path, real_nsys: Nsys) -> None:
    content = report.read_bytes()
    assert content.count(b"2023@4@4@54") == 1
    report.write_bytes(content.replace(b"2023@4@4@54", b"2029@4@4@54"))
    with pytest.raises(ExportFailed) as caught:
        export_sqlite(report, Reading(nsys=real_nsys.path))
    assert f"{report}: made by nsys 2029.4.4, which nsys 2023.4.4 at" in caught.value.message
    assert "--nsys PATH" in caught.value.hint
    assert names(report) == [report.name]


# ---- what only another nsys, or none, shows


def test_cache_serves_where_nsys_is_missing(
    tmp_path: Path, fake_nsys: Callable[..., Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    report = tmp_path / "a" / "step.nsys-rep"
    report.parent.mkdir()
    report.write_bytes(HEADER)
    whole = tmp_path / "whole"
    _write_database(whole)
    tool = fake_nsys(export=f'cp {whole} "$output"')
    exported = export_sqlite(report, Reading(nsys=tool))

    def nowhere(_: object) -> Nsys:
        raise NsysNotFound("nsys not found")

    monkeypatch.setattr("overlapcheck.capture.export.find_nsys", nowhere)
    assert export_sqlite(report).path == exported.path
    assert export_sqlite(report).cached
    report.write_bytes(HEADER + b"!")
    with pytest.raises(NsysNotFound):
        export_sqlite(report)


def test_nothing_planted_beside_a_report_is_taken_for_its_export(
    tmp_path: Path, fake_nsys: Callable[..., Path]
) -> None:
    report = tmp_path / "a" / "step.nsys-rep"
    report.parent.mkdir()
    report.write_bytes(HEADER)
    whole, planted = tmp_path / "whole", tmp_path / "planted"
    _write_database(whole)
    _write_database(planted)
    for name in ("blake2b", "sha256"):
        digest = hashlib.new(name, HEADER).hexdigest()
        for length in (16, 64):
            beside = f"{report.name}.{digest[:length]}-2023.4.4.overlapcheck.sqlite"
            shutil.copy(planted, report.with_name(beside))
    tool = fake_nsys(export=f'cp {whole} "$output"')
    exported = export_sqlite(report, Reading(nsys=tool))
    assert not exported.cached
    assert exported.path.parent != report.parent


def test_another_nsys_exports_anew(tmp_path: Path, fake_nsys: Callable[..., Path]) -> None:
    report = tmp_path / "a" / "step.nsys-rep"
    report.parent.mkdir()
    report.write_bytes(HEADER)
    whole = tmp_path / "whole"
    _write_database(whole)
    for version in ("2024.1.1.1-1", "2025.3.1.1-1"):
        tool = fake_nsys(export=f'cp {whole} "$output"', version=version)
        assert not export_sqlite(report, Reading(nsys=tool)).cached
        assert export_sqlite(report, Reading(nsys=tool)).cached
    assert names(report) == [report.name]


@pytest.mark.parametrize("left", ["", "SQLite format 3"])
def test_exit_code_0_is_not_believed(
    tmp_path: Path, fake_nsys: Callable[..., Path], left: str
) -> None:
    # nsys 2023.4.4 does this on a full disk.
    report = tmp_path / "a" / "step.nsys-rep"
    report.parent.mkdir()
    report.write_bytes(HEADER)
    tool = fake_nsys(export=f"printf '{left}' >\"$output\"; exit 0")
    with pytest.raises(ExportFailed, match="incomplete database"):
        export_sqlite(report, Reading(nsys=tool))
    assert names(report) == [report.name]


@pytest.mark.parametrize(
    "listed_options", [(), ("include-json",), ("include-json", "include-blobs")]
)
def test_backtraces_and_payloads_are_asked_for_only_where_nsys_can(
    tmp_path: Path, fake_nsys: Callable[..., Path], listed_options: tuple[str, ...]
) -> None:
    report = tmp_path / "a" / "step.nsys-rep"
    report.parent.mkdir()
    report.write_bytes(HEADER)
    whole = tmp_path / "whole"
    _write_database(whole)
    listed = fake_nsys(export=f'cp {whole} "$output"', profile_help=["type", *listed_options])
    recorder = f'printf "%s\\n" "$@" >{tmp_path}/words\n'
    listed.write_text(listed.read_text().replace("command=$1", recorder + "command=$1", 1))
    export_sqlite(report, Reading(nsys=listed))
    words = (tmp_path / "words").read_text().splitlines()
    assert [word for word in words if word.startswith("--include")] == [
        f"--{option}=true" for option in listed_options
    ]


@pytest.mark.parametrize(
    ("output", "error", "says", "remedy"),
    [
        ("[x] = database or disk is full", ExportFailed, "disk full", Remedy.ANOTHER_PLACE),
        ("what: database is locked", ExportFailed, "cannot write a database", Remedy.ANOTHER_PLACE),
        ("unable to open database file", ExportFailed, "cannot write", Remedy.ANOTHER_PLACE),
        ("what: ProtobufParseException", ExportFailed, "made by nsys 2029.1.1", Remedy.NONE),
        ("Version number is invalid: 2029@1", ExportFailed, "made by nsys 2029.1.1", Remedy.NONE),
        ("LZ4 decompression failed.", ReportDamaged, "truncated or corrupt", Remedy.NONE),
        ("something new", ExportFailed, "cannot export it: something new", Remedy.NONE),
        ("", ExportFailed, "cannot export it: it says nothing", Remedy.NONE),
    ],
)
def test_what_nsys_says_is_explained(
    tmp_path: Path, output: str, error: type[Exception], says: str, remedy: Remedy
) -> None:
    report = tmp_path / "step.nsys-rep"
    report.write_bytes(HEADER)
    explained, found = explain(output, report, FAKE, tmp_path)
    assert isinstance(explained, error)
    assert says in explained.message
    assert str(report) in explained.message
    assert found is remedy


def test_unparsable_report_of_the_same_version_is_damaged(tmp_path: Path) -> None:
    report = tmp_path / "step.nsys-rep"
    report.write_bytes(b"NVIDIA Tegra Profiler Report 2023@4@4@54-1 ")
    explained, _ = explain("ProtobufParseException", report, FAKE, tmp_path)
    assert isinstance(explained, ReportDamaged)


def test_version_in_the_header(tmp_path: Path) -> None:
    path = tmp_path / "x"
    path.write_bytes(HEADER)
    assert made_by(path) == "2029.1.1"
    path.write_bytes(b"U3w[END]NVIDIA Nsight Systems Stream 2023.4.4.54-234433681190v0")
    assert made_by(path) == "2023.4.4"
    path.write_bytes(b"nothing")
    assert made_by(path) == ""


def _write_database(path: Path) -> None:
    with closing(sqlite3.connect(path)) as database:
        database.execute("CREATE TABLE StringIds (id INTEGER PRIMARY KEY, value TEXT)")
        database.commit()


# ---- an nsys that is broken

FLOOD = "while :; do printf '%08192d' 0; done"


def failure(tmp_path: Path, nsys: Path) -> ExportFailed:
    report = tmp_path / "train.nsys-rep"
    report.write_bytes(HEADER)
    with pytest.raises(ExportFailed) as caught:
        export_sqlite(report, Reading(nsys=nsys))
    assert [path for path in tmp_path.iterdir() if path.name.startswith(WORK_PREFIX)] == []
    assert "\n" not in str(caught.value)
    return caught.value


def test_an_nsys_that_prints_without_end_is_stopped(
    tmp_path: Path, fake_nsys: Callable[..., Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(running, "MOST_OUTPUT_BYTES", 4 << 20)

    error = failure(tmp_path, fake_nsys(export=FLOOD))

    assert "prints without end" in error.message
    assert error.hint == "pass another one with --nsys PATH"


def test_an_nsys_that_hangs_is_stopped(
    tmp_path: Path, fake_nsys: Callable[..., Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(running, "STALL_S", 2.0)

    error = failure(tmp_path, fake_nsys(export="sleep 1000"))

    assert "hangs: it has done nothing for 2 s" in error.message


def test_an_nsys_that_floods_its_version_is_none(
    fake_nsys: Callable[..., Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(running, "MOST_OUTPUT_BYTES", 4 << 20)
    broken = fake_nsys()
    broken.write_text(f"#!/bin/sh\n{FLOOD}\n")

    with pytest.raises(NsysNotFound, match="prints without end"):
        find_nsys(broken)


def test_a_slow_nsys_that_shows_signs_of_life_is_waited_for(
    tmp_path: Path, fake_nsys: Callable[..., Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(running, "STALL_S", 4.0)
    growing = 'for i in 1 2 3 4 5 6; do sleep 1; echo more >>"$output"; done; exit 3'

    assert (
        "nsys 2030.1.1 cannot export it"
        in failure(tmp_path, fake_nsys(export=growing, version="2030.1.1-fake")).message
    )


def test_what_an_nsys_leaves_running_is_not_waited_for() -> None:
    assert running.run_tool(["sh", "-c", "echo done; sleep 1000 &"]).output == "done\n"


def test_of_a_long_output_the_end_is_kept() -> None:
    done = running.run_tool(["sh", "-c", "head -c 5000000 /dev/zero | tr '\\0' x; echo; echo last"])

    assert done.said[-1] == "last"
    assert len(done.output) == running.READ_OUTPUT_BYTES
