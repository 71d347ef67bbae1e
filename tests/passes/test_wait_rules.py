"""Rules about waiting with nothing running, and about queues of copies, on tables made by hand."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from types import SimpleNamespace
from typing import Any, cast

import numpy as np
import pytest

from overlapcheck.columns import ABSENT
from overlapcheck.ledger import Reason
from overlapcheck.order import Relation
from overlapcheck.passes.ledger import queue_rules, wait_rules
from overlapcheck.passes.ledger.device_reasons import device_reasons
from overlapcheck.passes.ledger.hardware_queues import HardwareQueues
from overlapcheck.passes.ledger.idle_parts import Part
from overlapcheck.passes.ledger.queue_rules import Queue
from overlapcheck.passes.ledger.rule import Ruling
from overlapcheck.passes.ledger.wait_rules import Waits
from tests.passes.test_fill_rules import CROWDED, D2D, D2H, FILL, H2D, HOST, LATENCY, C, fills

ELSEWHERE = int(Part.ELSEWHERE)
SAME, EVENT = Reason.SAME_STREAM, Reason.EVENT_WAIT


def waits(
    parts: Sequence[int],
    *,
    ends_us: Sequence[int] | None = None,
    row: int | None = None,
    transfers: Sequence[bool] | None = None,
    ops: dict[str, Any] | None = None,
    queues: HardwareQueues = CROWDED,
    **columns: Any,
) -> Waits:
    """Parts from 100 us on, of 20 us each or up to some times; the rules are asked about one."""
    count = len(parts)
    ends = 1000 * np.array(ends_us or [120 + 20 * i for i in range(count)])
    drawn = {
        "start_ns": [100_000, *ends[:-1]],
        "end_ns": ends,
        "piece": [0] * count,
        "part": parts,
        "operation": [2] * count,
        "kernel": [2] * count,
    }
    of = fills(ops, drawn | columns, rows=[0], queues=queues)
    row = parts.index(LATENCY) if row is None else row
    ran = np.array(parts) == FILL if transfers is None else np.array(transfers)
    # Each part has a reason of its own.
    return Waits(np.array([row]), of.parts, ran, np.arange(10, 10 + count, dtype=np.int8), of.given)


def said(rule: Callable[[Any], Ruling], case: Any) -> list[int | None]:
    """Reason of each row; None where the rule does not speak."""
    ruling = rule(case)
    reason = np.broadcast_to(np.asarray(ruling.reason), ruling.rows.shape).tolist()
    return [
        why if speaks else None for speaks, why in zip(ruling.rows.tolist(), reason, strict=True)
    ]


BEHIND, BEFORE = [FILL, LATENCY], [LATENCY, FILL]


@pytest.mark.parametrize(("end_us", "short"), [(140, True), (141, False)])
def test_a_start_takes_up_to_twenty_microseconds(end_us: int, short: bool) -> None:
    """The wait begins at 120 us."""
    (behind,) = said(wait_rules.just_after, waits(BEHIND, ends_us=[120, end_us]))
    (alone,) = said(wait_rules.starting, waits(BEHIND, ends_us=[120, end_us]))

    assert behind == (10 if short else None)
    assert alone == (Reason.LAUNCH_LATENCY if short else None)


def test_a_start_beside_a_transfer_of_its_piece_is_the_transfers() -> None:
    assert said(wait_rules.just_after, waits(BEHIND)) == [10]
    assert said(wait_rules.just_before, waits(BEFORE)) == [11]
    assert said(wait_rules.just_before, waits(BEHIND)) == [None]
    assert said(wait_rules.just_after, waits(BEFORE)) == [None]
    for rule, parts in ((wait_rules.just_after, BEHIND), (wait_rules.just_before, BEFORE)):
        assert said(rule, waits(parts, piece=[0, 1])) == [None]
        assert said(rule, waits(parts, transfers=[False, False])) == [None]
        assert said(rule, waits([LATENCY], transfers=[True])) == [None]


def test_only_the_parts_next_to_a_start_are_beside_it() -> None:
    assert said(wait_rules.just_after, waits([HOST, *BEHIND])) == [11]
    assert said(wait_rules.just_after, waits([FILL, HOST, LATENCY])) == [None]
    assert said(wait_rules.just_before, waits([*BEFORE, HOST])) == [11]
    assert said(wait_rules.just_before, waits([LATENCY, HOST, FILL])) == [None]


def test_a_long_wait_before_a_transfer_is_not_its_start() -> None:
    assert said(wait_rules.just_before, waits(BEFORE, ends_us=[121, 140])) == [None]


def staged(begin_us: int, end_us: int, parts: Sequence[int] = BEFORE, **more: Any) -> int | None:
    """A wait from 100 to 120 us, and the call of what follows."""
    launched = {
        "launch_start_ns": [0, 0, 1000 * begin_us],
        "launch_end_ns": [0, 0, 1000 * end_us],
    }
    (found,) = said(wait_rules.staged, waits(parts, ops=launched, **more))
    return found


def test_a_copy_whose_call_is_open_all_the_while_is_being_staged() -> None:
    assert staged(100, 120) == 11
    assert staged(101, 120) is None
    assert staged(100, 119) is None
    assert staged(50, 300) == 11
    assert staged(50, 300, piece=[0, 1]) is None
    assert staged(50, 300, parts=[LATENCY, HOST]) is None


def late(parts: Sequence[int] = (HOST, LATENCY), **columns: Any) -> bool:
    return said(wait_rules.late_start, waits(list(parts), **columns)) == [Reason.LATE_START]


def test_what_was_handed_over_to_an_idle_device_starts_late() -> None:
    assert late()
    assert not late((FILL, LATENCY))
    assert not late((LATENCY,))
    assert not late(piece=[0, 1])
    assert not late(operation=[1, 2])


def behind_unrelated(parts: Sequence[int] = (LATENCY,), **more: Any) -> bool:
    """A wait from 100 to 110 us; a copy of another stream ends at 109, and operation 2 follows."""
    ops = {"start_ns": [0, 50_000, 110_000], "end_ns": [100_000, 109_000, 200_000]}
    case = waits(list(parts), ends_us=[110], ops=ops | more.pop("ops", {}), row=0, **more)
    return said(wait_rules.behind_unrelated_work, case) == [Reason.HARDWARE_QUEUE]


def test_what_begins_as_unrelated_work_ends_may_have_stood_behind_it() -> None:
    alone = HardwareQueues(False, CROWDED.host_functions, CROWDED.of_graph)

    assert behind_unrelated()
    assert not behind_unrelated(queues=alone)
    assert not behind_unrelated((int(Part.OPEN),))
    assert not behind_unrelated(ops={"stream": 7})
    assert not behind_unrelated(ops={"end_ns": [100_000, 100_000, 200_000]})
    assert behind_unrelated(ops={"end_ns": [100_000, 100_001, 200_000]})


@pytest.mark.parametrize("part", Part)
def test_only_what_waits_for_another_device_is_an_events(part: Part) -> None:
    expected = EVENT if part is Part.ELSEWHERE else None

    assert said(wait_rules.another_device, waits([int(part)], row=0)) == [expected]


# Four copies behind one another in one piece, of which each waited for the one before.
CHAIN: dict[str, Any] = {
    "start_ns": [0, 100_000, 110_000, 120_000, 130_000, 150_000],
    "end_ns": [100_000, 110_000, 120_000, 130_000, 140_000, 200_000],
    "work": [C, H2D, H2D, H2D, H2D, C],
    "stream": [7, 9, 9, 9, 9, 7],
    "call": [0, 1, 2, 3, 4, 5],
    "launch_start_ns": 0,
    "launch_end_ns": 0,
    "bytes": 1 << 20,
}
PARTS: dict[str, Any] = {
    "start_ns": [100_000, 110_000, 120_000, 130_000],
    "end_ns": [110_000, 120_000, 130_000, 140_000],
    "piece": [0] * 4,
    "part": [FILL] * 4,
    "operation": [1, 2, 3, 4],
    "kernel": [5] * 4,
}
WHY = [SAME, EVENT, Reason.LATE_ISSUE, Reason.UNEXPLAINED]


def queue(
    relations: Sequence[Relation] = (Relation.STREAM,) * 4,
    why: Sequence[Reason] = WHY,
    predecessor: Sequence[int] = (ABSENT, 0, 1, 2, 3, 4),
    parts: dict[str, Any] | None = None,
    host_reason: Sequence[int] | None = None,
) -> Queue:
    codes = [0, *map(int, relations), 0]
    of = fills(
        CHAIN,
        PARTS | (parts or {}),
        predecessor=predecessor,
        relation=codes,
        host_reason=host_reason,
    )
    count = len(of.rows)
    reasons = np.array([int(one) for one in why[:count]], dtype=np.int8)
    return Queue(of, np.arange(count), reasons, np.arange(20, 20 + count, dtype=np.int32))


def behind_a_copy(**more: Any) -> list[tuple[int, int] | None]:
    case = queue(**more)
    ruling = queue_rules.behind_a_copy(case)
    told = zip(ruling.rows.tolist(), ruling.reason, ruling.call, strict=True)  # type: ignore[arg-type]
    return [(int(why), int(call)) if speaks else None for speaks, why, call in told]


def test_copies_that_queued_behind_a_copy_are_late_for_the_first_ones_reason() -> None:
    first = (int(SAME), 20)

    assert behind_a_copy() == [None, first, first, first]
    assert behind_a_copy(predecessor=[ABSENT, 0, 1, 0, 3, 4]) == [
        None,
        first,
        None,
        (int(Reason.LATE_ISSUE), 22),
    ]
    assert behind_a_copy(parts={"piece": [0, 1, 1, 1]}) == [
        None,
        None,
        (int(EVENT), 21),
        (int(EVENT), 21),
    ]


@pytest.mark.parametrize("what", [Reason.PAGEABLE_COPY, Reason.SYNC_COPY, Reason.LATE_ISSUE])
def test_what_a_copy_is_outweighs_its_place(what: Reason) -> None:
    settled = what is not Reason.LATE_ISSUE
    found = behind_a_copy(why=[SAME, what, EVENT, EVENT])
    second = (int(what), 21) if settled else (int(SAME), 20)

    assert found == [None, None if settled else (int(SAME), 20), second, second]


def test_a_copy_that_follows_a_late_host_begins_anew() -> None:
    """The host was late between the first and the second."""
    parts = {
        "start_ns": [100_000, 108_000, 110_000, 120_000, 130_000],
        "end_ns": [108_000, 110_000, 120_000, 130_000, 140_000],
        "piece": [0] * 5,
        "part": [FILL, HOST, FILL, FILL, FILL],
        "operation": [1, 2, 2, 3, 4],
        "kernel": [5] * 5,
    }
    host = [ABSENT, int(Reason.ALLOCATION), ABSENT, ABSENT, ABSENT]

    # All that comes after it follows the host.
    assert behind_a_copy(parts=parts, host_reason=host) == [None] * 4


def behind_the_engine(**more: Any) -> list[bool]:
    ruling = queue_rules.behind_the_engine(queue(**more))
    return ruling.rows.tolist()


def test_two_copies_that_only_the_engine_ties_are_the_engines() -> None:
    stream, engine = Relation.STREAM, Relation.ENGINE

    assert behind_the_engine(relations=[stream, stream, engine, stream]) == [
        False, True, True, False,
    ]  # fmt: skip
    assert behind_the_engine(relations=[engine, stream, stream, stream]) == [False] * 4
    assert behind_the_engine(relations=[stream, engine, engine, engine]) == [True] * 4
    pageable = [Reason.PAGEABLE_COPY, *WHY[1:]]
    assert behind_the_engine(relations=[stream, engine, stream, stream], why=pageable) == [
        False, True, False, False,
    ]  # fmt: skip
    assert behind_a_copy(relations=[stream, engine, stream, stream])[1:] == [
        None,
        (int(EVENT), 21),
        (int(EVENT), 21),
    ]


def reasons_of(parts: dict[str, Any], ops: dict[str, Any] | None = None, **more: Any) -> list[int]:
    of = fills(ops, parts, **more)
    given = SimpleNamespace(**{**vars(of.given), "queues": CROWDED})
    reason, _ = device_reasons(of.parts, cast(Any, given), of.host_reason, of.host_call)
    return reason.tolist()


@pytest.mark.parametrize(("work", "its"), [(H2D, True), (D2H, True), (D2D, False)])
def test_a_start_behind_a_transfer_is_its_but_not_behind_work_within_the_device(
    work: int, its: bool
) -> None:
    """A copy in the stream of the kernels from 100 to 150 us, then 5 us of nothing."""
    parts = {
        "start_ns": [100_000, 150_000],
        "end_ns": [150_000, 155_000],
        "part": [FILL, LATENCY],
        "operation": [1, 2],
    }
    ops = {"stream": 7, "work": [C, work, C], "start_ns": [0, 100_000, 155_000]}
    copy = Reason.SAME_STREAM if its else Reason.DEVICE_COPY

    assert reasons_of(parts, ops) == [copy, copy if its else Reason.LAUNCH_LATENCY]


def test_parts_of_the_host_are_none_of_the_devices() -> None:
    parts = {
        "start_ns": [100_000, 140_000],
        "end_ns": [140_000, 150_000],
        "part": [HOST, LATENCY],
        "operation": 2,
    }
    assert reasons_of(parts) == [Reason.UNEXPLAINED, Reason.LAUNCH_LATENCY]
    assert reasons_of({**parts, "part": HOST}) == [Reason.UNEXPLAINED] * 2
