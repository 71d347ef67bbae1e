"""`python -m tests.mutants`: which mutants of the code that decides does no test notice?"""

from __future__ import annotations

import argparse
import json
import os
import random
import re
import sys
import time
from collections import Counter
from pathlib import Path

from tests.mutants import scope
from tests.mutants.mutations import mutants_of
from tests.mutants.numbers import PATH, number_mutants
from tests.mutants.suite import AnyMutant, Fate, Suite, run
from tests.mutants.survivors import accepted

CACHE = scope.ROOT / ".mutants.json"
"""What became of each mutant the last time; only makes the next time faster."""


def main() -> int:
    """1 where a mutant survives that is not accepted."""
    asked = _arguments()
    known: dict[str, str] = json.loads(CACHE.read_text()) if CACHE.exists() else {}
    every = _of_modules(asked.module)
    mutants = _chosen(every, asked, known)
    fates: list[Fate] = []
    may = accepted()
    begin = time.monotonic()

    def told(fate: Fate) -> None:
        fates.append(fate)
        known[fate.mutant.key] = fate.killer
        if not fate.killer and fate.mutant.key not in may:
            print(f"alive: {fate.mutant.key}  [{fate.tests} tests]", flush=True)
        if len(fates) % 20 == 0:
            CACHE.write_text(json.dumps(known, indent=0))
        if len(fates) % 100 == 0:
            alive = sum(not one.killer for one in fates)
            took = time.monotonic() - begin
            print(f"{len(fates)} of {len(mutants)}, {alive} alive, {took:.0f} s", flush=True)

    print(f"{len(mutants)} mutants; all tests run once first", flush=True)
    status = run(Suite(mutants, asked.jobs, told, known), asked.tests)
    CACHE.write_text(json.dumps(known, indent=0))
    gone = set(may) - {one.key for one in every} if not asked.module else set()
    return _summary(fates, sorted(gone)) if fates else status


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.mutants", description=__doc__)
    path = "only paths that begin so, a regular expression: passes/order"
    parser.add_argument("-m", "--module", default="", help=path)
    parser.add_argument("-n", "--number", type=int, default=0, help="a sample of so many")
    parser.add_argument("--seed", type=int, default=0, help="of the sample")
    parser.add_argument("-t", "--tests", nargs="+", default=[], help="only these judge: paths")
    parser.add_argument("-j", "--jobs", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--alive", action="store_true", help="only those that survived last time")
    parser.add_argument("--rest", action="store_true", help="only those that were never run")
    return parser.parse_args()


def _of_modules(pattern: str) -> list[AnyMutant]:
    mutants: list[AnyMutant] = []
    for package in scope.PACKAGES:
        for file in sorted((scope.ROOT / "overlapcheck" / package).rglob("*.py")):
            path = file.relative_to(scope.ROOT / "overlapcheck").as_posix()
            if re.match(pattern, path) and path not in scope.NO_MUTANTS_OF:
                mutants += mutants_of(file)
    return mutants + (number_mutants() if re.match(pattern, PATH) else [])


def _chosen(
    every: list[AnyMutant], asked: argparse.Namespace, known: dict[str, str]
) -> list[AnyMutant]:
    mutants = [
        one
        for one in every
        if not (asked.alive and known.get(one.key) != "") and not (asked.rest and one.key in known)
    ]
    if asked.number and asked.number < len(mutants):
        return random.Random(asked.seed).sample(mutants, asked.number)
    return mutants


def _summary(fates: list[Fate], gone: list[str]) -> int:
    may = accepted()
    alive = [fate for fate in fates if not fate.killer]
    modules = [(_package(fate.mutant.path), fate.mutant.path, bool(fate.killer)) for fate in fates]
    print(f"\n{'killed':>7} {'of':>6} {'score':>7}")
    for column in (1, 0):
        total = Counter(row[column] for row in modules)
        dead = Counter(row[column] for row in modules if row[2])
        for name in sorted(total):
            print(f"{dead[name]:7} {total[name]:6} {dead[name] / total[name]:7.1%}  {name}")
        print()
    new = [fate for fate in alive if fate.mutant.key not in may]
    print(f"{len(fates) - len(alive)} killed, {len(alive)} alive: {len(new)} without a reason")
    back = [fate.mutant.key for fate in fates if fate.killer and fate.mutant.key in may]
    for key in back:
        print(f"  killed, although survivors/ lists it: {key}")
    for key in gone:
        print(f"  no mutant any more, although survivors/ lists it: {key}")
    return 1 if new or back or gone else 0


def _package(path: str) -> str:
    parts = Path(path).parts
    return "/".join(parts[:2]) if parts[0] == "passes" and len(parts) > 2 else parts[0]


if __name__ == "__main__":
    sys.exit(main())
