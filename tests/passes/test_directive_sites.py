"""Which directive a call belongs to: the innermost around it, of its own thread and process."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest

from overlapcheck.columns import ABSENT
from overlapcheck.finding import SourceLine
from overlapcheck.passes.ledger.call_sites import call_sites, known_sites
from overlapcheck.passes.ledger.directive_sites import Places
from overlapcheck.thresholds import Thresholds
from overlapcheck.trace import Frame, Strings, Trace
from overlapcheck.trace_tables import ApiCalls, Backtraces, Directives
from tests.pictures import picture

TRACE = picture("s7 kernel k |.a|\nt1 cudaLaunchKernel |a.|").trace()
TEXTS = {1: "fv.F90", 2: "Enter data", 3: "Wait"}
Span = tuple[int, int, int, int]
"""Begin, end, thread, and line."""


def drawn(*spans: Span, process: int = 0) -> Trace:
    """A trace with directives, each of a line of its own."""
    start, end, tid, line = (np.array(column) for column in zip(*spans, strict=True))
    table = Directives.filled(
        len(spans), start_ns=start, end_ns=end, tid=tid, line=line, process=process,
        file_id=1, name_id=np.where(line % 2, 2, 3),
    )  # fmt: skip
    return replace(TRACE, directives=table, strings=Strings(TEXTS))


def called(*at: int, tid: int | Sequence[int] = 1) -> ApiCalls:
    return ApiCalls.filled(len(at), start_ns=at, end_ns=at, process=0, tid=tid)


def lines(trace: Trace, calls: ApiCalls) -> list[int]:
    """Line of the directive of each call, ABSENT for none."""
    known = known_sites(trace)
    return [
        known[site].line if site != ABSENT else ABSENT
        for site in call_sites(calls, trace, Thresholds()).tolist()
    ]


NESTED: list[Span] = [(10, 100, 1, 7), (20, 60, 1, 8), (30, 40, 1, 9), (70, 80, 1, 10)]


@pytest.mark.parametrize(
    ("at", "line"),
    [
        (9, ABSENT), (10, 7), (19, 7), (20, 8), (29, 8), (30, 9), (39, 9), (40, 8), (59, 8),
        (60, 7), (69, 7), (70, 10), (79, 10), (80, 7), (99, 7), (100, ABSENT), (500, ABSENT),
    ],
)  # fmt: skip
def test_a_call_takes_the_innermost_directive_around_it(at: int, line: int) -> None:
    assert lines(drawn(*NESTED), called(at)) == [line]
    assert lines(drawn(*NESTED), called(1, at, 1000)) == [ABSENT, line, ABSENT]


def test_one_that_ended_as_the_next_began_is_not_around_it() -> None:
    spans: list[Span] = [(10, 20, 1, 7), (20, 30, 1, 8)]

    assert lines(drawn(*spans), called(19, 20, 30)) == [7, 8, ABSENT]


def test_each_thread_and_process_has_its_own() -> None:
    spans: list[Span] = [(10, 100, 1, 7), (20, 90, 2, 8)]

    assert lines(drawn(*spans), called(30, 30, 30, tid=[1, 2, 3])) == [7, 8, ABSENT]
    assert lines(drawn(*spans, process=1), called(30, 30, tid=[1, 2])) == [ABSENT, ABSENT]


def test_one_directive_is_enough() -> None:
    trace = drawn((10, 20, 1, 7))
    ((site, place),) = Places.of(trace).lines.items()

    assert place == SourceLine("fv.F90", 7, "Enter data")
    assert call_sites(called(15), trace, Thresholds()).tolist() == [site]


def test_directives_of_one_line_and_name_are_one_place() -> None:
    trace = drawn((10, 20, 1, 7), (30, 40, 1, 7), (50, 60, 1, 8))

    assert sorted(one.line for one in Places.of(trace).lines.values()) == [7, 8]
    assert lines(trace, called(15, 35, 55)) == [7, 7, 8]


def test_without_directives_or_calls_nothing_is_around() -> None:
    assert Places.of(TRACE).around(called(15)) is None
    assert Places.of(TRACE).lines == {}
    assert Places.of(drawn(*NESTED)).around(called()) is None
    assert call_sites(called(), drawn(*NESTED), Thresholds()).tolist() == []
    assert call_sites(called(15), TRACE, Thresholds()).tolist() == [ABSENT]


def test_a_stack_tells_more_than_a_directive() -> None:
    marks = Backtraces.filled(1, start_ns=14, process=0, tid=1, stack_id=5)
    stacks = {5: (Frame("train.py", 3, "step"),)}
    trace = replace(drawn(*NESTED), backtraces=marks, stacks=stacks)
    marked = called(15)

    assert call_sites(marked, trace, Thresholds()).tolist() == [5]
    assert lines(trace, called(15, 25_000)) == [3, ABSENT]


def test_a_stack_and_a_directive_are_never_the_same_place() -> None:
    marks = Backtraces.filled(1, start_ns=14, process=0, tid=1, stack_id=0)
    stacks = {0: (Frame("train.py", 3, "step"),)}
    trace = replace(drawn((10, 20, 1, 7)), backtraces=marks, stacks=stacks)

    assert sorted(place.line for place in known_sites(trace).values()) == [3, 7]


def test_a_thread_without_marks_leaves_those_of_others() -> None:
    """The first calls are of a thread without any."""
    marks = Backtraces.filled(1, start_ns=1_000, process=0, tid=2, stack_id=5)
    stacks = {5: (Frame("train.py", 3, "step"),)}
    trace = replace(TRACE, backtraces=marks, stacks=stacks)

    assert lines(trace, called(900, 901, 1_100, tid=[1, 1, 2])) == [ABSENT, ABSENT, 3]


@pytest.mark.parametrize(
    ("chains", "found"),
    [([3, 4], [3, ABSENT]), ([ABSENT, 3], [ABSENT, 3]), ([3, 3], [3, 3]), ([4, 4], [ABSENT] * 2)],
)
def test_the_chain_of_a_call_is_its_place_where_its_frame_is_known(
    chains: list[int], found: list[int]
) -> None:
    trace = replace(TRACE, call_sites={3: Frame("train.py", 3, "step")})
    for column in (np.array(chains), np.broadcast_to(np.int64(chains[1]), (2,))):
        calls = replace(called(1, 2), callchain_id=column)
        expected = found if column.strides != (0,) else [found[1]] * 2
        assert call_sites(calls, trace, Thresholds()).tolist() == expected
