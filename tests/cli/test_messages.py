"""What goes to stderr and to a step's log: one line, that no terminal and no runner obeys."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from overlapcheck.cli import main, progress, rank_progress
from overlapcheck.cli.messages import say
from tests.export import edit
from tests.pictures import picture
from tests.test_clean import FORBIDDEN, HOSTILE

Run = Callable[..., tuple[str, str]]
NAMES = [name.replace("/", "_").replace("\0", "") for name in HOSTILE.values()]


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Run:
    def overlapcheck(*arguments: str | Path) -> tuple[str, str]:
        monkeypatch.setattr(sys, "argv", ["overlapcheck", *map(str, arguments)])
        with pytest.raises(SystemExit):
            main()
        return capfd.readouterr()

    return overlapcheck


def require_inert(text: str) -> None:
    assert not set(text) & (FORBIDDEN - {"\n"})
    assert "##[" not in text and "##vso[" not in text
    assert not any(line.lstrip().startswith("::") for line in text.splitlines())


@pytest.mark.parametrize("name", NAMES)
def test_the_name_of_a_file_that_is_not_there(name: str, run: Run) -> None:
    for arguments in (("analyze", name), ("render", name), ("compare", name, name), (name,)):
        _, err = run(*arguments)

        require_inert(err)
        assert err.startswith(("overlapcheck: ", "Usage: "))


@pytest.mark.parametrize("name", NAMES)
def test_options_that_are_none(name: str, run: Run) -> None:
    for arguments in (("--format", name), (f"--{name}",), ("--skip", name), ("-o", name)):
        require_inert(run("analyze", "x", *arguments)[1])


def test_several_reports_of_hostile_names(run: Run, tmp_path: Path) -> None:
    for name in NAMES:
        (tmp_path / f"{name}.sqlite").write_text("no report")
    out, err = run("analyze", tmp_path, "--jobs", "1")

    require_inert(out + err)


def test_a_message_is_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    for name in NAMES:
        say(f"{name} at /home/xyz/run: gone")
    lines = capsys.readouterr().err.splitlines()

    assert len(lines) == len(NAMES)
    require_inert("\n".join(lines))
    assert not any("xyz" in line for line in lines)


def test_progress_is_clean(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(progress, "PATIENCE_S", 0)
    monkeypatch.setattr(rank_progress, "QUIET_S", 0)
    monkeypatch.setattr(rank_progress, "LIVE_S", 0)
    name = "".join(NAMES)
    with progress.shown() as begins:
        begins(name)
        time.sleep(0.2)
    for live in (False, True):
        monkeypatch.setattr(sys.stderr, "isatty", lambda live=live: live)
        with rank_progress.counted() as arrived:
            arrived(1, 2, name)
    text = capsys.readouterr().err

    assert "1 of 2 reports" in text
    require_inert(text.replace("\r", "\n"))


@pytest.mark.parametrize("name", HOSTILE.values())
@pytest.mark.parametrize("form", ["terminal", "markdown", "json", "junit", "sarif", "html"])
def test_a_hostile_kernel_in_a_log(form: str, name: str, run: Run, tmp_path: Path) -> None:
    export = picture(
        """
        s7  kernel k          |.aaaa....cccc....eeee....gggg|
        s13 h2d pinned 64MiB  |.....bbbb....dddd....ffff....|
        t1  cudaLaunchKernel  |a...c.......e.......g........|
        t1  cudaMemcpyAsync   |..b.........d.......f........|
        t1  nvtx phase        |00001111111122222222333333333|
        """,
        column_us=100,
    ).export(tmp_path / "log.sqlite")
    name = name.encode("utf-8", "replace").decode()
    quoted = name.replace("'", "''")
    edit(export, f"UPDATE StringIds SET value = '{quoted}' || value WHERE value LIKE 'k%'")
    out, err = run("analyze", export, "--format", form)

    assert "fail" in out.lower()
    if form == "markdown":
        # Our own: they keep a mention from being one, and make a sign a picture.
        out = out.replace("\u2060", "").replace("\ufe0f", "")
    if form == "html":
        # Styles and scripts are our own, and of many lines.
        out = out[out.index("<body>") : out.index('<script type="application/json"')]
    require_inert(out + err)
