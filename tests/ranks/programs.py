"""Reports of programs that have nothing to do with each other."""

from __future__ import annotations

from pathlib import Path

from tests.pictures import picture

HIDDEN = """
s7  kernel k          |.aaaaaaaaaaaaaaaaaa|
s13 h2d pinned 64MiB  |...bbbb............|
t1  cudaLaunchKernel  |a..................|
t1  cudaMemcpyAsync   |.b.................|
"""
EXPOSED = """
s7  kernel k          |.aaaaaaa...........|
s13 h2d pinned 64MiB  |.........bbbbbbbbbb|
t1  cudaLaunchKernel  |a..................|
t1  cudaMemcpyAsync   |.b.................|
"""


def write_programs(folder: Path) -> list[Path]:
    """train.sqlite, which fails, and serve.sqlite, which passes."""
    folder.mkdir(parents=True, exist_ok=True)
    return [
        picture(drawing, column_us=100, program=f"python3 {name}.py").export(
            folder / f"{name}.sqlite"
        )
        for name, drawing in (("serve", HIDDEN), ("train", EXPOSED))
    ]
