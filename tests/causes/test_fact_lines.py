"""Lines about waits, calls and threads, word for word, from ledger rows made by hand."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from overlapcheck.causes import _facts, causes
from overlapcheck.causes._base import Context
from overlapcheck.finding import Confidence, SourceLine
from overlapcheck.ledger import IdleLedger, Reason
from overlapcheck.measurements import ComputeGaps
from overlapcheck.pace import Pace
from overlapcheck.recorder import Content, Recorder
from overlapcheck.trace import Strings
from tests.pictures import picture

MEASURED = picture("s7 kernel k |a.b.|\nt1 cudaLaunchKernel |ab..|").measure()
TEXTS = {1: "cudaEventQuery", 2: "cudaFree", 3: "read", 4: "fwd", 5: "bwd", 6: "cudaMalloc"}
TID = 1000


def context(rows: int = 1, gaps: ComputeGaps | None = None, **columns: Any) -> Context:
    """Of rows of 10 us each, from 0 on, in a window of 100 us."""
    (drawn,) = MEASURED.devices
    window = replace(drawn.window, start_ns=0, end_ns=100_000)
    device = replace(drawn, window=window, gaps=gaps or ComputeGaps.none())
    names = replace(MEASURED.names, strings=Strings(TEXTS), threads={(0, TID): "main"})
    start = 10_000 * np.arange(rows)
    usual = {"start_ns": start, "end_ns": start + 10_000, "tid": TID, "call_tid": TID}
    ledger = IdleLedger.filled(rows, **usual | columns)
    return Context(ledger, device, replace(MEASURED, devices=(device,), names=names))


def call(name: int, start_ns: int, length_ns: int, **columns: Any) -> dict[str, Any]:
    return {"call_name_id": name, "call_start_ns": start_ns, "call_ns": length_ns, **columns}


def test_of_a_wait_the_kernels_that_are_known_are_named() -> None:
    gaps = ComputeGaps.filled(2, start_ns=[0, 50_000], end_ns=[10_000, 60_000], before_name_id=4)
    last = {"start_ns": [20_000], "end_ns": [30_000]}

    def around(**columns: Any) -> str:
        return _facts.waits(context(gaps=gaps, **columns))[1].removeprefix("longest 10.0 us at 0.0")

    assert around(kernel_name_id=5) == "00000 s, between kernels fwd and bwd"
    assert around() == "00000 s, after kernel fwd"
    assert around(kernel_name_id=5, **last) == "00020 s, before kernel bwd"
    assert around(**last) == "00020 s"


def test_asking_is_told_as_asking_and_the_next_call_too() -> None:
    """Three rows of two queries, one row in a free."""
    made = call([1, 1, 1, 2], [0, 0, 15_000, 30_000], [9_000, 9_000, 1_000, 4_000])

    assert _facts.calls(context(4, **made)) == [
        "thread main asked cudaEventQuery again and again, 2 times: 30.0 us idle during and after",
        "cudaFree held thread main 1 time, 4.0 us each: 10.0 us idle during and after",
    ]


def test_a_call_of_another_thread_is_that_ones() -> None:
    (said,) = _facts.calls(context(**call(2, 0, 4_000, call_tid=1007)))

    assert said.startswith("cudaFree of thread 1007 held thread main 1 time")


@pytest.mark.parametrize(
    ("start_ns", "length_ns", "told"),
    [
        (-8_000, 12_000, "4.0 us"),
        (97_000, 12_000, "3.0 us"),
        (-8_000, 7_000, "0 ns"),
        (100_001, 7_000, "0 ns"),
    ],
)
def test_a_call_is_told_as_long_as_it_is_in_the_window(
    start_ns: int, length_ns: int, told: str
) -> None:
    (said,) = _facts.calls(context(**call(2, start_ns, length_ns)))

    assert said == f"cudaFree held thread main 1 time, {told} each: 10.0 us idle during and after"


def test_rows_without_a_call_tell_of_none() -> None:
    assert _facts.calls(context(2)) == []
    told = _facts.calls(context(3, **call([6, -1, 2], [0, 0, 20_000], 1_000)))
    assert [line.split()[0] for line in told] == ["cudaFree", "cudaMalloc"]


@pytest.mark.parametrize(
    ("recorded", "own"),
    [
        (True, "ran its own code, in no recorded OS call, for 10.0 us of it"),
        (False, "ran its own code, or was in OS calls, which were not recorded, for 10.0 us of it"),
    ],
)
def test_where_a_thread_was_is_told_of_each_place(recorded: bool, own: str) -> None:
    seen = context(4, os_name_id=[3, 3, 3, -1], tid=[1000, 1007, 1007, 1000])
    seen = replace(seen, measured=replace(seen.measured, os_calls_recorded=recorded))

    assert _facts.host_whereabouts(seen) == [
        "thread 1007 was in read for 30.0 us of it",
        f"thread main {own}",
    ]


def test_late_starts_are_counted_by_operation() -> None:
    (said,) = _facts.late_starts(context(3, operation=[5, 5, 6]))

    assert said == (
        "2 operations of thread main began 15.0 us after the call that launched it had returned"
    )


def test_late_launches_are_counted_by_operation() -> None:
    (said,) = _facts.launches(context(3, operation=[5, 5, 6], tid=-1))

    assert said == (
        "2 launches of an unknown thread came after the device had run dry; 15.0 us of idle time"
        " each (median)"
    )


def directives(made: Context) -> list[str]:
    """What an allocation says of them beyond its own facts."""
    device = replace(made.device, ledger=made.rows)
    found = causes()["allocation"].detect(device, made.measured)
    assert found is not None
    return [line for line in found.facts if line.startswith("in ")]


def test_of_directives_the_costliest_two_are_told() -> None:
    rows = context(6, reason=int(Reason.ALLOCATION), site=[1, 2, 2, 3, 3, 3], **call(2, 0, 1_000))
    places = {
        1: SourceLine("fv.F90", 7, "Wait"),
        2: SourceLine("fv.F90", 27, "Enter data"),
        3: SourceLine("fv.F90", 0, "Exit data"),
    }

    def with_directives(*numbers: int) -> Context:
        names = replace(rows.measured.names, sites=places, directives=frozenset(numbers))
        return replace(rows, measured=replace(rows.measured, names=names))

    assert directives(with_directives(1, 2, 3)) == [
        "in 'Exit data': 30.0 us of it",
        "in 'Enter data' of fv.F90:27: 20.0 us of it",
    ]
    assert directives(with_directives(1)) == ["in 'Wait' of fv.F90:7: 10.0 us of it"]
    assert directives(with_directives()) == []


def test_five_places_are_told_costliest_first() -> None:
    sites = [0, 1, 2, 3, 4, 5, 5, 4]
    rows = context(8, reason=int(Reason.ALLOCATION), site=sites, **call(2, 0, 1_000))
    places = {number: SourceLine("a.py", 9 - number, "f") for number in range(6)}
    names = replace(rows.measured.names, sites=places)
    found = causes()["allocation"].detect(
        replace(rows.device, ledger=rows.rows), replace(rows.measured, names=names)
    )

    assert found is not None
    assert [place.line for place in found.source] == [4, 5, 6, 7, 8]


SLOWED = ("launch-bound", "host-starved", "graph-launch")


@pytest.mark.parametrize("cause", [*SLOWED, "profiler-overhead", "allocation"])
@pytest.mark.parametrize(
    "pace", [None, Pace(1_000), Pace(1_000, own_ns=900), Pace(1_000, own_ns=1_000)], ids=str
)
def test_how_late_a_host_is_under_recording_it_need_not_be_without(
    cause: str, pace: Pace | None
) -> None:
    reason = next(int(one) for one in Reason if one.cause == cause)
    rows = context(reason=reason, **call(2, 0, 1_000))
    device = replace(rows.device, ledger=rows.rows, pace=pace)
    found = causes()[cause].detect(device, rows.measured)
    known = pace is not None and pace.own_ns is not None

    assert found is not None
    assert (found.confidence is Confidence.SURE) is (cause not in SLOWED or known)


@pytest.mark.parametrize("cause", ["unexplained", "late-start"])
def test_what_would_record_more_is_told_in_the_recorders_words(cause: str) -> None:
    mine = Recorder("mine", {one: f"turn on {one.name}" for one in Content})
    found = causes()[cause]
    advice = found.advise(replace(MEASURED, recorder=mine))

    assert found.lacks is not None
    assert f"turn on {found.lacks.name}" in advice
    assert "{again}" not in advice
