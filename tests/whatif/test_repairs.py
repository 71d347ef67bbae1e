"""What each repair changes, and which orders it adds: one column is 100 us."""

from __future__ import annotations

import numpy as np
import pytest

from overlapcheck.order import Work
from overlapcheck.step_graph import StepGraph, Why
from overlapcheck.whatif.predict import Predictor
from overlapcheck.whatif.repair import Repair
from overlapcheck.whatif.repairs import REPAIRS
from tests.whatif.graphs import drawn, drawn_ranks, is_there, repaired

US = 1_000
COLUMN = 100 * US
CLOSE = 30 * US
"""Launches, starts and copies' own time."""
TWO_BUFFERS = "kernels → copy two steps later (event; two buffers)"
PREFETCHED = (
    "kernels → prefetch two steps later (event; two buffers)",
    "pages → kernels of the next step (event)",
)
SUM = "ncclDevKernel_AllReduce_Sum_bf16"
PLAIN = """
s7   kernel fwd               |aaaaabbbbb|
t1   cudaLaunchKernel         |ab........|
t1   nvtx step                |0000000000|
"""
PAGEABLE = """
s13  h2d pageable 5MB         |.hhhhhhhhhhhh.......|
s7   kernel fwd               |..............aaaaa.|
t1   cudaMemcpyAsync          |hhhhhhhhhhhhh.......|
t1   cudaLaunchKernel         |..............a.....|
t1   nvtx step                |00000000000000000000|
"""
IN_LINE = """
s7   h2d pinned 20MB          |cccc......|
s7   kernel fwd               |....aaaaaa|
t1   cudaMemcpyAsync          |c.........|
t1   cudaLaunchKernel         |.a........|
t1   cudaDeviceSynchronize    |..ssssssss|
t1   nvtx step                |0000000000|
"""
SYNC = """
s7   kernel fwd               |.aaaaa....|
t1   cudaLaunchKernel         |a.........|
t1   cudaDeviceSynchronize    |..ssss....|
t1   nvtx step                |0000000000|
"""
ALLOCATION = """
s7   kernel fwd               |.aaaaa..|
t1   cudaLaunchKernel         |a.......|
t1   cudaFree                 |..ffff..|
t1   cudaMalloc               |......mm|
t1   nvtx step                |00000000|
"""
SYNC_COPY = """
s7   h2d pinned 20MB          |cccc......|
s7   kernel fwd               |....aaaaaa|
t1   cudaMemcpy               |cccc......|
t1   cudaLaunchKernel         |....a.....|
t1   cudaDeviceSynchronize    |.....sssss|
t1   nvtx step                |0000000000|
"""
STARVED = """
s7   kernel fwd               |..............aaaaaa|
t1   cudaLaunchKernel         |.............a......|
t1   os pthread_cond_wait     |...oooooooooo.......|
t1   nvtx step                |00000000000000000000|
"""
BLOCKING = """
s7   kernel fwd               |.aaa..bbb.|
t1   cudaLaunchKernel         |aaaa.bbbb.|
t1   nvtx step                |0000000000|
"""
DEFAULT = """
s14  h2d pinned 20MB          |cccc......|
s7   kernel fwd               |....aaaaaa|
t1   cudaMemcpyAsync          |c.........|
t1   cudaLaunchKernel         |.a........|
t1   cudaStreamSynchronize    |..ssssssss|
t1   nvtx step                |0000000000|
"""
LAUNCHES = """
s7   kernel fwd               |.a.b.c.d.e|
t1   cudaLaunchKernel         |abbccddeef|
t1   nvtx step                |0000000000|
"""
REDUCE = """
s7   kernel bwd               |aaabbbcccdddeeefff......g|
s7   kernel ncclDevKernel_AllReduce_Sum_bf16 |..................rrrrrr.|
t1   cudaLaunchKernel         |abcdefrg.................|
t1   cudaDeviceSynchronize    |........sssssssssssssssss|
t1   nvtx step                |0000000000000000000000000|
"""


def fewer(graph: StepGraph, after: StepGraph, why: Why) -> int:
    return int((graph.links.why == why).sum() - (after.links.why == why).sum())


def by_cause(cause: str) -> Repair:
    return next(repair for repair in REPAIRS if repair.id == cause)


def test_pinned_copies_take_the_links_time_and_hold_nobody() -> None:
    graph = drawn(PAGEABLE)
    found = repaired(graph, "pageable-copy")

    # 5 MB at 25 B/ns, the rate of a device whose kind is not known: 200 us instead of 1.2 ms; the
    # thread spends one column between the copy and the launch, and six after it.
    assert found.before_ns == 20 * COLUMN
    assert abs(found.step_ns - 8 * COLUMN) < CLOSE + COLUMN
    assert found.next_bound.what == "host"
    assert not is_there(drawn(PAGEABLE.replace("pageable", "pinned")), "pageable-copy")


def test_pinned_copies_run_at_the_rate_of_those_recorded() -> None:
    graph = drawn(
        PAGEABLE
        + "s15  h2d pinned 5MB           |....................|\n".replace(
            "....................", "..............kk...."
        )
        + "t1   cudaMemcpyAsync          |.............k......|\n"
    )
    (repair,) = (one for one in REPAIRS if one.id == "pageable-copy")
    after = repair.apply(graph)
    assert after is not None
    staged = graph.operations.pageable

    # 5 MB in two columns.
    assert set(after.graph.operations.length_ns[staged].tolist()) == {2 * COLUMN + 1_500}


def test_copies_of_a_second_stream_run_a_step_ahead_between_two_buffers() -> None:
    graph = drawn(IN_LINE)
    found = repaired(graph, "same-stream")

    # The kernels, and what the thread that has waited for them needs until it launches again.
    assert abs(found.step_ns - 7 * COLUMN) < CLOSE
    assert found.edges_added == ("copy → kernels of the next step (event)", TWO_BUFFERS)
    assert found.next_bound.what == "compute"
    assert not is_there(drawn(PLAIN), "same-stream")


def test_a_second_stream_wins_nothing_beyond_the_link() -> None:
    # Nine columns of copy in ten: prefetched, the link is busy all the time.
    found = repaired(
        drawn(
            """
            s7   h2d pinned 20MB          |ccccccccc.|
            s7   kernel fwd               |.........a|
            t1   cudaMemcpyAsync          |c.........|
            t1   cudaLaunchKernel         |.a........|
            t1   cudaDeviceSynchronize    |..ssssssss|
            t1   nvtx step                |0000000000|
            """
        ),
        "same-stream",
        "host-sync",
    )

    assert abs(found.step_ns - 9 * COLUMN) < CLOSE
    assert found.next_bound.what == "h2d"
    assert found.next_bound.told(found.step_ns).startswith("copy-bound: ")


def test_a_thread_that_does_not_wait_gets_ahead() -> None:
    graph = drawn(SYNC)
    found = repaired(graph, "host-sync")

    # What is left is the thread's own: its gaps of one, four and no columns, and its calls.
    assert found.step_ns < found.before_ns - 3 * COLUMN
    assert not is_there(drawn(PLAIN), "host-sync")


def test_memory_that_is_kept_is_neither_freed_nor_waited_for() -> None:
    found = repaired(drawn(ALLOCATION), "allocation")

    assert found.before_ns == 8 * COLUMN
    assert abs(found.step_ns - 5 * COLUMN) < CLOSE
    assert not is_there(drawn(PLAIN), "allocation")


def test_an_asynchronous_copy_keeps_its_place_in_its_stream() -> None:
    graph = drawn(SYNC_COPY)
    alone = repaired(graph, "sync-copy")
    both = repaired(graph, "sync-copy", "same-stream", "host-sync")

    assert abs(alone.step_ns - 10 * COLUMN) < CLOSE
    assert abs(both.step_ns - 6 * COLUMN) < CLOSE
    assert both.fix == ("same-stream", "sync-copy", "host-sync")


def test_streams_that_do_not_block_overlap() -> None:
    graph = drawn(
        DEFAULT, streams={"7": "null", "14": "blocking"}, waits=[{"call": "s", "stream": 7}]
    )
    found = repaired(graph, "default-stream")

    assert abs(found.step_ns - 7 * COLUMN) < CLOSE
    assert found.edges_added
    assert not is_there(drawn(DEFAULT), "default-stream")


def test_input_that_is_ready_is_not_waited_for() -> None:
    found = repaired(drawn(STARVED), "host-starved")

    # The wait took ten of twenty columns.
    assert abs(found.step_ns - 10 * COLUMN) < CLOSE
    assert not is_there(drawn(PLAIN), "host-starved")


def test_launches_that_wait_only_for_a_variable() -> None:
    found = repaired(drawn(BLOCKING), "launch-blocking")

    assert abs(found.step_ns - 6 * COLUMN) < CLOSE
    assert not is_there(drawn(PLAIN), "launch-blocking")


def test_one_graph_launch_instead_of_many() -> None:
    found = repaired(drawn(LAUNCHES.replace("f", ".")), "launch-bound")

    # Five kernels of a column each, back to back.
    assert abs(found.step_ns - 5 * COLUMN) < CLOSE
    assert found.next_bound.what == "compute"


def test_a_collective_in_parts_runs_under_the_backward_pass() -> None:
    graph = drawn(REDUCE)
    found = repaired(graph, "exposed-collective")

    # The last of four parts starts behind the last gradients: 6 / 4 columns, and the optimizer.
    assert found.before_ns == 25 * COLUMN
    assert abs(found.step_ns - 20.5 * COLUMN) < 2 * CLOSE
    assert "bucket" in found.edges_added[0]
    assert not is_there(drawn(PLAIN), "exposed-collective")


def test_copies_that_wait_for_kernels_that_do_not_concern_them() -> None:
    graph = drawn(
        """
        s7   kernel fwd               |.aaaaa....|
        s13  h2d pinned 20MB          |......cccc|
        t1   cudaLaunchKernel         |a.........|
        t1   cudaEventRecord          |.q...r....|
        t1   cudaStreamWaitEvent      |..v...w...|
        t1   cudaMemcpyAsync          |...c......|
        t1   cudaDeviceSynchronize    |........ss|
        t1   nvtx step                |0000000000|
        """,
        records=[{"call": "q", "stream": 7}, {"call": "r", "stream": 13}],
        waits=[
            {"call": "v", "stream": 13, "record": "q"},
            {"call": "w", "stream": 7, "record": "r"},
        ],
    )
    after = by_cause("event-wait").apply(graph)

    assert after is not None
    assert fewer(graph, after.graph, Why.EVENT) >= 7
    assert after.edges_added == (TWO_BUFFERS,)
    assert repaired(graph, "event-wait").step_ns < 10 * COLUMN


@pytest.mark.parametrize("repair", REPAIRS, ids=lambda one: one.id)
def test_nothing_is_repaired_where_nothing_is_wrong(repair: Repair) -> None:
    after = repair.apply(drawn(PLAIN))

    assert after is None or repair.id == "launch-bound"


def test_a_repair_leaves_the_recorded_steps_as_they_are() -> None:
    graph = drawn(PAGEABLE)
    before = graph.operations.length_ns.copy(), graph.links.why.copy()
    repaired(graph, "pageable-copy")

    assert np.array_equal(graph.operations.length_ns, before[0])
    assert np.array_equal(graph.links.why, before[1])


def test_a_cause_that_is_not_there_is_said_so() -> None:
    predictor = Predictor.of(drawn(PAGEABLE))
    both = predictor.forced(["default-stream", "pageable-copy"])
    none = predictor.forced(["default-stream"])

    assert both.fix == ("default-stream", "pageable-copy")
    assert both.not_there == none.not_there == ("default-stream",)
    assert none.step_ns == none.before_ns
    assert not none.is_worth_while


def test_at_the_own_pace_host_work_is_shorter_and_the_device_s_is_not() -> None:
    graph = drawn(SYNC)
    predictor = Predictor.of(graph, 8 * COLUMN)

    assert predictor.at_own_pace
    assert abs(predictor.step_ns - 8 * COLUMN) < COLUMN // 10
    assert np.array_equal(predictor.graph.operations.length_ns, graph.operations.length_ns)
    assert not Predictor.of(graph, 12 * COLUMN).at_own_pace


def test_a_free_does_its_work_behind_all_that_it_waits_for() -> None:
    # The sync waits, so that the free behind it need not; without the sync the free waits, and
    # then takes its two columns all the same.
    graph = drawn(
        """
        s7   kernel fwd               |.aaaaa....|
        t1   cudaLaunchKernel         |a.........|
        t1   cudaDeviceSynchronize    |..ssss....|
        t1   cudaFree                 |.......ff.|
        t1   nvtx step                |0000000000|
        """
    )
    found = repaired(graph, "host-sync")

    assert found.before_ns == 10 * COLUMN
    assert abs(found.step_ns - 9 * COLUMN) < CLOSE
    assert repaired(graph, "host-sync", "allocation").step_ns < 7 * COLUMN


PAGES = """
s7   kernel fwd               |.aaaaaaaa.|
uvm  h2d 2MiB                 |..xx.yy...|
t1   cudaLaunchKernel         |a.........|
t1   cudaDeviceSynchronize    |..sssssss.|
t1   nvtx step                |0000000000|
"""


def test_kernels_find_pages_that_came_a_step_ahead() -> None:
    graph = drawn(PAGES)
    after = by_cause("uvm-migration").apply(graph)
    found = repaired(graph, "uvm-migration")

    # Pages move in four of the kernel's eight columns.
    assert after is not None
    assert found.before_ns == 10 * COLUMN
    assert abs(found.step_ns - 6 * COLUMN) < CLOSE
    assert found.edges_added == after.edges_added == PREFETCHED
    pages = np.flatnonzero(graph.operations.work == Work.MIGRATION)
    # 2 MiB at 25 B/ns, one behind the other.
    assert set(after.graph.operations.length_ns[pages].tolist()) == {(2 << 20) // 25}
    assert fewer(after.graph, graph, Why.ENGINE) == pages.size - 1
    assert fewer(after.graph, graph, Why.READY) == fewer(after.graph, graph, Why.REUSE) == 7
    assert not is_there(drawn(PLAIN), "uvm-migration")


def test_prefetched_pages_cost_what_the_link_takes() -> None:
    # Twice 6 MB at 25 B/ns are 480 us, however early they are asked for; the kernel takes two
    # columns without them.
    found = repaired(
        drawn(
            """
            s7   kernel fwd               |.aaaaaaaa.|
            uvm  h2d 6MB                  |..xxxyyy..|
            t1   cudaLaunchKernel         |a.........|
            t1   cudaDeviceSynchronize    |..sssssss.|
            t1   nvtx step                |0000000000|
            """
        ),
        "uvm-migration",
    )

    assert abs(found.step_ns - 12_000_000 // 25) < CLOSE
    assert found.next_bound.what == "h2d"


def test_a_kernel_on_pages_that_came_takes_what_it_took_on_resident_ones() -> None:
    # Handling the faults holds the kernel, too: of the same kernel on resident pages the
    # recording tells how long.
    found = repaired(
        drawn(
            """
            s7   kernel fwd               |.aaaaaaaabb.|
            uvm  h2d 2MiB                 |..x..y..z...|
            t1   cudaLaunchKernel         |ab..........|
            t1   cudaDeviceSynchronize    |..sssssssss.|
            t1   nvtx step                |000000000000|
            """
        ),
        "uvm-migration",
    )

    assert found.before_ns == 12 * COLUMN
    assert abs(found.step_ns - 6 * COLUMN) < CLOSE


def test_pages_that_the_host_touches_come_at_the_links_rate() -> None:
    graph = drawn(
        """
        s7   kernel fwd               |.aa.......|
        uvm  d2h 5MB                  |....xxxx..|
        t1   cudaLaunchKernel         |a.........|
        t1   cudaDeviceSynchronize    |..s.......|
        t1   nvtx step                |0000000000|
        """
    )
    found = repaired(graph, "uvm-migration")

    # 5 MB at 25 B/ns are two columns instead of four.
    assert abs(found.step_ns - 8 * COLUMN) < CLOSE
    assert found.edges_added == ()
    assert not is_there(drawn(SYNC), "uvm-migration")


RANKS = f"""
p1 gpu0 s7  kernel k            |aaaa......|
p1 gpu0 s7  kernel {SUM}        |....bbbb..|
p2 gpu1 s7  kernel k            |cccccc....|
p2 gpu1 s7  kernel {SUM}        |......dd..|
p1 t1 cudaLaunchKernel          |ab........|
p1 t1 cudaDeviceSynchronize     |..ssssss..|
p2 t1 cudaLaunchKernel          |cd........|
p2 t1 cudaDeviceSynchronize     |..zzzzzz..|
p1 t1 nvtx step                 |0000000000|
p2 t1 nvtx step                 |0000000000|
"""


def test_a_collective_without_a_late_rank_only_moves_its_data() -> None:
    early, late = drawn_ranks(RANKS)
    found = repaired(early, "late-rank")

    # Two of the four columns wait for the other rank.
    assert abs(found.step_ns - 8 * COLUMN) < CLOSE
    assert found.fix == ("late-rank",)
    assert by_cause("late-rank").reason.cause == "exposed-collective"
    # The rank that comes last waits for nobody, and of one rank alone nothing is known.
    assert not any(repair.id == "late-rank" for repair in Predictor.of(late).applicable())
    assert not is_there(drawn(REDUCE), "late-rank")


def test_a_graph_is_built_once() -> None:
    graph = drawn(
        """
        s7   kernel fwd               |......aaa.|
        t1   cudaGraphInstantiate     |.iiii.....|
        t1   cudaLaunchKernel         |.....a....|
        t1   cudaDeviceSynchronize    |......sss.|
        t1   nvtx step                |0000000000|
        """
    )

    assert abs(repaired(graph, "graph-launch").step_ns - 6 * COLUMN) < CLOSE
    assert not is_there(drawn(PLAIN), "graph-launch")


def test_short_calls_that_build_graphs_are_taken_out_as_well() -> None:
    graph = drawn(
        """
        s7   kernel fwd               |......aaa.|
        t1   cudaGraphAddKernelNode   |iiiii.....|
        t1   cudaLaunchKernel         |.....a....|
        t1   cudaDeviceSynchronize    |......sss.|
        t1   nvtx step                |0000000000|
        """,
        column_us=8,
    )

    assert abs(repaired(graph, "graph-launch").step_ns - 5 * 8 * US) < 8 * US


def test_every_repair_is_asked_for_by_an_id_of_its_own() -> None:
    assert len({repair.id for repair in REPAIRS}) == len(REPAIRS)
