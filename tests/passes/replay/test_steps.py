"""The steps as a graph: which, from when on, and what lag each link has. One column is 1 us."""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from typing import Any

import numpy as np
import pytest

from overlapcheck.columns import ABSENT
from overlapcheck.passes.measure import measure
from overlapcheck.passes.process import process_tables
from overlapcheck.passes.replay import steps as module
from overlapcheck.passes.replay.steps import step_graph
from overlapcheck.replay_thresholds import REPLAY, ReplayThresholds
from overlapcheck.selection import Selection
from overlapcheck.step_graph import StepGraph, Why
from overlapcheck.trace import Gpu
from overlapcheck.whatif.replay import replay
from tests.pictures import picture

US = 1_000


def with_queue(length: int) -> ReplayThresholds:
    """What a replay takes for granted, of a queue that is full sooner."""
    changed = copy(REPLAY)
    object.__setattr__(changed, "queue_length", length)
    return changed


def graph_or_none(
    text: str, most: int = 1000, gpu: Gpu | None = None, **options: Any
) -> StepGraph | None:
    trace = picture(text, **({"repeat": 8, "column_us": 1} | options)).trace()
    (device,) = measure(trace, Selection(skip=0)).devices
    (process,) = process_tables(trace, [device.process])
    return step_graph(process, device, gpu, most)


def graph(text: str, most: int = 1000, gpu: Gpu | None = None, **options: Any) -> StepGraph:
    found = graph_or_none(text, most, gpu, **options)
    assert found is not None
    assert np.array_equal(replay(found).time_ns, found.recorded_ns)
    return found


def lags(made: StepGraph, why: Why) -> list[float]:
    """Lags of the links of a sort in order of what they lead to, us."""
    links = made.links.rows(made.links.why == why)
    lag: list[float] = (links.lag_ns[np.lexsort((links.before, links.after))] / US).tolist()
    return lag


ONE = """
s7  kernel k         |..aaaa....|
t1  cudaLaunchKernel |aa........|
t1  nvtx step        |0000000000|
"""
# b and d are handed over long before they start, and follow a and c.
TWO = """
s7  kernel k           |.......aaaa..bbbbbbb..........|
s13 h2d pinned 1KiB    |...........cc...dd............|
t1  cudaLaunchKernel   |.a.b..........................|
t1  cudaMemcpyAsync    |..c.d.........................|
t1  nvtx step          |000000000000000000000000000000|
"""


def test_launches_have_the_lag_that_is_usual() -> None:
    made = graph(ONE)

    assert lags(made, Why.LAUNCH) == [2] * 8
    # A kernel before has never been the last that one waited for.
    assert lags(made, Why.STREAM) == [1] * 7


def test_each_sort_of_link_and_of_work_has_a_lag_of_its_own() -> None:
    made = graph(TWO)

    # The launch of a comes last, six us before it; that of b is not the one that counts. A copy
    # begins nine us after its call. Those of the first step came before the graph begins.
    assert lags(made, Why.LAUNCH) == [6, 9, 6, 9] * 7
    # b begins two us behind a, and d three us behind c: so would a and c behind those before.
    assert lags(made, Why.STREAM) == [2, 3, *[2, 3, 2, 3] * 7]


def test_a_link_that_never_came_last_has_a_lag_by_its_sort() -> None:
    """The copy waits for the kernel in any case."""
    made = graph(
        """
        s7  kernel k            |..aaaa..............|
        s13 d2h pinned 1KiB     |.........cc.........|
        t1  cudaLaunchKernel    |a...................|
        t1  cudaEventRecord     |.r..................|
        t1  cudaStreamWaitEvent |..w.................|
        t1  cudaMemcpyAsync     |...c................|
        t1  nvtx step           |00000000000000000000|
        """,
        records=[{"call": "r", "stream": 7}],
        waits=[{"call": "w", "stream": 13, "record": "r"}],
    )

    # The first kernel's launch and the last copy lie outside of the steps.
    assert lags(made, Why.LAUNCH) == [4, *[2, 4] * 6, 2]
    assert lags(made, Why.EVENT) == [3] * 7


@pytest.mark.parametrize(("overlap_us", "follows"), [(0.5, True), (1.0, True), (1.001, False)])
def test_what_follows_may_begin_a_microsecond_early(overlap_us: float, follows: bool) -> None:
    """Time stamps of the two streams cross; by more, the copy cannot have waited."""
    made = graph(
        """
        s7  kernel k            |..aaaaaa............|
        s13 d2h pinned 1KiB     |.........cc.........|
        t1  cudaLaunchKernel    |a...................|
        t1  cudaEventRecord     |.r..................|
        t1  cudaStreamWaitEvent |..w.................|
        t1  cudaMemcpyAsync     |...c................|
        t1  nvtx step           |00000000000000000000|
        """,
        records=[{"call": "r", "stream": 7}],
        waits=[{"call": "w", "stream": 13, "record": "r"}],
        gpu_us={"c": [8 - overlap_us, 12.0]},
    )

    assert set(lags(made, Why.EVENT)) == ({-overlap_us} if follows else set())


def test_kernels_back_to_back_have_no_lag_and_one_that_comes_late_has_none_either() -> None:
    letters = "abcdefghi"
    made = explicit(
        [0] * 9,
        [0] * 9,
        gpu_us={letter: [1000.0 * n, 1000.0 * (n + 1)] for n, letter in enumerate(letters)}
        | {"i": [8500.0, 8600.0]},
        host_us={letter: [1000.0 * n - 4, 1000.0 * n - 3] for n, letter in enumerate(letters)}
        | {"a": [0.0, 0.0], "i": [8496.0, 8497.0]},
    )

    assert lags(made, Why.STREAM) == [0] * 8


def test_what_came_before_the_graph_began_is_no_link_into_it() -> None:
    """The first copy of a stream of two ran long before; the last one is as early as it ends."""
    letters = "abcdefgh"
    made = graph(
        f"""
        s7  kernel k         |{letters}|
        s13 h2d pinned 1KiB  |x......y|
        t1  cudaLaunchKernel |{letters}|
        t2  cudaMemcpyAsync  |x......y|
        t1  nvtx step        |01234567|
        """,
        5,
        repeat=1,
        column_us=20,
        gpu_us={letter: [20.0 * n + 2, 20.0 * n + 12] for n, letter in enumerate(letters)}
        | {"x": [0.0, 1.0], "y": [142.0, 142.4], "h": [142.0, 142.5]},
        host_us={letter: [20.0 * n, 20.0 * n + 1] for n, letter in enumerate(letters)}
        | {"x": [0.0, 0.1], "y": [140.2, 140.4]},
    )

    assert made.operations.work.tolist() == [0, 0, 0, 2, 0]
    assert lags(made, Why.STREAM) == [1] * 3
    assert (made.links.before != ABSENT).all()


def test_operations_that_nothing_is_known_to_hold_have_no_links() -> None:
    """All were handed over before the graph begins, each to a stream of its own."""
    letters = "abcdefgh"
    rows = "".join(
        f"s{7 + n} kernel k |{letter.rjust(n + 1, '.').ljust(8, '.')}|\n"
        for n, letter in enumerate(letters)
    )
    made = graph(
        f"{rows}t1 cudaLaunchKernel |{letters}|\nt1 nvtx step |01234567|",
        4,
        repeat=1,
        column_us=10,
        gpu_us={letter: [100.0 + 10 * n, 110.0 + 10 * n] for n, letter in enumerate(letters)},
    )

    assert made.operations.step.tolist() == [ABSENT] * 4 + [0, 1, 2, 3]
    assert len(made.links) == 0


def test_what_waits_for_nothing_has_nothing_unexplained() -> None:
    made = graph(ONE)
    first_call = int(made.call_start(np.array(0)))

    assert first_call not in made.links.after
    assert made.residual_ns[first_call] == 0
    assert made.residual_ns[0] == 0


def explicit(starts: Sequence[float], launches: Sequence[float], **options: Any) -> StepGraph:
    """A kernel of 1 us in each step of 1000 us; both begin after its step, us."""
    letters = "abcdefghijkl"[: len(starts)]
    digits = "0123456789ABCDEF"[: len(starts)]
    asked: dict[str, Any] = {
        "repeat": 1,
        "column_us": 1000,
        "gpu_us": {
            letter: [1000 * n + at, 1000 * n + at + 1]
            for n, (letter, at) in enumerate(zip(letters, starts, strict=True))
        },
        "host_us": {
            letter: [1000 * n + at, 1000 * n + at + 1]
            for n, (letter, at) in enumerate(zip(letters, launches, strict=True))
        },
    }
    return graph(
        f"s7 kernel k |{letters}|\nt1 cudaLaunchKernel |{letters}|\nt1 nvtx step |{digits}|",
        **(asked | options),
    )


def test_the_usual_lag_is_less_than_the_middle_and_of_the_rest_some_is_explained() -> None:
    made = explicit([2, 3, 4, 5, 6, 7, 8, 9, 10, 500], [0] * 10)

    # Of the nine behind the first 5.4 us are usual; what is more is explained up to 100 us.
    assert lags(made, Why.LAUNCH) == [3, 4, 5, 6, 7, 8, 9, 10, 105.4]
    assert made.residual_ns[2 * np.arange(1, 10)].tolist() == [0] * 8 + [394_600]


def test_a_call_that_waits_is_as_long_as_what_it_waits_for() -> None:
    made = graph(
        """
        s7  kernel k              |..aaaaaa............|
        t1  cudaLaunchKernel      |a...................|
        t1  cudaDeviceSynchronize |....ssssss..........|
        t1  nvtx step             |00000000000000000000|
        """
    )

    assert lags(made, Why.WAIT) == [2] * 8
    # Six us long, three of its own, and launches keep theirs.
    assert sorted(made.events.own_ns.tolist()) == [1 * US] * 7 + [3 * US] * 8


def test_a_short_wait_has_its_length_of_its_own() -> None:
    made = graph(
        """
        s7  kernel k              |..aaaaaa............|
        t1  cudaLaunchKernel      |a...................|
        t1  cudaDeviceSynchronize |.......ss...........|
        t1  nvtx step             |00000000000000000000|
        """
    )

    assert lags(made, Why.WAIT) == [1] * 8
    assert sorted(made.events.own_ns.tolist()) == [1 * US] * 7 + [2 * US] * 8


def test_a_free_works_when_all_has_ended() -> None:
    freeing = """
        s7  kernel k              |..aaaa..............|
        t1  cudaLaunchKernel      |a...................|
        t1  cudaFree              |.......ffff.........|
        t1  nvtx step             |00000000000000000000|
        """

    # Not the five us from the end of the kernel. What the first one waits for was handed over
    # before the graph begins, and the last one lies behind its end.
    assert lags(graph(freeing), Why.WAIT) == [4] * 6
    assert sorted(graph(freeing).events.own_ns.tolist()) == [1 * US] * 7 + [4 * US] * 7


def test_a_free_that_begins_as_all_has_ended_works_as_long_as_it_takes() -> None:
    made = graph(
        """
        s7  kernel k              |..aaaa..............|
        t1  cudaLaunchKernel      |a...................|
        t1  cudaFree              |......ffff..........|
        t1  nvtx step             |00000000000000000000|
        """
    )

    assert lags(made, Why.WAIT) == [4] * 6
    assert sorted(made.events.own_ns.tolist()) == [1 * US] * 7 + [4 * US] * 7


def test_a_wait_for_what_has_ended_returns_when_it_did() -> None:
    """A synchronisation of two us, less than the three that one usually takes."""
    made = graph(
        """
        s7  kernel k              |..aaaa..............|
        t1  cudaLaunchKernel      |a...................|
        t1  cudaEventRecord       |.r..................|
        t1  cudaEventSynchronize  |......ss............|
        t1  nvtx step             |00000000000000000000|
        """,
        records=[{"call": "r", "stream": 7}],
        waits=[{"call": "s", "record": "r"}],
    )

    assert lags(made, Why.WAIT) == [2] * 7


def test_of_several_that_a_call_waited_for_each_has_its_lag() -> None:
    """By the event the copy, by time the kernel."""
    made = graph(
        """
        s7  kernel k              |..aaaaaa............|
        s13 d2h pinned 1KiB       |...cc...............|
        t1  cudaLaunchKernel      |a...................|
        t1  cudaMemcpyAsync       |.c..................|
        t1  cudaStreamSynchronize |..sssssss...........|
        t1  nvtx step             |00000000000000000000|
        """,
        waits=[{"call": "s", "stream": 13}],
    )

    # One us from the end of the kernel, which came last, and no more from that of the copy. The
    # first kernel is not known to be waited for: its launch came before the graph begins.
    assert lags(made, Why.WAIT) == [4, *[1, 1] * 6, 1]


def test_a_full_queue_holds_launches_until_there_is_room(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "REPLAY", with_queue(2))
    made = graph(
        """
        s7  kernel k              |..aaaaaabbbbbbcccccc|
        s9  kernel n              |.......d............|
        t1  cudaLaunchKernel      |ab.ccccccc..........|
        t2  cudaLaunchKernel      |.....d..............|
        t1  nvtx step             |00000000000000000000|
        """
    )

    # c waits for a, with two us after its end; a for the b before, which ends six us before it is
    # called; b for the c before.
    full = made.links.rows(made.links.why == Why.QUEUE)
    ops = made.operations
    before, after = full.before // 2, (full.after - 1 - 2 * len(ops)) // 2
    spare = made.events.end_ns[after] - ops.end_ns[before]
    assert (full.before % 2 == 1).all() and (full.after % 2 == 1).all()
    assert (spare >= 0).all()
    assert full.lag_ns.tolist() == np.minimum(spare, 6 * US).tolist()
    assert {1 * US, 2 * US, 6 * US} >= set(full.lag_ns.tolist())
    same = ops.stream[before]
    handed = {int(event): int(stream) for event, stream in zip(ops.event, ops.stream, strict=True)}
    assert [handed[int(event)] for event in after] == same.tolist()
    # The median of all launches is a us long; those of c, seven us long, have waited for an a, all
    # but the first, of which the launch is not known.
    assert sorted(made.events.own_ns.tolist())[-2:] == [1 * US, 7 * US]


def test_a_queue_that_never_fills_holds_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "REPLAY", with_queue(8))
    assert lags(graph(ONE), Why.QUEUE) == []
    monkeypatch.setattr(module, "REPLAY", with_queue(7))
    assert lags(graph(ONE), Why.QUEUE) == [6]


def test_as_many_calls_as_a_queue_holds_wait_for_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """Seven launches of which the first is not known; two streams do not share a queue."""
    monkeypatch.setattr(module, "REPLAY", with_queue(3))
    two = graph(
        """
        s7  kernel k         |.aa.......|
        s9  kernel n         |..bb......|
        t1  cudaLaunchKernel |ab........|
        t1  nvtx step        |0000000000|
        """,
        repeat=4,
    )

    # Of four launches in each stream the last one waits for the first, all but where it is not
    # known.
    ops = two.operations
    known = [stream for stream, event in zip(ops.stream, ops.event, strict=True) if event >= 0]
    full = two.links.rows(two.links.why == Why.QUEUE)
    assert len(full) == sum(known.count(stream) == 4 for stream in set(known))
    assert ops.stream[full.before // 2].tolist() == [s for s in set(known) if known.count(s) == 4]


@pytest.mark.parametrize(("returns", "held"), [(8, True), (7.999, False)])
def test_a_launch_that_returned_before_there_was_room_had_not_waited(
    monkeypatch: pytest.MonkeyPatch, returns: float, held: bool
) -> None:
    """c returns when a ends, or just before."""
    monkeypatch.setattr(module, "REPLAY", with_queue(2))
    made = graph(
        """
        s7  kernel k         |.aaaaaaabbbbbbcccccc|
        t1  cudaLaunchKernel |ab.c................|
        t1  nvtx step        |00000000000000000000|
        """,
        host_us={"c": [3.0, returns]},
    )
    full = made.links.rows(made.links.why == Why.QUEUE)

    assert (full.lag_ns == 0).sum() == (8 if held else 0)
    assert (full.lag_ns >= 0).all()


def test_a_launch_that_began_when_there_was_room_had_not_waited(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """c is called as a ends, and takes seven us of its own."""
    monkeypatch.setattr(module, "REPLAY", with_queue(2))
    made = graph(
        """
        s7  kernel k         |..aaaaaabbbbbbcccccc|
        t1  cudaLaunchKernel |ab......ccccccc.....|
        t1  nvtx step        |00000000000000000000|
        """
    )

    assert sorted(made.events.own_ns.tolist())[-8:] == [7 * US] * 8


def test_two_streams_share_no_queue_when_one_follows_the_other(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(module, "REPLAY", with_queue(2))
    made = graph(
        """
        s7 kernel k         |abcd....|
        s9 kernel n         |....efgh|
        t1 cudaLaunchKernel |abcdefgh|
        t1 nvtx step        |01234567|
        """,
        repeat=1,
        column_us=10,
    )

    full = made.links.rows(made.links.why == Why.QUEUE)
    after = (full.after - 1 - 2 * len(made.operations)) // 2
    assert list(zip((full.before // 2).tolist(), after.tolist(), strict=True)) == [
        (0, 2), (1, 3), (4, 6), (5, 7)
    ]  # fmt: skip


PAIR = """
s7  kernel k         |..aabb....|
t1  cudaLaunchKernel |ab........|
t1  nvtx step        |0000000000|
"""


@pytest.mark.parametrize(
    ("most", "steps"), [(16, 8), (15, 7), (14, 7), (13, 6), (8, 4), (7, 4), (3, 4), (2, None)]
)
def test_the_last_steps_stand_for_all_where_there_are_many(most: int, steps: int | None) -> None:
    made = graph_or_none(PAIR, most)

    assert (made.steps if made else None) == steps
    if made:
        assert made.recorded_steps == 8
        counted = made.operations.step[made.operations.step != ABSENT]
        assert np.bincount(counted).tolist() == [2] * made.steps


@pytest.mark.parametrize(("repeat", "known"), [(3, False), (4, True)])
def test_four_steps_tell_a_pace(repeat: int, known: bool) -> None:
    assert (graph_or_none(PAIR, repeat=repeat) is not None) is known


def test_what_was_handed_over_in_time_for_the_first_step_begins_the_graph() -> None:
    """The host is two kernels ahead: the graph of four steps begins with what ran since then."""
    ahead = """
    s7  kernel k         |.........aabb|
    t1  cudaLaunchKernel |ab...........|
    t1  nvtx step        |0000000000000|
    """
    made = graph(ahead, 8, repeat=8)
    fifth = 13 * US * 4

    assert made.origin_ns == fifth
    assert made.operations.start_ns.min() == fifth + 9 * US
    assert (made.operations.step >= 0).all()


def test_operations_before_the_first_step_count_in_none() -> None:
    """The host is a step ahead: what runs while the first one is handed over is there, too."""
    made = graph(ONE, 4, gpu_us={"a": [12.0, 18.0]})

    assert made.origin_ns == 40 * US
    assert made.operations.start_ns.tolist() == [at * US for at in (42, 52, 62, 72, 82)]
    assert made.operations.step.tolist() == [ABSENT, 0, 1, 2, 3]


def test_the_graph_begins_no_further_back_than_there_is_room() -> None:
    """The host handed over all at once: as many operations as are wanted come before."""
    letters = "abcdefghij"
    made = graph(
        f"s7 kernel k |{letters}|\nt1 cudaLaunchKernel |{letters}|\nt1 nvtx step |0123456789|",
        4,
        repeat=1,
        column_us=10,
        gpu_us={letter: [100.0 + 10 * n, 110.0 + 10 * n] for n, letter in enumerate(letters)},
    )

    assert made.operations.step.tolist() == [ABSENT] * 4 + [0, 1, 2, 3]


@pytest.mark.parametrize(("end", "inside"), [(149, True), (150, True), (151, False)])
def test_copies_that_end_behind_the_last_step_count_in_none(end: int, inside: bool) -> None:
    made = graph(
        """
        s7  kernel k         |..aaaaaaaa|
        s13 h2d pinned 1KiB  |....cc....|
        t1  cudaLaunchKernel |aa........|
        t2  cudaMemcpyAsync  |.c........|
        t1  nvtx step        |0000000000|
        """,
        gpu_us={"c": [4.0, end - 140.0]},
        repeat=15,
    )

    copies = made.operations.step[made.operations.work != 0]
    assert int(copies[-1]) == (14 if inside else ABSENT)


def test_what_starts_when_the_last_step_ends_is_no_part_of_it() -> None:
    """Each copy starts as the kernel of its step ends."""
    made = graph(
        """
        s7  kernel k         |..aaaaaaaa|
        s13 h2d pinned 1KiB  |....cc....|
        t1  cudaLaunchKernel |aa........|
        t2  cudaMemcpyAsync  |.c........|
        t1  nvtx step        |0000000000|
        """,
        gpu_us={"c": [10.0, 12.0]},
    )

    assert (made.operations.work == 0).sum() == 8
    assert (made.operations.work != 0).sum() == 7


def test_what_ends_behind_the_last_step_counts_in_none_of_the_last_few() -> None:
    """Of eight steps four are replayed; the last copy ends after its kernel."""
    made = graph(
        """
        s7  kernel k         |..aaaaaaaa|
        s13 h2d pinned 1KiB  |....cc....|
        t1  cudaLaunchKernel |aa........|
        t2  cudaMemcpyAsync  |.c........|
        t1  nvtx step        |0000000000|
        """,
        8,
        gpu_us={"c": [9.0, 11.0]},
    )

    assert made.steps == 4
    copies = made.operations.step[made.operations.work != 0]
    assert copies.tolist()[-4:] == [1, 2, 3, ABSENT]


@pytest.mark.parametrize(("most", "steps"), [(5, 4), (4, 4), (3, None), (2, None)])
def test_few_steps_that_hold_up_to_three_times_as_much_are_replayed(
    most: int, steps: int | None
) -> None:
    """Four steps of three kernels."""
    made = graph_or_none(
        """
        s7  kernel k         |...aabbcc.|
        t1  cudaLaunchKernel |abc.......|
        t1  nvtx step        |0000000000|
        """,
        most,
        repeat=6,
    )

    assert (made.steps if made else None) == steps


def test_a_step_in_which_nothing_began_is_handed_over_when_it_begins() -> None:
    """The kernel of the fourth step began before the third had ended; the last four are wanted."""
    gpu = {letter: [10.0 * n, 10.0 * n + 9] for n, letter in enumerate("abcdefg")}
    made = graph(
        """
        s7 kernel k         |abc.efg|
        s9 kernel n         |...d...|
        t1 cudaLaunchKernel |abcdefg|
        t1 nvtx step        |0123456|
        """,
        4,
        repeat=1,
        column_us=10,
        gpu_us=gpu | {"c": [20.0, 32.0], "d": [31.0, 39.0]},
    )

    assert made.origin_ns == 32 * US
    assert made.operations.start_ns.tolist() == [at * US for at in (31, 40, 50, 60)]


@pytest.mark.parametrize("kernels", [3, 4])
def test_a_kernel_before_the_first_step_tells_no_pace(kernels: int) -> None:
    """It runs while the host hands over the first step, and is part of the graph."""
    cells = "".join(c.ljust(3, ".") for c in "abcdefgh"[:kernels]).ljust(24, ".")
    sums = "".join(f".{c}." for c in "ABCDEFGH")
    marks = "".join(str(n) * 3 for n in range(8))
    made = graph_or_none(
        f"s7 kernel k |{' ' * 10}{cells}|\ns11 kernel z |..zzzzzz..{' ' * 24}|\n"
        f"s9 kernel ncclDevKernel_AllReduce |{' ' * 10}{sums}|\n"
        f"t1 cudaLaunchKernel |......a...{cells.replace('a', '.')}|\n"
        f"t2 cudaLaunchKernel |{' ' * 10}{sums}|\nt3 cudaLaunchKernel |z{' ' * 33}|\n"
        f"t1 nvtx step |......0000{marks}|",
        repeat=1,
    )

    assert (made is not None) is (kernels == 4)
    if made:
        # The kernel that is none of a step's comes first, or second.
        assert ABSENT in made.operations.step[made.operations.work == 0].tolist()


@pytest.mark.parametrize("kernels", [3, 4])
def test_collectives_alone_tell_no_pace(kernels: int) -> None:
    """Of eight steps some have kernels that compute."""
    cells = "".join(c.ljust(3, ".") for c in "abcdefgh"[:kernels]).ljust(24, ".")
    sums = "".join(f".{c}." for c in "ABCDEFGH")
    marks = "".join(str(n) * 3 for n in range(8))
    made = graph_or_none(
        f"s7 kernel k |{cells}|\ns9 kernel ncclDevKernel_AllReduce |{sums}|\n"
        f"t1 cudaLaunchKernel |{cells}|\nt2 cudaLaunchKernel |{sums}|\nt1 nvtx step |{marks}|",
        repeat=1,
    )

    assert (made is not None) is (kernels == 4)


@pytest.mark.parametrize(
    ("capability", "rate"), [(None, 25.0), (7, 12.0), (8, 25.0), (9, 55.0), (12, 55.0)]
)
def test_the_link_is_as_fast_as_the_device_has_it(capability: int | None, rate: float) -> None:
    gpu = Gpu(0, "H100", 3, multiprocessors=132, compute_capability=capability)
    made = graph(PAIR, gpu=gpu)

    assert (made.link_bytes_per_ns, made.multiprocessors) == (rate, 132)
    assert graph(PAIR).link_bytes_per_ns == 25.0
    assert graph(PAIR).multiprocessors is None


def test_kernels_have_their_blocks_and_copies_none() -> None:
    made = graph(TWO, grid={"a": 3, "b": 10})

    assert made.operations.blocks.tolist() == [3, 0, 10, 0] * 8


def test_operations_know_their_call_and_step() -> None:
    made = graph(TWO)

    assert made.operations.step.tolist() == np.repeat(np.arange(8), 4).tolist()
    assert made.operations.event.tolist() == [*[ABSENT] * 4, *range(28)]
    assert made.operations.length_ns.tolist() == [4 * US, 2 * US, 7 * US, 2 * US] * 8
