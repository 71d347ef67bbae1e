"""Totals laid end to end, as a bar of parts."""

from __future__ import annotations

from collections.abc import Iterable, Iterator


def laid_out(
    divided: Iterable[tuple[str, int]], whole_ns: int, length_ns: float
) -> Iterator[tuple[str, int, int, int]]:
    """Name, start and end on a bar, and length of each part that has one.

    Args:
        divided: names and lengths, ns.
        whole_ns: what they are parts of.
        length_ns: how long the bar of the whole is.
    """
    done = 0
    for name, ns in divided:
        if ns > 0:
            # By rounding each part's end the last one ends where the bar does.
            start, end = (round(at * length_ns / whole_ns) for at in (done, done + ns))
            yield name, start, end, ns
            done += ns
