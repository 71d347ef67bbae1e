"""Cutting many spans along many labelled intervals at once."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from overlapcheck.columns import Index, Ints

NO_CUT = -1


@dataclass(frozen=True)
class Split:
    """Pieces of spans, in order of span and time; together exactly the spans."""

    span: Index
    """Number of the span that a piece came from."""
    start_ns: Ints
    end_ns: Ints
    cut: Ints
    """Number of the interval that covers the piece; NO_CUT for none."""


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
    first = np.searchsorted(cut_end_ns, start_ns, side="right")
    last = np.maximum(np.searchsorted(cut_start_ns, end_ns, side="left"), first)
    pieces = 2 * (last - first) + 1
    span = np.repeat(np.arange(start_ns.size), pieces)
    within = np.arange(span.size) - np.repeat(np.cumsum(pieces) - pieces, pieces)
    cut = first[span] + within // 2
    is_cut = within % 2 == 1
    # Even pieces lie between the cut before and the cut at hand, odd ones are the cut itself.
    padded_end = np.concatenate((cut_end_ns, [np.iinfo(np.int64).max]))
    padded_start = np.concatenate((cut_start_ns, [np.iinfo(np.int64).max]))
    previous_end = np.where(within == 0, start_ns[span], padded_end[np.maximum(cut - 1, 0)])
    start = np.where(is_cut, padded_start[cut], previous_end)
    end = np.where(is_cut, padded_end[cut], padded_start[cut])
    end = np.where(within == pieces[span] - 1, end_ns[span], end)
    start = np.maximum(start, start_ns[span])
    end = np.minimum(end, end_ns[span])
    keep = end > start
    return Split(span[keep], start[keep], end[keep], np.where(is_cut, cut, NO_CUT)[keep])
