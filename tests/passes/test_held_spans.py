"""What holds a thread and is no single call, from calls made by hand."""

from __future__ import annotations

from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any, cast

import numpy as np
import pytest

from overlapcheck.api_kinds import ApiKind
from overlapcheck.columns import ABSENT
from overlapcheck.ledger import Reason
from overlapcheck.passes.ledger import held_spans
from overlapcheck.passes.ledger.held import HeldCalls
from overlapcheck.passes.ledger.held_spans import Host
from overlapcheck.passes.process import ProcessTables
from overlapcheck.thresholds import USUAL
from overlapcheck.trace import Strings
from overlapcheck.trace_tables import ApiCalls, MpiCalls, OsCalls

TEXTS = {1: "MPI_Test", 2: "MPI_Wait", 3: "MPI_Comm_rank"}
TEST, WAIT, RANK = 1, 2, 3
QUERY, LAUNCH, SYNC, OTHER = ApiKind.QUERY, ApiKind.LAUNCH, ApiKind.SYNC, ApiKind.OTHER
Call = tuple[int, int, int, ApiKind]
"""Thread, begin and end in us, kind."""
Span = tuple[int, int, int]
"""Thread, begin and end in us."""


def host(
    calls: Sequence[Call] = (),
    *,
    mpi: Sequence[tuple[int, int, int, int]] = (),
    sleeps: Sequence[Span] = (),
    launching: Sequence[int] = (1,),
) -> Host:
    """Threads of a process; synchronisations hold theirs."""

    def columns(rows: Sequence[Sequence[int]], width: int) -> list[Any]:
        return np.array(rows, dtype=np.int64).reshape(-1, width).T.tolist()

    tid, start, end, kinds = columns(calls, 4)
    us = 1000
    table = ApiCalls.filled(
        len(calls), tid=tid, start_ns=us * np.array(start), end_ns=us * np.array(end)
    )
    m_tid, m_start, m_end, name = columns(mpi, 4)
    o_tid, o_start, o_end = columns(sleeps, 3)
    tables = SimpleNamespace(
        calls=table,
        call_kind=np.array(kinds, dtype=np.int8),
        strings=Strings(TEXTS),
        mpi_calls=MpiCalls.filled(
            len(mpi), tid=m_tid, start_ns=us * np.array(m_start), end_ns=us * np.array(m_end),
            name_id=name,
        ),
        os_calls=OsCalls.filled(
            len(sleeps), tid=o_tid, start_ns=us * np.array(o_start), end_ns=us * np.array(o_end)
        ),
    )  # fmt: skip
    waits = np.array(kinds, dtype=np.int8) == int(SYNC)
    reason = np.where(waits, int(Reason.HOST_SYNC), ABSENT).astype(np.int8)
    return Host(cast(ProcessTables, tables), np.array(launching), reason, USUAL)


def spans(held: HeldCalls) -> list[Span]:
    rows = zip(held.tid.tolist(), held.start_ns.tolist(), held.end_ns.tolist(), strict=True)
    return sorted((tid, start // 1000, end // 1000) for tid, start, end in rows)


def asked(count: int, since: int, tid: int = 1, each: int = 20) -> list[Call]:
    """Queries of 5 us, each so many after the one before."""
    return [(tid, since + each * i, since + each * i + 5, QUERY) for i in range(count)]


def test_runs_of_four_questions_are_waits_and_of_three_none() -> None:
    calls = [*asked(3, 0), (1, 70, 72, LAUNCH), *asked(4, 100), (1, 180, 182, LAUNCH)]

    assert spans(held_spans.polling(host(calls))) == [(1, 100, 165)]
    assert spans(held_spans.polling(host(calls[:4]))) == []
    slow = [*asked(3, 0, each=40), (1, 90, 92, LAUNCH), *asked(3, 100, each=40)]
    assert spans(held_spans.polling(host(slow))) == []


def test_only_threads_that_launch_are_held_by_asking() -> None:
    calls = [*asked(4, 0, tid=2), *asked(4, 200)]

    assert spans(held_spans.polling(host(calls))) == [(1, 200, 265)]
    assert spans(held_spans.polling(host(calls, launching=[2]))) == [(2, 0, 65)]
    assert spans(held_spans.polling(host(calls, launching=[3]))) == []
    assert spans(held_spans.polling(host(calls, launching=[1, 2]))) == [(1, 200, 265), (2, 0, 65)]


def test_two_threads_that_ask_by_turns_ask_each_for_itself() -> None:
    calls = sorted([*asked(3, 0), *asked(3, 70, tid=2)], key=lambda call: call[1])

    assert spans(held_spans.polling(host(calls, launching=[1, 2]))) == []


def tried(
    count: int, since: int, name: int = TEST, tid: int = 1
) -> list[tuple[int, int, int, int]]:
    return [(tid, since + 20 * i, since + 20 * i + 5, name) for i in range(count)]


def ranks(*mpi: tuple[int, int, int, int], calls: Sequence[Call] = ()) -> list[Span]:
    made = host(calls, mpi=sorted(mpi, key=lambda call: call[1]), launching=[1, 2])
    held = held_spans.waiting_for_ranks(made)
    assert set(held.reason.tolist()) <= {Reason.MPI_WAIT}
    assert set(held.call.tolist()) <= {ABSENT}
    return spans(held)


def test_waits_for_ranks_hold_and_so_do_four_tests() -> None:
    assert ranks((1, 0, 9, WAIT), (1, 20, 29, RANK)) == [(1, 0, 9)]
    assert ranks(*tried(4, 0)) == [(1, 0, 65)]
    assert ranks(*tried(3, 0)) == []
    assert ranks((3, 0, 9, WAIT)) == []
    assert ranks((1, 0, 5, TEST), (1, 40, 45, TEST), (1, 80, 85, TEST)) == []


def test_only_tests_of_one_thread_make_a_run() -> None:
    assert ranks(*tried(3, 0), (1, 60, 65, WAIT)) == [(1, 60, 65)]
    assert ranks(*tried(3, 0), (1, 60, 65, RANK)) == []
    assert ranks(*tried(3, 0), *tried(3, 10, tid=2)) == []
    assert ranks(*tried(4, 0), *tried(4, 10, tid=2)) == [(1, 0, 65), (2, 10, 75)]


@pytest.mark.parametrize(
    ("kind", "tid", "held"),
    [(LAUNCH, 1, []), (LAUNCH, 2, [(1, 0, 65)]), (OTHER, 1, [(1, 0, 65)])],
)
def test_what_the_thread_hands_over_between_ends_a_run(
    kind: ApiKind, tid: int, held: list[Span]
) -> None:
    assert ranks(*tried(4, 0), calls=[(tid, 30, 31, kind)]) == held
    after = ranks(*tried(4, 0), *tried(4, 100), calls=[(1, 90, 91, LAUNCH)])
    assert after == [(1, 0, 65), (1, 100, 165)]


@pytest.mark.parametrize(("again", "held"), [(1045, [(1, 0, 1110)]), (1046, [])])
def test_a_millisecond_between_two_tests_ends_a_run(again: int, held: list[Span]) -> None:
    """The third was answered at 45 us."""
    found = ranks(*tried(3, 0), *tried(3, again))

    assert found == ([(1, 0, again + 45)] if held else [])


@pytest.mark.parametrize(("since", "held"), [(15, True), (16, False)])
def test_a_run_is_as_long_as_a_long_call(since: int, held: bool) -> None:
    """Up to 65 us."""
    first = (1, since, since + 1, TEST)
    assert ranks(first, *tried(3, 20)) == ([(1, since, 65)] if held else [])


def sleeping(sleep: Span = (1, 0, 200), wait: Call = (2, 50, 190, SYNC), *more: Call) -> list[Span]:
    made = host([(1, 0, 1, LAUNCH), wait, *more], sleeps=[sleep])
    return spans(held_spans.waiting_for_a_thread(made))


def test_a_thread_sleeps_until_another_is_back_from_its_wait() -> None:
    """It sleeps for that one from when that one waits."""
    assert sleeping() == [(1, 50, 200)]
    assert sleeping((1, 70, 200)) == [(1, 70, 200)]
    assert sleeping((2, 0, 200)) == []
    assert sleeping(wait=(1, 50, 190, SYNC)) == []
    assert sleeping(wait=(2, 50, 190, OTHER)) == []
    assert sleeping(wait=(2, 141, 190, SYNC)) == []
    assert sleeping(wait=(2, 140, 190, SYNC)) == [(1, 140, 200)]


@pytest.mark.parametrize(
    ("sleep", "held"),
    [
        ((1, 0, 290), [(1, 50, 290)]),  # 100 us after the wait
        ((1, 0, 291), []),
        ((1, 189, 239), [(1, 189, 239)]),
        ((1, 190, 240), []),  # it began when the wait was over
        ((1, 0, 189), []),  # and ended before
        ((1, 151, 200), []),  # short
        ((1, 150, 200), [(1, 150, 200)]),
    ],
)
def test_the_sleep_ends_just_after_the_wait(sleep: Span, held: list[Span]) -> None:
    assert sleeping(sleep) == held


def test_without_calls_of_the_system_long_absences_are_sleeps() -> None:
    """From 10 to 200 us the thread makes no call; the one from 0 to 60 holds another inside."""
    calls: list[Call] = [
        (1, 0, 60, OTHER),
        (1, 5, 10, OTHER),
        (2, 70, 190, SYNC),
        (1, 200, 201, LAUNCH),
    ]
    assert spans(held_spans.waiting_for_a_thread(host(calls))) == [(1, 70, 200)]
    soon: list[Call] = [*calls[:3], (1, 159, 160, LAUNCH), (1, 200, 201, LAUNCH)]
    assert spans(held_spans.waiting_for_a_thread(host(soon))) == []


def test_each_launching_thread_waits_for_others() -> None:
    calls: list[Call] = [(1, 0, 60, SYNC), (2, 0, 160, SYNC), (3, 0, 1, LAUNCH)]
    made = host(calls, sleeps=[(1, 100, 170), (2, 0, 70), (3, 0, 165)], launching=[1, 2, 3])

    assert spans(held_spans.waiting_for_a_thread(made)) == [(1, 100, 170), (2, 0, 70), (3, 0, 165)]


BEGIN, END = 4, 5


def test_a_capture_lasts_from_its_begin_to_the_next_end_of_its_thread() -> None:
    made = host(
        [(1, 0, 1, ApiKind.CAPTURE), (1, 9, 11, ApiKind.CAPTURE), (2, 4, 5, ApiKind.CAPTURE)]
    )

    def captured(*names: int, count: int = 3) -> list[Span]:
        calls = made.process.calls
        tables = SimpleNamespace(
            calls=ApiCalls.filled(
                count,
                tid=calls.tid[:count],
                start_ns=calls.start_ns[:count],
                end_ns=calls.end_ns[:count],
                name_id=names[:count],
            ),
            call_kind=made.process.call_kind[:count],
            strings=Strings({BEGIN: "cudaStreamBeginCapture", END: "cudaStreamEndCapture"}),
        )
        of = Host(cast(ProcessTables, tables), made.launching, made.reason, USUAL)
        return spans(held_spans.capturing(of))

    assert captured(BEGIN, END, END) == [(1, 0, 11)]
    assert captured(BEGIN, BEGIN, END) == []
    assert captured(END, BEGIN, END) == []
    assert captured(END, END, END) == []
    assert captured(BEGIN, END, count=2) == [(1, 0, 11)]
    assert captured(BEGIN, count=1) == []
