"""`python -m bench.own_pace -- python train.py`: own pace beside what the program itself says.

The program prints its own step time (`"ms": 20.6`, or what --pattern finds). It runs unrecorded and
under `overlapcheck run` in turns; the own pace and the recorded one are those of the report.
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bench.contest import DidNotFinish
from bench.step_time import PATTERN, spread, timed

_ROW = "| {:<9} | {:>16} | {:>16} | {:>24} | {:>7} | {:<22} |"
_JUDGED = (0, 1, 3)
"""Exit codes of a run that has a verdict."""


@dataclass(frozen=True)
class Judged:
    """What one report says of the slowest device."""

    recorded_ms: float
    own_ms: float | None
    low_ms: float | None
    high_ms: float | None
    source: str
    outcome: str
    basis: str

    @property
    def own_text(self) -> str:
        """The own pace and its spread."""
        if self.own_ms is None:
            return "not known"
        if self.low_ms is None or self.high_ms is None:
            return f"{self.own_ms:.2f}"
        return f"{self.own_ms:.2f} ({self.low_ms:.2f}-{self.high_ms:.2f})"


def main(arguments: Sequence[str] | None = None) -> int:
    options = _parser().parse_args(arguments)
    unrecorded: list[float] = []
    judged: list[Judged] = []
    try:
        for number in range(options.rounds):
            unrecorded.append(timed(options.command, options.pattern, options.timeout).step_ms)
            judged.append(run(options, number))
            print(f"round {number + 1} of {options.rounds}", file=sys.stderr, flush=True)
    except DidNotFinish as error:
        print(f"bench: {error}", file=sys.stderr)
        return 2
    print(f"\n{' '.join(options.command)}\n")
    print("\n".join(table(unrecorded, judged)))
    return 0


def run(options: argparse.Namespace, number: int) -> Judged:
    """Judge the program once.

    Raises:
        DidNotFinish: there is no verdict.
    """
    with tempfile.TemporaryDirectory(prefix="overlapcheck-bench-") as name:
        folder = options.keep / f"round-{number + 1}" if options.keep else Path(name)
        folder.mkdir(parents=True, exist_ok=True)
        result = folder / "result.json"
        ours = [sys.executable, "-m", "overlapcheck", "run", "--control", options.control]
        ours += ["--keep", str(folder), "-o", str(result), *options.option]
        try:
            done = subprocess.run(
                [*ours, *options.command],
                stdout=subprocess.DEVNULL,
                timeout=4 * options.timeout,
                check=False,
            )
        except subprocess.TimeoutExpired as error:
            raise DidNotFinish(f"overlapcheck ran for more than {error.timeout:g} s") from error
        if done.returncode not in _JUDGED or not result.exists():
            raise DidNotFinish(f"overlapcheck ended with exit code {done.returncode}")
        return read(json.loads(result.read_text(encoding="utf-8")))


def read(report: Mapping[str, Any]) -> Judged:
    """The pace of the device that takes longest per step.

    Raises:
        DidNotFinish: the report has no pace, for want of steps.
    """
    paces = [device["pace"] for device in report["devices"] if device.get("pace")]
    if not paces:
        raise DidNotFinish("the report tells no pace: are there steps in it?")
    slowest = max(paces, key=lambda pace: pace["own_ns"] or pace["recorded_ns"])
    verdict = report["verdict"]
    return Judged(
        slowest["recorded_ns"] / 1e6,
        *(slowest[key] / 1e6 if slowest[key] else None for key in ("own_ns", "low_ns", "high_ns")),
        source=slowest["source"] or "none",
        outcome=verdict["outcome"],
        basis=verdict["basis"],
    )


def table(unrecorded: Sequence[float], judged: Sequence[Judged]) -> list[str]:
    """A Markdown table of the rounds and their medians, in milliseconds per step."""
    lines = [
        _ROW.format("round", "unrecorded, ms", "recorded, ms", "own pace, ms", "off by", "verdict"),
        _ROW.format("---", "---:", "---:", "---:", "---:", "---"),
    ]
    for number, (alone, one) in enumerate(zip(unrecorded, judged, strict=True), start=1):
        verdict = f"{one.outcome} {one.basis}"
        cells = (f"{alone:.2f}", f"{one.recorded_ms:.2f}", one.own_text, _off(one.own_ms, alone))
        lines.append(_ROW.format(number, *cells, verdict))
    own = [one.own_ms for one in judged if one.own_ms is not None]
    off = _off(statistics.median(own), statistics.median(unrecorded)) if own else ""
    recorded = [one.recorded_ms for one in judged]
    told = (spread(unrecorded), spread(recorded), spread(own) if own else "not known", off)
    sources = ", ".join(sorted({one.source for one in judged}))
    lines.append(_ROW.format("median", *told, f"from: {sources}"))
    return lines


def _off(own: float | None, alone: float) -> str:
    return "" if own is None else f"{(own / alone - 1) * 100:+.1f} %"


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m bench.own_pace",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add = parser.add_argument
    add("--rounds", type=int, default=3, help="how often (3)")
    add("--control", default="auto", help="auto, always, never or a number (auto)")
    add("--option", action="append", default=[], help="further option of run, as --option=--light")
    add("--pattern", default=PATTERN, help=f"finds the step's milliseconds in stdout ({PATTERN})")
    add("--timeout", type=float, default=600.0, help="seconds that one plain run may take (600)")
    add("--keep", type=Path, metavar="DIR", help="leave reports and results there")
    add("command", nargs="+", help="the program, after --")
    return parser


if __name__ == "__main__":
    sys.exit(main())
