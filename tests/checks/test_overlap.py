from __future__ import annotations

import pytest

from overlapcheck.checks.overlap import check_overlap
from overlapcheck.thresholds import Thresholds
from overlapcheck.verdict import Check, Outcome, Policy
from tests.pictures import picture


def check(text: str, policy: Policy | None = None, columns: int = 0) -> Check:
    """The only overlap check of a picture; `columns` sets the window."""
    window = {"window_ns": (0, columns * 1000)} if columns else {}
    (found,) = check_overlap(picture(text).device(**window), policy or Policy(), Thresholds())
    return found


def test_hidden_copies_pass() -> None:
    found = check("""
        s7  kernel k      |aaaaaaaaaa|
        s13 h2d pinned 1B |.bbbbbbbb.|
        """)

    assert (found.name, found.outcome, found.measured) == ("overlap h2d", Outcome.PASS, 1.0)
    assert found.at_least
    assert found.reason == "ceiling 100.0 %"


@pytest.mark.parametrize(("copy", "outcome"), [("bbbbbbbbbb", "PASS"), (".bbbbbbbbbb", "FAIL")])
def test_the_limit_itself_is_enough(copy: str, outcome: str) -> None:
    """8 of 10 columns hidden are 80 %; 7 of 10 are not."""
    found = check(
        f"""
        s7  kernel k      |aaaaaaaa......cccccccc|
        s13 h2d pinned 1B |{copy.ljust(22, ".")}|
        """
    )

    assert found.outcome == outcome
    assert found.limit == 0.8


def test_where_compute_is_too_short_nine_tenths_of_the_ceiling_are_enough() -> None:
    found = check(
        """
        s7  kernel k      |.aaaa.....|
        s13 h2d pinned 1B |bbbbbbbbbb|
        """,
        columns=10,
    )

    assert found.outcome is Outcome.PASS
    assert found.limit == pytest.approx(0.36)
    assert found.measured == pytest.approx(0.4)
    assert found.reason == "0.9 of the ceiling 40.0 %"


def test_relief_from_the_ceiling_does_not_excuse_what_could_still_be_hidden() -> None:
    found = check(
        """
        s7  kernel k      |aaaa......|
        s13 h2d pinned 1B |..bbbbbbbb|
        """,
        columns=10,
    )

    assert found.outcome is Outcome.FAIL
    assert found.measured == pytest.approx(0.25)
    assert found.limit == pytest.approx(0.45)


def test_without_relief_only_the_raw_limit_counts() -> None:
    found = check(
        """
        s7  kernel k      |.aaaa.....|
        s13 h2d pinned 1B |bbbbbbbbb.|
        """,
        Policy(relief_from_ceiling=False),
        columns=10,
    )

    assert found.limit == 0.8
    assert found.measured == pytest.approx(4 / 9)


def test_a_lower_limit_than_the_relief_stands() -> None:
    found = check(
        """
        s7  kernel k      |.aaaa.....|
        s13 h2d pinned 1B |bbbbbbbbbb|
        """,
        Policy(min_overlap=0.2),
        columns=10,
    )

    assert found.limit == 0.2


PAGEABLE = """
s7  kernel k        |aaaa........cccc|
s13 h2d pageable 1B |{pageable}|
s14 h2d pinned 1B   |{pinned}|
"""


@pytest.mark.parametrize(
    ("pageable", "pinned", "relieved"),
    [
        ("pp..............", "..qqqqqqqqqqqqqq", False),
        ("p...............", "qqqqqqqqqqqqqqqq", True),
        ("pppppppppppppppp", "................", False),
    ],
)
def test_from_a_tenth_of_pageable_copies_on_the_ceiling_gives_no_relief(
    pageable: str, pinned: str, relieved: bool
) -> None:
    found = check(PAGEABLE.format(pageable=pageable, pinned=pinned), columns=16)

    assert found.limit == (pytest.approx(0.45) if relieved else 0.8)


@pytest.mark.parametrize(("end_us", "relieved"), [(1.6, False), (1.599, True)])
def test_a_tenth_itself_is_too_much(end_us: float, relieved: bool) -> None:
    text = PAGEABLE.format(pageable="p...............", pinned=".qqqqqqqqqqqqqqq")
    exact = {"p": [0.0, end_us], "q": [end_us, 16.0]}
    device = picture(text, gpu_us=exact).device(window_ns=(0, 16_000))
    (found,) = check_overlap(device, Policy(), Thresholds())

    assert found.limit == (pytest.approx(0.45) if relieved else 0.8)


def test_a_copy_that_took_no_time_hides_nothing_and_exposes_nothing() -> None:
    text = "s7  kernel k      |aaaa...bbbb|\ns13 h2d pinned 1B |.....c.....|"
    device = picture(text, gpu_us={"c": [5.0, 5.0]}).device()

    assert check_overlap(device, Policy(), Thresholds()) == []


def test_a_pageable_failure_says_why_the_ceiling_did_not_help() -> None:
    found = check(
        """
        s7  kernel k        |aaaa........|
        s13 h2d pageable 1B |..pppppppppp|
        """,
        columns=12,
    )

    assert found.outcome is Outcome.FAIL
    assert found.reason == "pageable copies get no relief (ceiling 40.0 %)"


def test_little_to_win_is_not_judged_and_says_so() -> None:
    found = check("""
        s7  kernel k      |aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa.ccc|
        s13 h2d pinned 1B |.......................................b...|
        """)

    assert (found.outcome, found.measured) == (Outcome.PASS, 0.0)
    assert found.reason == "not judged: hiding more wins at most 2.3 %"


def test_five_percent_to_win_is_judged() -> None:
    found = check("""
        s7  kernel k      |aaaaaaaaaaaaaaaaaa.c|
        s13 h2d pinned 1B |..................b.|
        """)

    assert found.outcome is Outcome.FAIL


def test_what_could_be_won_is_bounded_by_the_compute_that_hides_nothing_yet() -> None:
    """A long copy beside almost no compute: no order of things would hide it."""
    found = check(
        """
        s7  kernel k        |a.......................................|
        s13 h2d pageable 1B |.bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb|
        """,
        columns=40,
    )

    assert found.outcome is Outcome.PASS
    assert found.reason == "not judged: hiding more wins at most 2.5 %"


def test_each_direction_has_its_own_check_and_copies_within_the_device_have_none() -> None:
    device = picture("""
        s7  kernel k      |aaaa......|
        s13 h2d pinned 1B |bb........|
        s14 d2h pinned 1B |..cc......|
        s15 p2p 1B        |.dd.......|
        s7  d2d 1B        |e.........|
        """).device()

    names = [found.name for found in check_overlap(device, Policy(), Thresholds())]
    assert names == ["overlap h2d", "overlap d2h", "overlap p2p"]


def test_without_copies_there_is_nothing_to_check() -> None:
    assert check_overlap(picture("s7 kernel k |aa|").device(), Policy(), Thresholds()) == []


def test_migrations_of_unified_memory_are_not_judged() -> None:
    device = picture("s7 kernel k |aa....bb|\nuvm h2d 4KiB |..cccc..|").device()

    assert check_overlap(device, Policy(), Thresholds()) == []
