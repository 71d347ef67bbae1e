"""Programs whose host is late in every step, and their control recordings, both drawn.

A step of the recording is a kernel of 5 ms and then 5 ms in which the host is away. Seven steps are
judged: 65 ms, for the gap before the first lies outside, with 35 ms of kernels.
"""

from __future__ import annotations

from tests.pictures import Picture, picture

MS = 1_000_000
STEPS = 8
"""The first is warm-up."""
RECORDED_NS = round(65 * MS / 7)
PROGRAM = """
s7  kernel k          |aaaaa.....|
t1  cudaLaunchKernel  |a.........|
t1  nvtx step         |0000000000|
"""
AHEAD = """
s7  kernel k          |.aaaaaaaaa|
t1  cudaLaunchKernel  |a.........|
t1  nvtx step         |0000000000|
"""


def program(text: str = PROGRAM, *, steps: int = STEPS) -> Picture:
    """A recording, one column is 1 ms."""
    return picture(text, column_us=1000, repeat=steps)


def control(step_ms: float, *, steps: int = STEPS, name: str = "step") -> Picture:
    """A recording of the NVTX ranges alone."""
    return picture(f"t1 nvtx {name} |{'0' * round(step_ms * 10)}|", column_us=100, repeat=steps)
