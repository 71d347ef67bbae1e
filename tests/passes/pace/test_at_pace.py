"""What the recording took comes out of what a late host holds, and the ledger still adds up."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from overlapcheck.intervals import Intervals
from overlapcheck.ledger import LATE_HOST, IdleLedger, Reason
from overlapcheck.measurements import DeviceMeasurements
from overlapcheck.pace import Pace
from overlapcheck.passes.pace.at_pace import at, with_paces, without_lateness
from overlapcheck.passes.pace.late_host import LateHost, Lateness, late_host
from overlapcheck.passes.pace.own_pace import paced_devices
from overlapcheck.selection import Selection
from tests.paces import MS, program
from tests.pictures import Picture, picture
from tests.test_random_pictures import pictures


def total(ledger: IdleLedger, *reasons: Reason) -> int:
    chosen = np.isin(ledger.reason, reasons)
    return int((ledger.end_ns - ledger.start_ns)[chosen].sum())


def own(drawing: Picture, step_ns: int) -> DeviceMeasurements:
    (device,) = at(drawing.measure(skip=1), (step_ns,)).devices
    return device


def test_what_is_beyond_the_own_pace_is_the_recordings() -> None:
    recorded = program().device(skip=1)
    device = own(program(), 6 * MS)

    assert total(recorded.ledger, Reason.HOST_STARVED) == 30 * MS
    assert total(device.ledger, Reason.PROFILER_OVERHEAD) == 65 * MS - 7 * 6 * MS
    assert total(device.ledger, Reason.HOST_STARVED) == 7 * MS
    assert (device.length_ns, device.recorded_ns) == (42 * MS, 65 * MS)
    assert (device.idle_ns, device.recorded_idle_ns) == (7 * MS, 30 * MS)
    assert device.recoverable == 1 - 35 / 42
    assert (device.compute_ns, device.bound_ns) == (recorded.compute_ns, recorded.bound_ns)


def test_at_the_recorded_pace_nothing_is_taken() -> None:
    device = own(program(), 10 * MS)

    assert not device.taken
    assert device.length_ns == device.recorded_ns


def test_no_more_is_taken_than_a_late_host_holds() -> None:
    assert own(program(), 0).length_ns == 35 * MS


def test_every_piece_gives_in_proportion() -> None:
    late = LateHost(np.array([0, 100]), np.array([30, 110]), codes(Lateness.ALONE, Lateness.ALONE))

    assert list(late.share_of(20)) == [(15, 30), (105, 110)]


def test_what_the_recorder_says_itself_comes_first_and_what_only_follows_last() -> None:
    late = LateHost(
        np.array([0, 100, 200]),
        np.array([10, 110, 210]),
        codes(Lateness.FOLLOWS, Lateness.ALONE, Lateness.RECORDER),
    )

    assert list(late.share_of(5)) == [(205, 210)]
    assert list(late.share_of(15)) == [(105, 110), (200, 210)]
    assert list(late.share_of(25)) == [(5, 10), (100, 110), (200, 210)]
    assert late.share_of(99) == late.time


def codes(*lateness: Lateness) -> np.ndarray:
    return np.array(lateness, dtype=np.int8)


RESTART = """
s7  kernel k               |.aaaa......|
t1  cudaLaunchKernel       |a..........|
t1  cudaStreamSynchronize  |.wwwwww....|
t1  nvtx step              |00000000000|
"""


def test_the_restart_after_a_wait_follows_from_lateness_and_the_wait_does_not() -> None:
    device = picture(RESTART, column_us=10, repeat=6).device(skip=1)
    synced = device.ledger.rows(device.ledger.reason == Reason.HOST_SYNC)
    late = late_host(device, Intervals.empty())

    inside = total(synced, Reason.HOST_SYNC) - sum(
        end - start for start, end in late.time & Intervals.of(synced.start_ns, synced.end_ns)
    )

    # The call ends two columns after its kernel, in each of the four gaps.
    assert inside == 4 * 2 * 10_000
    assert (late.lateness == Lateness.FOLLOWS).any()


def test_ranges_lose_what_lies_in_them() -> None:
    """The host is late within a step and between steps."""
    drawn = program(
        """
        s7  kernel k          |aa..bb....|
        t1  cudaLaunchKernel  |a...b.....|
        t1  nvtx step         |0000000000|
        """
    )
    measured = drawn.measure(skip=1, ranges=("step*",))
    (device,) = at(measured, (8 * MS,)).devices
    (part,) = device.ranges

    assert part.taken == device.taken & part.time
    assert 0 < part.taken.total_ns < device.taken.total_ns
    assert part.length_ns == part.time.total_ns - part.taken.total_ns


PAIR = """
p1 gpu0 s7  kernel k          |aaaaa.....|
p1 t1       cudaLaunchKernel  |a.........|
p1 t1       nvtx step         |0000000000|
p2 gpu1 s7  kernel k          |bbbbb.....|
p2 t1       cudaLaunchKernel  |b.........|
p2 t1       nvtx step         |0000000000|
"""


def test_a_device_with_a_pace_goes_at_it_and_one_without_as_recorded() -> None:
    recorded = program(PAIR).measure(skip=1)
    pace = Pace(10 * MS, 6 * MS)
    own = with_paces(recorded, (pace, None))

    assert [one.pace for one in own.devices] == [pace, None]
    assert [one.length_ns for one in own.devices] == [42 * MS, 65 * MS]


def test_a_pace_that_is_not_known_leaves_the_device_as_recorded() -> None:
    recorded = program().measure(skip=1)
    (device,) = with_paces(recorded, (Pace(10 * MS, why="no control"),)).devices

    assert device.pace is not None
    assert (device.length_ns, device.taken.total_ns) == (65 * MS, 0)


def test_measurements_that_nobody_asked_a_pace_of_are_those_recorded() -> None:
    recorded = program().measure(skip=1)

    assert with_paces(recorded, (None,)) is recorded


def test_without_steps_no_time_is_the_steps_own() -> None:
    recorded = picture("s7 kernel k |aa...bb..|\nt1 cudaLaunchKernel |a....b...|").measure()
    (slow,) = at(recorded, (1 * MS,)).devices
    (never_late,) = without_lateness(recorded, ledgers=True).devices

    assert slow.taken == never_late.taken
    assert slow.taken.total_ns == 3_000


def test_a_host_that_is_never_late_leaves_the_device_alone() -> None:
    measured = program().measure(skip=1)
    (light,) = without_lateness(measured, ledgers=False).devices
    (whole,) = without_lateness(measured, ledgers=True).devices

    assert light.length_ns == whole.length_ns == 35 * MS
    assert light.ledger is measured.devices[0].ledger
    assert total(whole.ledger, Reason.PROFILER_OVERHEAD) == 30 * MS


@settings(max_examples=60)
@given(pictures(), st.integers(0, 2_000_000))
def test_the_ledger_adds_up_at_every_pace(drawing: Picture, step_ns: int) -> None:
    recorded = drawing.measure(**vars(Selection(skip=None)))
    slower = at(recorded, (step_ns,) * len(recorded.devices))

    for before, after, paced in zip(
        recorded.devices, slower.devices, paced_devices(recorded), strict=True
    ):
        ledger = after.ledger
        steps = before.window.steps or 0
        asked = max(0, before.recorded_ns - step_ns * steps)
        assert total(ledger, *Reason) == before.recorded_idle_ns
        assert (ledger.start_ns[1:] >= ledger.end_ns[:-1]).all()
        assert (ledger.end_ns > ledger.start_ns).all()
        assert after.taken.total_ns == min(asked, paced.late.time.total_ns)
        assert not after.taken & after.compute
        assert 0 <= after.idle_ns <= before.recorded_idle_ns
        shrunk = {r for r in Reason if total(ledger, r) < total(before.ledger, r)}
        assert shrunk <= {*LATE_HOST, Reason.HOST_SYNC, Reason.ALLOCATION, Reason.MODULE_LOAD,
                          Reason.CUDA_CALL, Reason.EXPOSED_COLLECTIVE}  # fmt: skip
