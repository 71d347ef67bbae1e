"""Where calls were made: which mark is a call's, and which frame is the user's."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from overlapcheck.columns import ABSENT
from overlapcheck.finding import SourceLine
from overlapcheck.passes.ledger.call_sites import call_sites, known_sites
from overlapcheck.thresholds import Thresholds
from overlapcheck.trace import Frame, Missing, Trace
from overlapcheck.trace_tables import ApiCalls, Backtraces
from tests.pictures import picture, tid_of

# Calls of thread 1 at 100 and 200 us, of thread 2 at 150.
TRACE = picture(
    """
    s7 kernel k         |...........a..........b..|
    t1 cudaLaunchKernel |..........a.........b....|
    t2 cudaEventQuery   |...............x.........|
    """,
    column_us=10,
).trace()
MINE = Frame("train.py", 7, "step")


def at(*marks: tuple[float, int, int], process: int = 0) -> Trace:
    """The trace with marks: us, thread and stack of each."""
    table = Backtraces(
        start_ns=np.array([round(us * 1000) for us, _, _ in marks]),
        process=np.full(len(marks), process),
        tid=np.array([tid_of(1, thread) for _, thread, _ in marks]),
        stack_id=np.array([stack for _, _, stack in marks]),
    )
    stacks = {stack: (MINE,) for _, _, stack in marks}
    return replace(TRACE, backtraces=table, stacks=stacks)


def sites(trace: Trace) -> list[int]:
    """Of the calls at 100, 150 and 200 us."""
    calls = trace.api_calls
    assert isinstance(calls, ApiCalls)
    found = call_sites(calls, trace, Thresholds())
    return [int(found[i]) for i in np.argsort(calls.start_ns, kind="stable")]


@pytest.mark.parametrize(
    ("mark_us", "found"),
    [
        (80.0, 5),  # 20 us before its call
        (79.999, ABSENT),
        (101.0, 5),  # 1 us after it began, by the clocks
        (101.001, ABSENT),
    ],
)
def test_a_call_takes_the_mark_just_before_it(mark_us: float, found: int) -> None:
    assert sites(at((mark_us, 1, 5))) == [found, ABSENT, ABSENT]


def test_each_call_takes_the_last_mark_of_its_own_thread() -> None:
    assert sites(at((90, 1, 4), (95, 1, 5), (98, 2, 6), (145, 2, 7), (199, 1, 8))) == [5, 7, 8]


def test_marks_of_another_process_are_not_this_ones() -> None:
    assert sites(at((95, 1, 5), process=1)) == [ABSENT] * 3


def test_a_stack_without_frames_is_no_place() -> None:
    empty = replace(at((95, 1, 5), (195, 1, 6)), stacks={5: (), 6: (MINE,)})

    assert sites(empty) == [ABSENT, ABSENT, 6]
    assert known_sites(empty) == {6: SourceLine("train.py", 7, "step")}


def test_without_marks_the_ids_of_the_calls_themselves_count() -> None:
    calls = TRACE.api_calls
    assert isinstance(calls, ApiCalls)
    assert isinstance(TRACE.backtraces, Missing)
    chains = replace(calls, callchain_id=np.array([3, 4, 3]))
    known = replace(TRACE, api_calls=chains, call_sites={3: MINE})
    found = call_sites(chains, known, Thresholds())

    assert sorted(found.tolist()) == [ABSENT, 3, 3]
    assert known_sites(known) == {3: SourceLine("train.py", 7, "step")}
    assert sites(TRACE) == [ABSENT] * 3


@pytest.mark.parametrize(
    "inner",
    [
        "/usr/lib/python3.11/threading.py",
        "venv/lib/python3.11/site-packages/x.py",
        "/usr/lib/python3/dist-packages/x.py",
        "<frozen runpy>",
        "src/importlib/x.py",
        "torch/nn/modules/module.py",
        "pytorch/torch/_tensor.py",
    ],
)
def test_the_innermost_frame_that_is_no_frameworks_is_the_users(inner: str) -> None:
    framework = Frame(inner, 1, "call")
    stacks = {
        1: (framework, MINE, Frame("main.py", 9, "main")),
        2: (framework, Frame(inner, 2, "outer")),
    }
    found = known_sites(replace(at((95, 1, 1)), stacks=stacks))

    assert found == {1: SourceLine("train.py", 7, "step"), 2: SourceLine(inner, 1, "call")}
