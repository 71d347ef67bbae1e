"""`python -m bench`: the table; `python -m bench --check`: the budget.

Only ratios are judged: to a scan of the same rows inside SQLite, run in turns with ours, and of ten
times the rows to one. Seconds are the machine's, ratios are the program's.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
import tomllib
from pathlib import Path

from bench.contest import OURS, ROOT, SCAN, Ratio, Runs, contest, contestants, machine, ratio
from bench.inputs import INPUTS, Input

BUDGET = Path(__file__).with_name("budget.toml")
TENTH = "ours, a tenth of the rows"
_WIDE = "{:<27} {:>9} {:<16} {:>17} {:>6}"


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m bench", description=__doc__)
    parser.add_argument("--check", action="store_true", help="compare with budget.toml, exit 1")
    parser.add_argument("--only", nargs="+", metavar="INPUT", help="some inputs, by name")
    parser.add_argument("--scale", type=float, default=None, help="share of the full size")
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    chosen = [one for one in INPUTS if options.only is None or one.name in options.only]
    scale = options.scale or (0.25 if options.check else 1.0)
    budget = tomllib.loads(BUDGET.read_text(encoding="utf-8"))
    print(f"{machine()}; {options.rounds} rounds in turns, sizes x {scale:g}\n")
    print(_WIDE.format("input", "rows", "contestant", "time / scan", "MiB"))
    broken: list[str] = []
    with tempfile.TemporaryDirectory(prefix="overlapcheck-bench-") as scratch:
        for one in chosen:
            rows = max(int(one.rows * scale), 10_000)
            broken += _one(one, rows, Path(scratch), options.rounds, budget, not options.check)
    for line in broken:
        print(f"over budget: {line}")
    return int(bool(broken) and options.check)


def _one(
    one: Input, rows: int, scratch: Path, rounds: int, budget: dict[str, dict[str, float]],
    peers: bool,
) -> list[str]:  # fmt: skip
    large = _written(one, rows, scratch / "large.sqlite")
    small = _written(one, rows // 10, scratch / "small.sqlite")
    commands = contestants(large, peers=peers)
    commands[TENTH] = contestants(small, peers=False)[OURS]
    runs = contest(commands, rounds)
    to_scan = ratio(runs[OURS], runs[SCAN])
    growth = ratio(runs[OURS], runs[TENTH])
    _print(one, rows, runs, growth)
    measured = {
        "to-scan": to_scan.median,
        "tenfold": growth.median,
        "bytes-per-row": runs[OURS].rss_mib * 2**20 / rows,
    }
    return [
        f"{one.name}: {kind} {value:.1f} > {limit:g}"
        for kind, value in measured.items()
        if (limit := budget[kind].get(one.name, budget[kind]["other"])) < value
    ]


def _written(one: Input, rows: int, path: Path) -> Path:
    # Not in this process: a child's peak memory begins with that of its parent.
    command = [sys.executable, "-m", "bench.inputs", one.name, str(rows), str(path)]
    subprocess.run(command, check=True, cwd=ROOT)
    return path


def _print(one: Input, rows: int, runs: dict[str, Runs], growth: Ratio) -> None:
    shown = {who: taken for who, taken in runs.items() if who != TENTH}
    for number, (who, taken) in enumerate(shown.items()):
        what, size = (one.what, f"{rows:,}") if number == 0 else ("", "")
        spread = _spread(ratio(taken, runs[SCAN]))
        print(_WIDE.format(what, size, who, spread, f"{taken.rss_mib:.0f}"))
    print(_WIDE.format("", "", "  10x the rows", f"{_spread(growth)} x", ""), flush=True)


def _spread(found: Ratio) -> str:
    return f"{found.median:.1f} ({found.low:.1f}-{found.high:.1f})"


if __name__ == "__main__":
    sys.exit(main())
