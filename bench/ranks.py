"""Judges a job made of real traces: planted ranks, memory, and what a second worker brings.

    python bench/ranks.py FOLDER_OF_EXPORTS --ranks 512

Every host has eight ranks with copies of rank_1; the straggler is rank_0 of the same run on one
host, the pageable rank is pt_pageable. Clocks differ by host. Prints figures; asserts only what
must hold on any machine.
"""

from __future__ import annotations

import argparse
import json
import resource
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import time
from contextlib import closing
from pathlib import Path
from statistics import median

PER_HOST = 8
HOST_SHIFT_NS = 41_000_000


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("traces", type=Path, help="folder with rank_0, rank_1, pt_pageable.sqlite")
    parser.add_argument("--ranks", type=int, default=512)
    parser.add_argument(
        "--speed-ranks", type=int, help="reports of the contest of 1 and 2 workers; default: all"
    )
    parser.add_argument("--rounds", type=int, default=3, help="of the contest")
    parser.add_argument("--keep", type=Path, help="folder for the reports; default: temporary")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="overlapcheck-bench-") as scratch:
        folder = options.keep or Path(scratch)
        late, pageable = options.ranks // 3, options.ranks * 2 // 3
        make(options.traces, folder / "job", options.ranks, late, pageable)
        judge_job(folder, late, pageable)
        contest(folder, options.speed_ranks or options.ranks, options.rounds)


def make(traces: Path, folder: Path, ranks: int, late: int, pageable: int) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for rank in range(ranks):
        name = "rank_0" if rank == late else "pt_pageable" if rank == pageable else "rank_1"
        target = folder / f"rank_{rank}.sqlite"
        shutil.copyfile(traces / f"{name}.sqlite", target)
        with closing(sqlite3.connect(target)) as database:
            shift = rank // PER_HOST * HOST_SHIFT_NS
            database.execute(
                "UPDATE TARGET_INFO_SESSION_START_TIME SET utcEpochNs = utcEpochNs + ?", (shift,)
            )
            database.commit()
    size = sum(path.stat().st_size for path in folder.iterdir())
    print(f"made {ranks} reports, {size / 1e6:.0f} MB; straggler {late}, pageable {pageable}")


def analyze(*arguments: object) -> tuple[float, str]:
    """Seconds and stdout of one run of the command."""
    began = time.perf_counter()
    done = subprocess.run(
        [sys.executable, "-m", "overlapcheck", "analyze", *map(str, arguments)],
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode not in (0, 1):
        raise SystemExit(done.stderr)
    return time.perf_counter() - began, done.stdout


def judge_job(folder: Path, late: int, pageable: int) -> None:
    saved = folder / "fleet.json"
    seconds, out = analyze(folder / "job", "--jobs", 2, "--resume", "-o", saved)
    report = json.loads(saved.read_text())
    ranks = len(report["ranks"])
    peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024
    kept = [path.stat().st_size for path in (folder / ".overlapcheck-ranks").iterdir()]
    print("\n".join(out.splitlines()[:20]))
    print(f"{ranks} ranks in {seconds:.1f} s with 2 workers: {seconds / ranks * 2:.3f} s a report")
    print(f"peak memory of the largest process {peak:.0f} MiB")
    print(f"partial results {sum(kept) / len(kept) / 1e3:.1f} kB each")
    print(f"JSON {saved.stat().st_size / 1e3:.0f} kB, text {len(out.splitlines())} lines")
    again, _ = analyze(folder / "job", "--jobs", 2, "--resume", "-o", saved)
    print(f"all resumed: {again:.1f} s ({again / ranks * 1e3:.1f} ms a rank to read and merge)")
    assert report["stragglers"][0]["rank"] == str(late), report["stragglers"][:2]
    own = next(cause for cause in report["causes"] if cause["outlier_ranks"])
    assert (own["cause"], own["outlier_ranks"]) == ("pageable-copy", [str(pageable)]), own


def contest(folder: Path, ranks: int, rounds: int) -> None:
    """One worker against two, in turns, so that other work on the machine meets both alike."""
    names = folder / "some.txt"
    names.write_text("".join(f"job/rank_{rank}.sqlite\n" for rank in range(ranks)))
    seconds: dict[int, list[float]] = {1: [], 2: []}
    for number in range(rounds):
        for jobs in (1, 2) if number % 2 == 0 else (2, 1):
            seconds[jobs].append(analyze(f"@{names}", "--jobs", jobs)[0])
        one, two = seconds[1][-1], seconds[2][-1]
        print(f"round {number + 1}: 1 worker {one:.1f} s, 2 workers {two:.1f} s, {one / two:.2f}")
    one, two = median(seconds[1]), median(seconds[2])
    print(f"{ranks} reports, median: {one:.1f} s and {two:.1f} s, {one / two:.2f} times")


if __name__ == "__main__":
    main()
