"""What streams and threads waited for, row by row. One column is 1 us."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from overlapcheck.columns import ABSENT, ABSENT_TIME
from overlapcheck.kinds import StreamKind
from overlapcheck.stream_waits import Record, StreamWaits
from tests.export import edit
from tests.pictures import measure_file, picture

US = 1_000
FREE = {"7": "non-blocking", "13": "non-blocking", "19": "non-blocking"}


def waits_of(text: str, **options: Any) -> StreamWaits:
    (found,) = picture(text, **({"streams": FREE} | options)).measure(stream_waits=True).waits
    return found


def stream_ids(found: StreamWaits, numbers: object) -> list[int]:
    return [
        int(found.streams.stream_id[n]) if n != ABSENT else ABSENT
        for n in np.asarray(numbers).tolist()
    ]


def letters(found: StreamWaits, rows: object, named: str) -> str:
    """Operations by their letters in order of start, "-" for none."""
    return "".join(named[n] if n != ABSENT else "-" for n in np.asarray(rows).tolist())


CHAIN = """
s7  kernel k            |.aabb.......dd..|
s13 h2d pinned 64MiB    |......cc........|
t1  cudaLaunchKernel    |a.b.......d.....|
t1  cudaMemcpyAsync     |.....c..........|
t1  cudaEventRecord     |...r............|
t1  cudaStreamWaitEvent |....w...........|
"""
RECORDS = [{"call": "r", "stream": 7}]
WAITS = [{"call": "w", "stream": 13, "record": "r"}]


def test_a_wait_leads_from_the_last_before_the_record_to_the_first_behind_the_wait() -> None:
    found = waits_of(CHAIN, records=RECORDS, waits=WAITS)
    waits, records = found.waits, found.records

    assert len(waits) == 1
    assert letters(found, waits.before, "abcd") == "b"
    assert letters(found, waits.after, "abcd") == "c"
    assert waits.time_ns.tolist() == [4 * US]
    assert (stream_ids(found, waits.recorded_on), stream_ids(found, waits.stream)) == ([7], [13])
    assert (waits.record.tolist(), waits.record_row.tolist()) == ([Record.KNOWN], [0])
    assert waits.through.tolist() == [ABSENT]
    assert records.time_ns.tolist() == [3 * US]
    assert (stream_ids(found, records.stream), records.awaited.tolist()) == ([7], [True])
    assert letters(found, records.before, "abcd") == "b"


def test_a_wait_behind_which_nothing_comes_holds_nothing() -> None:
    found = waits_of(
        CHAIN.replace("|....w...........|", "|.......w........|"), records=RECORDS, waits=WAITS
    )

    assert letters(found, found.waits.after, "abcd") == "-"
    assert letters(found, found.waits.before, "abcd") == "b"


def test_a_record_before_which_nothing_came_is_of_nothing() -> None:
    text = CHAIN.replace("|...r............|", "|r...............|").replace("|a.b", "|.ab")
    found = waits_of(text, records=RECORDS, waits=WAITS)

    assert letters(found, found.waits.before, "abcd") == "-"
    assert letters(found, found.records.before, "abcd") == "-"
    assert letters(found, found.waits.after, "abcd") == "c"


def test_a_call_that_failed_waits_for_nothing() -> None:
    found = waits_of(CHAIN, records=RECORDS, waits=WAITS, failed=["w"])

    assert len(found.waits) == 0
    assert found.records.awaited.tolist() == [False]


def test_without_rows_of_records_none_is_known() -> None:
    found = waits_of(CHAIN, records=RECORDS, waits=WAITS, event_rows=False)

    assert found.waits.record.tolist() == [Record.UNKNOWN]
    assert found.waits.record_row.tolist() == [ABSENT]
    assert (len(found.records), found.no_records) == (0, True)


def test_of_a_wait_without_a_row_the_record_is_not_known() -> None:
    found = waits_of(CHAIN, records=RECORDS)

    assert found.waits.record.tolist() == [Record.UNKNOWN]
    assert (found.waits.stream.tolist(), found.waits.after.tolist()) == ([ABSENT], [ABSENT])


def test_without_calls_nothing_is_known_to_come_before_a_record(tmp_path: Path) -> None:
    path = picture(CHAIN, records=RECORDS).export(tmp_path / "no_calls.sqlite")
    edit(path, "DELETE FROM CUPTI_ACTIVITY_KIND_RUNTIME")
    (found,) = measure_file(path, stream_waits=True).waits

    assert found.records.before.tolist() == [ABSENT]
    assert found.records.time_ns.tolist() == [ABSENT_TIME]


def test_only_records_that_somebody_waits_for_are_awaited() -> None:
    text = CHAIN.replace("|...r............|", "|.s.r......q.....|")
    records = [*RECORDS, {"call": "s", "stream": 7}, {"call": "q", "stream": 19}]
    found = waits_of(text, records=records, waits=WAITS)
    rows = found.records

    order = np.argsort(rows.time_ns)
    assert rows.time_ns[order].tolist() == [1 * US, 3 * US, 10 * US]
    assert rows.awaited[order].tolist() == [False, True, False]
    assert letters(found, rows.before[order], "abcd") == "ab-"
    assert stream_ids(found, rows.stream[order]) == [7, 7, 19]


def test_streams_that_run_something_come_before_those_that_only_wait() -> None:
    records = [{"call": "r", "stream": 5}]
    found = waits_of(
        CHAIN,
        streams=FREE | {"5": "blocking"},
        priorities={"13": -5},
        records=records,
        waits=[{"call": "w", "stream": 19, "record": "r"}],
    )
    table = found.streams

    assert table.stream_id.tolist() == [7, 13, 5, 19]
    assert table.kind.tolist() == [
        *(StreamKind.NULL, StreamKind.NON_BLOCKING),
        *(StreamKind.BLOCKING, StreamKind.NON_BLOCKING),
    ]
    assert table.priority.tolist() == [0, -5, 0, 0]
    assert table.described.tolist() == [True] * 4
    assert table.device_id.tolist() == [0] * 4
    assert found.waits.stream.tolist() == [3]
    assert letters(found, found.waits.after, "abcd") == "-"


def test_streams_have_the_device_of_their_work_else_of_their_context(tmp_path: Path) -> None:
    drawing = picture(
        CHAIN.replace("s13", "gpu1 s13"),
        records=[{"call": "r", "stream": 21}],
        waits=[{"call": "w", "stream": 22, "gpu": 1, "record": "r"}],
    )
    path = drawing.export(tmp_path / "streams.sqlite")
    (found,) = measure_file(path, stream_waits=True).waits
    edit(path, "DELETE FROM TARGET_INFO_CUDA_CONTEXT_INFO")
    (unnamed,) = measure_file(path, stream_waits=True).waits

    assert found.streams.stream_id.tolist() == [7, 13, 21, 22]
    assert found.streams.device_id.tolist() == [0, 1, 0, 1]
    assert unnamed.streams.device_id.tolist() == [0, 1, ABSENT, ABSENT]


def test_streams_of_unknown_kind_stay_so() -> None:
    streams = {"9": "unknown", "13": "blocking"}
    table = waits_of(CHAIN.replace("s7 ", "s9 "), streams=streams).streams

    assert table.kind.tolist() == [StreamKind.UNKNOWN, StreamKind.BLOCKING]
    assert (table.priority.tolist(), table.described.tolist()) == ([0, 0], [True, True])


def test_streams_that_the_recording_does_not_describe_are_so() -> None:
    records = [{"call": "r", "stream": 21}]
    table = waits_of(CHAIN, records=records, waits=WAITS).streams

    assert table.stream_id.tolist() == [7, 13, 21]
    assert table.kind.tolist()[2] == StreamKind.UNKNOWN
    assert (table.priority.tolist()[2], table.described.tolist()[2]) == (0, False)


def test_operations_stand_in_the_order_of_their_hand_over() -> None:
    found = waits_of(
        """
        s7  kernel k            |.aabb...........|
        s13 h2d pinned 64MiB    |.ccdd...ee......|
        t1  cudaLaunchKernel    |ab..............|
        t2  cudaMemcpyAsync     |.dc.............|
        """
    )

    # By start: a, c, b, d, e; that of d came before that of c, that of e is not known.
    assert letters(found, found.order, "acbde") == "abdc"
    assert found.position.tolist() == [0, 1, 1, 0, ABSENT]


def test_what_may_hold_a_stream_unseen_is_counted() -> None:
    found = waits_of(
        """
        s7  kernel k             |.aabb..........|
        t1  cudaLaunchKernel     |ab.............|
        t1  cudaGraphLaunch      |..gh...........|
        t1  cudaLaunchHostFunc   |....i..........|
        t1  cuStreamWriteValue32 |.....j.........|
        t1  cudaStreamAddCallback |......k........|
        """
    )

    assert (found.graph_launches, found.host_functions) == (2, 3)
    assert (waits_of(CHAIN).graph_launches, waits_of(CHAIN).host_functions) == (0, 0)


def joins_of(call: str, cells: str, **options: Any) -> StreamWaits:
    return waits_of(
        f"""
        s7  kernel k            |.aabb.......dd..|
        s13 h2d pinned 64MiB    |...ccc..........|
        t1  cudaLaunchKernel    |a.b.......d.....|
        t1  cudaMemcpyAsync     |...c............|
        t1  cudaEventRecord     |.r..............|
        t1  {call} |{cells}|
        """,
        records=RECORDS,
        **options,
    )


SYNC = "....ssss........"


def test_a_wait_for_a_stream_is_for_the_last_that_it_was_given() -> None:
    found = joins_of("cudaStreamSynchronize", SYNC, waits=[{"call": "s", "stream": 7}])
    joins = found.joins

    assert (joins.start_ns.tolist(), joins.end_ns.tolist()) == ([4 * US], [8 * US])
    assert stream_ids(found, joins.stream) == [7]
    assert letters(found, joins.before, "abcd") == "b"
    flags = (joins.of_event, joins.whole, joins.copy)
    assert [flag.tolist() for flag in flags] == [[False], [False], [False]]
    assert joins.record_row.tolist() == [ABSENT]
    assert found.records.awaited.tolist() == [False]


def test_a_wait_for_an_event_is_for_the_last_before_its_record() -> None:
    waits = [{"call": "s", "stream": 7, "record": "r"}]
    found = joins_of("cudaEventSynchronize", SYNC, waits=waits)
    joins = found.joins

    assert stream_ids(found, joins.stream) == [7]
    assert letters(found, joins.before, "abcd") == "a"
    assert [flag.tolist() for flag in (joins.of_event, joins.whole)] == [[True], [False]]
    assert joins.record_row.tolist() == [0]
    assert found.records.awaited.tolist() == [True]


def test_a_wait_for_the_device_is_for_all() -> None:
    found = joins_of("cudaDeviceSynchronize", SYNC)
    joins = found.joins

    assert (joins.whole.tolist(), joins.of_event.tolist()) == ([True], [False])
    assert (joins.stream.tolist(), joins.before.tolist()) == ([ABSENT], [ABSENT])


def test_a_wait_that_failed_is_none() -> None:
    assert len(joins_of("cudaDeviceSynchronize", SYNC, failed=["s"]).joins) == 0


@pytest.mark.parametrize(
    ("cells", "exact", "count"),
    [
        ("....ssss........", {"u": [5.0, 7.0]}, 1),
        ("....ssss........", {"u": [4.0, 8.0]}, 1),
        ("....ssss........", {"u": [5.0, 8.001]}, 2),
        ("....ssss........", {"u": [8.0, 9.0]}, 2),
    ],
)
def test_a_driver_call_within_a_runtime_call_is_part_of_it(
    cells: str, exact: dict[str, list[float]], count: int
) -> None:
    inner = "\n        t1  cuCtxSynchronize |.....u..........|\n        s19 kernel k "
    call = f"cudaDeviceSynchronize |{cells}|{inner}"
    assert len(joins_of(call, "................", host_us=exact).joins) == count
    other = call.replace("t1  cuCtx", "t2  cuCtx")
    assert len(joins_of(other, "................", host_us=exact).joins) == 2


def test_several_driver_calls_within_a_runtime_call_are_part_of_it() -> None:
    """Of a thread beside another, which waits before."""
    text = """
    s7  kernel k              |.aa.............|
    t1  cudaLaunchKernel      |a...............|
    t1  cudaDeviceSynchronize |.sss............|
    t2  cudaDeviceSynchronize |.....pppppppp...|
    t2  cuCtxSynchronize      |......q........x|
    t2  cuStreamSynchronize   |........rr.v....|
    t2  cuEventSynchronize    |..............uu|
    """

    assert waits_of(text).joins.start_ns.tolist() == [1 * US, 5 * US, 14 * US]


@pytest.mark.parametrize(("end", "joined"), [(6.0, True), (5.999, False)])
def test_a_copy_that_returned_when_it_was_done_is_a_wait(end: float, joined: bool) -> None:
    found = waits_of(
        """
        s7  kernel k            |.aaa............|
        s13 h2d pinned 64MiB    |...ccc..........|
        t1  cudaLaunchKernel    |a...............|
        t1  cudaMemcpy          |..cccc..........|
        """,
        host_us={"c": [2.0, end]},
    )
    joins = found.joins

    assert len(joins) == joined
    if joined:
        assert letters(found, joins.before, "ac") == "c"
        assert (joins.copy.tolist(), joins.whole.tolist()) == ([True], [False])
        assert (stream_ids(found, joins.stream), joins.record_row.tolist()) == ([13], [ABSENT])
        assert joins.of_event.tolist() == [False]


NULL = """
s7  kernel k            |.aa..bbee.......|
s13 h2d pinned 64MiB    |...cc.....ddff..|
t1  cudaLaunchKernel    |a..b.e..........|
t1  cudaMemcpyAsync     |..c....d.f......|
"""


def barriers(kinds: dict[str, str], text: str = NULL) -> list[str]:
    found = waits_of(text, streams=kinds)
    pairs = zip(found.barriers.before.tolist(), found.barriers.after.tolist(), strict=True)
    return sorted(letters(found, pair, "acbedf") for pair in pairs)


def test_the_null_stream_and_blocking_streams_hold_each_other_where_that_is_new() -> None:
    """Of e and f the streams' own order says as much."""
    assert barriers({"7": "null", "13": "blocking"}) == ["ac", "cb", "ed"]
    assert barriers({"7": "blocking", "13": "null"}) == ["ac", "cb", "ed"]


def test_streams_that_do_not_block_are_not_held() -> None:
    assert barriers({"7": "null", "13": "non-blocking"}) == []
    assert barriers({"9": "blocking", "13": "blocking"}, NULL.replace("s7 ", "s9 ")) == []
    assert barriers({"9": "null", "13": "blocking"}, NULL.replace("s7 ", "s9 ")) != []


def test_a_stream_that_does_not_block_is_neither_held_nor_holds() -> None:
    """Beside two that hold each other; its work is handed over between theirs."""
    text = (
        NULL
        + """
s19 kernel side         |.......hh.......|
t2  cudaLaunchKernel    |.h..............|
"""
    )
    found = waits_of(text, streams={"7": "null", "13": "blocking", "19": "non-blocking"})
    pairs = zip(found.barriers.before.tolist(), found.barriers.after.tolist(), strict=True)

    assert sorted(letters(found, pair, "acbehdf") for pair in pairs) == ["ac", "cb", "ed"]


RELAY = """
s7  kernel k            |.aaaa....ee......|
s13 h2d pinned 64MiB    |........cc.dd....|
t1  cudaLaunchKernel    |a.......e........|
t1  cudaEventRecord     |.r..s............|
t1  cudaStreamWaitEvent |..v..w...........|
t1  cudaMemcpyAsync     |.......c.d.......|
"""
THROUGH = [
    {"call": "v", "stream": 19, "record": "r"},
    {"call": "w", "stream": 13, "record": "s"},
]
BOTH = [{"call": "r", "stream": 7}, {"call": "s", "stream": 19}]


def relayed(text: str = RELAY, **options: Any) -> list[tuple[str, str, list[int]]]:
    """Waits that were handed on: operations, and the streams 'from, through, to'."""
    found = waits_of(text, **({"records": BOTH, "waits": THROUGH} | options))
    waits = found.waits.rows(found.waits.through != ABSENT)
    return [
        (
            letters(found, waits.before[n : n + 1], "acedfg"),
            letters(found, waits.after[n : n + 1], "acedfg"),
            stream_ids(found, [waits.recorded_on[n], waits.through[n], waits.stream[n]]),
        )
        for n in range(len(waits))
    ]


def test_a_stream_that_ran_nothing_hands_on_what_it_waited_for() -> None:
    assert relayed() == [("a", "c", [7, 19, 13])]
    found = waits_of(RELAY, records=BOTH, waits=THROUGH)
    assert found.waits.time_ns.tolist() == [2 * US, 5 * US, 5 * US]


def test_waits_whose_record_is_not_known_hand_on_nothing_and_hide_nothing() -> None:
    before = RELAY + "t2  cudaStreamWaitEvent |u................|\n"

    assert relayed(before, waits=[{"call": "u", "stream": 19}, *THROUGH]) == [
        ("a", "c", [7, 19, 13])
    ]


def test_not_what_it_waited_for_after_its_record() -> None:
    late = RELAY.replace("|..v..w...........|", "|.....vw..........|")

    assert relayed(late) == []


def test_nor_what_it_waited_for_before_it_ran_something_itself() -> None:
    """The order of its own stream says it then."""
    own = RELAY + "s19 kernel k |......g..........|\nt2  cudaLaunchKernel |..."
    before = own + "g.............|"
    assert relayed(before) == []


def test_nor_anything_where_nothing_comes_behind() -> None:
    late = RELAY.replace("|..v..w...........|", "|..v.......w......|")

    assert relayed(late) == []


def test_what_was_handed_on_once_is_not_told_again() -> None:
    twice = RELAY.replace("|..v..w...........|", "|..v..wu..........|")
    again = [*THROUGH, {"call": "u", "stream": 13, "record": "s"}]

    assert relayed(twice, waits=again) == [("a", "c", [7, 19, 13])]


def test_nothing_is_handed_back_to_the_stream_that_it_came_from() -> None:
    waits = [THROUGH[0], {"call": "w", "stream": 7, "record": "s"}]

    assert relayed(waits=waits) == []


def test_two_streams_may_hand_on_one_after_the_other() -> None:
    text = """
    s7  kernel k            |.aaaa.............|
    s13 h2d pinned 64MiB    |..........cc......|
    t1  cudaLaunchKernel    |a.................|
    t1  cudaEventRecord     |.r..s..q..........|
    t1  cudaStreamWaitEvent |..v..u..w.........|
    t1  cudaMemcpyAsync     |.........c........|
    """
    found = relayed(
        text,
        records=[*BOTH, {"call": "q", "stream": 21}],
        waits=[
            THROUGH[0],
            {"call": "u", "stream": 21, "record": "s"},
            {"call": "w", "stream": 13, "record": "q"},
        ],
    )

    assert found == [("a", "c", [7, 21, 13])]


def test_the_last_that_was_waited_for_of_each_stream_is_handed_on() -> None:
    """The relaying stream waits for stream 7 twice, and for stream 23."""
    text = """
    s7  kernel k            |.aaaa..dd.............|
    s23 kernel n            |.....eeee.............|
    s13 h2d pinned 64MiB    |..............ccc.....|
    t1  cudaLaunchKernel    |a....d................|
    t2  cudaLaunchKernel    |..e...................|
    t1  cudaEventRecord     |.r.x..p...s...........|
    t1  cudaStreamWaitEvent |..v.u..y...w..........|
    t1  cudaMemcpyAsync     |............c.........|
    """
    found = waits_of(
        text,
        records=[
            *BOTH,
            {"call": "x", "stream": 23},
            {"call": "p", "stream": 7},
        ],
        waits=[
            *THROUGH,
            {"call": "u", "stream": 19, "record": "x"},
            {"call": "y", "stream": 19, "record": "p"},
        ],
    )
    waits = found.waits.rows(found.waits.through != ABSENT)

    assert sorted(letters(found, waits.before, "aedc")) == ["d", "e"]
    assert letters(found, waits.after, "aedc") == "cc"


def test_a_process_that_waits_for_nothing_has_no_rows() -> None:
    found = waits_of("s7 kernel k |.aa|\nt1 cudaLaunchKernel |a..|", streams={})

    assert [len(table) for table in (found.waits, found.joins, found.barriers)] == [0, 0, 0]
    assert len(found.records) == 0
    assert not found.no_records


def test_a_record_whose_call_is_not_known_has_no_time() -> None:
    found = waits_of(CHAIN, records=RECORDS, waits=WAITS)

    assert (found.records.time_ns != ABSENT_TIME).all()
