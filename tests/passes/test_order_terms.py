"""What is inferred from adjacency in time: each term, just within its limit and just beyond."""

from __future__ import annotations

from typing import Any

import pytest

from overlapcheck.order import Relation
from tests.passes.test_order import PAIRED, WAITING, order_of, told

UNPAIRED: dict[str, Any] = {"event_rows": False, **PAIRED}
HELD = [("s13", "fwd")]


def inferred(text: str, **options: Any) -> list[tuple[str, str]]:
    return told(*order_of(text, **{**UNPAIRED, **options}), Relation.EVENT)


@pytest.mark.parametrize(
    ("start_us", "found"),
    [
        (140.0, HELD),  # 20 us after the copy's end
        (140.001, []),
        (118.0, HELD),  # 2 us before it: rounding of two clocks
        (117.999, []),
    ],
)
def test_what_starts_as_another_stream_ends_waited_for_it(start_us: float, found: object) -> None:
    assert inferred(WAITING, gpu_us={"b": [start_us, 150.0]}) == found


def test_what_goes_on_beyond_the_start_was_not_waited_for() -> None:
    text = """
s7   kernel fwd               |...bbbbb.|
s13  h2d pinned 64MiB         |.cccccc..|
t1   cudaLaunchKernel         |..b......|
t1   cudaMemcpyAsync          |c........|
t1   cudaStreamWaitEvent      |.w.......|
"""
    assert inferred(text, records=[], waits=[]) == []


def test_what_was_launched_later_cannot_have_been_waited_for() -> None:
    later = WAITING.replace("|..c............|", "|........c......|")

    assert inferred(later) == []


def test_what_runs_in_the_same_stream_needs_no_event() -> None:
    same = WAITING.replace("s13  h2d", "s7   h2d")

    assert inferred(same, records=[{"call": "r", "stream": 7}]) == []


@pytest.mark.parametrize(("between", "found"), [(7, HELD), (8, [])])
def test_other_work_may_end_in_between_but_only_so_much(between: int, found: object) -> None:
    marks = "defghijk"[:between]
    cells = "".join(marks).ljust(9, ".")
    text = WAITING + f"s7   memset 1KiB              |{cells}......|\n"
    ends = {mark: [121.0 + i, 121.5 + i] for i, mark in enumerate(marks)}

    assert inferred(text, gpu_us={"b": [135.0, 150.0], **ends}) == found


def test_the_one_that_ended_last_is_the_one_that_held() -> None:
    text = f"""{WAITING}
s14  kernel early             |....eeeeeee....|
t2   cudaLaunchKernel         |.e.............|
"""

    assert inferred(text, gpu_us={"e": [50.0, 115.0]}) == HELD
    assert inferred(text, gpu_us={"e": [50.0, 121.0], "b": [125.0, 150.0]}) == [("early", "fwd")]


def test_a_wait_for_an_event_that_nobody_recorded_does_nothing() -> None:
    """Without a record, adjacency would call the copy held what the wait does not touch."""
    assert inferred(WAITING, event_rows=True, waits=[{"call": "w", "stream": 7}]) == []


def test_a_wait_without_a_row_is_one_of_the_stream_that_its_thread_uses_next() -> None:
    """Another thread launches in between, into a stream that nothing held."""
    text = f"""{WAITING}
s9   kernel other             |..............z|
t2   cudaLaunchKernel         |.....z.........|
"""

    assert (
        inferred(text, waits=[], host_us={"z": [55.0, 58.0]}, gpu_us={"z": [121.0, 150.0]}) == HELD
    )
    assert (
        inferred(WAITING.replace("b.......|", "........|").replace(".bbb|", "....|"), waits=[])
        == []
    )


COPIES = """
s13  h2d pinned 65536B        |.aaaa..........|
s15  h2d pinned 65536B        |......bbbb.....|
t1   cudaMemcpyAsync          |ab.............|
"""


def queued(text: str, b_us: tuple[float, float] = (60.0, 100.0)) -> bool:
    return bool(told(*order_of(text, gpu_us={"b": list(b_us)}), Relation.ENGINE))


@pytest.mark.parametrize(
    ("start_us", "found"), [(70.0, True), (70.001, False), (48.0, True), (47.999, False)]
)
def test_a_copy_that_starts_as_another_ends_queued_behind_it(start_us: float, found: bool) -> None:
    assert queued(COPIES, (start_us, 100.0)) is found


@pytest.mark.parametrize("small", ["s13", "s15"])
def test_small_copies_do_not_show_the_queue(small: str) -> None:
    assert not queued(COPIES.replace(f"{small}  h2d pinned 65536B", f"{small}  h2d pinned 65535B"))


def test_each_direction_has_a_queue_of_its_own() -> None:
    assert not queued(COPIES.replace("s15  h2d", "s15  d2h"))
    assert queued(COPIES.replace("h2d", "d2h"))
    assert not queued(COPIES.replace("s15", "s13"))


@pytest.mark.parametrize("what", ["memset 64MiB", "d2d 64MiB", "p2p 64MiB to gpu1"])
def test_what_is_no_copy_of_the_direction_is_in_no_queue_of_it(what: str) -> None:
    assert not queued(COPIES.replace("s13  h2d pinned 65536B", f"s13 {what}"))
    assert not queued(COPIES.replace("s15  h2d pinned 65536B", f"s15 {what}"))


def test_each_device_has_queues_of_its_own() -> None:
    assert not queued(COPIES.replace("s15  h2d", "gpu1 s15 h2d"))


def test_a_wait_for_a_stream_without_work_orders_nothing() -> None:
    text = """
s7   kernel one               |.aa..bb|
s9   kernel two               |.cc....|
t1   cudaLaunchKernel         |ac.b...|
t1   cudaStreamSynchronize    |..x....|
"""
    for stream, found in ((7, [("one", "one")]), (9, [("two", "one")]), (99, [])):
        waits = [{"call": "x", "stream": stream}]
        assert told(*order_of(text, waits=waits), Relation.HOST) == found


def test_an_operation_of_no_length_follows_what_ended_before_it_not_itself() -> None:
    text = """
s7   kernel one               |.aa.........|
s7   kernel two               |....bb......|
s7   kernel mark              |.......z....|
s7   kernel three             |.........cc.|
s9   kernel other             |...........d|
t1   cudaLaunchKernel         |ab.z..c..d..|
"""
    edges = told(*order_of(text, gpu_us={"z": [70.0, 70.0]}), Relation.STREAM)

    assert edges == [("mark", "three"), ("one", "two"), ("two", "mark")]


def test_a_wait_with_a_row_keeps_its_stream_beside_one_without() -> None:
    text = """
s13  kernel one               |.aa..........|
s9   kernel other             |.....ccc.....|
s7   kernel fwd               |.........bb..|
t1   cudaLaunchKernel         |a...c...b....|
t1   cudaEventRecord          |.r...........|
t1   cudaStreamWaitEvent      |..w.......v..|
"""
    order = order_of(
        text,
        records=[{"call": "r", "stream": 13}],
        waits=[{"call": "w", "stream": 7, "record": "r"}],
    )

    assert told(*order, Relation.EVENT) == [("one", "fwd")]


def test_the_null_stream_and_blocking_ones_wait_for_each_other_and_others_do_not() -> None:
    text = """
s7   kernel first             |.a............|
s7   kernel null              |...e.......cc.|
s13  kernel blocking          |....bb........|
s14  kernel side              |.......dd.....|
t1   cudaLaunchKernel         |ae.bd.....c...|
"""
    kinds = {"7": "null", "13": "blocking", "14": "non-blocking"}
    edges = told(*order_of(text, streams=kinds), Relation.NULL_STREAM)

    assert edges == [("blocking", "null"), ("null", "blocking")]


def test_a_wait_for_an_event_that_is_not_known_orders_nothing() -> None:
    text = """
s7   kernel one               |.aa..bb|
t1   cudaLaunchKernel         |a..b...|
t1   cudaEventSynchronize     |..x....|
"""
    assert told(*order_of(text), Relation.HOST) == []
    assert told(*order_of(text.replace("cudaEvent", "cudaDevice")), Relation.HOST) == [
        ("one", "one")
    ]


def test_a_wait_without_a_row_does_not_take_that_of_another() -> None:
    text = """
s7   kernel one               |.aa.......|
s9   kernel two               |.bb.......|
s9   kernel three             |....cc....|
s9   kernel four              |........dd|
t1   cudaLaunchKernel         |ab.c...d..|
t1   cudaStreamSynchronize    |..x...y...|
"""
    order = order_of(text, waits=[{"call": "x", "stream": 7}])

    assert told(*order, Relation.HOST) == [("one", "three")]


def test_each_thread_makes_the_stream_wait_that_it_uses_next() -> None:
    """Without rows of the waits; each has launched into another stream before."""
    text = """
s13  h2d pinned 64MiB         |.....ccccccc...|
s7   kernel fwd               |............bb.|
s8   kernel side              |............dd.|
s9   kernel first             |.e.............|
s10  kernel second            |.f.............|
t1   cudaMemcpyAsync          |..c............|
t1   cudaEventRecord          |...r...........|
t1   cudaLaunchKernel         |e.......b......|
t2   cudaLaunchKernel         |f.......d......|
t1   cudaStreamWaitEvent      |.....w.........|
t2   cudaStreamWaitEvent      |.....v.........|
"""

    assert inferred(text, waits=[]) == [("s13", "fwd"), ("s13", "side")]
    for mark, waiting in (("w", "side"), ("v", "fwd")):
        alone = text.replace(f".{mark}.", "...")
        assert inferred(alone, waits=[]) == [("s13", waiting)]


GRAPHS = """
s13  kernel left              |.aa......bb.....|
s7   kernel right             |...aa......bb...|
t1   cudaGraphLaunch          |a.......b.......|
"""


def test_branches_of_each_graph_launch_are_in_the_order_of_their_times() -> None:
    assert told(*order_of(GRAPHS), Relation.GRAPH) == [("left", "right")] * 2
    assert told(*order_of(GRAPHS.replace("s13", "s7")), Relation.GRAPH) == []


def test_an_event_releases_nothing_within_the_launch_of_a_graph() -> None:
    """The wait stands before the launch: what that launched itself came behind it."""
    text = f"""{GRAPHS}
t1   cudaStreamWaitEvent      |......w.........|
"""
    waits = [{"call": "w", "stream": 7}]

    assert inferred(text, records=[], waits=waits) == []
    outside = f"""{text}
s14  kernel outside           |......ccccc.....|
t1   cudaLaunchKernel         |.....c..........|
"""
    assert inferred(outside, records=[], waits=waits) == [("outside", "right")]
