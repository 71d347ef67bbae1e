"""Rules about a host that was late, each by itself, on pieces of its time made by hand."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from types import SimpleNamespace
from typing import Any, cast

import numpy as np
import pytest

from overlapcheck.api_kinds import ApiKind
from overlapcheck.columns import ABSENT
from overlapcheck.intervals import Intervals
from overlapcheck.ledger import Reason
from overlapcheck.passes.ledger import host_rules
from overlapcheck.passes.ledger.held import HeldCalls
from overlapcheck.passes.ledger.host_rules import HostTime
from overlapcheck.passes.ledger.host_timeline import HostTimeline, ThreadCalls
from overlapcheck.passes.ledger.rule import Ruling
from overlapcheck.thresholds import USUAL
from overlapcheck.trace_tables import ApiCalls

Call = tuple[int, int, ApiKind]
"""Begin, end and kind."""
HELD = HeldCalls.filled(2, reason=[int(Reason.ALLOCATION), int(Reason.HOST_SYNC)], call=[8, 9])


def time(
    *spans: tuple[int, int],
    calls: Sequence[Call] = (),
    ahead_ns: Sequence[int] = (),
    preparing: Intervals | None = None,
    held: HeldCalls = HELD,
    **columns: Any,
) -> HostTime:
    """Pieces of one thread that did nothing else, each a part of its own."""
    count = len(spans)
    start, end = (np.array(column, dtype=np.int64) for column in zip(*spans, strict=True))
    usual = {
        "part": np.arange(count),
        "overhead": [False] * count,
        "held_row": [ABSENT] * count,
        "away": [False] * count,
        "drain": [ABSENT] * count,
        "own_share": [0.0] * count,
    }
    begin, finish, kinds = zip(*calls, strict=True) if calls else ((), (), ())
    table = ApiCalls.filled(len(calls), start_ns=begin, end_ns=finish, tid=1)
    host = SimpleNamespace(
        limits=USUAL,
        ahead_ns=np.array(ahead_ns, dtype=np.int64),
        preparing=preparing or Intervals.empty(),
        held=held,
    )
    made = {name: np.array(value) for name, value in (usual | columns).items()}
    return HostTime(
        start_ns=start,
        end_ns=end,
        thread=ThreadCalls(table, np.array(kinds, dtype=np.int8), 1),
        held=held,
        host=cast(HostTimeline, host),
        **made,
    )


def said(rule: Callable[[HostTime], Ruling], of: HostTime) -> list[tuple[int, int] | None]:
    """Reason and call of each piece; None where the rule does not speak."""
    ruling = rule(of)
    shape = ruling.rows.shape
    reason = np.broadcast_to(np.asarray(ruling.reason), shape).tolist()
    call = np.broadcast_to(np.asarray(ruling.call), shape).tolist()
    told = zip(ruling.rows.tolist(), reason, call, strict=True)
    return [(why, blamed) if speaks else None for speaks, why, blamed in told]


def speaks(rule: Callable[[HostTime], Ruling], of: HostTime) -> list[bool]:
    return [one is not None for one in said(rule, of)]


def test_the_profiler_and_calls_are_told_where_the_thread_was_in_them() -> None:
    of = time((0, 10), (10, 20), (20, 30), overhead=[True, False, False], held_row=[ABSENT, 1, 0])

    assert speaks(host_rules.profiler_overhead, of) == [True, False, False]
    assert said(host_rules.in_a_call, of) == [
        None,
        (Reason.HOST_SYNC, 9),
        (Reason.ALLOCATION, 8),
    ]
    drained = time((0, 10), (10, 20), drain=[1, ABSENT])
    assert said(host_rules.restart, drained) == [(Reason.HOST_SYNC, 9), None]


def test_a_nanosecond_of_compiling_is_compiling() -> None:
    of = time((0, 10), (10, 20), preparing=Intervals.span(19, 30))

    assert speaks(host_rules.preparing_code, of) == [False, True]


def late_once(
    start: int = 500_000, length: int = 10_000, ahead: Sequence[int] = (400_001,)
) -> bool:
    (found,) = speaks(host_rules.late_once, time((start, start + length), ahead_ns=ahead))
    return found


def test_late_by_the_distance_of_two_launches_and_ahead_just_before() -> None:
    assert late_once()
    assert not late_once(length=10_001)
    assert not late_once(ahead=[400_000])  # 100 us before
    assert not late_once(ahead=[500_000])
    assert late_once(ahead=[1, 499_999, 600_000])
    assert not late_once(ahead=[])
    assert not late_once(start=5_000, ahead=[])
    assert not late_once(start=5_000, ahead=[5_000])
    assert late_once(start=5_000, ahead=[4_999])


LAUNCH, OTHER = ApiKind.LAUNCH, ApiKind.OTHER


def away(*calls: Call, length: int = 100_000, **columns: Any) -> bool:
    (found,) = speaks(host_rules.away, time((0, length), calls=calls, **columns))
    return found


def test_long_and_mostly_outside_of_calls_that_hand_over_is_away() -> None:
    assert away()
    assert not away(length=99_999)
    assert away(length=10, away=[True])
    assert not away((0, 50_001, LAUNCH))
    assert away((0, 50_000, LAUNCH))
    assert away((0, 90_000, OTHER))
    assert not away(held_row=[0])


def test_each_piece_is_looked_at_by_itself() -> None:
    spans = [(0, 100_000), (100_000, 200_000), (200_000, 200_010)]
    of = time(*spans, calls=[(0, 60_000, LAUNCH)], away=[False, False, True])

    assert speaks(host_rules.away, of) == [False, True, True]


def test_the_launch_that_ends_an_absence_goes_with_it() -> None:
    """Pieces of two parts; the host was away in the first."""
    spans = [(0, 200_000), (200_000, 220_000), (220_000, 240_001), (300_000, 310_000)]
    part, gone = [0, 0, 0, 1], [True, False, False, False]

    assert speaks(host_rules.back_from_away, time(*spans, part=part, away=gone)) == [
        False, True, False, False,
    ]  # fmt: skip
    assert speaks(host_rules.back_from_away, time(*spans, part=part)) == [False] * 4


def in_others(*calls: Call, length: int = 50_000, **columns: Any) -> Any:
    (found,) = said(host_rules.in_other_calls, time((0, length), calls=calls, **columns))
    return found


def test_many_calls_that_hand_nothing_over_are_what_the_thread_did() -> None:
    """The longest of them is blamed."""
    calls: list[Call] = [(0, 10_000, OTHER), (10_000, 25_001, OTHER)]

    assert in_others(*calls) == (Reason.CUDA_CALL, 1)
    assert in_others((0, 10_000, OTHER), (10_000, 25_000, OTHER)) is None
    assert in_others((0, 10_000, OTHER), (10_000, 40_000, LAUNCH)) is None
    assert in_others(*calls, held_row=[0]) is None
    assert in_others((0, 40_000, OTHER), length=49_999) is None
    assert in_others() is None


def own(
    length: int = 1_000, share: float = 0.25, *, calls: Sequence[Call] = (), **columns: Any
) -> tuple[int, int]:
    """How much of a restart is the host's own, and what it is spent on."""
    case = time((0, length), calls=calls, **{"drain": [1], "own_share": [share], **columns})
    tails = host_rules.own_share_of_restart(case)
    return int(tails.own_ns[0]), int(tails.reason[0])


def test_of_a_restart_the_hosts_own_share_is_its_own() -> None:
    bound, starved = Reason.LAUNCH_BOUND, Reason.HOST_STARVED

    assert own() == (250, bound)
    assert own(share=0.2506) == (251, bound)
    assert own(length=100_000) == (25_000, starved)
    assert own(length=100_000, calls=[(0, 90_000, LAUNCH)]) == (25_000, bound)
    assert own(drain=[ABSENT])[0] == 0
    assert own(held_row=[0])[0] == 0
    assert own(overhead=[True])[0] == 0
    assert own(preparing=Intervals.span(0, 1))[0] == 0
    assert own(length=60_000, calls=[(0, 50_000, OTHER)])[0] == 0
    assert own(length=60_000, calls=[(0, 20_000, OTHER)])[0] == 15_000


@pytest.mark.parametrize("count", [1, 3])
def test_what_no_other_rule_explains_is_launching(count: int) -> None:
    assert (
        said(host_rules.launching, time(*[(0, 1)] * count))
        == [(Reason.LAUNCH_BOUND, ABSENT)] * count
    )
