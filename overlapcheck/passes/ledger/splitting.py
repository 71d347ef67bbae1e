"""Cutting many spans along many labelled intervals at once."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from overlapcheck.columns import ABSENT, Index, Ints, Mask, constant
from overlapcheck.searches import places


@dataclass(frozen=True)
class Split:
    """Pieces of spans, in order of span and time; together exactly the spans."""

    span: Index
    """Number of the span that a piece came from."""
    start_ns: Ints
    end_ns: Ints
    cut: Ints
    """Number of the interval that covers the piece; ABSENT for none."""


def split(start_ns: Ints, end_ns: Ints, cut_start_ns: Ints, cut_end_ns: Ints) -> Split:
    """Cut each span where intervals begin and end.

    span      [-----------)
    cuts        [--) [----)          number 0 and 1
    pieces    ..0000.11111           cut -1, 0, -1, 1

    Args:
        start_ns: spans, shape (n,), in any order.
        end_ns: their ends.
        cut_start_ns: intervals, sorted and disjoint, shape (m,).
        cut_end_ns: their ends.
    """
    first = places(cut_end_ns, start_ns, side="right")
    last = places(cut_start_ns, end_ns, side="left")
    touched = np.flatnonzero((last > first) & (end_ns > start_ns))
    if touched.size == 0:
        return _whole(start_ns, end_ns, constant(ABSENT, start_ns.size))
    cut = np.full(start_ns.size, ABSENT, dtype=np.int64)
    cut[touched] = first[touched]
    inside = cut_start_ns[first[touched]] <= start_ns[touched]
    inside &= cut_end_ns[first[touched]] >= end_ns[touched]
    # Most spans lie inside of a cut, or touch none: they stay whole.
    crossed = touched[~inside]
    if crossed.size == 0:
        return _whole(start_ns, end_ns, cut)
    made = _cut_up(
        Split(crossed, start_ns[crossed], end_ns[crossed], first[crossed]),
        last[crossed] - first[crossed],
        (cut_start_ns, cut_end_ns),
    )
    count = (end_ns > start_ns).astype(np.intp)
    count[crossed] = np.bincount(np.searchsorted(crossed, made.span), minlength=crossed.size)
    span = np.repeat(np.arange(start_ns.size), count)
    start, end, number = start_ns[span], end_ns[span], cut[span]
    rows = np.flatnonzero(_among(span, crossed, start_ns.size))
    start[rows], end[rows], number[rows] = made.start_ns, made.end_ns, made.cut
    return Split(span, start, end, number)


def _whole(start_ns: Ints, end_ns: Ints, cut: Ints) -> Split:
    """Spans that stay in one piece, without the empty ones."""
    span = np.flatnonzero(end_ns > start_ns)
    if span.size < start_ns.size:
        start_ns, end_ns, cut = start_ns[span], end_ns[span], cut[span]
    return Split(span, start_ns, end_ns, cut)


def _among(span: Index, some: Index, count: int) -> Mask:
    """Which pieces are of some of the spans."""
    mine = np.zeros(count, dtype=np.bool_)
    mine[some] = True
    return mine[span]


def _cut_up(spans: Split, cuts: Index, bounds: tuple[Ints, Ints]) -> Split:
    """The pieces of spans that each touch some cuts, of which the first is known."""
    row = np.repeat(np.arange(cuts.size), 2 * cuts + 1)
    within = np.arange(row.size) - np.repeat(np.cumsum(2 * cuts + 1) - (2 * cuts + 1), 2 * cuts + 1)
    cut = spans.cut[row] + within // 2
    is_cut = within % 2 == 1
    # Even pieces lie between the cut before and the cut at hand, odd ones are the cut itself.
    none = [np.iinfo(np.int64).max]
    cut_start, cut_end = np.append(bounds[0], none), np.append(bounds[1], none)
    left = np.where(is_cut, cut_start[cut], cut_end[np.maximum(cut - 1, 0)])
    right = np.where(is_cut, cut_end[cut], cut_start[cut])
    start, end = spans.start_ns[row], spans.end_ns[row]
    start = np.where(within == 0, start, np.maximum(left, start))
    # Behind the last cut that a span touches, the next begins at the span's end at the earliest.
    end = np.minimum(right, end)
    keep = end > start
    return Split(spans.span[row[keep]], start[keep], end[keep], np.where(is_cut, cut, ABSENT)[keep])
