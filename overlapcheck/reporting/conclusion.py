"""The plain word for a device that has nothing to gain, and why."""

from __future__ import annotations

from overlapcheck.copies import JUDGED_DIRECTIONS
from overlapcheck.finding import MATERIAL_SHARE
from overlapcheck.ledger import Reason
from overlapcheck.measurements import DeviceMeasurements, StreamRole
from overlapcheck.quantities import bandwidth, percent

# Waiting that no order of operations would win back.
_NOT_WINNABLE = (Reason.COPY_BOUND, Reason.DEVICE_COPY, Reason.LAUNCH_LATENCY)


def conclusion(device: DeviceMeasurements) -> str:
    """One or two clauses, or "" where something material can be won.

    Only of a device that passes: that nothing is to gain would contradict any other verdict.
    """
    window_ns = device.length_ns
    if not window_ns or device.opaque or device.stalled.total_ns >= MATERIAL_SHARE * window_ns:
        return ""
    length = device.ledger.end_ns - device.ledger.start_ns
    for reason in Reason:
        share = int(length[device.ledger.reason == reason].sum()) / window_ns
        if reason not in _NOT_WINNABLE and share >= MATERIAL_SHARE:
            return ""
    bound = device.ledger.reason == Reason.COPY_BOUND
    if int(length[bound].sum()) / window_ns >= MATERIAL_SHARE:
        return f"nothing to gain: copy-bound, {_busiest_copies(device)}; only fewer bytes help"
    busy = percent(device.compute_ns / window_ns)
    streams = sum(stream.role is StreamRole.COMPUTE for stream in device.streams)
    more = "more streams cannot help" if streams == 1 else f"{streams} compute streams share it"
    return f"nothing to gain: compute-bound, the device computes {busy} of the time; {more}"


def _busiest_copies(device: DeviceMeasurements) -> str:
    if device.one_copy_engine and device.link_bound_ns > max(
        (copies.pinned.total_ns for copies in device.copies.values()), default=0
    ):
        share = percent(device.link_bound_ns / device.length_ns)
        return f"copies in and out take turns on the one copy engine, busy {share} of the time"
    judged = [device.copies[d] for d in JUDGED_DIRECTIONS if d in device.copies]
    busiest = max(judged, key=lambda copies: copies.copy_ns)
    share = percent(busiest.copy_ns / device.length_ns)
    return (
        f"the link moves {busiest.direction} copies {share} of the time"
        f" at {bandwidth(busiest.bytes, busiest.copy_ns)}"
    )
