"""Which calls waited for which operations: each sign of it, just within its limit and beyond."""

from __future__ import annotations

import numpy as np
import pytest

from overlapcheck.api_kinds import ApiKind
from overlapcheck.columns import ABSENT
from overlapcheck.order import Edges, Relation
from overlapcheck.passes.replay.waits import waits
from overlapcheck.replay_thresholds import REPLAY
from overlapcheck.step_graph import GraphOperations, HostEvents

Span = tuple[int, int]


def found(
    ops: list[tuple[Span, int]],
    events: list[tuple[ApiKind, Span]],
    *,
    pageable: bool = False,
    frees: bool = False,
    edges: Edges | None = None,
    event_of_call: tuple[int, ...] = (),
    row: tuple[int, ...] = (),
) -> list[tuple[int, int]]:
    """Pairs (event, operation); `ops` are times and the event that handed each over."""
    event, operation = waits(
        GraphOperations.filled(
            len(ops),
            start_ns=[span[0] for span, _ in ops],
            end_ns=[span[1] for span, _ in ops],
            event=[event for _, event in ops],
            pageable=pageable,
        ),
        HostEvents.filled(
            len(events),
            kind=[kind for kind, _ in events],
            start_ns=[span[0] for _, span in events],
            end_ns=[span[1] for _, span in events],
            frees=frees,
        ),
        edges if edges is not None else Edges.none(),
        np.array(event_of_call, dtype=np.int64),
        np.array(row, dtype=np.intp),
    )
    return list(zip(event.tolist(), operation.tolist(), strict=True))


LAUNCH = (ApiKind.LAUNCH, (0, 10))


def test_nothing_waits_for_nothing() -> None:
    assert found([], []) == []
    assert found([], [(ApiKind.SYNC, (0, 10))]) == []
    assert found([((0, 10), ABSENT)], [(ApiKind.SYNC, (5, 10))]) == []


@pytest.mark.parametrize(
    ("end", "waited"), [(99, False), (100, False), (101, True), (200, True), (201, False)]
)
def test_a_synchronisation_waited_for_what_ended_during_it(end: int, waited: bool) -> None:
    pairs = found([((20, end), 0)], [LAUNCH, (ApiKind.SYNC, (100, 200))])

    assert pairs == ([(1, 0)] if waited else [])


@pytest.mark.parametrize(
    ("kind", "start", "waited"),
    [
        (ApiKind.ALLOCATION, 200_000 - REPLAY.long_allocation_ns, True),
        (ApiKind.ALLOCATION, 200_001 - REPLAY.long_allocation_ns, False),
        (ApiKind.LAUNCH, 100_000, False),
    ],
)
def test_so_did_a_long_allocation(kind: ApiKind, start: int, waited: bool) -> None:
    pairs = found([((20, 190_000), 0)], [LAUNCH, (kind, (start, 200_000))])

    assert pairs == ([(1, 0)] if waited else [])


@pytest.mark.parametrize(("end", "waited"), [(50, True), (100, True), (130, True), (131, False)])
def test_a_free_waits_for_all_that_was_handed_over_before(end: int, waited: bool) -> None:
    pairs = found([((20, end), 0)], [LAUNCH, (ApiKind.ALLOCATION, (100, 130))], frees=True)

    assert pairs == ([(1, 0)] if waited else [])


def test_of_what_was_handed_over_before_the_last_to_end_is_waited_for() -> None:
    """The second is over last, the first and third end as it does or before."""
    events = [(ApiKind.LAUNCH, (at, at + 1)) for at in (0, 10, 20)]
    ops = [((30, 150), 0), ((31, 180), 1), ((32, 180), 2)]
    sync = (ApiKind.SYNC, (100, 200))

    assert found(ops, [*events, sync]) == [(3, 1)]
    assert found(ops[::-1], [*events, sync]) == [(3, 1)]
    assert found(ops[:1], [*events, sync]) == [(3, 0)]
    assert found([((30, 190), 0), *ops[1:]], [*events, sync]) == [(3, 0)]
    later = [((30, 150), 0), ((31, 140), 1), ((32, 160), 2)]
    assert found(later, [*events, sync]) == [(3, 2)]


def test_what_is_handed_over_when_the_wait_begins_is_no_part_of_it() -> None:
    events = [(ApiKind.LAUNCH, (99, 99)), (ApiKind.SYNC, (100, 200)), (ApiKind.LAUNCH, (100, 101))]

    assert found([((110, 150), 2)], events) == []
    assert found([((110, 150), 2), ((110, 140), 0)], events) == [(1, 1)]


@pytest.mark.parametrize(
    ("kind", "pageable", "end", "waited"),
    [
        (ApiKind.COPY, True, 50, True),
        (ApiKind.COPY, True, 49, False),
        (ApiKind.COPY, False, 150, False),
        (ApiKind.LAUNCH, True, 150, False),
        (ApiKind.SYNC_COPY, False, 100, True),
        (ApiKind.SYNC_COPY, False, 99, False),
        (ApiKind.SYNC_COPY, True, 99, False),
    ],
)
def test_a_copys_own_call_waits_until_it_is_read_or_done(
    kind: ApiKind, pageable: bool, end: int, waited: bool
) -> None:
    pairs = found([((50, 100), 0)], [(kind, (0, end))], pageable=pageable)

    assert pairs == ([(0, 0)] if waited else [])


def test_a_copy_that_no_call_handed_over_is_waited_for_by_none() -> None:
    assert found([((50, 100), ABSENT)], [(ApiKind.SYNC_COPY, (0, 100))]) == []


def test_both_of_two_copies_are_waited_for_by_their_own_calls() -> None:
    events = [(ApiKind.SYNC_COPY, (0, 100)), (ApiKind.SYNC_COPY, (100, 200))]

    assert found([((50, 90), 0), ((110, 190), 1)], events) == [(0, 0), (1, 1)]


def test_what_the_order_says_of_the_host_is_known_to_be_waited_for() -> None:
    """Calls and operations outside of the graph are left out, other relations are no waits."""
    edges = Edges.filled(
        5,
        relation=[Relation.HOST] * 4 + [Relation.EVENT],
        call=[0, 1, 0, 1, 0],
        before=[0, 0, 1, 1, 2],
    )
    ops = [((20, 60), ABSENT), ((20, 70), ABSENT)]
    events = [(ApiKind.SYNC, (50, 60)), (ApiKind.SYNC, (65, 70))]

    assert found(ops, events, edges=edges, event_of_call=(1, ABSENT), row=(1, ABSENT, 0)) == [
        (1, 1)
    ]


def test_two_signs_are_one_wait() -> None:
    edges = Edges.filled(1, relation=Relation.HOST, call=0, before=0)
    sync = (ApiKind.SYNC, (50, 100))

    assert found([((20, 60), 0)], [LAUNCH, sync], edges=edges, event_of_call=(1,), row=(0,)) == [
        (1, 0)
    ]
