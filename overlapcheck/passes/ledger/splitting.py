"""Cutting many spans along many labelled intervals at once."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from overlapcheck.columns import ABSENT, Index, Ints, constant


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
    if cut_start_ns.size == 0:
        return _whole(start_ns, end_ns)
    first = np.searchsorted(cut_end_ns, start_ns, side="right")
    last = np.maximum(np.searchsorted(cut_start_ns, end_ns, side="left"), first)
    hit = np.flatnonzero(last > first)
    if hit.size == 0:
        return _whole(start_ns, end_ns)
    # Cuts are few: most spans stay whole, and need no more than their place among the pieces.
    pieces = np.ones(start_ns.size, dtype=np.intp)
    pieces[hit] = 2 * (last[hit] - first[hit]) + 1
    span = np.repeat(np.arange(start_ns.size), pieces)
    start, end = start_ns[span], end_ns[span]
    cut = np.full(span.size, ABSENT, dtype=np.int64)
    rows = np.flatnonzero(pieces[span] > 1)
    spans = _Spans(span, first, pieces)
    _cut_up(rows, spans, (start, end, cut), (cut_start_ns, cut_end_ns))
    keep = end > start
    if keep.all():
        return Split(span, start, end, cut)
    return Split(span[keep], start[keep], end[keep], cut[keep])


def _whole(start_ns: Ints, end_ns: Ints) -> Split:
    span = np.flatnonzero(end_ns > start_ns)
    if span.size < start_ns.size:
        start_ns, end_ns = start_ns[span], end_ns[span]
    return Split(span, start_ns, end_ns, constant(ABSENT, span.size))


@dataclass(frozen=True)
class _Spans:
    """How spans fall into pieces."""

    span: Index
    """Span of each piece."""
    first: Index
    """First cut of each span."""
    pieces: Index
    """How many pieces each has."""


def _cut_up(
    rows: Index, spans: _Spans, made: tuple[Ints, Ints, Ints], cuts: tuple[Ints, Ints]
) -> None:
    """Bound the pieces (rows) of the spans that cuts touch: start, end and cut, in place."""
    start, end, number = made
    first, pieces, of = spans.first, spans.pieces, spans.span[rows]
    begins = np.append(True, of[1:] != of[:-1])
    within = np.arange(rows.size) - np.maximum.accumulate(np.where(begins, np.arange(rows.size), 0))
    cut = first[of] + within // 2
    is_cut = within % 2 == 1
    # Even pieces lie between the cut before and the cut at hand, odd ones are the cut itself.
    none = [np.iinfo(np.int64).max]
    cut_start, cut_end = np.append(cuts[0], none), np.append(cuts[1], none)
    left = np.where(is_cut, cut_start[cut], cut_end[np.maximum(cut - 1, 0)])
    right = np.where(is_cut, cut_end[cut], cut_start[cut])
    start[rows] = np.where(within == 0, start[rows], np.maximum(left, start[rows]))
    end[rows] = np.where(within == pieces[of] - 1, end[rows], np.minimum(right, end[rows]))
    number[rows] = np.where(is_cut, cut, ABSENT)
