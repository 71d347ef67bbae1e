"""`python -m bench.recording_cost -- python train.py`: what each way to record costs a program.

The program prints its own step time (`"ms": 20.6`, or what --pattern finds), measured without
looking inside. It runs unrecorded and under each way to record in turns, so that all meet the same
state of the machine.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from bench.contest import DidNotFinish
from bench.step_time import PATTERN, spread, timed
from overlapcheck.capture.discovery import Nsys, find_nsys, flags_of
from overlapcheck.capture.spec import CaptureSpec, control_spec, missing_flags, profile_argv

PLAIN = "unrecorded"
WAYS: Mapping[str, CaptureSpec | None] = {
    PLAIN: None,
    "control": control_spec(CaptureSpec()),
    "light": CaptureSpec(light=True),
    "default": CaptureSpec(),
    "osrt-50us": CaptureSpec(extra=("--osrt-threshold=50000",)),
    "event-trace": CaptureSpec(event_trace=True),
    "graph-level": CaptureSpec(extra=("--cuda-graph-trace=graph",)),
    "light-graph-level": CaptureSpec(light=True, extra=("--cuda-graph-trace=graph",)),
    "backtrace": CaptureSpec(backtrace=True),
}
"""What `overlapcheck run` records by default and under its options, and neighbours of that."""
USUAL = tuple(name for name in WAYS if name != "backtrace")
_ROW = "| {:<18} | {:>24} | {:>8} | {:>9} | {:>8} |"


@dataclass
class Cost:
    """What one way to record cost so far."""

    steps_ms: list[float] = field(default_factory=list)
    ratios: list[float] = field(default_factory=list)
    """To the unrecorded run of the same round."""
    wall_s: list[float] = field(default_factory=list)
    report_bytes: list[int] = field(default_factory=list)
    failed: str = ""


def main(arguments: Sequence[str] | None = None) -> int:
    options = _parser().parse_args(arguments)
    try:
        nsys = find_nsys(options.nsys)
        costs = measure(options, nsys)
    except DidNotFinish as error:
        print(f"bench: {error}", file=sys.stderr)
        return 2
    print(f"\nnsys {nsys.release}; {options.rounds} rounds in turns; {' '.join(options.command)}\n")
    print("\n".join(table(costs)))
    return 0


def measure(options: argparse.Namespace, nsys: Nsys) -> dict[str, Cost]:
    """Every way once per round.

    Raises:
        DidNotFinish: the program alone did not; a way to record that fails is left out.
    """
    flags = flags_of(nsys, "profile")
    costs = {name: Cost() for name in dict.fromkeys((PLAIN, *options.only))}
    for number in range(options.rounds):
        for name, cost in costs.items():
            if cost.failed:
                continue
            spec = WAYS[name]
            if spec is not None and (lacks := missing_flags(spec, flags)):
                cost.failed = f"no {', '.join(lacks)}"
                continue
            _once(options, nsys, flags, name, cost)
            if not cost.failed:
                cost.ratios.append(cost.steps_ms[-1] / costs[PLAIN].steps_ms[-1])
                said = f"round {number + 1} {name}: {cost.steps_ms[-1]:.3f} ms"
                print(said, file=sys.stderr, flush=True)
    return costs


def _once(
    options: argparse.Namespace, nsys: Nsys, flags: frozenset[str], name: str, cost: Cost
) -> None:
    spec, command = WAYS[name], list(options.command)
    with tempfile.TemporaryDirectory(prefix="overlapcheck-bench-") as folder:
        report = Path(folder) / "report.nsys-rep"
        if spec is not None:
            command = profile_argv(nsys.path, spec, flags, report, command)
        try:
            run = timed(command, options.pattern, options.timeout)
        except DidNotFinish as error:
            if spec is None:
                raise
            cost.failed = str(error)
            return
        cost.steps_ms.append(run.step_ms)
        cost.wall_s.append(run.wall_s)
        if report.exists():
            cost.report_bytes.append(report.stat().st_size)
            if options.keep:
                _keep(report, options.keep, name, nsys)


def _keep(report: Path, folder: Path, name: str, nsys: Nsys) -> None:
    """The export of the last round, for whoever wants to count rows."""
    folder.mkdir(parents=True, exist_ok=True)
    kept = folder / f"{name}.sqlite"
    subprocess.run(
        [
            nsys.path,
            "export",
            "--type=sqlite",
            "--force-overwrite=true",
            f"--output={kept}",
            report,
        ],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        env={**os.environ, "TMPDIR": str(report.parent)},
        check=True,
    )


def table(costs: Mapping[str, Cost]) -> list[str]:
    """A Markdown table, ready for docs/recording.md."""
    lines = [
        _ROW.format("recorded", "step, ms", "slower", "report", "wall, s"),
        _ROW.format("---", "---:", "---:", "---:", "---:"),
    ]
    for name, cost in costs.items():
        if cost.failed or not cost.steps_ms:
            lines.append(_ROW.format(name, "did not run", "", "", ""))
            continue
        slower = f"{(statistics.median(cost.ratios) - 1) * 100:+.1f} %" if name != PLAIN else ""
        size = _size(statistics.median(cost.report_bytes)) if cost.report_bytes else ""
        wall = f"{statistics.median(cost.wall_s):.1f}"
        lines.append(_ROW.format(name, spread(cost.steps_ms), slower, size, wall))
    lines += [f"{name}: {cost.failed}" for name, cost in costs.items() if cost.failed]
    return lines


def _size(count: float) -> str:
    return f"{count / 2**20:.1f} MiB"


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m bench.recording_cost",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add = parser.add_argument
    add("--rounds", type=int, default=3, help="runs of each (3)")
    add("--only", nargs="+", choices=WAYS, default=USUAL, metavar="WAY", help=", ".join(WAYS))
    add("--pattern", default=PATTERN, help=f"finds the step's milliseconds in stdout ({PATTERN})")
    add("--timeout", type=float, default=600.0, help="seconds that one run may take (600)")
    add("--nsys", type=Path, help="the nsys to record with")
    add("--keep", type=Path, metavar="DIR", help="leave the exports of the last round there")
    add("command", nargs="+", help="the program, after --")
    return parser


if __name__ == "__main__":
    sys.exit(main())
