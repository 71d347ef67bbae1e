"""PyTorch's warnings name lines behind `host-sync`, where they are of its process and window."""

from __future__ import annotations

from dataclasses import replace

from overlapcheck.causes.ranking.findings import findings
from overlapcheck.causes.ranking.sync_debug import with_sync_warnings
from overlapcheck.finding import Finding, SourceLine
from overlapcheck.sync_warnings import SyncWarning
from tests.pictures import picture

MEASURED = picture(
    """
    s7  kernel k              |.aaaa....cccc..|
    t1  cudaLaunchKernel      |a.......c......|
    t1  cudaStreamSynchronize |.xxxx..........|
    """,
    column_us=100,
).measure()
FOUND = findings(MEASURED)
PID = FOUND[0].device.pid
START = MEASURED.devices[0].window.start_ns
END = MEASURED.devices[0].window.end_ns
UTC = 1_700_000_000_000_000_000
LOSS, ITEM = SourceLine("train.py", 7, "step"), SourceLine("train.py", 9, "step")


def warned(
    *warnings: SyncWarning, utc: int | None = UTC, found: tuple[Finding, ...] = FOUND
) -> Finding:
    (sync,) = (
        one
        for one in with_sync_warnings(found, warnings, MEASURED, utc)
        if one.cause == "host-sync"
    )
    return sync


def at(ns: int, place: SourceLine = LOSS, pid: int = PID) -> SyncWarning:
    return SyncWarning(UTC + ns, pid, place)


def test_warnings_of_the_window_are_counted_and_their_lines_named_most_frequent_first() -> None:
    sync = warned(at(START, LOSS), at(START + 1, ITEM), at(END - 1, ITEM))

    assert sync.evidence[0] == "PyTorch warned of 3 synchronising operations in the window"
    assert sync.source == (ITEM, LOSS)


def test_warnings_outside_the_window_or_of_another_process_are_not_its() -> None:
    for elsewhere in (at(START - 1), at(END), at(START, pid=PID + 1)):
        assert warned(elsewhere) == warned()
        assert warned(elsewhere, at(START)) == warned(at(START))


def test_without_the_time_of_day_warnings_of_all_times_count() -> None:
    sync = warned(at(START - 1), at(END), at(START, pid=PID + 1), utc=None)

    assert sync.evidence[0].startswith("PyTorch warned of 2 ")


def test_lines_that_are_known_already_are_named_once_and_five_in_all() -> None:
    known = tuple(
        replace(one, source=(LOSS,)) if one.cause == "host-sync" else one for one in FOUND
    )
    more = [SourceLine("loop.py", line, "run") for line in range(6)]
    sync = warned(*(at(START, place) for place in [LOSS, *more]), found=known)

    assert sync.source == (LOSS, *more[:4])


def test_other_findings_stay_as_they_are() -> None:
    others = [one for one in FOUND if one.cause != "host-sync"]
    told = with_sync_warnings(FOUND, (at(START),), MEASURED, UTC)

    assert [one for one in told if one.cause != "host-sync"] == others
    assert with_sync_warnings(FOUND, (), MEASURED, UTC) is FOUND


def test_warnings_are_placed_on_the_devices_clock() -> None:
    """Which is 50 us ahead: what was warned of so long before the window lies in it."""
    (device,) = MEASURED.devices
    ahead = replace(MEASURED, devices=(replace(device, clock_skew_ns=50_000),))

    def inside(ns: int) -> bool:
        told = with_sync_warnings(FOUND, [at(ns)], ahead, UTC)
        return any("PyTorch warned" in line for one in told for line in one.evidence)

    assert inside(START - 50_000)
    assert not inside(START - 50_001)
    assert inside(END - 50_001)
    assert not inside(END - 50_000)
