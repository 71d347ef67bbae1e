"""Judges thousands of damaged exports, and says which of them got an answer that none may get.

    python -m tests.hostile.fuzz --cases 5000          make fuzz N=5000
    python -m tests.hostile.fuzz --seed pt_pageable:drop-table:17       make fuzz SEED=...

A seed names the export, the kind of mutation and a number for all that is random in it: it gives
the same case whatever else there is.
"""

from __future__ import annotations

import argparse
import lzma
import os
import shutil
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from random import Random

from tests.hostile.judgement import Outcome, judged
from tests.hostile.mutations import NotApplicable, all_mutations
from tests.hostile.trial import FORMATS, Answer, run, warm_up

ROOT = Path(__file__).parents[2]
BUNDLED = ROOT / "fixtures" / "exports"
SHARED = ROOT.parent / "shared" / "traces"
_SUFFIXES = (".sqlite", ".sqlite.xz")


@dataclass(frozen=True)
class Case:
    """What came of one seed."""

    seed: str
    what: str
    outcome: Outcome
    violation: str
    cpu_s: float
    memory_mb: int


def exports(*, bundled_only: bool = False) -> dict[str, Path]:
    """Real exports by name."""
    folders = [BUNDLED] if bundled_only else [SHARED, BUNDLED]
    return {
        path.name.split(".")[0]: path
        for folder in folders
        if folder.is_dir()
        for path in sorted(folder.iterdir())
        if path.name.endswith(_SUFFIXES)
    }


def seeds(count: int, names: list[str], begin: int = 0, part: str = "") -> list[str]:
    """Seeds in which every kind of mutation comes equally often, on any export.

    Args:
        count: how many.
        names: of exports.
        begin: number of the first.
        part: what the names of kinds must hold.
    """
    kinds = [kind for kind in all_mutations() if part in kind]
    numbers = range(begin, begin + count)
    return [
        f"{Random(number).choice(names)}:{kinds[number % len(kinds)]}:{number}"
        for number in numbers
    ]


def tried(seed: str, scratch: Path) -> Case | None:
    """Try one seed; None where its export has nothing to mutate in this way."""
    name, kind, _ = seed.split(":")
    rng = Random(seed)
    with tempfile.TemporaryDirectory(dir=scratch) as folder:
        place = Path(folder) / "in"
        place.mkdir()
        export = place / "export.sqlite"
        shutil.copyfile(_unpacked(name, scratch), export)
        whole = _answer_to_whole(name, scratch)
        try:
            applied = all_mutations()[kind](export, rng)
        except NotApplicable:
            return None
        answer = run(export, rng.choice(FORMATS))
    outcome, violation = judged(whole, answer, applied.allowed)
    return Case(seed, applied.what, outcome, violation, answer.cpu_s, answer.memory_mb)


def _unpacked(name: str, scratch: Path) -> Path:
    """Plain file of an export, made once for all workers."""
    plain = scratch / f"{name}.sqlite"
    if not plain.exists():
        packed = exports()[name]
        content = packed.read_bytes()
        if packed.suffix == ".xz":
            content = lzma.decompress(content)
        with tempfile.NamedTemporaryFile(dir=scratch, delete=False) as half:
            half.write(content)
        Path(half.name).rename(plain)
    return plain


@cache
def _answer_to_whole(name: str, scratch: Path) -> Answer:
    with tempfile.TemporaryDirectory(dir=scratch) as folder:
        place = Path(folder) / "in"
        place.mkdir()
        shutil.copyfile(_unpacked(name, scratch), place / "export.sqlite")
        return run(place / "export.sqlite", "txt")


def table(cases: list[Case]) -> str:
    """Counts and extremes."""
    counts = Counter(case.outcome for case in cases)
    lines = [f"{'cases':34}{len(cases):7}"]
    lines += [f"{outcome.value:34}{counts[outcome]:7}" for outcome in Outcome]
    longest = max(cases, key=lambda case: case.cpu_s)
    largest = max(cases, key=lambda case: case.memory_mb)
    lines.append(f"{'longest':34}{longest.cpu_s:7.1f} s   {longest.seed}")
    lines.append(f"{'largest':34}{largest.memory_mb:7} MB  {largest.seed}")
    return "\n".join(lines)


def fuzz(chosen: list[str], jobs: int) -> Iterator[Case]:
    """Try seeds, several at once; those that do not apply are left out."""
    with tempfile.TemporaryDirectory(prefix="overlapcheck-fuzz-") as scratch:
        attempt = partial(tried, scratch=Path(scratch))
        if jobs == 1 or len(chosen) == 1:
            warm_up()
            yield from filter(None, map(attempt, chosen))
        else:
            with ProcessPoolExecutor(jobs, initializer=warm_up) as workers:
                yield from filter(None, workers.map(attempt, chosen, chunksize=4))


def main(arguments: list[str] | None = None) -> int:
    """Print the table; 1 where an answer was not allowed."""
    parser = argparse.ArgumentParser(prog="fuzz", description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--cases", type=int, default=300)
    parser.add_argument("--begin", type=int, default=0, help="number of the first case")
    parser.add_argument("--seed", help="one case, as a violation names it")
    parser.add_argument("--jobs", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--bundled", action="store_true", help="only exports of this repository")
    parser.add_argument("--kind", default="", help="only mutations whose name holds this")
    options = parser.parse_args(arguments)
    if options.seed:
        chosen = [options.seed]
    else:
        names = sorted(exports(bundled_only=options.bundled))
        chosen = seeds(options.cases, names, options.begin, options.kind)
    cases = []
    for case in fuzz(chosen, options.jobs):
        cases.append(case)
        if case.violation:
            print(f"{case.seed}  [{case.what}]  {case.violation}", flush=True)
    if not cases:
        print("no case: these exports hold nothing to mutate in this way")
        return 2
    if options.seed:
        print(f"{cases[0].what}: {cases[0].outcome.value}")
    print(table(cases))
    return int(any(case.outcome is Outcome.VIOLATION for case in cases))


if __name__ == "__main__":
    sys.exit(main())
