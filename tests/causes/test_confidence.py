"""A cause is as sure as most of its time."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from overlapcheck.causes import causes
from overlapcheck.causes.ranking.findings import findings
from overlapcheck.columns import ABSENT
from overlapcheck.finding import Confidence, SourceLine
from overlapcheck.ledger import Reason
from tests.pictures import picture

# Copies that compute waits for in its own stream: 30 us and 30 us, then 60 us.
MEASURED = picture(
    """
    s7   kernel fwd               |.aa...bb...dd......ee|
    s7   h2d pinned 64MiB         |...ccc..fff..gggggg..|
    t1   cudaLaunchKernel         |a..b...d.....e.......|
    t1   cudaMemcpyAsync          |.c..f....g...........|
    """,
    column_us=10,
).measure()
DEVICE = MEASURED.devices[0]
EACH_US = [30, 30, 60]


@pytest.mark.parametrize(
    ("inferred", "confidence"),
    [
        ([False, False, False], Confidence.SURE),
        ([True, True, False], Confidence.SURE),  # half of the time
        ([False, False, True], Confidence.SURE),
        ([True, False, True], Confidence.LIKELY),
    ],
)
def test_what_is_mostly_inferred_is_only_likely(
    inferred: list[bool], confidence: Confidence
) -> None:
    ledger = DEVICE.ledger
    assert set(ledger.reason.tolist()) == {Reason.SAME_STREAM}
    assert ((ledger.end_ns - ledger.start_ns) // 1000).tolist() == EACH_US
    device = replace(DEVICE, ledger=replace(ledger, inferred=np.array(inferred)))
    found = causes()["same-stream"].detect(device, MEASURED)

    assert found is not None
    assert found.confidence is confidence


@pytest.mark.parametrize("more_ns", [0, 1])
def test_a_nanosecond_more_than_half_is_most_of_it(more_ns: int) -> None:
    ledger = replace(DEVICE.ledger, inferred=np.array([False, False, True]))
    longer = replace(ledger, end_ns=ledger.end_ns + np.array([0, 0, more_ns]))
    found = causes()["same-stream"].detect(replace(DEVICE, ledger=longer), MEASURED)

    assert found is not None
    assert (found.confidence is Confidence.LIKELY) is bool(more_ns)


def test_places_are_told_by_what_they_cost() -> None:
    """The first two pieces of 30 us are one line's, by two stacks; the one of 60 another's."""
    mine, other = SourceLine("b.py", 3, "step"), SourceLine("a.py", 9, "load")
    found = _at({1: mine, 2: mine, 3: other}, [1, 2, 3])
    assert found == (other, mine)  # as much each: by file

    found = _at({1: mine, 2: mine, 3: other}, [3, 1, 2])
    assert found == (mine, other)

    assert _at({1: mine}, [ABSENT, ABSENT, 1]) == (mine,)
    assert _at({1: mine}, [ABSENT, ABSENT, ABSENT]) == ()


def _at(sites: dict[int, SourceLine], pieces: list[int]) -> tuple[SourceLine, ...]:
    """What is told where the three pieces were called at these sites."""
    ledger = replace(DEVICE.ledger, site=np.array(pieces))
    measured = replace(MEASURED, names=replace(MEASURED.names, sites=sites))
    device = replace(DEVICE, ledger=ledger)
    found = causes()["same-stream"].detect(device, measured)
    assert found is not None
    assert findings(replace(measured, devices=(device,)))[0].source == found.source
    return found.source
