"""One run of the command line on one export, in a process of its own and within bounds."""

from __future__ import annotations

import contextlib
import json
import os
import resource
import signal
import sys
import time
import traceback
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from pkgutil import walk_packages
from typing import Any, NoReturn

import overlapcheck

CPU_S = 20
WALL_S = 240
"""A bound for what waits instead of computing; generous, for a machine may do other things."""
MEMORY_MB = 500
_ADDRESSES = 3 << 30
"""So that a run that takes all memory takes only its own down."""
_PATIENCE_S = 0.002
FORMATS = ("html", "md", "junit.xml", "sarif", "github.txt", "perfetto.json", "txt")


@dataclass(frozen=True)
class Answer:
    """How a run ended."""

    exit_code: int
    """Negative: the signal that ended it."""
    stdout: str
    stderr: str
    cpu_s: float
    memory_mb: int
    timed_out: bool
    left_behind: tuple[str, ...]
    """Files that were neither there before nor asked for, or that have changed."""
    report: dict[str, Any] = field(default_factory=dict)
    """What `-o report.json` holds; empty without a report."""


def warm_up() -> None:
    """Import what a run needs, once for all runs of this process: it takes longer than most."""
    for name in ("adbc_driver_manager", "adbc_driver_sqlite", "pyarrow", "numpy.ma"):
        import_module(name)
    for module in walk_packages(overlapcheck.__path__, "overlapcheck."):
        if module.name not in ("overlapcheck.__main__", "overlapcheck.pytest_plugin"):
            import_module(module.name)


def run(export: Path, other_format: str) -> Answer:
    """Judge an export as the command line does, which a child of this process is.

    Args:
        export: alone in its folder, but for journals.
        other_format: suffix of a second output, for renderers meet what is hostile, too.
    """
    folder = export.parent
    outputs = folder.with_name(f"{folder.name}.out")
    outputs.mkdir()
    before = _fingerprint(folder)
    arguments = ["analyze", str(export)]
    for name in ("report.json", f"report.{other_format}"):
        arguments += ["-o", str(outputs / name)]
    sys.stdout.flush()
    sys.stderr.flush()
    child = os.fork()
    if child == 0:
        _judge(arguments, outputs)
    status, used, timed_out = _waited(child)
    after = _fingerprint(folder)
    return Answer(
        exit_code=os.waitstatus_to_exitcode(status),
        stdout=(outputs / "stdout").read_text(errors="replace"),
        stderr=(outputs / "stderr").read_text(errors="replace"),
        cpu_s=used.ru_utime + used.ru_stime,
        memory_mb=used.ru_maxrss // 1024,
        timed_out=timed_out,
        left_behind=tuple(sorted(n for n in before | after if before.get(n) != after.get(n))),
        report=_loaded(outputs / "report.json"),
    )


def _judge(arguments: list[str], outputs: Path) -> NoReturn:
    """The child: never returns."""
    code = 1
    try:
        for number, name in ((1, "stdout"), (2, "stderr")):
            os.dup2(os.open(outputs / name, os.O_WRONLY | os.O_CREAT), number)
        sys.stdout, sys.stderr = (
            os.fdopen(number, "w", encoding="utf-8", errors="backslashreplace") for number in (1, 2)
        )
        resource.setrlimit(resource.RLIMIT_CPU, (CPU_S, CPU_S + 5))
        resource.setrlimit(resource.RLIMIT_AS, (_ADDRESSES, _ADDRESSES))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        os.chdir(outputs)
        sys.argv = ["overlapcheck", *arguments]
        os.environ.pop("GITHUB_STEP_SUMMARY", None)
        from overlapcheck.cli import main

        main()
        code = 0
    except SystemExit as done:
        code = done.code if isinstance(done.code, int) else 0 if done.code is None else 1
    except BaseException:
        traceback.print_exc()
    finally:
        with contextlib.suppress(BaseException):
            sys.stdout.flush()
            sys.stderr.flush()
        os._exit(code)


def _waited(child: int) -> tuple[int, resource.struct_rusage, bool]:
    deadline, timed_out = time.monotonic() + WALL_S, False
    while True:
        done, status, used = os.wait4(child, os.WNOHANG)
        if done:
            return status, used, timed_out
        if time.monotonic() > deadline and not timed_out:
            timed_out = True
            os.kill(child, signal.SIGKILL)
        time.sleep(_PATIENCE_S)


def _fingerprint(folder: Path) -> dict[str, int]:
    return {path.name: hash(path.read_bytes()) for path in folder.iterdir()}


def _loaded(path: Path) -> dict[str, Any]:
    try:
        found: dict[str, Any] = json.loads(path.read_bytes())
    except (OSError, ValueError, RecursionError):
        return {}
    return found
