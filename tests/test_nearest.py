"""What a mistyped name may have been meant to be."""

from __future__ import annotations

from overlapcheck.nearest import nearest


def test_the_most_alike_comes_first() -> None:
    known = {"copy-bound": 1, "host-synced": 2, "host-sync": 3}

    assert nearest("host-synk", known, 2) == ["host-sync", "host-synced"]


def test_one_is_enough_where_none_says_how_many() -> None:
    assert nearest("host-s", ["host-sync", "host-starved"]) == ["host-sync"]


def test_nothing_is_like_something_else() -> None:
    assert nearest("ledger", ["copy", "wait"]) == []
