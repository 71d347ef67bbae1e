"""What a command line may leave out, and where a file that is no recording belongs."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from overlapcheck.cli import main
from tests.pictures import picture

HIDDEN = """
s7  kernel k         |.aaaaaaaabbbbbbbbcccccccc.|
s13 h2d pinned 64MiB |..dddd....eeee....ffff....|
t1  cudaLaunchKernel |a.......b.......c.........|
t1  cudaMemcpyAsync  |.d.......e.......f........|
"""
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
def hidden(tmp_path: Path) -> Path:
    return picture(HIDDEN, column_us=100).export(tmp_path / "hidden.sqlite")


def test_a_report_alone_is_analysed(overlapcheck: Overlapcheck, hidden: Path) -> None:
    told = overlapcheck("analyze", hidden, "--format", "json")

    assert overlapcheck(hidden, "--format", "json") == told
    assert told[0] == 0


def test_a_report_that_is_not_there_is_missed_by_name(overlapcheck: Overlapcheck) -> None:
    code, _, err = overlapcheck("gone.nsys-rep")

    assert code == 4
    assert err.startswith("overlapcheck: gone.nsys-rep: ")


def test_a_word_that_names_no_file_is_a_command_that_there_is_not(
    overlapcheck: Overlapcheck,
) -> None:
    code, _, err = overlapcheck("analyse")

    assert code == 2
    assert "No such command 'analyse'" in err


def test_a_command_stays_one_where_a_file_has_its_name(overlapcheck: Overlapcheck) -> None:
    Path("explain").mkdir()
    code, out, _ = overlapcheck("explain")

    assert code == 0
    assert "pageable-copy" in out


def test_a_result_is_sent_to_render(overlapcheck: Overlapcheck, hidden: Path) -> None:
    overlapcheck(hidden, "-o", "result.json")
    for arguments in (("analyze", "result.json"), ("result.json",), (hidden, "result.json")):
        code, out, err = overlapcheck(*arguments)

        assert (code, out) == (4, "")
        assert err == (
            "overlapcheck: result.json: a saved result, not a recording; show it: overlapcheck"
            " render result.json, or compare: overlapcheck compare OTHER result.json\n"
        )
    Path("other.json").write_text("{}")
    assert "not an Nsight Systems report but JSON" in overlapcheck("other.json")[2]
