"""Runs a program that prints its own step time, plain or under something else."""

from __future__ import annotations

import re
import statistics
import subprocess
import time
from collections.abc import Sequence
from dataclasses import dataclass

from bench.contest import DidNotFinish

PATTERN = r'"ms": *([0-9.]+)'
"""Of what a program prints: its first group is the length of a step in milliseconds."""


@dataclass(frozen=True)
class Run:
    """One run of the program."""

    step_ms: float
    """As the program itself has it: of several lines, as ranks print them, the longest."""
    wall_s: float


def timed(command: Sequence[str], pattern: str = PATTERN, timeout_s: float = 600.0) -> Run:
    """Run a command to its end; its stderr is shown where it fails.

    Args:
        command: program and arguments.
        pattern: finds the step's milliseconds in stdout.
        timeout_s: how long it may take.

    Raises:
        DidNotFinish: it took too long, or printed no step time.
    """
    begin = time.perf_counter()
    try:
        done = subprocess.run(
            list(command), capture_output=True, text=True, timeout=timeout_s, check=False
        )
    except subprocess.TimeoutExpired as error:
        raise DidNotFinish(f"{command[0]} ran for more than {timeout_s:g} s") from error
    found = [float(text) for text in re.findall(pattern, done.stdout)]
    if not found:
        last = (done.stderr.strip().splitlines() or ["nothing on stderr"])[-1]
        raise DidNotFinish(
            f"{command[0]} printed no step time (exit code {done.returncode}: {last})"
        )
    return Run(max(found), time.perf_counter() - begin)


def spread(values: Sequence[float], digits: int = 2) -> str:
    """The median, and the lowest and highest where there are several."""
    middle = f"{statistics.median(values):.{digits}f}"
    if len(values) == 1:
        return middle
    return f"{middle} ({min(values):.{digits}f}-{max(values):.{digits}f})"
