"""Every limit says where it comes from; one that nobody set says nothing."""

from __future__ import annotations

import pytest

from overlapcheck.checks.judge import judge
from overlapcheck.errors import PolicyInvalid
from overlapcheck.verdict import Check, Outcome, Policy
from tests.pictures import picture

BOTH_WAYS = """
s7  kernel k         |.aaaa....cc|
s13 h2d pinned 1B    |..bb.......|
s14 d2h pinned 1B    |.....dddd..|
t1  cudaLaunchKernel |a...c......|
t1  cudaMemcpyAsync  |.b..d......|
"""
FILE = "pyproject.toml"


def checks(policy: Policy) -> dict[str, Check]:
    return {check.name: check for check in judge(picture(BOTH_WAYS).measure(), policy).checks}


def test_a_default_is_not_worth_a_word() -> None:
    found = checks(Policy(max_idle=0.9))

    assert {check.limit_from for check in found.values()} == {"default"}


def test_a_limit_that_somebody_set_says_where() -> None:
    origins = {"max_recoverable": FILE, "max_idle": "--max-idle", "require_copies": FILE}
    found = checks(Policy(max_idle=0.9, require_copies=True, origins=origins))

    assert found["recoverable"].limit_from == FILE
    assert found["idle"].limit_from == "--max-idle"
    assert found["copies"].limit_from == FILE
    assert found["overlap h2d"].limit_from == "default"


def test_a_direction_may_have_its_own_limit() -> None:
    origins = {"min_overlap": "--min-overlap", "overlap d2h": FILE}
    found = checks(Policy(min_overlap=0.9, overlap_of={"d2h": 0.0}, origins=origins))

    assert (found["overlap d2h"].outcome, found["overlap d2h"].limit) == (Outcome.PASS, 0.0)
    assert found["overlap d2h"].limit_from == FILE
    assert (found["overlap h2d"].limit, found["overlap h2d"].limit_from) == (0.9, "--min-overlap")


def test_the_ceiling_is_part_of_the_limit() -> None:
    origins = {"min_overlap": FILE, "relief_from_ceiling": "--no-ceiling"}
    found = checks(Policy(relief_from_ceiling=False, origins=origins))

    assert found["overlap h2d"].limit_from == f"{FILE} and --no-ceiling"


def test_an_impossible_limit_of_a_direction_is_refused() -> None:
    with pytest.raises(PolicyInvalid, match=r"overlap h2d = 1\.2 is no share of one"):
        Policy(overlap_of={"h2d": 1.2})


def test_forbidden_causes_say_who_forbids_them() -> None:
    origins = {"fail_on": "--fail-on"}
    found = checks(Policy(fail_on=frozenset({"uvm-migration"}), origins=origins))

    assert found["no uvm-migration"].limit_from == "--fail-on"
