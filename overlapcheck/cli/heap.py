"""The heap of a command that analyses and exits: one for all threads, and what is freed is kept.

glibc gives every thread a heap of its own, and each keeps the holes that a large trace's columns
leave in it: a quarter more memory for the same work. It maps long columns one by one, and gives
freed ones back to the system, which has to clear each page again before the next column gets it:
that took longer than anything else that the system did for an analysis.
"""

from __future__ import annotations

# From <malloc.h>; https://man7.org/linux/man-pages/man3/mallopt.3.html
_M_TRIM_THRESHOLD = -1
_M_MMAP_THRESHOLD = -3
_M_ARENA_MAX = -8

_MORE_THAN_A_COLUMN = 1 << 30
"""Bytes; a column of a hundred million rows."""


def keep_heap() -> None:
    """Let all threads allocate from one heap that only grows; does nothing without glibc."""
    import ctypes

    try:
        mallopt = ctypes.CDLL(None).mallopt
    except (AttributeError, OSError, TypeError):
        return
    mallopt(_M_ARENA_MAX, 1)
    mallopt(_M_MMAP_THRESHOLD, _MORE_THAN_A_COLUMN)
    mallopt(_M_TRIM_THRESHOLD, _MORE_THAN_A_COLUMN)
