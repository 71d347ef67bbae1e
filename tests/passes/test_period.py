from __future__ import annotations

import numpy as np
import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

from overlapcheck.passes.window.period import Period, _agreeing, find_period
from overlapcheck.thresholds import USUAL


def period(names: str, gaps: str = "", lengths: str = "", share: float = 0.5) -> Period | None:
    """Kernels are letters; digits are the idle time before each, and the length of each."""
    gap = np.array([int(digit) for digit in gaps] if gaps else [0] * len(names))
    length = np.array([int(digit) for digit in lengths] if lengths else [1] * len(names))
    return find_period(
        np.array([ord(name) for name in names]), gap, length, share * int(length.sum()), USUAL
    )


def test_repeating_names_are_a_period_and_the_rest_falls_out() -> None:
    assert period("wwxy" + "abbc" * 3 + "z") == Period(first=4, length=4, repeats=3)


def test_the_shortest_period_wins_over_its_multiples() -> None:
    found = period("ab" * 12)

    assert found is not None
    assert (found.length, found.repeats) == (2, 12)


def test_one_kernel_over_and_over_is_a_period_of_one() -> None:
    found = period("aaaaa")

    assert found is not None
    assert (found.length, found.repeats) == (1, 5)


def test_a_repeat_begins_after_the_longest_gap() -> None:
    assert period("abcabcabcabc", "090090090090") == Period(first=1, length=3, repeats=3)


def test_nothing_repeats_in_names_that_differ() -> None:
    assert period("abcdefghijkl") is None


def test_two_repeats_prove_nothing() -> None:
    assert period("abcdeabcde") is None


def test_a_repeat_that_holds_less_than_half_of_the_time_is_a_coincidence() -> None:
    assert period("ababab" + "cdefghijklmnop") is None


def test_many_short_kernels_are_no_steps_and_a_few_long_ones_are() -> None:
    fills_first = "f" * 40 + "xayaza"

    assert period(fills_first, lengths="0" * 40 + "909090") is None
    assert period("f" * 40 + "ababab", lengths="0" * 40 + "989898") == Period(40, 2, 3)


@pytest.mark.parametrize(("long", "found"), [(8, True), (9, True), (7, False)])
def test_half_of_the_time_is_enough(long: int, found: bool) -> None:
    """Three repeats of 1 + long, beside 27 of other kernels, behind or before them."""
    repeats = f"1{long}" * 3

    assert (period("ab" * 3 + "cde", lengths=repeats + "999") is not None) == found
    assert (period("cde" + "ab" * 3, lengths="999" + repeats) is not None) == found


def test_the_run_that_holds_the_most_time_counts_not_the_longest() -> None:
    assert period("abababababx" + "ababab", lengths="1" * 11 + "9" * 6) == Period(11, 2, 3)


def test_too_few_kernels_have_no_period() -> None:
    assert period("") is None
    assert period("aa") is None
    assert period("aaa") == Period(0, 1, 3)


def test_the_starts_are_where_repeats_begin() -> None:
    assert Period(first=4, length=3, repeats=3).starts.tolist() == [4, 7, 10]


def test_a_few_long_kernels_repeat_among_many_short_ones_that_do_not() -> None:
    """Of the kernels hardly any agree, of their time nearly all."""
    others = "".join(chr(1000 + at) for at in range(40))

    assert period(others + "ab" * 4, lengths="1" * 40 + "99999999") == Period(40, 2, 4)


def test_of_hundreds_of_lengths_the_one_that_agrees_is_tried() -> None:
    assert period("".join(chr(1000 + at) for at in range(200)) * 4) == Period(0, 200, 4)


@pytest.mark.parametrize(("repeating", "tried"), [(270, False), (340, True)])
def test_a_length_is_tried_where_three_in_ten_agree(repeating: int, tried: bool) -> None:
    """Of a thousand kernels, the last ones of which are the same seven over and over."""
    names = np.arange(1000)
    names[1000 - repeating :] = np.arange(repeating) % 7

    assert (7 in _agreeing(names, np.ones(1000), 0.3)) is tried


def test_a_long_beginning_does_not_hide_what_repeats_at_the_end() -> None:
    """In its last quarter of a million kernels most agree, in all of them one in five."""
    before, repeats = 3 << 18, 1 << 16
    names = np.append(np.arange(before) + 3, np.arange(repeats * 3) % 3)
    length = np.ones(names.size, dtype=np.int64)

    assert find_period(names, 0 * length, length, 0.1 * names.size, USUAL) == Period(
        before, 3, repeats
    )


@example(unit="a", repeats=222, before="", after="")
@given(
    st.text("abcd", min_size=1, max_size=6),
    st.integers(8, 40),
    st.text("wxyz", max_size=6),
    st.text("wxyz", max_size=6),
)
def test_a_drawn_period_is_found_whatever_surrounds_it(
    unit: str, repeats: int, before: str, after: str
) -> None:
    assume(len(unit * repeats) > len(before + after))
    found = period(before + unit * repeats + after)
    shortest = next(n for n in range(1, len(unit) + 1) if unit == unit[:n] * (len(unit) // n))

    assert found is not None
    assert found.length == shortest
    assert found.first + found.length * found.repeats <= len(before) + len(unit) * repeats + len(
        after
    )
    assert found.length * found.repeats > len(unit) * (repeats - 2)
