from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st

from overlapcheck.intervals import Intervals

SPAN = 40
"""Bitmaps cover the times from 0 to SPAN."""
BITS = npt.NDArray[np.bool_]

pairs = st.lists(st.tuples(st.integers(0, SPAN), st.integers(0, SPAN)), max_size=12)
times = st.integers(-5, SPAN + 5)


def bitmap(pieces: list[tuple[int, int]]) -> BITS:
    """The same set by brute force: one flag per nanosecond."""
    bits = np.zeros(SPAN, dtype=bool)
    for start, end in pieces:
        bits[start:end] = True
    return bits


def bits_of(intervals: Intervals) -> BITS:
    return bitmap(list(intervals))


def is_canonical(intervals: Intervals) -> bool:
    start, end = intervals.start_ns, intervals.end_ns
    return bool((end > start).all() and (start[1:] > end[:-1]).all())


@given(pairs)
def test_a_set_covers_exactly_its_pieces(pieces: list[tuple[int, int]]) -> None:
    built = Intervals.pairs(pieces)

    assert is_canonical(built)
    assert (bits_of(built) == bitmap(pieces)).all()
    assert built.total_ns == bitmap(pieces).sum() == built.length_ns.sum()


@given(pairs)
def test_order_and_repetition_of_pieces_do_not_matter(pieces: list[tuple[int, int]]) -> None:
    assert Intervals.pairs(pieces) == Intervals.pairs(sorted(pieces, reverse=True) + pieces)


@given(pairs, pairs)
def test_union_is_either(a: list[tuple[int, int]], b: list[tuple[int, int]]) -> None:
    union = Intervals.pairs(a) | Intervals.pairs(b)

    assert is_canonical(union)
    assert (bits_of(union) == (bitmap(a) | bitmap(b))).all()


@given(pairs, pairs)
def test_intersection_is_both(a: list[tuple[int, int]], b: list[tuple[int, int]]) -> None:
    both = Intervals.pairs(a) & Intervals.pairs(b)

    assert is_canonical(both)
    assert (bits_of(both) == (bitmap(a) & bitmap(b))).all()
    assert both == Intervals.pairs(b) & Intervals.pairs(a)


@given(pairs, pairs)
def test_difference_is_what_the_other_does_not_cover(
    a: list[tuple[int, int]], b: list[tuple[int, int]]
) -> None:
    difference = Intervals.pairs(a) - Intervals.pairs(b)

    assert is_canonical(difference)
    assert (bits_of(difference) == (bitmap(a) & ~bitmap(b))).all()


@given(pairs, pairs)
def test_hidden_and_exposed_add_up(a: list[tuple[int, int]], b: list[tuple[int, int]]) -> None:
    copy, compute = Intervals.pairs(a), Intervals.pairs(b)

    assert (copy & compute).total_ns + (copy - compute).total_ns == copy.total_ns


@given(pairs, st.integers(0, SPAN), st.integers(0, SPAN))
def test_complement_is_the_rest_of_the_span(
    pieces: list[tuple[int, int]], start: int, end: int
) -> None:
    gaps = Intervals.pairs(pieces).complement(start, end)
    expected = ~bitmap(pieces) & bitmap([(start, end)])

    assert is_canonical(gaps)
    assert (bits_of(gaps) == expected).all()


@given(pairs, st.integers(0, SPAN), st.integers(0, SPAN))
def test_clip_keeps_what_lies_inside(pieces: list[tuple[int, int]], start: int, end: int) -> None:
    inside = Intervals.pairs(pieces).clip(start, end)

    assert is_canonical(inside)
    assert (bits_of(inside) == (bitmap(pieces) & bitmap([(start, end)]))).all()


@given(pairs, st.lists(times, max_size=8))
def test_covered_before_counts_what_lies_before_each_time(
    pieces: list[tuple[int, int]], at: list[int]
) -> None:
    covered = Intervals.pairs(pieces).covered_before(at)

    assert covered.tolist() == [int(bitmap(pieces)[: max(time, 0)].sum()) for time in at]


@given(pairs, st.lists(st.tuples(times, times), max_size=8))
def test_overlap_with_counts_what_lies_inside_each_interval(
    pieces: list[tuple[int, int]], others: list[tuple[int, int]]
) -> None:
    starts = np.array([start for start, _ in others], dtype=np.int64)
    ends = np.array([end for _, end in others], dtype=np.int64)
    overlap = Intervals.pairs(pieces).overlap_with(starts, ends)

    assert overlap.tolist() == [
        int(bitmap(pieces)[max(start, 0) : max(end, 0)].sum()) for start, end in others
    ]


def test_touching_pieces_merge() -> None:
    assert list(Intervals.pairs([(0, 5), (5, 9)])) == [(0, 9)]


def test_touching_sets_leave_no_gap() -> None:
    assert list(Intervals.span(0, 5) | Intervals.span(5, 9)) == [(0, 9)]


def test_pieces_one_nanosecond_apart_stay_apart() -> None:
    assert list(Intervals.pairs([(0, 5), (6, 9)])) == [(0, 5), (6, 9)]


@pytest.mark.parametrize("piece", [(5, 5), (7, 3)])
def test_empty_and_backward_pieces_vanish(piece: tuple[int, int]) -> None:
    assert list(Intervals.pairs([piece, (1, 2)])) == [(1, 2)]
    assert not Intervals.span(*piece)


def test_a_piece_inside_another_adds_nothing() -> None:
    assert list(Intervals.pairs([(0, 10), (2, 3), (4, 12)])) == [(0, 12)]


def test_times_may_be_negative_and_huge() -> None:
    epoch = 1_790_000_000_000_000_000
    built = Intervals.pairs([(-5, -1), (epoch, epoch + 7)])

    assert built.total_ns == 11
    assert list(built.clip(-3, epoch + 1)) == [(-3, -1), (epoch, epoch + 1)]


def test_the_empty_set_behaves_like_no_time_at_all() -> None:
    nothing, something = Intervals.empty(), Intervals.span(2, 4)

    assert (nothing | something) == something
    assert not nothing & something
    assert (something - nothing) == something
    assert not nothing - something
    assert list(nothing.complement(0, 3)) == [(0, 3)]
    assert nothing.covered_before([0, 9]).tolist() == [0, 0]
    assert nothing.total_ns == 0


def test_results_cannot_be_written_to() -> None:
    built = Intervals.pairs([(0, 5), (7, 9)])

    for result in (built, built & Intervals.span(1, 8), built.clip(1, 8), built - built):
        assert not result.start_ns.flags.writeable
        assert not result.end_ns.flags.writeable


def test_building_does_not_freeze_or_alias_the_callers_arrays() -> None:
    start, end = np.array([0, 10]), np.array([5, 15])
    built = Intervals.of(start, end)
    start[0] = 3

    assert list(built) == [(0, 5), (10, 15)]


def test_a_set_equals_only_the_same_set() -> None:
    assert Intervals.span(0, 5) != Intervals.span(0, 6)
    assert Intervals.span(0, 5) != (0, 5)


def test_a_set_shows_its_first_pieces() -> None:
    shown = repr(Intervals.pairs([(n, n + 1) for n in range(0, 20, 2)]))

    assert shown == "Intervals([0, 1), [2, 3), [4, 5), [6, 7), ...: 10 ns)"


def test_a_million_pieces_agree_with_a_sweep_over_all_edges() -> None:
    random = np.random.default_rng(7)
    count = 1_000_000
    a_start = random.integers(0, 50 * count, count)
    b_start = random.integers(0, 50 * count, count)
    a_end = a_start + random.integers(0, 60, count)
    b_end = b_start + random.integers(0, 60, count)
    a, b = Intervals.of(a_start, a_end), Intervals.of(b_start, b_end)
    in_a, in_b, in_both = _sweep((a_start, a_end), (b_start, b_end))

    assert (a.total_ns, b.total_ns, (a & b).total_ns) == (in_a, in_b, in_both)
    assert (a | b).total_ns == in_a + in_b - in_both
    assert (a - b).total_ns == in_a - in_both
    assert is_canonical(a & b)
    assert int(a.overlap_with(b.start_ns, b.end_ns).sum()) == in_both


def _sweep(*sets: tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]) -> tuple[int, int, int]:
    """Time in the first, in the second and in both, by counting open intervals edge by edge."""
    edges = np.concatenate([part for pair in sets for part in pair])
    order = np.argsort(edges, kind="stable")
    length = np.diff(edges[order])
    open_now = []
    for number in range(2):
        delta = np.zeros(edges.size, dtype=np.int64)
        first = sum(pair[0].size * 2 for pair in sets[:number])
        size = sets[number][0].size
        delta[first : first + size] = 1
        delta[first + size : first + 2 * size] = -1
        open_now.append(np.cumsum(delta[order])[:-1] > 0)
    in_a, in_b = open_now
    return int(length[in_a].sum()), int(length[in_b].sum()), int(length[in_a & in_b].sum())


@given(st.lists(pairs, max_size=4))
def test_time_in_any_and_in_two_of_several_sets(sets: list[list[tuple[int, int]]]) -> None:
    once, twice = Intervals.once_and_twice([Intervals.pairs(pieces) for pieces in sets])
    depth = sum((bitmap(pieces).astype(int) for pieces in sets), np.zeros(SPAN, dtype=int))

    assert is_canonical(once)
    assert is_canonical(twice)
    assert np.array_equal(bits_of(once), depth >= 1)
    assert np.array_equal(bits_of(twice), depth >= 2)
