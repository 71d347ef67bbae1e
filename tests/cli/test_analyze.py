"""`overlapcheck analyze` as its users meet it: arguments in, text, files and an exit code out."""

from __future__ import annotations

import json
import os
import stat
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from overlapcheck._version import __version__
from overlapcheck.cli import main
from tests.conftest import ROOT
from tests.export import RealExport
from tests.pictures import picture

SERIAL = """
s7  kernel k          |.aaaa....cccc....eeee....gggg|
s8  kernel ncclKernel |....................nn.......|
s13 h2d pinned 64MiB  |.....bbbb....dddd....ffff....|
t1  cudaLaunchKernel  |a...c.......e.......g........|
t1  cuLaunchKernel    |...................n.........|
t1  cudaMemcpyAsync   |..b.........d.......f........|
t1  nvtx phase        |00001111111122222222333333333|
"""
OVERLAPPED = """
s7  kernel k          |.aaaaaaaaaaaaaaaaaa|
s13 h2d pinned 64MiB  |...bbbb............|
t1  cudaLaunchKernel  |a..................|
t1  cudaMemcpyAsync   |.b.................|
"""


@dataclass(frozen=True)
class Result:
    """What a command left behind."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)


Analyze = Callable[..., Result]


@pytest.fixture
def analyze(monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Analyze:
    """Run `overlapcheck analyze ARGUMENTS`."""

    def run(*arguments: str | Path) -> Result:
        monkeypatch.setattr(sys, "argv", ["overlapcheck", "analyze", *map(str, arguments)])
        with pytest.raises(SystemExit) as stop:
            main()
        out, err = capfd.readouterr()
        return Result(int(stop.value.code or 0), out, err)

    return run


@pytest.fixture
def serial(tmp_path: Path) -> Path:
    return picture(SERIAL, column_us=100).export(tmp_path / "serial.sqlite")


@pytest.fixture
def overlapped(tmp_path: Path) -> Path:
    return picture(OVERLAPPED, column_us=100).export(tmp_path / "overlapped.sqlite")


def checks(result: Result) -> dict[str, str]:
    return {check["name"]: check["outcome"] for check in result.json["verdict"]["checks"]}


# ---- exit codes


def test_an_overlapped_program_exits_with_0(analyze: Analyze, overlapped: Path) -> None:
    result = analyze(overlapped)

    assert result.code == 0
    assert "PASS" in result.out.splitlines()[0]
    assert result.err == ""


def test_a_serial_program_exits_with_1(analyze: Analyze, serial: Path) -> None:
    result = analyze(serial)

    assert result.code == 1
    assert "FAIL" in result.out.splitlines()[0]


def test_a_recording_that_proves_nothing_exits_with_3(analyze: Analyze, tmp_path: Path) -> None:
    result = analyze(picture("t1 nvtx step |001122|").export(tmp_path / "cpu.sqlite"))

    assert result.code == 3
    assert "INCONCLUSIVE" in result.out.splitlines()[0]
    said = " ".join(result.out.split())
    assert "no kernel was recorded (recorded: 3 NVTX ranges)" in said
    assert "overlapcheck run PROGRAM, or nsys profile --trace=cuda,nvtx,osrt PROGRAM" in said


def test_a_real_trace_with_a_fault_exits_with_1(analyze: Analyze, real_export: RealExport) -> None:
    assert analyze(real_export("pt_pageable")).code == 1


@pytest.mark.parametrize(
    ("content", "complaint"),
    [
        (b"", "empty"),
        (b"hello\n" * 100, ""),
        (bytes(range(256)) * 20, ""),
        (b"SQLite format 3\0" + b"\x10" * 500, "damaged"),
    ],
    ids=["empty", "text", "bytes", "noise"],
)
def test_a_file_that_is_no_report_exits_with_4_and_one_line(
    content: bytes, complaint: str, analyze: Analyze, tmp_path: Path
) -> None:
    path = tmp_path / "broken.sqlite"
    path.write_bytes(content)
    result = analyze(path, "-o", tmp_path / "result.json")

    assert result.code == 4
    assert result.out == ""
    assert result.err.count("\n") == 1
    assert result.err.startswith(f"overlapcheck: {path}: ")
    assert complaint in result.err
    assert "; " in result.err
    assert [p.name for p in tmp_path.iterdir()] == ["broken.sqlite"]


def test_a_missing_file_exits_with_4(analyze: Analyze, tmp_path: Path) -> None:
    result = analyze(tmp_path / "nowhere.nsys-rep")

    assert (result.code, result.out) == (4, "")
    assert "nowhere.nsys-rep" in result.err


def test_a_folder_exits_with_4(analyze: Analyze, tmp_path: Path) -> None:
    assert analyze(tmp_path).code == 4


# ---- options that judge


@pytest.mark.parametrize(
    ("arguments", "name", "outcome"),
    [
        (["--min-overlap", "0"], "overlap h2d", "PASS"),
        (["--min-overlap", "1"], "overlap h2d", "FAIL"),
        (["--max-recoverable", "10"], "recoverable", "FAIL"),
        (["--max-recoverable", "90"], "recoverable", "PASS"),
        (["--max-idle", "90"], "idle", "PASS"),
        (["--max-idle", "5"], "idle", "FAIL"),
        (["--max-exposed-comm", "90"], "exposed comm", "PASS"),
        (["--max-exposed-comm", "1"], "exposed comm", "FAIL"),
        (["--require-copies"], "copies", "PASS"),
    ],
)
def test_a_limit_decides_its_check(
    arguments: list[str], name: str, outcome: str, analyze: Analyze, serial: Path
) -> None:
    result = analyze(serial, "--skip", "0", "--format", "json", *arguments)

    assert checks(result)[name] == outcome


def test_checks_that_were_not_asked_for_are_not_there(analyze: Analyze, serial: Path) -> None:
    result = analyze(serial, "--format", "json")

    assert set(checks(result)) == {"capture", "overlap h2d", "recoverable"}


def test_copies_can_be_required(analyze: Analyze, tmp_path: Path) -> None:
    path = picture("s7 kernel k |.aa|\nt1 cudaLaunchKernel |a..|").export(tmp_path / "no.sqlite")

    assert analyze(path).code == 0
    assert analyze(path, "--require-copies").code == 1


def test_without_ceiling_the_raw_limit_counts(analyze: Analyze, tmp_path: Path) -> None:
    path = picture("""
        s7  kernel k         |.aaaaa...c|
        s13 h2d pinned 1B    |.bbbbbbbbb|
        t1  cudaLaunchKernel |a.......c.|
        """).export(tmp_path / "ceiling.sqlite")
    limits = [
        analyze(path, "--skip", "0", "--format", "json", *more).json["verdict"]["checks"][1][
            "limit"
        ]
        for more in ([], ["--no-ceiling"])
    ]

    assert limits == [pytest.approx(0.6), 0.8]


# ---- options that choose what is measured


def window(result: Result) -> dict[str, Any]:
    found: dict[str, Any] = result.json["devices"][0]["window"]
    return found


def test_steps_can_be_named(analyze: Analyze, serial: Path) -> None:
    result = analyze(serial, "--steps", "phase #", "--skip", "0", "--format", "json")

    assert window(result)["step_family"] == "phase #"
    assert window(result)["steps"] == 4


def test_leading_steps_can_be_skipped(analyze: Analyze, serial: Path) -> None:
    result = analyze(serial, "--steps", "phase #", "--skip", "2", "--format", "json")

    assert (window(result)["steps"], window(result)["skipped"]) == (2, 2)


def test_a_window_is_given_in_seconds_of_the_trace(analyze: Analyze, serial: Path) -> None:
    result = analyze(serial, "--window", "0.0001..0.0005", "--format", "json")

    assert (window(result)["start_ns"], window(result)["end_ns"]) == (100_000, 500_000)
    assert window(result)["source"] == "option"


def test_one_device_can_be_judged(analyze: Analyze, tmp_path: Path) -> None:
    path = picture("""
        gpu0 s7 kernel k     |.aaaa|
        gpu1 s7 kernel k     |..b.d|
        t1  cudaLaunchKernel |ab.d.|
        """).export(tmp_path / "two.sqlite")

    assert analyze(path, "--skip", "0").code == 1
    result = analyze(path, "--skip", "0", "--device", "0", "--format", "json")
    assert result.code == 0
    assert [device["device"] for device in result.json["devices"]] == [0]


def test_further_kernels_can_be_called_communication(analyze: Analyze, serial: Path) -> None:
    result = analyze(
        serial, "--skip", "0", "--comm-pattern", "^k$", "--comm-pattern", "x", "--format", "json"
    )

    assert result.json["devices"][0]["compute_ns"] == 0


# ---- wrong options


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (["--min-overlap", "0.8"], "--min-overlap 80"),
        (["--min-overlap", "120"], "--min-overlap"),
        (["--min-overlap", "much"], "--min-overlap"),
        (["--max-recoverable", "-1"], "--max-recoverable"),
        (["--max-idle", "101"], "--max-idle"),
        (["--max-exposed-comm", "x"], "--max-exposed-comm"),
        (["--skip", "-1"], "--skip"),
        (["--skip", "1.5"], "--skip"),
        (["--device", "-1"], "--device"),
        (["--device", "7"], "devices with kernels: 0"),
        (["--steps", "["], "not a regular expression"),
        (["--steps", "no such step"], "no NVTX range family"),
        (["--comm-pattern", "("], "not a regular expression"),
        (["--window", "2..1"], "--window 1.5..2.25"),
        (["--window", "1"], "--window 1.5..2.25"),
        (["--window", "a..b"], "--window 1.5..2.25"),
        (["--window", "0..inf"], "--window 1.5..2.25"),
        (["--window", "0..nan"], "--window 1.5..2.25"),
        (["--format", "docx"], "use one of"),
        (["-o", "result.docx"], "no format has this suffix"),
        (["-o", "result"], "no format has this suffix"),
        (["--fail-on", "no-such-cause"], "no-such-cause"),
        (["--no-such-option"], "--no-such-option"),
    ],
)
def test_a_wrong_option_exits_with_2_and_names_it(
    arguments: list[str], complaint: str, analyze: Analyze, serial: Path
) -> None:
    before = sorted(serial.parent.iterdir())
    result = analyze(serial, *arguments)

    assert (result.code, result.out) == (2, "")
    assert complaint in result.err
    assert "Traceback" not in result.err
    assert sorted(serial.parent.iterdir()) == before


def test_options_are_checked_before_the_report_is_read(analyze: Analyze, tmp_path: Path) -> None:
    assert analyze(tmp_path / "nowhere.sqlite", "--format", "docx").code == 2


def test_a_report_must_be_named(analyze: Analyze) -> None:
    result = analyze()

    assert result.code == 2
    assert "REPORT" in result.err


# ---- what is written


def test_several_files_can_be_written_beside_the_printed_report(
    analyze: Analyze, serial: Path, tmp_path: Path
) -> None:
    one, two = tmp_path / "one.json", tmp_path / "two.JSON"
    result = analyze(serial, "-o", one, "--output", two)

    assert result.code == 1
    assert "FAIL" in result.out
    assert one.read_text() == two.read_text()
    assert json.loads(one.read_text())["verdict"]["outcome"] == "FAIL"
    assert {p.name for p in tmp_path.iterdir()} == {"serial.sqlite", "one.json", "two.JSON"}


def test_a_written_file_is_what_would_have_been_printed(
    analyze: Analyze, serial: Path, tmp_path: Path
) -> None:
    printed = analyze(serial, "--format", "json", "-o", tmp_path / "same.json").out

    assert (tmp_path / "same.json").read_text() == printed


def test_an_old_result_is_replaced(analyze: Analyze, serial: Path, tmp_path: Path) -> None:
    (tmp_path / "old.json").write_text("old")
    analyze(serial, "-o", tmp_path / "old.json")

    assert json.loads((tmp_path / "old.json").read_text())["schema"] == 1


def test_a_written_file_has_the_usual_permissions(
    analyze: Analyze, serial: Path, tmp_path: Path
) -> None:
    (tmp_path / "usual").touch()
    analyze(serial, "-o", tmp_path / "result.json")

    modes = [stat.S_IMODE((tmp_path / name).stat().st_mode) for name in ("usual", "result.json")]
    assert modes[0] == modes[1]


def test_a_result_that_cannot_be_written_exits_with_4_after_printing(
    analyze: Analyze, serial: Path, tmp_path: Path
) -> None:
    target = tmp_path / "no" / "such" / "folder" / "result.json"
    result = analyze(serial, "-o", target)

    assert result.code == 4
    assert "FAIL" in result.out
    assert result.err == (
        f"overlapcheck: {target}: cannot write the result (No such file or directory);"
        " give -o a place that exists and is writable\n"
    )


def test_a_folder_in_the_place_of_a_result_is_left_alone(
    analyze: Analyze, serial: Path, tmp_path: Path
) -> None:
    (tmp_path / "taken.json").mkdir()
    result = analyze(serial, "-o", tmp_path / "taken.json")

    assert result.code == 4
    assert (tmp_path / "taken.json").is_dir()
    assert {p.name for p in tmp_path.iterdir()} == {"serial.sqlite", "taken.json"}


def test_the_input_is_never_changed(analyze: Analyze, serial: Path) -> None:
    before = serial.read_bytes()
    analyze(serial)

    assert serial.read_bytes() == before


# ---- the command as a program


def run(*arguments: str | Path, **options: Any) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "overlapcheck", *map(str, arguments)],
        capture_output=True,
        text=True,
        cwd=ROOT,
        timeout=60,
        check=False,
        **options,
    )


def test_the_package_runs_as_a_module(serial: Path) -> None:
    done = run("analyze", serial, "--format", "json")

    assert done.returncode == 1
    assert json.loads(done.stdout)["verdict"]["outcome"] == "FAIL"
    assert done.stderr == ""


def test_a_pipe_gets_plain_text_of_eighty_columns(serial: Path) -> None:
    done = run("analyze", serial, env=os.environ | {"COLUMNS": "200"})

    assert "\x1b" not in done.stdout
    assert max(map(len, done.stdout.splitlines())) <= 80


def test_a_reader_that_goes_away_is_no_traceback(serial: Path) -> None:
    read_end, write_end = os.pipe()
    os.close(read_end)
    with os.fdopen(write_end, "w") as nobody:
        done = subprocess.run(
            [sys.executable, "-m", "overlapcheck", "analyze", str(serial)],
            stdout=nobody,
            stderr=subprocess.PIPE,
            text=True,
            cwd=ROOT,
            timeout=60,
            check=False,
        )

    assert "Traceback" not in done.stderr
    assert "Exception ignored" not in done.stderr


def test_the_version_and_the_help_are_printed() -> None:
    assert run("--version").stdout == f"overlapcheck, version {__version__}\n"
    help_text = run("--help").stdout
    for command in ("run", "analyze", "explain", "doctor"):
        assert f"\n  {command} " in help_text
    assert "3  inconclusive" in help_text


def test_every_option_is_in_the_help() -> None:
    text = run("analyze", "--help").stdout

    judging = "--min-overlap --no-ceiling --max-recoverable --max-idle --max-exposed-comm"
    choosing = "--steps --skip --window --device --comm-pattern"
    others = "--require-copies --fail-on --streams --format --output --nsys"
    for option in f"{judging} {choosing} {others}".split():
        assert option in text


@pytest.mark.parametrize(("command", "several"), [("analyze", True), ("run", False)])
def test_options_of_several_reports_are_of_the_command_that_takes_several(
    command: str, several: bool
) -> None:
    text = run(command, "--help").stdout

    assert ("Several reports:" in text) == several
    assert ("--expect-ranks" in text) == several
