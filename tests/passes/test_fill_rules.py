"""Rules about what ran while compute waited, each by itself, on tables made by hand.

s7   ####        ####      operations 0 and 2
s9       [ copy ]          operation 1, in the only part: from 100 to 150 us
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from types import SimpleNamespace
from typing import Any, cast

import numpy as np
import pytest

from overlapcheck.columns import ABSENT, ABSENT_TIME
from overlapcheck.copies import CopyOverlap, Direction
from overlapcheck.intervals import Intervals
from overlapcheck.ledger import Reason
from overlapcheck.order import LINK_COPIES, Operations, Relation, Work
from overlapcheck.passes.ledger import fill_rules
from overlapcheck.passes.ledger.fill_rules import Fills
from overlapcheck.passes.ledger.hardware_queues import HardwareQueues
from overlapcheck.passes.ledger.held import HeldCalls
from overlapcheck.passes.ledger.idle_parts import Part, Parts
from overlapcheck.passes.ledger.ledger_input import LedgerInput
from overlapcheck.passes.ledger.rule import Ruling
from overlapcheck.thresholds import USUAL

C, H2D, D2H, P2P, D2D = (
    int(work) for work in (Work.COMPUTE, Work.H2D, Work.D2H, Work.P2P, Work.D2D)
)
OPS: dict[str, Any] = {
    "start_ns": [0, 100_000, 150_000],
    "end_ns": [100_000, 150_000, 200_000],
    "work": [C, H2D, C],
    "stream": [7, 9, 7],
    "call": [0, 1, 2],
    "launch_start_ns": [-10_000, 10_000, 20_000],
    "launch_end_ns": [-5_000, 15_000, 25_000],
    "tid": 1,
    "bytes": [0, 1 << 20, 0],
}
PARTS: dict[str, Any] = {
    "start_ns": [100_000],
    "end_ns": [150_000],
    "piece": 0,
    "part": int(Part.FILL),
    "operation": 1,
    "kernel": 2,
}
FILL, HOST, LATENCY = int(Part.FILL), int(Part.HOST), int(Part.LATENCY)
Held = tuple[int, int, int, Reason, int]
"""Thread, begin, end, reason and call."""


def fills(
    ops: Mapping[str, Any] | None = None,
    parts: Mapping[str, Any] | None = None,
    *,
    rows: Sequence[int] | None = None,
    held: Sequence[Held] = (),
    host_reason: Sequence[int] | None = None,
    host_call: Sequence[int] | None = None,
    submit_ns: Sequence[int] | None = None,
    copies: Mapping[Direction, CopyOverlap] | None = None,
    queues: HardwareQueues | None = None,
    **depends: Sequence[int],
) -> Fills:
    """What ran, with some columns otherwise; nothing waited for anything but as given."""
    columns = OPS | dict(ops or {})
    made = Operations.filled(len(columns["start_ns"]), **columns)
    drawn = PARTS | dict(parts or {})
    table = Parts.filled(len(drawn["start_ns"]), **drawn)
    none = [ABSENT] * len(made)
    waits = {"predecessor": none, "elsewhere": none, "relation": [0] * len(made)} | depends
    spans = np.array(held, dtype=np.int64).reshape(-1, 5).T
    given = SimpleNamespace(
        ops=made,
        limits=USUAL,
        depends=SimpleNamespace(**{name: np.array(value) for name, value in waits.items()}),
        submit_ns=made.launch_end_ns if submit_ns is None else np.array(submit_ns),
        host=SimpleNamespace(
            held=HeldCalls(*spans[:3], spans[3].astype(np.int8), spans[4].astype(np.int32))
        ),
        copies=copies or {},
        queues=queues,
    )
    filled = np.flatnonzero(table.part == Part.FILL) if rows is None else np.array(rows)
    return Fills(
        filled,
        table,
        np.array(host_reason or [ABSENT] * len(table), dtype=np.int8),
        np.array(host_call or [ABSENT] * len(table), dtype=np.int32),
        cast(LedgerInput, given),
    )


def said(rule: Callable[[Fills], Ruling], of: Fills) -> list[tuple[Reason, int] | None]:
    """Reason and call of each fill; None where the rule does not speak."""
    ruling = rule(of)
    reason = np.broadcast_to(np.asarray(ruling.reason), ruling.rows.shape).tolist()
    call = np.broadcast_to(np.asarray(ruling.call), ruling.rows.shape).tolist()
    spoken = ruling.rows.tolist()
    return [
        (Reason(why), blamed) if speaks else None
        for speaks, why, blamed in zip(spoken, reason, call, strict=True)
    ]


def speaks(rule: Callable[[Fills], Ruling], of: Fills) -> bool:
    (one,) = said(rule, of)
    return one is not None


@pytest.mark.parametrize(
    ("sizes", "calls", "small"),
    [
        ([65_536, 0], [1, 2], True),
        ([65_537, 0], [1, 2], False),
        ([65_535, 1], [1, 1], True),  # both are of one call
        ([65_536, 1], [1, 1], False),
        ([65_536, 1], [ABSENT, ABSENT], True),
        ([65_537, 0], [ABSENT, ABSENT], False),
    ],
)
def test_a_copy_is_small_by_all_that_its_call_copied(
    sizes: list[int], calls: list[int], small: bool
) -> None:
    columns = {"bytes": [0, sizes[0], sizes[1]], "call": [0, *calls], "work": [C, H2D, H2D]}

    assert fills(columns).small.tolist() == [small]
    assert fills({**columns, "work": [C, D2D, H2D]}).small.tolist() == [False]


WAIT: Held = (1, 120_000, 160_000, Reason.HOST_SYNC, 5)
LATER = {"submit_ns": [0, 15_000, 165_000]}


def test_a_read_back_is_waited_for_by_a_call_that_ends_with_it() -> None:
    assert fills(held=[WAIT], **LATER).awaited.tolist() == [True]
    assert fills(**LATER).awaited.tolist() == [False]
    for reason in Reason:
        waited = fills(held=[(1, 120_000, 160_000, reason, 5)], **LATER).awaited
        assert waited.tolist() == [reason in fill_rules.DEVICE_WAITS]


@pytest.mark.parametrize(
    ("begin", "end", "waits"),
    [
        (120_000, 170_000, True),  # 20 us after the copy
        (120_000, 170_001, False),
        (120_000, 148_001, True),  # 2 us before its end the call was open still
        (120_000, 148_000, False),
        (148_000, 160_000, True),
        (148_001, 160_000, False),
    ],
)
def test_the_call_was_open_when_it_ended_and_returned_soon(
    begin: int, end: int, waits: bool
) -> None:
    call: Held = (1, begin, end, Reason.HOST_SYNC, 5)
    early: Held = (1, 0, 10, Reason.HOST_SYNC, 4)
    other: Held = (2, 0, 10, Reason.HOST_SYNC, 4)

    assert fills(held=[early, call, other], **LATER).awaited.tolist() == [waits]


@pytest.mark.parametrize(("submitted", "waits"), [(148_000, True), (147_999, False)])
def test_what_follows_was_submitted_only_then(submitted: int, waits: bool) -> None:
    submit = [0, 15_000, submitted]

    assert fills(held=[WAIT], submit_ns=submit).awaited.tolist() == [waits]
    last = fills(parts={"kernel": ABSENT}, held=[WAIT], submit_ns=submit)
    assert last.awaited.tolist() == [True]


def test_calls_of_any_thread_may_wait_for_it() -> None:
    first: Held = (1, 0, 500_000, Reason.HOST_SYNC, 4)
    second: Held = (2, 120_000, 160_000, Reason.SYNC_COPY, 5)

    assert fills(held=[first, second], **LATER).awaited.tolist() == [True]
    assert fills(held=[(1, *second[1:]), (2, *first[1:])], **LATER).awaited.tolist() == [True]


def test_only_small_read_backs_that_were_waited_for_are_waits() -> None:
    small = {"bytes": [0, 8, 0]}

    def read_back(work: int = D2H, held: Sequence[Held] = (WAIT,), size: int = 8) -> bool:
        columns = {"bytes": [0, size, 0], "work": [C, work, C]}
        return speaks(fill_rules.small_read_back, fills(columns, held=held, **LATER))

    assert said(
        fill_rules.small_read_back, fills(small | {"work": [C, D2H, C]}, held=[WAIT], **LATER)
    ) == [(Reason.HOST_SYNC, 1)]
    assert not read_back(H2D)
    assert not read_back(held=())
    assert not read_back(size=1 << 20)


@pytest.mark.parametrize("work", Work)
@pytest.mark.parametrize("size", [8, 1 << 20])
@pytest.mark.parametrize("is_pageable", [True, False])
def test_pageable_copies_over_the_link_are_blamed_but_for_staged_ones(
    work: Work, size: int, is_pageable: bool
) -> None:
    columns = {"bytes": [0, size, 0], "work": [C, int(work), C], "pageable": is_pageable}
    staged = size == 8 and work is Work.H2D
    expected = is_pageable and work in LINK_COPIES and not staged

    assert said(fill_rules.pageable, fills(columns)) == [
        (Reason.PAGEABLE_COPY, 1) if expected else None
    ]


def test_a_synchronous_call_is_that_of_the_copy() -> None:
    sync = [(1, 0, 1, Reason.SYNC_COPY, 1), (1, 2, 3, Reason.HOST_SYNC, 4)]

    assert said(fill_rules.synchronous, fills(held=sync)) == [(Reason.SYNC_COPY, 1)]
    assert not speaks(fill_rules.synchronous, fills(held=[(1, 0, 1, Reason.SYNC_COPY, 2)]))
    assert not speaks(fill_rules.synchronous, fills(held=[(1, 0, 1, Reason.HOST_SYNC, 1)]))
    assert not speaks(fill_rules.synchronous, fills({"work": [C, D2D, C]}, held=sync))


SAME = {"stream": [7, 7, 7]}


def between(columns: Mapping[str, Any], parts: Mapping[str, Any] | None = None) -> bool:
    return speaks(fill_rules.in_the_compute_stream, fills(SAME | dict(columns), parts))


def test_a_copy_between_two_kernels_of_its_stream_stands_in_their_way() -> None:
    assert between({})
    assert not between({"work": [C, D2D, C]})
    assert not between({"stream": [7, 9, 7]})
    assert not between({"stream": [7, 9, 9]})  # no kernel before it in its stream
    assert not between({"stream": [7, 7, 9]})
    assert not between({"work": [H2D, H2D, C]})
    assert not between({}, {"kernel": ABSENT})


def test_one_that_ran_before_compute_had_ended_does_not() -> None:
    assert not between({"start_ns": [0, 99_999, 150_000]})


@pytest.mark.parametrize(("end", "stands"), [(80_000, True), (79_999, False)])
def test_the_kernel_before_it_ended_with_the_piece_at_the_earliest(end: int, stands: bool) -> None:
    """Or a start earlier; the copy may be a later part of the piece."""
    assert between({"end_ns": [end, 150_000, 200_000]}) is stands
    parts = {"start_ns": [100_000, 120_000], "end_ns": [120_000, 150_000], "part": [HOST, FILL]}
    drawn = fills(
        SAME | {"end_ns": [end, 150_000, 200_000], "start_ns": [0, 120_000, 150_000]}, parts
    )
    assert speaks(fill_rules.in_the_compute_stream, drawn) is stands


def test_a_kernel_of_another_stream_is_not_the_one_before_it() -> None:
    """Streams lie behind one another in the order that the last kernel is looked up in."""
    assert not between({"stream": [6, 7, 7]})
    assert fills({"stream": [6, 7, 7]}).last_compute_ns.tolist() == [ABSENT_TIME]
    assert fills({"stream": [7, 7, 7]}).last_compute_ns.tolist() == [100_000]


SYNC: Held = (1, 90_000, 160_000, Reason.HOST_SYNC, 5)
THEN = {
    "start_ns": [100_000, 150_000],
    "end_ns": [150_000, 170_000],
    "part": [FILL, HOST],
    "operation": [1, 2],
}


def by_host(parts: Mapping[str, Any], held: Sequence[Held] = (SYNC,), **ops: Any) -> Any:
    return said(fill_rules.waited_for_by_host, fills(ops, THEN | dict(parts), held=held))


def test_the_host_waited_for_a_copy_in_its_middle_before_it_launched_on() -> None:
    assert by_host({}) == [(Reason.HOST_SYNC, 5)]
    assert by_host({"part": [FILL, LATENCY]}) == [None]
    assert by_host({"piece": [0, 1]}) == [None]
    assert by_host({}, work=[C, D2D, C]) == [None]
    assert by_host({}, tid=2) == [None]
    assert by_host({}, held=[]) == [None]


@pytest.mark.parametrize(
    ("begin", "end", "inside"),
    [(125_000, 126_000, True), (125_001, 160_000, False), (90_000, 125_000, False)],
)
def test_it_waited_when_half_of_the_copy_was_done(begin: int, end: int, inside: bool) -> None:
    before: Held = (0, 90_000, 160_000, Reason.ALLOCATION, 3)
    found = by_host({}, held=[before, (1, begin, end, Reason.HOST_SYNC, 5)])

    assert found == [(Reason.HOST_SYNC, 5) if inside else None]


@pytest.mark.parametrize("reason", Reason)
def test_only_calls_that_return_when_the_device_is_done_wait_for_it(reason: Reason) -> None:
    found = by_host({}, held=[(1, 90_000, 160_000, reason, 5)])

    assert found == [(reason, 5) if reason in fill_rules.DEVICE_WAITS else None]


def test_nothing_follows_the_last_part() -> None:
    assert said(fill_rules.waited_for_by_host, fills(held=[SYNC])) == [None]
    parts = {**THEN, "part": [HOST, FILL], "operation": [2, 1]}
    assert said(fill_rules.waited_for_by_host, fills({}, parts, held=[SYNC])) == [None]


def test_each_copy_is_held_against_the_thread_that_launched_on() -> None:
    parts = {
        "start_ns": [100_000, 150_000, 200_000, 250_000],
        "end_ns": [150_000, 200_000, 250_000, 260_000],
        "part": [FILL, HOST, FILL, HOST],
        "operation": [1, 2, 1, 3],
        "piece": [0, 0, 1, 1],
    }
    ops = {name: [*column, column[-1]] for name, column in OPS.items() if name != "tid"}
    held: list[Held] = [
        (1, 90_000, 160_000, Reason.HOST_SYNC, 5),
        (2, 90_000, 160_000, Reason.ALLOCATION, 6),
        (2, 190_000, 300_000, Reason.SYNC_COPY, 7),
    ]
    found = said(
        fill_rules.waited_for_by_host, fills({**ops, "tid": [1, 1, 1, 2]}, parts, held=held)
    )

    assert found == [(Reason.HOST_SYNC, 5), (Reason.SYNC_COPY, 7)]


# A copy that began under the kernel before the piece, which it was issued after a wait for.
RUNS_ON: dict[str, Any] = {
    "start_ns": [0, 60_000, 150_000],
    "launch_start_ns": [-10_000, 40_000, 20_000],
    "launch_end_ns": [-5_000, 45_000, 25_000],
}
ISSUED: Held = (1, 0, 30_000, Reason.HOST_SYNC, 5)


def issued(
    held: Sequence[Held] = (ISSUED,), ops: Mapping[str, Any] | None = None, **more: Any
) -> Any:
    drawn = fills(RUNS_ON | dict(ops or {}), held=held, **more)
    return said(fill_rules.issued_after_a_wait, drawn)


def test_a_copy_that_was_issued_right_after_a_wait_is_that_waits() -> None:
    assert issued() == [(Reason.HOST_SYNC, 5)]
    assert issued([]) == [None]
    assert issued([(2, *ISSUED[1:])]) == [None]
    assert issued(ops={"start_ns": [0, 100_000, 150_000]}) == [None]
    assert issued(ops={"work": [C, D2D, C]}) == [None]
    assert issued([(1, 0, 30_000, Reason.GRAPH_LAUNCH, 5)]) == [None]
    assert issued([(1, 0, 30_000, Reason.ALLOCATION, 5)]) == [(Reason.ALLOCATION, 5)]


@pytest.mark.parametrize(
    ("end", "close"), [(20_000, True), (19_999, False), (40_000, True), (40_001, False)]
)
def test_right_after_it_is_within_twenty_microseconds(end: int, close: bool) -> None:
    """The copy was issued at 40 us."""
    assert issued([(1, 0, end, Reason.HOST_SYNC, 5)]) == [(Reason.HOST_SYNC, 5) if close else None]


@pytest.mark.parametrize(("ended", "late"), [(43_999, True), (44_000, False)])
def test_it_was_late_for_what_it_had_to_wait_for(ended: int, late: bool) -> None:
    """Handed over at 45 us, a microsecond later than that had ended, or more."""
    ops = {"end_ns": [ended, 150_000, 200_000]}
    found = issued(ops=ops, predecessor=[ABSENT, 0, ABSENT])

    assert found == [(Reason.HOST_SYNC, 5) if late else None]


def test_each_copy_is_held_against_its_own_thread() -> None:
    """Copies of threads 2, 1 and 2, the third of which was in time."""
    count = 5
    ops = {
        "start_ns": [0, 60_000, 60_000, 60_000, 150_000],
        "end_ns": [10_000, 150_000, 150_000, 150_000, 200_000],
        "work": [C, H2D, H2D, H2D, C],
        "stream": 7,
        "call": list(range(count)),
        "launch_start_ns": [-10_000, 40_000, 45_000, 40_000, 20_000],
        "launch_end_ns": [-5_000, 41_000, 46_000, 10_500, 25_000],
        "tid": [1, 2, 1, 2, 1],
        "bytes": 1 << 20,
    }
    parts = {"start_ns": [100_000] * 3, "end_ns": [150_000] * 3, "operation": [1, 2, 3]}
    held: list[Held] = [
        (1, 0, 44_000, Reason.HOST_SYNC, 5),
        (2, 0, 10, Reason.ALLOCATION, 6),
        (2, 20, 39_000, Reason.SYNC_COPY, 7),
    ]
    drawn = fills(ops, parts, held=held, predecessor=[ABSENT, 0, 0, 0, ABSENT])

    assert said(fill_rules.issued_after_a_wait, drawn) == [
        (Reason.SYNC_COPY, 7),
        (Reason.HOST_SYNC, 5),
        None,
    ]


def test_a_copy_after_a_late_host_is_late_for_its_reason() -> None:
    late = {"start_ns": [100_000, 120_000], "end_ns": [120_000, 150_000], "part": [HOST, FILL]}
    begun = {"start_ns": [0, 120_000, 150_000]}
    why = {"host_reason": [int(Reason.ALLOCATION), ABSENT], "host_call": [6, ABSENT]}

    def after(ops: Mapping[str, Any], parts: Mapping[str, Any], **reasons: Any) -> Any:
        return said(fill_rules.after_late_host, fills(ops, parts, **(why | reasons)))

    assert after(begun, late) == [(Reason.ALLOCATION, 6)]
    assert after({"start_ns": [0, 119_999, 150_000]}, late) == [None]
    assert after({**begun, "work": [C, D2D, C]}, late) == [None]
    assert after(begun, {**late, "piece": [0, 1]}) == [None]
    assert after(begun, late, host_reason=[ABSENT, ABSENT]) == [None]
    several = {
        "start_ns": [100_000, 105_000, 110_000, 120_000],
        "end_ns": [105_000, 110_000, 120_000, 150_000],
        "part": [HOST, HOST, LATENCY, FILL],
    }
    reasons = [int(Reason.ALLOCATION), int(Reason.HOST_SYNC), ABSENT, ABSENT]
    assert after(begun, several, host_reason=reasons, host_call=[6, 7, ABSENT, ABSENT]) == [
        (Reason.HOST_SYNC, 7)
    ]


def copying(direction: Direction, copy_ns: int, compute_ns: int) -> dict[Direction, CopyOverlap]:
    none, busy = Intervals.empty(), Intervals.span(0, copy_ns)
    return {direction: CopyOverlap(direction, 1, 1, 0, busy, none, none, busy, compute_ns)}


@pytest.mark.parametrize(
    ("work", "direction"), [(H2D, Direction.H2D), (D2H, Direction.D2H), (P2P, Direction.P2P)]
)
@pytest.mark.parametrize(("copy_ns", "bound"), [(5_000, True), (4_999, False)])
def test_what_outlasts_compute_is_too_much_or_too_late(
    work: int, direction: Direction, copy_ns: int, bound: bool
) -> None:
    ops = RUNS_ON | {"work": [C, work, C]}
    drawn = fills(ops, copies=copying(direction, copy_ns, 5_000))

    assert speaks(fill_rules.too_much_data, drawn) is bound
    assert speaks(fill_rules.issued_too_late, drawn) is not bound


def test_only_copies_that_nothing_but_copies_held_up_outlast_compute() -> None:
    """It waited for nothing, for a copy, or for what had ended when it was handed over."""

    def outlasts(ops: Mapping[str, Any], **depends: Any) -> bool:
        return speaks(fill_rules.issued_too_late, fills(RUNS_ON | dict(ops), **depends))

    before = {"predecessor": [ABSENT, 0, ABSENT]}
    assert outlasts({})
    assert not outlasts({"start_ns": [0, 100_000, 150_000]})
    assert not outlasts({"work": [C, D2D, C]})
    assert not outlasts({"end_ns": [44_000, 150_000, 200_000]}, **before)
    assert outlasts({"end_ns": [43_999, 150_000, 200_000]}, **before)
    unknown = [0, ABSENT_TIME, 0]  # nobody saw it launched
    assert outlasts({}, submit_ns=unknown)
    assert not outlasts({"end_ns": [44_000, 150_000, 200_000]}, submit_ns=unknown, **before)
    for work in Work:
        held_up = {"work": [int(work), H2D, C]}
        assert outlasts(held_up, **before) is (work in LINK_COPIES)


@pytest.mark.parametrize("work", Work)
def test_a_copy_that_waited_for_another_device_is_an_events(work: Work) -> None:
    other = {"elsewhere": [ABSENT, 0, ABSENT]}
    drawn = fills({"work": [C, int(work), C]}, **other)

    assert speaks(fill_rules.behind_another_device, drawn) is (work in LINK_COPIES)
    assert not speaks(fill_rules.behind_another_device, fills())


ORDERED = {
    Relation.STREAM: (fill_rules.behind_its_stream, Reason.SAME_STREAM),
    Relation.EVENT: (fill_rules.behind_an_event, Reason.EVENT_WAIT),
    Relation.GRAPH: (fill_rules.behind_its_graph, Reason.EVENT_WAIT),
    Relation.NULL_STREAM: (fill_rules.behind_the_null_stream, Reason.DEFAULT_STREAM),
    Relation.ENGINE: (fill_rules.behind_its_engine, Reason.COPY_ENGINE),
}


@pytest.mark.parametrize("relation", ORDERED)
@pytest.mark.parametrize("actual", Relation)
@pytest.mark.parametrize(("start", "bound"), [(120_000, True), (120_001, False)])
def test_an_order_holds_a_copy_that_begins_as_soon_as_it_may(
    relation: Relation, actual: Relation, start: int, bound: bool
) -> None:
    rule, reason = ORDERED[relation]
    depends = {"predecessor": [ABSENT, 0, ABSENT], "relation": [0, int(actual), 0]}
    begun = {"start_ns": [0, start, 150_000]}
    expected = (reason, ABSENT) if bound and actual is relation else None

    assert said(rule, fills(begun, **depends)) == [expected]
    assert said(rule, fills(begun | {"work": [C, D2D, C]}, **depends)) == [None]
    assert said(rule, fills(begun, relation=[0, int(actual), 0])) == [None]


FIRST: dict[str, Any] = {
    "start_ns": [0, 100_000, 150_000],
    "end_ns": [10, 150_000, 200_000],
    "work": [H2D, H2D, C],
}
ALONE = {"predecessor": [ABSENT, ABSENT, 1], "relation": [0, 0, int(Relation.EVENT)]}


def before_all(
    ops: Mapping[str, Any], parts: Mapping[str, Any] | None = None, **depends: Any
) -> Any:
    drawn = fills(FIRST | dict(ops), parts, **(ALONE | depends))
    return said(fill_rules.before_all_compute, drawn)


@pytest.mark.parametrize(
    ("relation", "reason"),
    [
        (Relation.STREAM, Reason.SAME_STREAM),
        (Relation.EVENT, Reason.EVENT_WAIT),
        (Relation.GRAPH, Reason.EVENT_WAIT),
        (Relation.NULL_STREAM, Reason.DEFAULT_STREAM),
        (Relation.ENGINE, None),
        (Relation.HOST, None),
        (Relation.NONE, None),
    ],
)
def test_before_all_compute_the_order_of_what_waited_counts(
    relation: Relation, reason: Reason | None
) -> None:
    found = before_all({}, relation=[0, 0, int(relation)])

    assert found == [None if reason is None else (reason, ABSENT)]


def test_before_all_compute_is_before_the_first_kernel_begins() -> None:
    event = [(Reason.EVENT_WAIT, ABSENT)]

    assert before_all({}) == event
    assert before_all({"end_ns": [10, 150_001, 200_000]}) == [None]
    assert before_all({"work": [C, H2D, C]}) == [None]
    assert before_all({"work": [H2D, D2D, C]}) == [None]
    assert before_all({}, predecessor=[ABSENT, ABSENT, 0]) == [None]
    assert before_all({}, {"kernel": ABSENT}) == [None]
    # No compute at all, at times on both sides of 0.
    none = {"work": [H2D, H2D, H2D]}
    assert before_all(none) == before_all(none | {"end_ns": [-20, -10, 0]}) == [None]


def test_before_all_compute_the_next_part_of_the_piece_is_what_waited() -> None:
    """A copy after it; the kernel waits for that by a stream, and starts a little later."""
    parts = {
        "start_ns": [100_000, 150_000, 170_000],
        "end_ns": [150_000, 170_000, 172_000],
        "operation": [1, 2, 3],
        "part": [FILL, FILL, LATENCY],
        "kernel": 3,
    }
    ops = {
        "start_ns": [0, 100_000, 150_000, 170_000],
        "end_ns": [10, 150_000, 170_000, 200_000],
        "work": [H2D, H2D, H2D, C],
        **{name: [*OPS[name], OPS[name][-1]] for name in ("stream", "call", "bytes")},
        **{name: [*OPS[name], OPS[name][-1]] for name in ("launch_start_ns", "launch_end_ns")},
    }
    depends = {
        "predecessor": [ABSENT, ABSENT, 1, 2],
        "relation": [0, 0, int(Relation.NULL_STREAM), int(Relation.STREAM)],
    }
    assert before_all(ops, parts, **depends) == [
        (Reason.DEFAULT_STREAM, ABSENT),
        (Reason.SAME_STREAM, ABSENT),
    ]
    two = {name: value[:2] if isinstance(value, list) else value for name, value in parts.items()}
    assert before_all(ops, two, **depends)[0] == (Reason.DEFAULT_STREAM, ABSENT)
    # Parts of two pieces: the kernel that ends each waited for neither, or for its own.
    apart = {**parts, "piece": [0, 1, 1]}
    assert before_all(ops, apart, **depends) == [None, (Reason.SAME_STREAM, ABSENT)]


CROWDED = HardwareQueues(True, np.empty(0, dtype=np.int64), np.zeros(3, dtype=np.bool_))


def unrelated(ops: Mapping[str, Any] | None = None, **more: Any) -> Any:
    drawn = fills(ops, **({"queues": CROWDED} | more))
    return said(fill_rules.behind_unrelated_work, drawn)


def test_a_copy_that_begins_as_an_unrelated_kernel_ends_stood_behind_it() -> None:
    """Launched after it, handed over before it ended, in another stream."""
    alone = HardwareQueues(False, CROWDED.host_functions, CROWDED.of_graph)

    assert unrelated() == [(Reason.HARDWARE_QUEUE, ABSENT)]
    assert unrelated(queues=alone) == [None]
    assert unrelated({"work": [C, D2D, C]}) == [None]
    assert unrelated({"work": [H2D, H2D, C]}) == [None]
    bound = {"predecessor": [ABSENT, 0, ABSENT], "relation": [0, int(Relation.EVENT), 0]}
    assert unrelated(**bound) == [None]


@pytest.mark.parametrize(("submitted", "behind"), [(101_000, True), (101_001, False)])
def test_what_is_handed_over_after_the_kernel_did_not_stand_behind_it(
    submitted: int, behind: bool
) -> None:
    """It ends at 100 us; the clocks agree to one."""
    found = unrelated(submit_ns=[0, submitted, 0])

    assert found == [(Reason.HARDWARE_QUEUE, ABSENT) if behind else None]
