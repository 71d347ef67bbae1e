"""Users' regular expressions: those of `re`, with an end."""

from __future__ import annotations

import pickle
import re
from pathlib import Path

import pytest

from overlapcheck import user_patterns
from overlapcheck.errors import PolicyInvalid
from overlapcheck.passes.measure import measure
from overlapcheck.ranks.naming import rank_pattern, ranks_by_pattern
from overlapcheck.selection import Selection
from overlapcheck.user_patterns import UserPattern
from tests.pictures import picture

ENDLESS = r"(x|xx)+\d\d"
NAME = "x" * 100


@pytest.fixture(autouse=True)
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(user_patterns, "_PATIENCE_S", 0.2)


def failure(pattern: str, name: str) -> str:
    with pytest.raises(PolicyInvalid) as caught:
        UserPattern(pattern, "--some-option").search(name)
    assert "\n" not in str(caught.value)
    return caught.value.message


def test_a_search_without_an_end_ends() -> None:
    said = failure(ENDLESS, NAME)

    assert said == f"--some-option {ENDLESS!r} searches for ever in {'x' * 40 + '...'!r}"


def test_many_slow_searches_end_together() -> None:
    pattern = UserPattern(r"(x|xx)+\d", "--some-option")
    with pytest.raises(PolicyInvalid):
        for length in range(20, 10_000):
            pattern.search("x" * 22 + "y" * length)


@pytest.mark.parametrize(
    "text", [r"nccl.*(?!Send)\w+", r"(?P<kind>a+)(?P=kind)", r"(?<=ab)c", r"\bstep\b", "[a-f]{2,3}"]
)
@pytest.mark.parametrize("name", ["ncclSendRecv", "aaaa", "abc", "A step", "ÄÖ", ""])
def test_matches_are_those_of_re(text: str, name: str) -> None:
    found, expected = UserPattern(text, "-").search(name), re.search(text, name, re.IGNORECASE)

    assert (found and found.span()) == (expected and expected.span())


def test_what_is_no_pattern_says_why() -> None:
    with pytest.raises(ValueError, match="missing"):
        UserPattern("(", "-")


def test_steps_of_an_endless_pattern_are_a_wrong_option() -> None:
    drawn = f"""
        t1 nvtx {NAME} |001122|
        s7 kernel {"k":100} |a.b.c.|
    """
    trace = picture(drawn).trace()

    with pytest.raises(PolicyInvalid, match=f"--steps {re.escape(repr(ENDLESS))}"):
        measure(trace, Selection(steps=ENDLESS))


def test_communication_of_an_endless_pattern_is_a_wrong_option() -> None:
    selection = Selection(communication=(ENDLESS,))

    with pytest.raises(PolicyInvalid, match="--comm-pattern"):
        selection.is_communication(NAME)
    assert pickle.loads(pickle.dumps(selection)) == selection


def test_ranks_of_an_endless_pattern_are_a_wrong_option() -> None:
    pattern = rank_pattern(r"(x|xx)+(?P<rank>\d\d)")

    with pytest.raises(PolicyInvalid, match="--rank-pattern"):
        ranks_by_pattern([Path(NAME)], pattern)
