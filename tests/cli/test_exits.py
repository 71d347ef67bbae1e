"""Exit codes of what nobody foresaw, and of streams that cannot be written to."""

from __future__ import annotations

import errno
import gc
import os
import signal
import subprocess
import sys
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path

import click
import pytest

from overlapcheck.cli import cli, main
from overlapcheck.cli.standard_streams import standard_streams
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
STARTS = """
import sqlite3, sys, time
from pathlib import Path
from overlapcheck import cli, pipeline
from overlapcheck.cli import inputs, messages, stopping
"""
NEVER_RETURNS = """
def analyze(*_, **__):
    # One call into a library: no instruction of Python, so no handler of a signal.
    connection = sqlite3.connect(":memory:")
    connection.create_function("begun", 0, Path("begun").touch)
    connection.execute(
        "WITH RECURSIVE n(i) AS (SELECT begun() UNION ALL SELECT 1 FROM n) SELECT count(*) FROM n"
    ).fetchall()

pipeline.analyze = analyze
"""
PREPARES = """
def prepare(*_, **__):
    Path("begun").touch()
    time.sleep(1000)

inputs.several_of = prepare
"""
TELLS_SLOWLY = """
say = messages.say

def say_slowly(text):
    Path("telling").touch()
    while not Path("again").exists():
        time.sleep(0.01)
    say(text)

cli.exits.say = say_slowly
"""
ANALYZES_X = """
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
    "streams": ["x"],
    "trim": ["x", "-o", "y"],
    "whatif": ["x"],
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
        (AssertionError("a\nb\x1b[31m"), "AssertionError: a b ("),
        (RecursionError("too deep"), "RecursionError: too deep"),
        (MemoryError(), "out of memory; judge a part"),
        (EOFError("no more"), "EOFError: no more"),
        (BrokenPipeError(errno.EPIPE, "Broken pipe"), "BrokenPipeError: [Errno 32] Broken pipe"),
        (PermissionError(errno.EACCES, "Permission denied", "a/b"), "a/b: Permission denied"),
        (SystemExit(1), "SystemExit: 1"),
        (KeyError("x" * 1000), "KeyError: 'xxxx"),
        (ValueError("\x1b[31mred\x1b[0m ##[error]here"), "ValueError: red # [error]here"),
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


def test_streams_that_are_not_there_leave_no_file_open(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdout", None)
    monkeypatch.setattr(sys, "stderr", None)
    gc.collect()
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        with standard_streams():
            print("nobody reads this")
        gc.collect()

    assert [str(warning.message) for warning in warned] == []


# ---- signals


def is_pending(pid: int, signum: int) -> bool:
    """Whether a process has yet to take a signal."""
    for line in Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith("ShdPnd:"):
            return bool(int(line.split()[1], 16) >> (signum - 1) & 1)
    return False


Started = Callable[[str], subprocess.Popen[str]]


@pytest.fixture
def started(tmp_path: Path, with_default_signals: Callable[[], None]) -> Iterator[Started]:
    """Starts a program that has the command line in it, and waits until its work has begun."""
    children = []

    def start(program: str) -> subprocess.Popen[str]:
        child = subprocess.Popen(
            [sys.executable, "-c", program],
            cwd=tmp_path,
            env={**os.environ, "PYTHONPATH": str(ROOT)},
            stderr=subprocess.PIPE,
            text=True,
            preexec_fn=with_default_signals,
        )
        children.append(child)
        await_file(child, tmp_path / "begun")
        return child

    yield start
    for child in children:
        with child:
            child.kill()


def await_file(child: subprocess.Popen[str], file: Path) -> None:
    while not file.exists():
        assert child.poll() is None


def send(child: subprocess.Popen[str], signum: signal.Signals) -> None:
    child.send_signal(signum)
    # The kernel keeps no count of one that is pending.
    while is_pending(child.pid, signum):
        assert child.poll() is None


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
    signals: list[signal.Signals], grace_s: float, started: Started
) -> None:
    child = started(STARTS + NEVER_RETURNS + ANALYZES_X.format(grace_s=grace_s))
    for signum in signals:
        send(child, signum)
    _, said = child.communicate(timeout=PATIENCE_S)

    assert child.returncode == 128 + signals[0]
    assert said == f"overlapcheck: stopped by {signals[0].name} while analysing x.sqlite\n"


STOPPED = [
    (signal.SIGINT, "interrupted"),
    (signal.SIGTERM, "stopped by SIGTERM"),
    (signal.SIGHUP, "stopped by SIGHUP"),
]


@pytest.mark.parametrize(("signum", "says"), STOPPED)
def test_a_signal_before_the_analysis_is_one_line_and_its_exit_code(
    signum: signal.Signals, says: str, started: Started
) -> None:
    child = started(STARTS + PREPARES + ANALYZES_X.format(grace_s=1000))
    send(child, signum)
    _, said = child.communicate(timeout=PATIENCE_S)

    assert (child.returncode, said) == (128 + signum, f"overlapcheck: {says}\n")


@pytest.mark.parametrize("second", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
@pytest.mark.parametrize(("first", "says"), STOPPED)
def test_a_second_signal_while_the_first_is_told_changes_nothing(
    first: signal.Signals, says: str, second: signal.Signals, started: Started, tmp_path: Path
) -> None:
    child = started(STARTS + PREPARES + TELLS_SLOWLY + ANALYZES_X.format(grace_s=1000))
    send(child, first)
    await_file(child, tmp_path / "telling")
    send(child, second)
    (tmp_path / "again").touch()
    _, said = child.communicate(timeout=PATIENCE_S)

    assert (child.returncode, said) == (128 + first, f"overlapcheck: {says}\n")


def test_a_stop_that_nobody_reads_of_ends_all_the_same(started: Started) -> None:
    child = started(STARTS + PREPARES + TELLS_SLOWLY + ANALYZES_X.format(grace_s=0.1))
    child.send_signal(signal.SIGTERM)

    assert child.wait(timeout=PATIENCE_S) == 128 + signal.SIGTERM
