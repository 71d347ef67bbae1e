"""Exit codes of what nobody foresaw, and of streams that cannot be written to."""

from __future__ import annotations

import errno
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import click
import pytest

from overlapcheck.cli import cli, main
from overlapcheck.errors import ExitCode
from tests.conftest import ROOT
from tests.pictures import picture

FAILS = """
s7  kernel k          |.aaaa....cccc....eeee....gggg|
s13 h2d pinned 64MiB  |.....bbbb....dddd....ffff....|
t1  cudaLaunchKernel  |a...c.......e.......g........|
t1  cudaMemcpyAsync   |..b.........d.......f........|
"""
PATIENCE_S = 60
NEVER_RETURNS = """
import sqlite3, sys
from pathlib import Path
from overlapcheck import cli, pipeline
from overlapcheck.cli import stopping

def analyze(*_, **__):
    # One call into a library: no instruction of Python, so no handler of a signal.
    Path("begun").touch()
    sqlite3.connect(":memory:").execute(
        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n"
    ).fetchall()

pipeline.analyze = analyze
stopping.GRACE_S, stopping.SHORT_GRACE_S = {grace_s}, 0.1
sys.argv = ["overlapcheck", "analyze", "x.sqlite"]
cli.main()
"""


@pytest.fixture
def failing(tmp_path: Path) -> Path:
    return picture(FAILS, column_us=100).export(tmp_path / "failing.sqlite")


def leaf_commands() -> dict[str, click.Command]:
    found: dict[str, click.Command] = {}
    for name, command in cli.commands.items():
        if isinstance(command, click.Group):
            found |= {f"{name} {inner}": leaf for inner, leaf in command.commands.items()}
        else:
            found[name] = command
    return found


ARGUMENTS = {
    "run": ["true"],
    "analyze": ["x"],
    "compare": ["x", "y"],
    "render": ["x"],
    "baseline save": ["n", "x"],
    "baseline show": ["n"],
}


def exit_code() -> int:
    with pytest.raises(SystemExit) as stop:
        main()
    return int(stop.value.code or 0)


@pytest.mark.parametrize("name", leaf_commands())
def test_an_unforeseen_error_of_any_command_is_one_line_and_4(
    name: str, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    def broken(**_: object) -> int:
        return 1 // 0

    monkeypatch.setattr(leaf_commands()[name], "callback", broken)
    monkeypatch.setattr(sys, "argv", ["overlapcheck", *name.split(), *ARGUMENTS.get(name, [])])

    assert exit_code() == ExitCode.COULD_NOT_RUN
    (line,) = capfd.readouterr().err.strip().splitlines()
    assert line.startswith("overlapcheck: an error of our own, ZeroDivisionError: ")
    assert "please report it" in line


@pytest.mark.parametrize(
    ("error", "says"),
    [
        (AssertionError("a\nb\x1b[31m"), "AssertionError: a b?[31m"),
        (RecursionError("too deep"), "RecursionError: too deep"),
        (MemoryError(), "out of memory; judge a part"),
        (EOFError("no more"), "EOFError: no more"),
        (BrokenPipeError(errno.EPIPE, "Broken pipe"), "BrokenPipeError: [Errno 32] Broken pipe"),
        (PermissionError(errno.EACCES, "Permission denied", "a/b"), "a/b: Permission denied"),
        (SystemExit(1), "SystemExit: 1"),
        (KeyError("x" * 1000), "KeyError: 'xxxx"),
    ],
    ids=lambda value: type(value).__name__ if isinstance(value, BaseException) else "",
)
def test_any_unforeseen_error_is_told(
    error: BaseException,
    says: str,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    def broken(**_: object) -> int:
        raise error

    monkeypatch.setattr(leaf_commands()["explain"], "callback", broken)
    monkeypatch.setattr(sys, "argv", ["overlapcheck", "explain"])

    assert exit_code() == ExitCode.COULD_NOT_RUN
    (line,) = capfd.readouterr().err.strip().splitlines()
    assert says in line
    assert len(line) < 400


def test_a_ctrl_c_is_130(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    def broken(**_: object) -> int:
        raise KeyboardInterrupt

    monkeypatch.setattr(leaf_commands()["explain"], "callback", broken)
    monkeypatch.setattr(sys, "argv", ["overlapcheck", "explain"])

    assert exit_code() == 130
    assert capfd.readouterr().err.split() == ["overlapcheck:", "interrupted"]


def test_the_traceback_is_for_those_who_ask(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    def broken(**_: object) -> int:
        return 1 // 0

    monkeypatch.setattr(leaf_commands()["explain"], "callback", broken)
    monkeypatch.setattr(sys, "argv", ["overlapcheck", "explain"])
    monkeypatch.setenv("OVERLAPCHECK_TRACEBACK", "1")

    assert exit_code() == ExitCode.COULD_NOT_RUN
    assert "return 1 // 0" in capfd.readouterr().err


def test_python_m_exits_the_same_way() -> None:
    done = subprocess.run(
        [
            sys.executable,
            "-c",
            "import runpy, sys, overlapcheck.pipeline as pipeline\n"
            "pipeline.analyze = lambda *_, **__: 1 // 0\n"
            "sys.argv = ['overlapcheck', 'analyze', 'x']\n"
            "runpy.run_module('overlapcheck', run_name='__main__')",
        ],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=PATIENCE_S,
    )

    assert done.returncode == ExitCode.COULD_NOT_RUN
    assert done.stderr.startswith("overlapcheck: an error of our own, ZeroDivisionError")


# ---- streams


def overlapcheck(redirected: str, *arguments: str | Path) -> subprocess.CompletedProcess[str]:
    """Run the command line with its streams redirected by a shell."""
    return subprocess.run(
        ["bash", "-c", f'"$@" {redirected}', "bash", sys.executable, "-m", "overlapcheck",
         *map(str, arguments)],
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=PATIENCE_S,
    )  # fmt: skip


@pytest.mark.parametrize("redirected", [">/dev/full", ">/dev/full 2>/dev/full"])
def test_a_full_stdout_is_an_error_and_costs_no_file(
    redirected: str, failing: Path, tmp_path: Path
) -> None:
    done = overlapcheck(redirected, "analyze", failing, "-o", tmp_path / "r.json")

    assert done.returncode == ExitCode.COULD_NOT_RUN
    assert (tmp_path / "r.json").stat().st_size > 1000
    if "2>" not in redirected:
        said = "overlapcheck: stdout: cannot be written: No space left on device\n"
        assert done.stderr == said


@pytest.mark.parametrize("redirected", [">&-", "<&- >&- 2>&-", "2>/dev/full", "2>&-"])
def test_streams_that_nobody_reads_change_nothing(
    redirected: str, failing: Path, tmp_path: Path
) -> None:
    done = overlapcheck(redirected, "analyze", failing, "-o", tmp_path / "r.json")

    assert done.returncode == ExitCode.FAIL
    assert done.stderr == ""
    assert (tmp_path / "r.json").stat().st_size > 1000


@pytest.mark.parametrize("command", [["analyze", "{}", "-o", "{}.json"], ["--help"], ["explain"]])
def test_a_reader_that_went_away_changes_nothing(command: list[str], failing: Path) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    with os.fdopen(writing, "wb") as nobody:
        done = subprocess.run(
            [sys.executable, "-m", "overlapcheck", *(word.format(failing) for word in command)],
            env={**os.environ, "PYTHONPATH": str(ROOT)},
            stdout=nobody,
            stderr=subprocess.PIPE,
            text=True,
            timeout=PATIENCE_S,
        )

    judged = command[0] == "analyze"
    assert done.returncode == (ExitCode.FAIL if judged else 0)
    assert done.stderr == ""
    assert failing.with_name("failing.sqlite.json").exists() == judged


@pytest.mark.parametrize("command", ["--help", "--version", "explain", "doctor"])
def test_every_command_minds_a_full_stdout(command: str) -> None:
    assert overlapcheck(">/dev/full", command).returncode == ExitCode.COULD_NOT_RUN


def test_an_error_is_an_error_with_nowhere_to_tell_it() -> None:
    assert overlapcheck("2>/dev/full", "analyze", "/no/such").returncode == ExitCode.COULD_NOT_RUN


# ---- signals


def is_pending(pid: int, signum: int) -> bool:
    """Whether a process has yet to take a signal."""
    for line in Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith("ShdPnd:"):
            return bool(int(line.split()[1], 16) >> (signum - 1) & 1)
    return False


@pytest.mark.parametrize(
    ("signals", "grace_s"),
    [
        ([signal.SIGTERM], 0.1),
        ([signal.SIGINT], 0.1),
        ([signal.SIGTERM, signal.SIGTERM], 1000),
        ([signal.SIGINT, signal.SIGINT], 1000),
    ],
)
def test_a_signal_ends_an_analysis_that_never_returns(
    signals: list[signal.Signals],
    grace_s: float,
    tmp_path: Path,
    with_default_signals: Callable[[], None],
) -> None:
    child = subprocess.Popen(
        [sys.executable, "-c", NEVER_RETURNS.format(grace_s=grace_s)],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=with_default_signals,
    )
    try:
        while not (tmp_path / "begun").exists():
            assert child.poll() is None
        for signum in signals:
            child.send_signal(signum)
            # The kernel keeps no count of one that is pending.
            while is_pending(child.pid, signum):
                assert child.poll() is None
        _, said = child.communicate(timeout=PATIENCE_S)
    finally:
        child.kill()
        child.wait()

    assert child.returncode == 128 + signals[0]
    assert said == f"overlapcheck: stopped by {signals[0].name} while analysing x.sqlite\n"
