"""The program sees what it would see without us: streams, terminal, environment, arguments."""

from __future__ import annotations

import json
import os
import pty
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.capture.conftest import Machine

pytestmark = [pytest.mark.nsys, pytest.mark.usefixtures("real_nsys")]

ECHO = """
import sys
sys.stdout.buffer.write(b"out:" + sys.stdin.buffer.read() + b"\\xff\\x00no newline")
sys.stderr.buffer.write(b"err\\n")
"""


def run(machine: Machine, *command: str) -> list[str]:
    return [sys.executable, "-m", "overlapcheck", "run", *command]


def test_streams_carry_the_very_bytes(machine: Machine) -> None:
    done = subprocess.run(
        run(machine, sys.executable, "-c", ECHO),
        cwd=machine.work,
        env=machine.environment(),
        input=b"a\r\n\x00b",
        capture_output=True,
        check=False,
    )
    program, report = done.stdout.split(b"\x00no newline")
    assert program == b"out:a\r\n\x00b\xff"
    assert report.startswith(b"INCONCLUSIVE")
    assert done.stderr.startswith(b"err\n")
    for chatter in (b"Generating", b"Generated", b"[1/1]"):
        assert chatter not in done.stdout + done.stderr


def test_stdout_file_is_appended_to_as_without_us(machine: Machine) -> None:
    log = machine.work / "log"
    log.write_text("before\n")
    with log.open("ab") as stream:
        subprocess.run(
            run(machine, "sh", "-c", "echo program"),
            cwd=machine.work,
            env=machine.environment(),
            stdout=stream,
            stderr=subprocess.PIPE,
            check=False,
        )
    assert log.read_text().startswith("before\nprogram\nINCONCLUSIVE")


def test_closed_streams(machine: Machine) -> None:
    words = run(machine, "sh", "-c", "echo lost; cat; exit 3")
    done = subprocess.run(
        ["sh", "-c", 'exec "$@" <&- >&-', "sh", *words],
        cwd=machine.work,
        env=machine.environment(),
        stderr=subprocess.PIPE,
        check=False,
    )
    assert b"sh ended with exit code 3" in done.stderr
    assert len(machine.reports()) == 1


def test_terminal_stays_a_terminal(machine: Machine) -> None:
    ours, theirs = pty.openpty()
    asks = "import os; open('tty', 'w').write(str([os.isatty(n) for n in range(3)]))"
    subprocess.run(
        run(machine, sys.executable, "-c", asks),
        cwd=machine.work,
        env=machine.environment(),
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
        check=False,
    )
    os.close(ours)
    os.close(theirs)
    assert (machine.work / "tty").read_text() == "[True, True, True]"


def test_own_options_of_the_command_go_to_the_command(machine: Machine) -> None:
    shows = "import sys; open('args', 'w').write(repr(sys.argv[1:]))"
    arguments = ["--min-overlap", "x", "-o", "y", "--", "--help", "", "a b", "*"]
    machine.overlapcheck("run", sys.executable, "-c", shows, *arguments)
    assert (machine.work / "args").read_text() == repr(arguments)


@pytest.mark.parametrize("change", ["LC_ALL=C", "--unset=LC_ALL", "--unset=TMPDIR"])
def test_environment_keeps_every_variable(machine: Machine, change: str) -> None:
    shows = ["sh", "-c", f'exec {sys.executable} -I -c "$1"', "sh", _SHOW_ENVIRONMENT]
    subprocess.run(["env", change, *shows], cwd=machine.work, env=machine.environment(), check=True)
    without = json.loads((machine.work / "env").read_text())
    machine.start("run", *shows, through=["env", change]).end()
    under = json.loads((machine.work / "env").read_text())
    changed = {name for name in without if under.get(name) != without[name]}
    assert changed - _CHANGED_BY_SH <= {"LD_PRELOAD", "LD_LIBRARY_PATH"}
    added = under.keys() - without.keys()
    assert "NSYS_PROFILING_SESSION_ID" in added
    assert not added & {"LC_CTYPE", "TMPDIR", "PYTHONHOME"}


_CHANGED_BY_SH = {"_", "PWD", "OLDPWD", "SHLVL"}
_SHOW_ENVIRONMENT = (
    "import json\n"
    "pairs = open('/proc/self/environ').read().split(chr(0))\n"
    "json.dump(dict(pair.split('=', 1) for pair in pairs if pair), open('env', 'w'))"
)


def test_broken_pipe_ends_the_program_as_without_us(machine: Machine) -> None:
    # Python ignores SIGPIPE; a program started by it must not inherit that.
    words = run(machine, "sh", "-c", "yes; echo $? >status")
    done = subprocess.run(
        ["sh", "-c", '"$@" | head -n 1', "sh", *words],
        cwd=machine.work,
        env=machine.environment(),
        capture_output=True,
        check=False,
    )
    assert done.stdout == b"y\n"
    assert (machine.work / "status").read_text() == "141\n"
