"""`python -m tests.drawn_gpu run ...`: overlapcheck on a machine with a GPU that is drawn.

What nsys records of the program is real, the NVTX ranges of its controls too. Only what the first
recording would hold of a GPU is drawn: steps of 20 ms in which the device computes for 8 ms, and
then waits for a host that is late; with PROVES set, steps whose launches wait for their kernels,
and of the repaired program some whose launches do not.
"""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path
from typing import Any

from overlapcheck import pipeline, proving
from overlapcheck.capture import second_run
from overlapcheck.cli import main
from overlapcheck.reading import Reading
from overlapcheck.report import Report
from overlapcheck.trace import Trace
from tests.pictures import Picture, picture

STEPS = 12


def drawing(steps: int = STEPS) -> Picture:
    """Steps named `step 0`, `step 1` ..."""
    return picture(
        """
        s7  kernel k          |.aaaaaaaaaaaaaaaa.......................|
        t1  cudaLaunchKernel  |a.......................................|
        t1  nvtx step         |0000000000000000000000000000000000000000|
        """,
        column_us=500,
        repeat=steps,
    )


def blocked(steps: int = STEPS) -> Picture:
    """Steps of 20 ms whose launches wait for their kernels, and in between the host computes."""
    return picture(
        """
        s7  kernel k          |.aaaaaaaaaaaaaaaa......bbbbbbbbbbbbbbbb.|
        t1  cudaLaunchKernel  |aaaaaaaaaaaaaaaaaa....bbbbbbbbbbbbbbbbbb|
        t1  nvtx step         |0000000000000000000000000000000000000000|
        """,
        column_us=500,
        repeat=steps,
    )


def unblocked(steps: int = STEPS) -> Picture:
    """The same steps, of 16 ms, where the device waits for no host."""
    return picture(
        """
        s7  kernel k          |.aaaaaaaaaaaaaaabbbbbbbbbbbbbbbb|
        t1  cudaLaunchKernel  |a....b..........................|
        t1  nvtx step         |00000000000000000000000000000000|
        """,
        column_us=500,
        repeat=steps,
    )


def judge_the_drawing(folder: Path) -> None:
    """Let recordings be judged as the drawing, which lies in a folder."""
    proves = bool(os.environ.get("PROVES"))
    drawn = (blocked() if proves else drawing()).export(folder / "drawn.sqlite")
    repaired = unblocked().export(folder / "drawn.repaired.sqlite")
    analyze, read_trace = pipeline.analyze, pipeline.read_trace

    def read_drawn(recording: Path, **options: Any) -> Trace:
        assert recording.exists()
        return read_trace(repaired if ".prove-" in recording.name else drawn, **options)

    proving.read_trace = read_drawn  # type: ignore[attr-defined, assignment]

    def analyze_drawn(_: Path, *, reading: Reading, **options: Any) -> Report:
        return analyze(drawn, reading=replace(reading, keep_export=None), **options)

    pipeline.analyze = analyze_drawn  # type: ignore[assignment]


if __name__ == "__main__":
    judge_the_drawing(Path(os.environ["TMPDIR"]))
    if limit_s := os.environ.get("LIMIT_S"):
        second_run.TIMES_AS_LONG, second_run.ALLOWANCE_S = 0.0, float(limit_s)
    main()
