from __future__ import annotations

from dataclasses import replace

import pytest

from overlapcheck.checks.shares import (
    check_copies,
    check_exposed_communication,
    check_idle,
    check_recoverable,
    check_shares,
)
from overlapcheck.verdict import Limits, Outcome, Policy
from tests.pictures import picture

NINE_OF_TEN = picture("s7 kernel k |aaaaaaaaa.|")
WINDOW = (0, 10_000)


@pytest.mark.parametrize(
    ("limit", "outcome"), [(0.05, Outcome.FAIL), (0.10, Outcome.PASS), (0.5, Outcome.PASS)]
)
def test_recoverable_may_reach_its_limit(limit: float, outcome: Outcome) -> None:
    (found,) = check_recoverable(
        NINE_OF_TEN.device(window_ns=WINDOW), Policy(max_recoverable=limit)
    )

    assert found.outcome is outcome
    assert found.measured == pytest.approx(0.1)
    assert found.reason == "1.0 us of 10.0 us"


def test_what_has_no_limit_is_not_checked() -> None:
    device = NINE_OF_TEN.device(window_ns=WINDOW)

    assert check_shares(device, Limits()) == []
    names = [check.name for check in check_shares(device, Limits(max_idle=1, max_recoverable=1))]
    assert names == ["recoverable", "idle"]


def test_idle_is_checked_only_if_asked_for() -> None:
    device = NINE_OF_TEN.device(window_ns=WINDOW)

    assert check_idle(device, Policy()) == []
    (found,) = check_idle(device, Policy(max_idle=0.05))
    assert (found.name, found.outcome) == ("idle", Outcome.FAIL)
    assert found.reason == "1.0 us without compute"


def test_pinned_copies_relieve_recoverable_but_not_idle() -> None:
    device = picture("""
        s7  kernel k      |aaaaa.....|
        s13 h2d pinned 1B |bbbbbbbbbb|
        """).device(window_ns=WINDOW)

    assert check_recoverable(device, Policy())[0].outcome is Outcome.PASS
    assert check_idle(device, Policy(max_idle=0.4))[0].outcome is Outcome.FAIL


def test_exposed_communication_is_checked_only_if_asked_for() -> None:
    device = picture("""
        s7 kernel k          |aaaaaa....|
        s8 kernel ncclKernel |....bbbb..|
        """).device(window_ns=WINDOW)

    assert check_exposed_communication(device, Policy()) == []
    (found,) = check_exposed_communication(device, Policy(max_exposed_communication=0.1))
    assert (found.name, found.outcome) == ("exposed comm", Outcome.FAIL)
    assert found.measured == pytest.approx(0.2)
    assert found.reason == "2.0 us of 4.0 us of communication"


def test_hidden_communication_passes() -> None:
    device = picture("s7 kernel k |aaaaaa|\ns8 kernel ncclKernel |.bbbb.|").device()
    (found,) = check_exposed_communication(device, Policy(max_exposed_communication=0.0))

    assert found.outcome is Outcome.PASS


@pytest.mark.parametrize(
    ("rows", "outcome", "reason"),
    [
        ("s13 h2d pinned 1B |.b|", Outcome.PASS, "1 copy in the window"),
        ("s13 d2h pinned 1B |b.|\ns14 h2d pinned 1B |c.|", Outcome.PASS, "2 copies in the window"),
        ("s13 d2d 1B |.b|", Outcome.FAIL, "no copy between host and device in the window"),
        ("uvm h2d 1B |.b|", Outcome.FAIL, "no copy between host and device in the window"),
        ("s14 memset 1B |.b|", Outcome.FAIL, "no copy between host and device in the window"),
        (
            "s13 graph |.b|",
            Outcome.INCONCLUSIVE,
            "none seen, but graphs of unknown content may hold some",
        ),
    ],
)
def test_copies_can_be_required(rows: str, outcome: Outcome, reason: str) -> None:
    device = picture(f"s7 kernel k |aa|\n{rows}").device()

    assert check_copies(device, Policy()) == []
    (found,) = check_copies(device, Policy(require_copies=True))
    assert (found.outcome, found.reason) == (outcome, reason)


def test_an_empty_window_proves_nothing() -> None:
    device = NINE_OF_TEN.device()
    empty = replace(device, window=replace(device.window, end_ns=device.window.start_ns))

    assert check_recoverable(empty, Policy())[0].outcome is Outcome.INCONCLUSIVE
    assert check_idle(empty, Policy(max_idle=1.0))[0].outcome is Outcome.INCONCLUSIVE
