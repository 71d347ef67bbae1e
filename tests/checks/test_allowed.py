"""Calls that the policy accepts: out of --fail-on, marked, and nothing else changed."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from overlapcheck.causes.ranking.findings import findings
from overlapcheck.checks.allowed import mark_allowed
from overlapcheck.checks.judge import judge
from overlapcheck.finding import SourceLine
from overlapcheck.measurements import Measurements
from overlapcheck.verdict import AllowedCall, Check, Outcome, Policy
from tests.pictures import picture

SYNC = """
s7  kernel k              |.aaaa....cccc....eeee....gggg|
t1  cudaLaunchKernel      |a.......c.......e.......g....|
t1  cudaStreamSynchronize |.xxxx....yyyy................|
t1  cudaDeviceSynchronize |.................zzzz........|
"""
FORBIDDEN = Policy(fail_on=frozenset({"host-sync"}))


@pytest.fixture(scope="module")
def measured() -> Measurements:
    return picture(SYNC, column_us=100).measure()


def allowing(*allowed: AllowedCall) -> Policy:
    return replace(FORBIDDEN, allowed=allowed)


def check(measured: Measurements, policy: Policy) -> Check:
    return judge(measured, policy, findings(measured)).checks[-1]


def at(measured: Measurements, place: SourceLine) -> Measurements:
    """The same with every blamed call made at one line."""
    device = measured.devices[0]
    ledger = replace(device.ledger, site=np.full(len(device.ledger), 5, dtype=np.int64))
    names = replace(measured.names, sites={5: place})
    return replace(measured, devices=(replace(device, ledger=ledger),), names=names)


def test_the_picture_has_idle_time_behind_both_calls(measured: Measurements) -> None:
    blamed = [f for f in findings(measured) if f.cause == "host-sync"]

    assert len(blamed) == 1
    assert blamed[0].share > 0.3
    assert check(measured, FORBIDDEN).outcome is Outcome.FAIL


def test_an_allowed_call_does_not_count(measured: Measurements) -> None:
    both = check(measured, FORBIDDEN).measured
    left = check(measured, allowing(AllowedCall("the loss", api="cudaStreamSynchronize")))

    assert both is not None and left.measured is not None
    assert 0 < left.measured < both
    assert left.outcome is Outcome.FAIL
    assert left.reason.startswith("of the window, beside ")
    assert left.reason.endswith(" allowed: the loss")


def test_a_cause_with_nothing_but_allowed_calls_passes(measured: Measurements) -> None:
    policy = allowing(AllowedCall("the loss", api="cuda*Synchronize"))
    passed = check(measured, policy)

    assert (passed.outcome, passed.measured) == (Outcome.PASS, 0.0)
    assert passed.reason.startswith("nothing but ")


def test_time_that_two_entries_match_is_taken_once(measured: Measurements) -> None:
    once = AllowedCall("first", api="cudaStreamSynchronize")
    again = AllowedCall("second", api="cudaStream*")

    assert check(measured, allowing(once, again)) == check(measured, allowing(once))


def test_the_numeric_checks_never_change(measured: Measurements) -> None:
    policy = allowing(AllowedCall("the loss", api="*"))
    fired = findings(measured)

    assert (
        judge(measured, policy, fired).checks[:-1] == judge(measured, FORBIDDEN, fired).checks[:-1]
    )


@pytest.mark.parametrize(
    ("source", "matches"),
    [
        ("train.py", True),
        ("train.py:104", True),
        ("loop/train.py:104", True),
        ("/srv/loop/train.py", True),
        ("train.py:105", False),
        ("rain.py", False),
        ("other/train.py", False),
        ("104", False),
    ],
)
def test_a_source_is_a_file_by_its_last_parts_and_a_line(
    source: str, matches: bool, measured: Measurements
) -> None:
    here = at(measured, SourceLine("/srv/loop/train.py", 104, "step"))
    outcome = check(here, allowing(AllowedCall("the loss", source=source))).outcome

    assert outcome is (Outcome.PASS if matches else Outcome.FAIL)


@pytest.mark.parametrize(("source", "matches"), [("a:b/train.py", True), ("a:b/train.py:7", True)])
def test_a_colon_of_a_path_is_no_line(source: str, matches: bool, measured: Measurements) -> None:
    here = at(measured, SourceLine("/srv/a:b/train.py", 7, "step"))
    outcome = check(here, allowing(AllowedCall("the loss", source=source))).outcome

    assert outcome is (Outcome.PASS if matches else Outcome.FAIL)


@pytest.mark.parametrize(
    ("nvtx", "passes"),
    [("validation 0", False), ("valid*", False), ("epoch*", True), ("other*", False)],
)
def test_a_range_is_one_of_the_same_thread_around_the_call(nvtx: str, passes: bool) -> None:
    ranged = picture(
        SYNC
        + "t1  nvtx validation       |.00000.......................|\n"
        + "t1  nvtx epoch            |00000000000000000000000000000|\n"
        + "t2  nvtx other            |00000000000000000000000000000|\n",
        column_us=100,
    ).measure()
    found = check(ranged, allowing(AllowedCall("the loss", nvtx=nvtx)))

    assert found.outcome is (Outcome.PASS if passes else Outcome.FAIL)
    assert (found.reason == "of the window") is (nvtx == "other*")


@pytest.mark.parametrize(
    "entry",
    [
        AllowedCall("the loss", api="cudaMemcpy", source="train.py"),
        AllowedCall("the loss", api="cudaMemcpy", nvtx="epoch*"),
        AllowedCall("the loss", nvtx="another", source="train.py"),
    ],
)
def test_all_that_an_entry_says_must_match(entry: AllowedCall) -> None:
    ranged = picture(SYNC + "t1  nvtx epoch |00000000000000000000000000000|\n", column_us=100)
    here = at(ranged.measure(), SourceLine("/srv/loop/train.py", 104, "step"))

    assert check(here, allowing(entry)) == check(here, FORBIDDEN)


def test_ranges_of_another_process_allow_nothing_of_this_one() -> None:
    rows = f"{SYNC}t1  nvtx epoch |00000000000000000000000000000|\n"
    measured = picture(rows, column_us=100).measure()
    moved = replace(measured.ranges, process=measured.ranges.process + 1)
    elsewhere = replace(measured, ranges=moved)
    policy = allowing(AllowedCall("the loss", nvtx="epoch*"))

    assert check(measured, policy).outcome is Outcome.PASS
    assert check(elsewhere, policy).outcome is Outcome.FAIL


def test_a_call_without_a_known_line_is_allowed_by_no_line(measured: Measurements) -> None:
    entry = AllowedCall("the loss", source="train.py")

    assert check(measured, allowing(entry)).outcome is Outcome.FAIL


def test_an_allowed_finding_says_so_first(measured: Measurements) -> None:
    policy = allowing(AllowedCall("the loss is printed", api="cudaDeviceSynchronize"))
    before = {f.cause: f for f in findings(measured)}
    after = {f.cause: f for f in mark_allowed(findings(measured), measured, policy)}

    assert after["host-sync"].evidence[0].startswith("allowed, ")
    assert after["host-sync"].evidence[0].endswith(": the loss is printed")
    assert after["host-sync"].evidence[1:] == before["host-sync"].evidence
    assert {c: f for c, f in after.items() if c != "host-sync"} == {
        c: f for c, f in before.items() if c != "host-sync"
    }
