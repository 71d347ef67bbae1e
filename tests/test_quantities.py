from __future__ import annotations

import pytest

from overlapcheck.quantities import (
    bandwidth,
    count_of,
    duration,
    milliseconds,
    nanoseconds,
    percent,
    percent_beside,
    size,
)


@pytest.mark.parametrize(
    ("ns", "text"),
    [
        (0, "0 ns"),
        (17, "17 ns"),
        (999, "999 ns"),
        (1_000, "1.0 us"),
        (4_200, "4.2 us"),
        (999_960, "1.0 ms"),
        (262_200_000, "262.2 ms"),
        (999_960_000, "1.0 s"),
        (12_340_000_000, "12.3 s"),
        (-1_500_000, "-1.5 ms"),
    ],
)
def test_a_duration_has_the_unit_that_fits(ns: float, text: str) -> None:
    assert duration(ns) == text


def test_no_duration_shows_a_thousand_of_a_smaller_unit() -> None:
    assert not any(duration(ns).startswith("1000") for ns in range(999_000, 1_001_000))


def test_milliseconds_leave_the_unit_to_the_column() -> None:
    assert milliseconds(2_345_678) == "2.3"


@pytest.mark.parametrize(
    ("ratio", "text"),
    [
        (None, "-"),
        (0.0, "0.0 %"),
        (0.7884, "78.8 %"),
        (1.0, "100.0 %"),
        (0.99996, "99.9 %"),
        (0.9994, "99.9 %"),
        (1.25, "125.0 %"),
    ],
)
def test_a_share_is_a_percentage(ratio: float | None, text: str) -> None:
    assert percent(ratio) == text


@pytest.mark.parametrize(
    ("ratio", "limit", "text"),
    [
        (0.10034, 0.10, "10.03 %"),
        (0.100004, 0.10, "10.0004 %"),
        (0.104, 0.10, "10.4 %"),
        (0.10, 0.10, "10.0 %"),
        (0.10034, None, "10.0 %"),
        (None, 0.10, "-"),
    ],
)
def test_a_share_that_misses_its_limit_is_seen_to(
    ratio: float | None, limit: float | None, text: str
) -> None:
    assert percent_beside(ratio, limit) == text


def test_only_the_whole_is_a_hundred_percent() -> None:
    assert percent(1 - 1e-12) == "99.9 %"


@pytest.mark.parametrize(
    ("count", "text"),
    [
        (4, "4 B"),
        (1024, "1.0 KiB"),
        (128 << 20, "128.0 MiB"),
        (3 << 29, "1.5 GiB"),
        (1 << 40, "1.0 TiB"),
    ],
)
def test_a_size_has_the_unit_that_fits(count: int, text: str) -> None:
    assert size(count) == text


def test_bandwidth_is_in_powers_of_ten() -> None:
    assert bandwidth(7_200_000_000, 1_000_000_000) == "7.2 GB/s"


def test_nothing_has_no_bandwidth() -> None:
    assert bandwidth(5, 0) == "-"


@pytest.mark.parametrize(
    ("count", "noun", "plural", "text"),
    [
        (1, "copy", "copies", "1 copy"),
        (12, "copy", "copies", "12 copies"),
        (0, "kernel", "", "0 kernels"),
        (1, "kernel", "", "1 kernel"),
    ],
)
def test_a_count_agrees_with_its_noun(count: int, noun: str, plural: str, text: str) -> None:
    assert count_of(count, noun, plural) == text


@pytest.mark.parametrize(
    ("text", "ns"),
    [("20.6ms", 20.6e6), (" 850 us", 850e3), ("1.2s", 1.2e9), ("17 ns", 17), (".5 ms", 5e5)],
)
def test_a_time_is_read_as_people_write_it(text: str, ns: float) -> None:
    assert nanoseconds(text) == pytest.approx(ns)


@pytest.mark.parametrize("text", ["", "20.6", "ms", "3 weeks", "-1ms", "0s", "nan ms", "1" * 400])
def test_what_is_no_time_says_so(text: str) -> None:
    with pytest.raises(ValueError, match=r"no step|not a number"):
        nanoseconds(text)
