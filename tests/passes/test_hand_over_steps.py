"""Steps by the time of hand-over: from ranges, from repeats, and what of them is steady."""

from __future__ import annotations

import pytest

from overlapcheck.columns import Ints
from overlapcheck.stream_waits import HandOverSteps
from tests.pictures import picture

US = 1_000
RANGES = """
s7  kernel fwd        |..aaa.........|
t1  cudaLaunchKernel  |..a...........|
t1  nvtx step         |.0000000000...|
"""
# The device pauses longest before b, the host before c.
REPEATS = """
s7  kernel fwd        |..a...........|
s7  kernel bwd        |.........b....|
s7  kernel opt        |...........c..|
t1  cudaLaunchKernel  |ab.......c....|
"""
# Both pause longest before b.
ALIKE = REPEATS.replace("|ab.......c....|", "|a......b.c....|")


def steps(text: str, repeat: int = 6, **selection: object) -> HandOverSteps:
    """Of the only process."""
    drawing = picture(text, repeat=repeat)
    (waits,) = drawing.measure(**({"skip": None} | selection), stream_waits=True).waits
    return waits.steps


def us(values: Ints) -> list[float]:
    found: list[float] = (values / US).tolist()
    return found


def test_a_range_is_a_step_until_the_next_one_begins() -> None:
    found = steps(RANGES, 3, skip=0)

    assert us(found.start_ns) == [1, 15, 29]
    assert us(found.end_ns) == [15, 29, 39]
    assert found.numbers.tolist() == [0, 1, 2]
    assert found.steady.tolist() == [True] * 3
    assert (found.ranges, found.family) == (True, "step #")


@pytest.mark.parametrize("skip", [0, 1, 2])
def test_warm_up_is_not_steady(skip: int) -> None:
    assert steps(RANGES, skip=skip).steady.tolist() == [False] * skip + [True] * (6 - skip)


@pytest.mark.parametrize(
    ("window_us", "steady"),
    [
        ((1, 81), [0, 1, 2, 3, 4, 5]),
        ((15, 81), [1, 2, 3, 4, 5]),
        ((15.001, 81), [2, 3, 4, 5]),
        ((1, 43), [0, 1, 2]),
        ((1, 42.999), [0, 1]),
        ((15, 43), [1, 2]),
        ((20, 30), []),
    ],
)
def test_in_a_window_of_the_users_whole_steps_are(
    window_us: tuple[float, float], steady: list[int]
) -> None:
    """Warm-up counts as any other: the user has asked for it."""
    window_ns = tuple(round(at * US) for at in window_us)
    found = steps(RANGES, window_ns=window_ns, skip=0)

    assert [n for n, one in enumerate(found.steady.tolist()) if one] == steady
    assert len(found) == 6


def test_repeats_begin_where_the_host_pauses_longest() -> None:
    found = steps(ALIKE)

    assert us(found.start_ns) == [7, 21, 35, 49, 63]
    # The last one ends with its last launch, which is an a.
    assert us(found.end_ns) == [21, 35, 49, 63, 70.001]
    assert found.numbers.tolist() == [0, 1, 2, 3, 4]
    assert found.steady.tolist() == [True] * 5
    assert (found.ranges, found.family) == (False, None)


def test_where_that_is_not_where_the_device_does_the_last_one_is_cut_off() -> None:
    found = steps(REPEATS)

    assert us(found.start_ns) == [9, 23, 37, 51, 65]
    assert us(found.end_ns) == [23, 37, 51, 65, 70.001]
    assert found.steady.tolist() == [True] * 4 + [False]


@pytest.mark.parametrize(
    ("window_us", "steady"), [((21, 63), [1, 2, 3]), ((21.001, 62.999), [2]), ((0, 100), range(5))]
)
def test_repeats_in_a_window_of_the_users(
    window_us: tuple[float, float], steady: list[int]
) -> None:
    found = steps(ALIKE, window_ns=tuple(round(at * US) for at in window_us))

    assert [n for n, one in enumerate(found.steady.tolist()) if one] == list(steady)


@pytest.mark.parametrize("skip", [0, 2])
def test_where_nothing_repeats_there_are_no_steps(skip: int) -> None:
    found = steps("s7 kernel k |.aa|\nt1 cudaLaunchKernel |a..|", 1, skip=skip)

    assert [column.tolist() for column in (found.start_ns, found.end_ns, found.numbers)] == [[]] * 3
    assert (found.steady.tolist(), found.ranges) == ([], False)


@pytest.mark.parametrize("busy", [0, 1])
def test_the_busiest_device_of_a_process_tells_its_repeats(busy: int) -> None:
    """Each device has kernels of its own, launched at another time."""
    found = steps(
        f"""
        gpu{busy}     s7  kernel fwd |.aaa......|
        gpu{1 - busy} s9  kernel opt |......b...|
        t1  cudaLaunchKernel  |a....b....|
        """
    )

    assert us(found.start_ns)[:3] == [0, 10, 20]


def test_a_last_repeat_that_is_cut_off_is_so_in_a_window_of_the_users_too() -> None:
    assert steps(REPEATS, window_ns=(0, 200 * US)).steady.tolist() == [True] * 4 + [False]


# Three repeats, handed over ahead: of the last two, the host pauses 3 us once before a bwd, and
# 1 us once before an opt.
UNEVEN = """
s7  kernel fwd        |..a.......d.......g.......|
s7  kernel bwd        |...b.......e.......h......|
s7  kernel opt        |....c.......f.......i.....|
t1  cudaLaunchKernel  |abcdefghi.................|
"""
HANDED_OVER = dict(zip("abcdefghi", (0, 0.1, 0.2, 0.3, 3.3, 3.4, 3.5, 3.6, 4.6), strict=True))


def test_the_usual_pause_is_that_of_all_repeats_but_the_first() -> None:
    """Before the first there is none to compare with."""
    drawing = picture(UNEVEN, host_us={mark: [at, at + 0.05] for mark, at in HANDED_OVER.items()})
    (waits,) = drawing.measure(skip=None, stream_waits=True).waits

    assert us(waits.steps.start_ns) == [0.1, 3.3, 3.6]


LATE = """
s7 kernel k         |.......aa.bb.cc.dd|
t1 cudaLaunchKernel |......a..b..c..d..|
t1 nvtx step        |001122............|
"""


def test_ranges_that_launched_nothing_are_steps_all_the_same() -> None:
    found = steps(LATE, 1)

    assert (found.ranges, found.family, us(found.start_ns)) == (True, "step #", [0, 2, 4])
    assert found.steady.tolist() == [True] * 3


def test_ranges_of_loading_are_steps_only_where_they_launched_the_work() -> None:
    assert steps(RANGES.replace("nvtx step", "nvtx load batch")).family == "load batch #"

    repeats = steps(LATE.replace("nvtx step", "nvtx load batch"), 1)
    assert (repeats.ranges, us(repeats.start_ns)) == (False, [6, 9, 12, 15])
