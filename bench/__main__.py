"""`python -m bench`: the table of docs/performance.md; `python -m bench --check`: the guards.

Everything runs in turns, and only ratios are judged: seconds are the machine's, ratios are the
program's. Peers take part where they are installed, for instance with
`pip install HolisticTraceAnalysis`.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

from bench import table, training_run
from bench.budget import FILE, parse
from bench.contest import DidNotFinish, machine
from bench.contestants import absent
from bench.inputs import INPUTS
from bench.measured import Measured, made_up, recorded

NAMES = (training_run.NAME, *(one.name for one in INPUTS))
CHECK_SCALE = 0.15
LARGER = 5
"""The size beside the full one that has goals, named `steps-x5` in the budget."""


def main(arguments: Sequence[str] | None = None) -> int:
    options = _parser().parse_args(arguments)
    scale = options.scale or (CHECK_SCALE if options.check else 1)
    rounds = "1 round" if options.rounds == 1 else f"{options.rounds} rounds"
    headline = f"{machine()}; {rounds} in turns, sizes x {scale:g}"
    print(table.wrapped(headline), end="\n\n", flush=True)
    try:
        return _check(options, scale) if options.check else _full(options, scale)
    except DidNotFinish as error:
        print(f"bench: {error}", file=sys.stderr)
        return 2


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m bench",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add = parser.add_argument
    add("--check", action="store_true", help="compare with the guards of budget.toml, or exit 1")
    add("--only", nargs="+", choices=NAMES, default=NAMES, metavar="INPUT", help=", ".join(NAMES))
    add("--scale", type=float, help=f"share of the full size (1; for --check {CHECK_SCALE})")
    add("--rounds", type=int, default=3, help="runs of ours and the scan (3)")
    add("--peers", action=argparse.BooleanOptionalAction,
        help="run the peers; left out: unless --check or --scale above 1")  # fmt: skip
    return parser


def _full(options: argparse.Namespace, scale: float) -> int:
    goals = parse(FILE.read_text(encoding="utf-8"), budget_names()).goals
    with_peers = peers_wanted(options.peers, scale)
    missed: list[str] = []
    print(table.FULL_HEAD)
    for one in _measured(options, scale, with_peers=with_peers):
        print("\n".join(table.full_rows(one)), flush=True)
        if scale in (1, LARGER):
            name = one.name if scale == 1 else f"{one.name}-x{LARGER}"
            missed += goals.broken(name, one.values)
    print(f"\n{table.notes(absent(), with_peers=with_peers)}")
    for line in missed:
        print(f"goal missed: {line}")
    return 0


def peers_wanted(asked: bool | None, scale: float) -> bool:
    """Without being asked, peers run up to the full size: beyond, they take half an hour."""
    return asked if asked is not None else scale <= 1


def _check(options: argparse.Namespace, scale: float) -> int:
    guards = parse(FILE.read_text(encoding="utf-8"), budget_names()).guards
    broken: list[str] = []
    print(table.CHECK_HEAD)
    for one in _measured(options, scale, with_peers=bool(options.peers)):
        print(table.check_row(one, guards), flush=True)
        broken += guards.broken(one.name, one.values)
    print()
    for line in broken:
        print(f"over budget: {line}")
    if not broken:
        print("within the budget")
    return int(bool(broken))


def budget_names() -> tuple[str, ...]:
    """Every name that the budget may use."""
    return (*NAMES, *(f"{one.name}-x{LARGER}" for one in INPUTS))


def _measured(options: argparse.Namespace, scale: float, *, with_peers: bool) -> Iterator[Measured]:
    with tempfile.TemporaryDirectory(prefix="overlapcheck-bench-") as name:
        scratch = Path(name)
        if training_run.NAME in options.only:
            yield recorded(scratch, options.rounds, with_peers=with_peers)
        for one in INPUTS:
            if one.name in options.only:
                yield made_up(one, scratch, options.rounds, scale, with_peers=with_peers)


if __name__ == "__main__":
    sys.exit(main())
