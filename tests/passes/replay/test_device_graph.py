"""Which device of several is replayed, and how much of its steps. One column is 1 ms."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from overlapcheck.collectives import Collectives
from overlapcheck.columns import ABSENT
from overlapcheck.errors import NoSteadySteps
from overlapcheck.measurements import Measurements
from overlapcheck.passes.measure import measure
from overlapcheck.passes.replay import device_graph as module
from overlapcheck.passes.replay.device_graph import slowest
from overlapcheck.selection import Selection
from overlapcheck.trace import Trace
from tests.pictures import picture


def measured(text: str, repeat: int = 1) -> tuple[Trace, Measurements]:
    trace = picture(text, column_us=1000, repeat=repeat).trace()
    return trace, measure(trace, Selection(skip=0))


def rows(process: int, step: int, letters: str) -> str:
    """A kernel of one column in each of eight steps."""
    width = 8 * 6
    cells = "".join(letter.ljust(step, ".") for letter in letters).ljust(width, ".")
    marks = "".join(str(n) * step for n in range(8)).ljust(width, ".")
    return (
        f"p{process} gpu{process} s7 kernel k         |{cells}|\n"
        f"p{process} t1      cudaLaunchKernel |{cells}|\n"
        f"p{process} t1      nvtx step        |{marks}|\n"
    )


@pytest.mark.parametrize("slow", [1, 2])
def test_the_device_with_the_longest_steps_is_replayed(slow: int) -> None:
    text = rows(slow, 6, "abcdefgh") + rows(3 - slow, 4, "ABCDEFGH")
    trace, found = measured(text)
    device, graph = slowest("two", trace, found)

    assert device.key.pid == 1000 * slow
    assert graph.steps == 8


@pytest.mark.parametrize("slow", [1, 2])
def test_one_with_too_few_steps_is_not(slow: int) -> None:
    text = rows(slow, 4, "abcdefgh") + rows(3 - slow, 6, "ABC.....").replace("34567", ".....")
    trace, found = measured(text)

    assert slowest("two", trace, found)[0].key.pid == 1000 * slow


def test_no_device_with_steps_is_an_error_that_says_what_to_do() -> None:
    trace, found = measured("s7 kernel k |aa.bb|\nt1 cudaLaunchKernel |a..b.|")

    with pytest.raises(NoSteadySteps, match="one: no steady steps"):
        slowest("one", trace, found)


RANKS = """
pA gpu0 s7  kernel fwd                     |.aaa............|
pA gpu0 s20 kernel ncclDevKernel_AllReduce |....bbbbbbbbbb..|
pA gpu0 s7  kernel opt                     |..............c.|
pA t1   cudaLaunchKernel                   |a.............c.|
pA t1   cuLaunchKernelEx                   |.b..............|
pA t1   nvtx step                          |0000000000000000|
pB gpu1 s7  kernel fwd                     |.........ddd....|
pB gpu1 s20 kernel ncclDevKernel_AllReduce |............ee..|
pB gpu1 s7  kernel opt                     |..............f.|
pB t1   cudaLaunchKernel                   |........d.....f.|
pB t1   cuLaunchKernelEx                   |.........e......|
pB t1   nvtx step                          |0000000000000000|
"""


@pytest.mark.parametrize(("early", "late"), [("1", "2"), ("2", "1")])
def test_the_rank_that_waits_for_the_others_can_be_asked_for(early: str, late: str) -> None:
    trace, found = measured(RANKS.replace("pA", f"p{early}").replace("pB", f"p{late}"), 8)
    waits, _ = slowest("ranks", trace, found, waiting=True)
    longest, _ = slowest("ranks", trace, found)

    assert waits.key.pid == 1000 * int(early)
    # Their steps are as long, but for the first, which begins with the first kernel.
    assert longest.key.pid == 1000


def collectives(*, ns: int, transfer_ns: int, met: int = 2, count: int = 1) -> Collectives:
    """So many of one length."""
    start = np.arange(count) * 1_000
    return Collectives.filled(
        count, start_ns=start, end_ns=start + ns, met=met, transfer_ns=transfer_ns
    )


@pytest.mark.parametrize(
    "other",
    [
        collectives(ns=900, transfer_ns=ABSENT, met=0, count=9),
        collectives(ns=100, transfer_ns=96),
        collectives(ns=100, transfer_ns=100, count=9),
        collectives(ns=100, transfer_ns=200, count=9),
    ],
    ids=["met nobody", "shorter", "never", "ended before the others"],
)
@pytest.mark.parametrize("waits", [0, 1])
def test_a_rank_waits_from_its_start_until_the_last_one_comes(
    waits: int, other: Collectives
) -> None:
    """Five ns; collectives move something from then on."""
    trace, found = measured(rows(1, 6, "abcdefgh") + rows(2, 6, "ABCDEFGH"))
    one, two = found.devices
    waiting = collectives(ns=10, transfer_ns=5)
    devices = (
        replace(one, collectives=other if waits else waiting),
        replace(two, collectives=waiting if waits else other),
    )

    chosen, _ = slowest("two", trace, replace(found, devices=devices), waiting=True)

    assert chosen.key == devices[waits].key


def test_of_long_steps_some_are_replayed_too(monkeypatch: pytest.MonkeyPatch) -> None:
    trace, found = measured(rows(1, 6, "abcdefgh"))

    monkeypatch.setattr(module, "MOST_OPERATIONS", 6)
    assert slowest("one", trace, found)[1].steps == 6
    monkeypatch.setattr(module, "MOST_OPERATIONS", 1)
    monkeypatch.setattr(module, "MOST_OF_LONG_STEPS", 5)
    assert slowest("one", trace, found)[1].steps == 5
    monkeypatch.setattr(module, "MOST_OF_LONG_STEPS", 1)
    with pytest.raises(NoSteadySteps):
        slowest("one", trace, found)
