"""When a transfer counts as slowing a kernel: each term, just within its limit and beyond."""

from __future__ import annotations

import pytest

from overlapcheck.measurements import Contention
from tests.pictures import picture

# Alone 100 us, under a copy 150 us.
SLOWED = """
s7   kernel fwd       |aaaaaaaaaa..bbbbbbbbbbbbbbb................................|
s13  h2d pinned 64MiB |............ccccccccccccccc................................|
t1   cudaLaunchKernel |a..........b...............................................|
t1   cudaMemcpyAsync  |..........c................................................|
"""
COLLECTIVE = SLOWED.replace("h2d pinned 64MiB ", "kernel ncclKernel")


def found(text: str = SLOWED, repeat: int = 5, **us: tuple[float, float]) -> Contention:
    """`us` are start and end of single operations; `window` that of the window."""
    window_us = us.pop("window", None)
    window = {"window_ns": tuple(int(1000 * t) for t in window_us)} if window_us else {}
    gpu_us = {letter: list(span) for letter, span in us.items()}
    drawing = picture(text, column_us=10, repeat=repeat, gpu_us=gpu_us)
    return drawing.device(**window).contention


def test_both_medians_and_the_time_that_is_lost_are_told() -> None:
    rows = found()

    assert (rows.alone_count.tolist(), rows.alone_ns.tolist()) == ([5], [100_000])
    assert (rows.shared_count.tolist(), rows.shared_ns.tolist()) == ([5], [150_000])
    assert rows.extra_ns.tolist() == [5 * 50_000]
    assert rows.with_collective.tolist() == [False]


def test_a_collective_is_told_from_a_copy() -> None:
    assert found(COLLECTIVE).with_collective.tolist() == [True]
    assert found(COLLECTIVE, c=(120.0, 195.0)).with_collective.tolist() == [True]


def test_a_collective_beside_a_copy_that_covers_more_is_not_blamed() -> None:
    both = SLOWED + (
        "s17  kernel ncclKernel|............eee............................................|\n"
    )

    assert found(both).with_collective.tolist() == [False]


@pytest.mark.parametrize(
    ("length_us", "count"), [(119.999, 0), (120.0, 1), (400.0, 1), (400.001, 0)]
)
def test_a_slow_down_is_between_a_fifth_and_four_times(length_us: float, count: int) -> None:
    span = (120.0, 120.0 + length_us)

    assert len(found(b=span, c=span)) == count


@pytest.mark.parametrize(("repeat", "count"), [(4, 0), (5, 1)])
def test_five_samples_of_each_kind_are_needed(repeat: int, count: int) -> None:
    assert len(found(repeat=repeat)) == count


@pytest.mark.parametrize("copy", ["..cc......", "..cccccc.."])
def test_many_samples_of_one_kind_do_not_stand_in_for_the_other(copy: str) -> None:
    """Of three kernels a repetition, of which the last two take longer, one or two are shared."""
    rows = found(
        f"""
        s7   kernel fwd       |a.bb..dd..|
        s13  h2d pinned 64MiB |{copy}|
        t1   cudaLaunchKernel |a.b...d...|
        t1   cudaMemcpyAsync  |.c........|
        """,
        repeat=4,
        b=(20.0, 35.0),
        d=(60.0, 75.0 if "cccc" in copy else 70.0),
    )

    assert len(rows) == 0


@pytest.mark.parametrize(("end_us", "count"), [(195.0, 1), (194.9, 0)])
def test_half_covered_is_shared(end_us: float, count: int) -> None:
    assert len(found(c=(120.0, end_us))) == count


@pytest.mark.parametrize(("start_us", "count"), [(95.0, 1), (94.9, 0)])
def test_a_twentieth_covered_is_still_alone(start_us: float, count: int) -> None:
    assert len(found(c=(start_us, 270.0))) == count


@pytest.mark.parametrize(
    ("window", "count"),
    [
        ((0.0, 5 * 590.0), 1),
        ((0.001, 5 * 590.0), 0),
        ((0.0, 4 * 590.0 + 270.0), 1),
        ((0.0, 4 * 590.0 + 269.999), 0),
    ],
)
def test_kernels_that_the_window_cuts_do_not_count(window: tuple[float, float], count: int) -> None:
    assert len(found(window=window)) == count


def test_under_both_the_one_that_covers_most_counts_not_their_sum() -> None:
    """0.3 under a copy and 0.3 under a collective are neither alone nor shared."""
    both = SLOWED + (
        "s17  kernel ncclKernel|............eee............................................|\n"
        "t2   cudaLaunchKernel |..........e................................................|\n"
    )

    assert len(found(both, c=(120.0, 165.0), e=(165.0, 210.0))) == 0
    assert len(found(both, c=(120.0, 165.0), e=(165.0, 240.0))) == 1


def test_the_costliest_kernel_comes_first() -> None:
    rows = found(
        """
        s7   kernel fwd       |aa.bbb..............|
        s8   kernel bwd       |.........dd.eeee....|
        s13  h2d pinned 64MiB |...ccc......ffff....|
        t1   cudaLaunchKernel |a..b.....d..e.......|
        t1   cudaMemcpyAsync  |..c........f........|
        """
    )

    assert rows.extra_ns.tolist() == [5 * 20_000, 5 * 10_000]


def test_of_equally_costly_ones_the_first_name_comes_first_then_the_smaller_grid() -> None:
    rows = picture(
        """
        s7   kernel fwd       |aa.bbb..............|
        s7   kernel fwd       |.......dd..eee......|
        s7   kernel bwd       |..............ff.ggg|
        s13  h2d pinned 64MiB |...ccc.....hhh...iii|
        t1   cudaLaunchKernel |abdefg..............|
        """,
        column_us=10,
        repeat=5,
        grid={"a": 264, "b": 264, "f": 64, "g": 64},
    )
    table = rows.device().contention

    assert table.extra_ns.tolist() == [5 * 10_000] * 3
    assert table.name_id[0] == table.name_id[1] < table.name_id[2]
    assert table.grid_count.tolist() == [132, 264, 64]


def test_a_kernel_that_takes_no_longer_wins_back_nothing_of_what_others_lose() -> None:
    """Of three under a copy one is quicker than alone."""
    rows = found(
        """
        s7   kernel fwd       |aa.bbb.ddd.e........|
        s13  h2d pinned 64MiB |...ccc.fff.g........|
        t1   cudaLaunchKernel |abde................|
        """
    )

    assert rows.shared_count.tolist() == [15]
    assert rows.extra_ns.tolist() == [10 * 10_000]


def test_kernels_of_no_length_are_no_samples() -> None:
    """They would be most of those that run alone."""
    more = SLOWED + (
        "s7   kernel fwd       |................................d.e........................|\n"
    )

    assert len(found(more, d=(320.0, 320.0), e=(340.0, 340.0))) == 1


def test_whole_graphs_are_not_compared() -> None:
    assert len(found(SLOWED.replace("kernel fwd", "graph     "))) == 0
