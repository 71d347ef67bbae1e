"""Ranks from the names that launchers and people give their reports."""

from __future__ import annotations

from pathlib import Path

import pytest

from overlapcheck.errors import PolicyInvalid
from overlapcheck.ranks.naming import (
    called_ranks,
    numbers_in_names,
    numbers_of,
    rank_pattern,
    ranks_by_pattern,
    ranks_in_names,
)


@pytest.mark.parametrize(
    "name",
    [
        "rank_{}.nsys-rep",
        "rank{}.nsys-rep",
        "Rank-{}.sqlite",
        "overlapcheck-train-20261129-170041-rank{}.nsys-rep",
        "report.r{}.sqlite",
        "r{}_gpu2.nsys-rep",
        "trace-{}-of-12.nsys-rep",
        "job2_rank_{}_step3.nsys-rep",
        "rank_{}/profile.nsys-rep",
        "rank0_of_node/rank_{}.nsys-rep",
    ],
)
def test_ranks_are_recognised(name: str) -> None:
    paths = [Path("/data/run7") / name.format(rank) for rank in (0, 3, 11)]

    assert ranks_in_names(paths) == ("0", "3", "11")


@pytest.mark.parametrize(
    "names",
    [
        ("a.sqlite", "b.sqlite"),
        ("rank_0.sqlite", "rank_00.sqlite"),
        ("rank_0.sqlite", "other.sqlite"),
        ("node0_local_rank_1.sqlite", "node1_local_rank_1.sqlite"),
        ("crank4.sqlite", "crank5.sqlite"),
    ],
)
def test_names_that_do_not_tell_all_apart_tell_nothing(names: tuple[str, str]) -> None:
    assert ranks_in_names([Path(name) for name in names]) is None


def test_a_pattern_of_the_user_counts_alone() -> None:
    paths = [Path("w7/rank_0.sqlite"), Path("w8/rank_0.sqlite")]

    assert ranks_by_pattern(paths, rank_pattern(r"w(?P<rank>\d+)")) == ("7", "8")


@pytest.mark.parametrize(
    ("pattern", "said"),
    [
        (r"w(\d+)", "no group named rank"),
        (r"w(?P<rank>", "not a regular expression"),
        (r"x(?P<rank>\d+)", "does not fit w7"),
        (r"rank_(?P<rank>\d+)", "are both rank 0"),
    ],
)
def test_a_pattern_that_cannot_work_is_refused(pattern: str, said: str) -> None:
    with pytest.raises(PolicyInvalid, match=said):
        ranks_by_pattern(
            [Path("w7/rank_0.sqlite"), Path("w8/rank_0.sqlite")], rank_pattern(pattern)
        )


def test_names_may_say_how_many_there_are() -> None:
    names = ("t-0-of-8.sqlite", "t-3-of-8.sqlite", "1of2.sqlite", "rank_1.sqlite")

    assert numbers_of([Path(name) for name in names]) == {8: {0, 3}, 2: {1}}


def test_a_folder_around_all_calls_none_a_rank() -> None:
    paths = [Path("lora_rank8") / name for name in ("a.sqlite", "b.sqlite")]
    ranks = [Path("lora_rank8") / f"rank_{n}" / "x.sqlite" for n in (0, 3)]

    assert called_ranks(paths) == [None, None]
    assert called_ranks(ranks) == [0, 3]
    assert called_ranks([Path("a/rank_0.sqlite"), Path("b/rank_0.sqlite")]) == [0, 0]


@pytest.mark.parametrize(
    ("names", "numbers"),
    [
        (("report.3.sqlite", "report.7.sqlite"), ("3", "7")),
        (("report1.nsys-rep", "report2.nsys-rep"), ("1", "2")),
        (("0/report.sqlite", "1/report.sqlite"), ("0", "1")),
        (("host-a_0.sqlite", "host-b_1.sqlite"), ("0", "1")),
        (("node4-300-0.sqlite", "node5-301-1.sqlite"), ("0", "1")),
        (("job9-worker03.sqlite", "job9-worker11.sqlite"), ("3", "11")),
        (("a.sqlite", "b.sqlite"), None),
        (("a100.sqlite", "h200.sqlite"), None),
        (("pid211.sqlite", "pid212.sqlite"), None),
        (("run_20261129.sqlite", "run_20261130.sqlite"), None),
        (("node0_local_rank_1.sqlite", "node1_local_rank_1.sqlite"), None),
        (("n0-g0.sqlite", "n0-g1.sqlite", "n1-g0.sqlite", "n1-g1.sqlite"), None),
    ],
)
def test_a_number_that_alone_differs_is_a_guess(
    names: tuple[str, ...], numbers: tuple[str, ...] | None
) -> None:
    assert numbers_in_names([Path("/data/x9") / name for name in names]) == numbers
