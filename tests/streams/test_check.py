"""What counts as a change of a contract, on small programs, and what does not."""

from __future__ import annotations

from typing import Any

import pytest

from overlapcheck.stream_contract import Often
from overlapcheck.stream_report import StreamReport
from overlapcheck.verdict import Outcome
from tests.pictures import picture
from tests.streams.programs import (
    DOUBLE_BUFFER,
    agreed,
    double_buffer,
    edges_of,
    kinds_of,
    report_of,
)

READY = {"call": "w", "stream": 7, "record": "r"}
REUSE = {"call": "u", "stream": 13, "record": "d", "back": 2}


def held_against(reference: StreamReport, **changes: Any) -> StreamReport:
    """The double buffer with changes, by the contract of another recording."""
    contract = agreed(reference)
    options = dict(changes)
    text = options.pop("picture", DOUBLE_BUFFER)
    usual: dict[str, Any] = {
        "column_us": 10,
        "repeat": 8,
        "streams": {"7": "non-blocking", "13": "non-blocking"},
        "records": [{"call": "r", "stream": 13}, {"call": "d", "stream": 7}],
        "waits": [REUSE, READY],
    }
    drawn = picture(text, **(usual | options))
    return report_of(drawn.measure(skip=None, stream_waits=True), contract)


def test_the_edges_of_a_double_buffer_have_their_distance() -> None:
    (graph,) = double_buffer().graphs

    assert edges_of(graph) == {
        ("h2d", "compute", "ready", 0, 1),
        ("compute", "h2d", "reuse", -2, 1),
    }
    assert {edge.rule.often for edge in graph.edges} == {Often.EVERY}


@pytest.mark.parametrize(
    ("changes", "kinds"),
    [
        ({}, []),
        ({"repeat": 11}, []),
        ({"picture": DOUBLE_BUFFER.replace("s13", "s29").replace("kernel k", "kernel other"),
          "streams": {"7": "non-blocking", "29": "non-blocking"},
          "records": [{"call": "r", "stream": 29}, {"call": "d", "stream": 7}],
          "waits": [REUSE | {"stream": 29}, READY]}, []),
        ({"waits": [READY | {"call": "u", "stream": 13, "record": "d", "back": 2}]}, ["lost"]),
        ({"waits": [REUSE, READY | {"back": 1}]}, ["distance"]),
        ({"waits": [REUSE | {"back": 1}, READY]}, ["distance"]),
        ({"waits": [REUSE | {"back": 3}, READY]}, ["distance"]),
        ({"waits": [REUSE, READY | {"record": "d", "back": 1}]}, ["lost"]),
    ],
    ids=["itself", "more steps", "other numbers and names", "no ready wait", "older copy",
         "one buffer", "three buffers", "waits for its own stream"],
)  # fmt: skip
def test_a_change_of_a_wait_is_told_and_nothing_else_is(
    changes: dict[str, Any], kinds: list[str]
) -> None:
    report = held_against(double_buffer(), **changes)

    (check,) = report.checks
    assert kinds_of(check) == kinds
    assert report.exit_code == (1 if kinds else 0)


def test_a_lost_edge_names_the_step_and_both_operations() -> None:
    (check,) = held_against(double_buffer(), waits=[REUSE]).checks

    (change,) = check.changes
    assert change.text == "ready edge h2d -> compute, distance 0 has gone"
    example = change.example
    assert example is not None and example.before is not None and example.after is not None
    assert (example.before.text, example.after.text) == ("h2d copy of 64.0 MiB", "kernel k")
    assert example.between_ns == 0


def test_a_record_before_the_last_copy_covers_less() -> None:
    two = """
    s7  kernel k            |...........kkkk....|
    s13 h2d pinned 64MiB    |...cccc............|
    s13 h2d pinned 4KiB     |.......ee..........|
    t1  cudaMemcpyAsync     |..c..e.............|
    t1  cudaEventRecord     |.......r...........|
    t1  cudaStreamWaitEvent |........w..........|
    t1  cudaLaunchKernel    |.........k.........|
    t1  nvtx step           |0000000000000000000|
    """
    early = two.replace(".......r...........", "....r..............")
    records, waits = [{"call": "r", "stream": 13}], [READY]
    reference = double_buffer(picture=two, records=records, waits=waits)
    (check,) = held_against(reference, picture=early, records=records, waits=waits).checks

    assert kinds_of(check) == ["covers less"]
    assert check.reason.endswith("no longer covers h2d copy of 4.0 KiB")
    (back,) = held_against(
        double_buffer(picture=early, records=records, waits=waits),
        picture=two, records=records, waits=waits,
    ).checks  # fmt: skip
    assert back.outcome is Outcome.PASS  # covering more breaks nothing


def test_a_wait_behind_the_first_kernel_holds_less() -> None:
    late = DOUBLE_BUFFER.replace("|.u..w..", "|.u....w")
    (check,) = held_against(double_buffer(), picture=late).checks

    assert kinds_of(check) == ["covers less"]
    assert check.reason.endswith("no longer holds kernel k")


def test_a_wait_that_some_steps_lack_is_rarer() -> None:
    """The same double buffer drawn as two steps, of which one has no wait for the copy."""
    second = DOUBLE_BUFFER.translate(str.maketrans("kmcurwd0", "KMCURWD1"))
    first_rows = DOUBLE_BUFFER.strip().splitlines()
    second_rows = second.strip().splitlines()
    rows = []
    for a, b in zip(first_rows, second_rows, strict=True):
        head, cells, _ = a.split("|")
        rows.append(f"{head}|{cells}{b.split('|')[1]}|")
    text = "\n".join(rows)
    records = [
        {"call": "r", "stream": 13}, {"call": "d", "stream": 7},
        {"call": "R", "stream": 13}, {"call": "D", "stream": 7},
    ]  # fmt: skip
    both = [
        {"call": "u", "stream": 13, "record": "d", "back": 1},
        {"call": "U", "stream": 13, "record": "D", "back": 1},
        READY,
        {"call": "W", "stream": 7, "record": "R"},
    ]
    whole: dict[str, Any] = {"picture": text, "records": records, "repeat": 5}
    reference = double_buffer(**whole, waits=both)
    assert agreed(reference) == agreed(double_buffer())

    (check,) = held_against(reference, **whole, waits=both[:3]).checks

    assert kinds_of(check) == ["rarer"]
    assert "not in step" in check.reason


SYNCED = """
s7  kernel k            |...kkkk............|
s13 h2d pinned 64MiB    |......cccc.........|
t1  cudaLaunchKernel    |..k................|
t1  cudaMemcpyAsync     |....c..............|
t1  HOST                |.....ssssssss......|
t1  nvtx step           |0000000000000000000|
"""


@pytest.mark.parametrize(
    ("call", "waits"),
    [
        ("cudaDeviceSynchronize", []),
        ("cudaStreamSynchronize", [{"call": "s", "stream": 7}]),
    ],
)
def test_a_synchronisation_of_every_step_is_told_both_ways(
    call: str, waits: list[dict[str, Any]]
) -> None:
    without = SYNCED.replace("HOST", "cudaEventQuery")
    synced = SYNCED.replace("HOST", call)
    free = double_buffer(picture=without, records=[], waits=[])
    (check,) = held_against(free, picture=synced, records=[], waits=waits).checks
    assert kinds_of(check) == ["gained"]
    assert check.reason.startswith(f"new {call}")

    bound = double_buffer(picture=synced, records=[], waits=waits)
    (check,) = held_against(bound, picture=without, records=[], waits=[]).checks
    assert kinds_of(check) == ["lost"]


def test_what_a_synchronisation_holds_now_is_told_with_it() -> None:
    by_event = """
    s7  kernel k              |.........kkkk......|
    s13 h2d pinned 64MiB      |....cccc...........|
    t1  cudaMemcpyAsync       |..c................|
    t1  cudaEventRecord       |...r...............|
    t1  cudaStreamWaitEvent   |....w..............|
    t1  cudaLaunchKernel      |.........k.........|
    t1  nvtx step             |0000000000000000000|
    """
    by_host = by_event.replace("cudaStreamWaitEvent  ", "cudaStreamSynchronize")
    by_host = by_host.replace("|....w..............|", "|....wwwww..........|")
    records = [{"call": "r", "stream": 13}]
    reference = double_buffer(picture=by_event, records=records, waits=[READY])
    waits = [{"call": "w", "stream": 13}]
    (check,) = held_against(reference, picture=by_host, records=records, waits=waits).checks

    assert kinds_of(check) == ["by the host", "gained"]
    assert "now held by cudaStreamSynchronize of h2d" in check.reason


def test_without_event_records_nothing_can_be_told() -> None:
    report = held_against(double_buffer(), event_rows=False)

    (check,) = report.checks
    assert check.outcome is Outcome.INCONCLUSIVE
    assert report.exit_code == 3
    assert "event" in check.settle_with
    assert report.why_no_contract


def test_a_wait_that_other_waits_imply_may_go() -> None:
    twice = DOUBLE_BUFFER.replace("|.u..w..", "|.u.xw..")
    waits = [REUSE, READY, {"call": "x", "stream": 7, "record": "r", "back": 1}]
    reference = double_buffer(picture=twice, waits=waits)
    assert len(reference.graphs[0].edges) == 3

    (check,) = held_against(reference).checks

    assert check.outcome is Outcome.PASS
    assert any("ordered by other waits" in note for note in check.notes)


def test_the_null_stream_is_an_edge_that_no_call_makes() -> None:
    text = """
    s7  kernel k         |...kkkk............|
    s13 h2d pinned 64MiB |.......cccc........|
    t1  cudaLaunchKernel |..k................|
    t1  cudaMemcpyAsync  |....c..............|
    t1  nvtx step        |0000000000000000000|
    """
    both = {"picture": text, "records": [], "waits": []}
    free = double_buffer(**both)
    bound = double_buffer(**both, streams={"7": "null", "13": "blocking"})
    assert free.graphs[0].edges == ()
    (check,) = held_against(free, **both, streams={"7": "null", "13": "blocking"}).checks

    assert kinds_of(check) == ["gained", "gained"]
    assert "null stream" in check.changes[0].text
    (check,) = held_against(bound, **both).checks
    assert kinds_of(check) == ["lost", "lost"]


def test_streams_of_one_role_are_told_apart_by_their_waits() -> None:
    """Two compute streams of equal work: in another run the other one is the busier."""
    towers = """
    s7  kernel k            |...kkkkkk..mmmm....|
    s9  kernel n            |.....nnnnn.........|
    t1  cudaLaunchKernel    |..k..n...m.........|
    t1  cudaEventRecord     |...f..j............|
    t1  cudaStreamWaitEvent |....g..h...........|
    t1  nvtx step           |0000000000000000000|
    """
    swapped = towers.replace("s7", "s8").replace("nnnnn.", "nnnnnn").replace("kkkkkk.", "kk.....")
    swapped = swapped.replace("mmmm", "mm..")
    records = [{"call": "f", "stream": 7}, {"call": "j", "stream": 9}]
    waits = [{"call": "g", "stream": 9, "record": "f"}, {"call": "h", "stream": 7, "record": "j"}]
    streams = {"7": "non-blocking", "9": "non-blocking"}
    reference = double_buffer(picture=towers, records=records, waits=waits, streams=streams)
    report = held_against(
        reference,
        picture=swapped,
        records=[{"call": "f", "stream": 8}, {"call": "j", "stream": 9}],
        waits=[waits[0], waits[1] | {"stream": 8}],
        streams={"8": "non-blocking", "9": "non-blocking"},
    )

    assert report.graphs[0].streams[0].stream_ids == (9,)
    assert [check.outcome for check in report.checks] == [Outcome.PASS]


AHEAD = """
s7  kernel k            |......kkkk................mmmm...|
s13 h2d pinned 64MiB    |..aaaabbbb.......................|
t2  cudaMemcpyAsync     |.a.b.............................|
t2  cudaEventRecord     |..r.s............................|
t1  cudaStreamWaitEvent |....w.................v..........|
t1  cudaLaunchKernel    |.....k.................m.........|
t1  nvtx step           |00000000000000000111111111111111.|
"""


def test_a_thread_that_is_ahead_by_now_more_now_less_is_one_edge() -> None:
    """Both copies of two steps at once: the second step's was handed over a step before."""
    records = [{"call": "r", "stream": 13}, {"call": "s", "stream": 13}]
    waits = [
        {"call": "w", "stream": 7, "record": "r"},
        {"call": "v", "stream": 7, "record": "s"},
    ]
    loaded: dict[str, Any] = {"picture": AHEAD, "records": records, "waits": waits}
    reference = double_buffer(**loaded)
    (edge,) = reference.graphs[0].edges

    assert (edge.rule.distance, edge.rule.oldest, edge.rule.often) == (0, -1, Often.EVERY)
    assert agreed(reference).pipelines[0].edges == (edge.rule,)
    by_one = double_buffer(**(loaded | {"picture": AHEAD.replace("t2", "t1")}))
    assert sorted(one.rule.distance for one in by_one.graphs[0].edges) == [-1, 0]
    (check,) = held_against(reference, **(loaded | {"waits": waits[:1]})).checks
    assert check.outcome is Outcome.FAIL
    (check,) = held_against(reference, **(loaded | {"waits": []})).checks
    assert kinds_of(check) == ["lost"]
