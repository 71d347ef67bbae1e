"""What stdout is taken for: its width, colours, signs; and how much is told there."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from io import StringIO
from pathlib import Path

import pytest

from overlapcheck.cli import main, terminal_page
from tests.cli.test_init import SERIAL
from tests.cli.test_words import HIDDEN
from tests.pictures import picture

ANSI = "\x1b["
Overlapcheck = Callable[..., tuple[int, str, str]]


@pytest.fixture
def overlapcheck(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str], tmp_path: Path
) -> Overlapcheck:
    """Run a command in an empty folder: exit code, stdout, stderr."""
    monkeypatch.chdir(tmp_path)

    def run(*arguments: str | Path) -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "argv", ["overlapcheck", *map(str, arguments)])
        with pytest.raises(SystemExit) as stop:
            main()
        out, err = capfd.readouterr()
        return int(stop.value.code or 0), out, err

    return run


@pytest.fixture
def result(overlapcheck: Overlapcheck, tmp_path: Path) -> Path:
    export = picture(HIDDEN, column_us=100).export(tmp_path / "hidden.sqlite")
    overlapcheck(export, "-o", "result.json")
    return tmp_path / "result.json"


def test_quiet_is_one_line_and_the_same_exit_code(
    overlapcheck: Overlapcheck, result: Path, tmp_path: Path
) -> None:
    for command in ("analyze", "render"):
        report = tmp_path / "hidden.sqlite" if command == "analyze" else result
        assert overlapcheck(command, report, "--quiet") == (0, "PASS  all 3 checks passed\n", "")
    picture(SERIAL, column_us=100).export(tmp_path / "serial.sqlite")
    code, out, _ = overlapcheck("serial.sqlite", "-q")
    assert (code, out.count("\n")) == (1, 1)
    assert out.startswith("FAIL  2 of 3 checks failed: overlap h2d, recoverable; first cause: ")
    _, out, _ = overlapcheck("compare", result, result, "-q", "--force")
    assert out.count("\n") == 1


def test_verbose_tells_all_in_files_too(overlapcheck: Overlapcheck, result: Path) -> None:
    usual = overlapcheck("render", result)[1]
    everything = overlapcheck(
        "render", result, "--verbose", "-o", "all.txt", "--format", "terminal"
    )

    assert "non-blocking" not in usual
    assert "s13     copy h2d  non-blocking" in everything[1]
    assert Path("all.txt").read_text() == everything[1]
    overlapcheck("render", result, "--quiet", "-o", "usual.txt")
    assert Path("usual.txt").read_text() == usual


def test_quiet_and_verbose_exclude_each_other(overlapcheck: Overlapcheck, result: Path) -> None:
    code, out, err = overlapcheck("render", result, "-q", "-v")

    assert (code, out) == (2, "")
    assert err == "overlapcheck: --verbose and --quiet exclude each other\n"


@pytest.mark.parametrize(
    ("variables", "colours"),
    [
        ({}, False),
        ({"FORCE_COLOR": "1"}, True),
        ({"FORCE_COLOR": "0"}, False),
        ({"FORCE_COLOR": ""}, False),
        ({"FORCE_COLOR": "1", "NO_COLOR": "1"}, False),
    ],
)
def test_colours_on_demand(
    variables: dict[str, str],
    colours: bool,
    overlapcheck: Overlapcheck,
    result: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    _, out, _ = overlapcheck("render", result)

    assert (ANSI in out) == colours
    assert ANSI not in overlapcheck("render", result, "--format", "json")[1]


class Pipe(StringIO):
    """A stdout that is a terminal, a pipe or a file."""

    encoding = "utf-8"

    def __init__(self, descriptor: int, terminal: bool = False) -> None:
        super().__init__()
        self._descriptor, self._terminal = descriptor, terminal

    def fileno(self) -> int:
        return self._descriptor

    def isatty(self) -> bool:
        return self._terminal


def test_colours_in_the_log_of_a_job_but_in_no_file(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    reading, writing = os.pipe()
    try:
        monkeypatch.setattr(sys, "stdout", Pipe(writing))
        assert not terminal_page.wants_color()
        monkeypatch.setenv("GITHUB_ACTIONS", "true")
        assert terminal_page.wants_color()
        with (tmp_path / "out.txt").open("w") as file:
            monkeypatch.setattr(sys, "stdout", Pipe(file.fileno()))
            assert not terminal_page.wants_color()
    finally:
        os.close(reading)
        os.close(writing)


def test_a_terminal_has_colours_unless_it_is_dumb(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdout", Pipe(1, terminal=True))
    monkeypatch.setenv("TERM", "xterm")
    assert terminal_page.wants_color()
    monkeypatch.setenv("TERM", "dumb")
    assert not terminal_page.wants_color()


@pytest.mark.parametrize(
    ("columns", "width"), [("40", 60), ("60", 60), ("100", 100), ("300", 120), ("", 80)]
)
def test_the_width_is_that_of_the_terminal_within_what_is_legible(
    columns: str, width: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", columns)
    assert terminal_page.width() == 80
    monkeypatch.setattr(sys, "stdout", Pipe(1, terminal=True))

    assert terminal_page.width() == width


@pytest.mark.parametrize(
    ("variables", "plain"),
    [
        ({}, False),
        ({"LANG": "C.UTF-8"}, False),
        ({"LANG": "en_US.utf8"}, False),
        ({"LANG": "de_DE"}, False),
        ({"LANG": "C"}, True),
        ({"LANG": "C.UTF-8", "LC_ALL": "POSIX"}, True),
        ({"LANG": "en_US.UTF-8", "LC_CTYPE": "en_US.ISO-8859-1"}, True),
        ({"LANG": "C", "PYTHONIOENCODING": "utf-8"}, False),
    ],
)
def test_plain_signs_where_the_locale_has_no_utf8(
    variables: dict[str, str],
    plain: bool,
    overlapcheck: Overlapcheck,
    result: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name in ("LANG", "LC_ALL", "LC_CTYPE", "PYTHONIOENCODING", "PYTHONUTF8"):
        monkeypatch.delenv(name, raising=False)
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    _, out, _ = overlapcheck("render", result, "--verbose")

    assert out.isascii() == plain
