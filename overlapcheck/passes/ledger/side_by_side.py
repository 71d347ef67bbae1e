"""Independent parts of a pass on several cores: numpy lets go of the interpreter while it works."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

_Part = TypeVar("_Part")
_Result = TypeVar("_Result")

# Each part needs room of its own, and memory is what more threads would wait for.
_MOST_THREADS = 4


def side_by_side(work: Callable[[_Part], _Result], parts: Iterable[_Part]) -> list[_Result]:
    """Results of a function for each part, in the order of the parts.

    Args:
        work: changes nothing that another part reads.
        parts: what to give it, one after the other.
    """
    given = list(parts)
    threads = min(len(given), _MOST_THREADS, os.cpu_count() or 1)
    if threads < 2:
        return [work(part) for part in given]
    with ThreadPoolExecutor(threads) as pool:
        return list(pool.map(work, given))
