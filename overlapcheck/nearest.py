"""The known names that a mistyped one may stand for."""

from __future__ import annotations

from collections.abc import Iterable


def nearest(name: str, known: Iterable[str], most: int = 1) -> list[str]:
    """Known names that are like a name, the most alike first; none where none is.

    Args:
        name: as somebody wrote it.
        known: what it may be.
        most: how many to give.
    """
    from difflib import get_close_matches  # for what is wrong alone, which hardly anything is

    return get_close_matches(name, list(known), most)
