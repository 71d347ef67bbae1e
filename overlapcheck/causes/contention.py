"""Kernels run longer while a copy or collective runs beside them.

What it is
    A kernel shares memory bandwidth with copies, and multiprocessors and bandwidth with
    collectives. The same kernel at the same grid is compared alone and under a transfer.

Why it costs overlap
    What overlap wins, longer kernels take back in part. The sum decides: the time hidden less the
    time that the kernels took longer.

What it looks like
    kernel   [k ][k ][k   ][k   ][k ]
    copy             [copy      ]             the same kernel, alone 4, shared 6

What to do
    While the net is a win, keep the overlap. PyTorch and CUDA alike: limit the multiprocessors of
    NCCL (NCCL_MAX_NCHANNELS, NCCL_MAX_CTAS, NCCL_CGA_CLUSTER_SIZE); let copies run beside kernels
    that are bound by arithmetic instead of memory; move fewer bytes.

When this is wrong
    Kernels also slow down with temperature and power, and with other data: the medians need enough
    samples both ways in the same steps. This time is no idle time, so it is ranked last.
"""

from __future__ import annotations

from dataclasses import dataclass

from overlapcheck.causes._base import Evidence
from overlapcheck.causes._facts import MAX_LINES, shortened
from overlapcheck.copies import JUDGED_DIRECTIONS
from overlapcheck.finding import Confidence
from overlapcheck.intervals import Intervals
from overlapcheck.measurements import DeviceMeasurements, Measurements
from overlapcheck.quantities import duration
from overlapcheck.recorder import Content


@dataclass(frozen=True)
class _Contention:
    id: str = "contention"
    lacks: Content | None = None
    title: str = "kernels run longer while a transfer runs beside them"
    caveat: str = (
        "the net saving is positive, as overlap then still wins; or the slow kernels differ in"
        " data, clock or temperature"
    )

    def detect(self, device: DeviceMeasurements, measured: Measurements, /) -> Evidence | None:
        """Slowed kernels that together cost a noticeable share of the window."""
        window = device.window
        extra_ns = int(device.contention.extra_ns.sum())
        least = measured.thresholds.contention_least_share
        if extra_ns < least * device.length_ns or extra_ns == 0:
            return None
        facts = (_net(device, extra_ns), *_slowed(device, measured))
        # NOTE: only the length means something. The time is spread over all slowed kernels, none
        # of it is idle, and its place at the window's start is arbitrary.
        end_ns = min(window.start_ns + extra_ns, window.end_ns)
        blamed = Intervals.span(window.start_ns, end_ns)
        return Evidence(blamed, facts, Confidence.LIKELY, placed=False)

    def advise(self, _measured: Measurements, _once: bool = False, /) -> str:
        """The same in all frameworks."""
        return (
            "keep the overlap while the net is positive; limit NCCL's multiprocessors"
            " (NCCL_MAX_NCHANNELS, NCCL_MAX_CTAS), or move the transfer beside other kernels"
        )


def _net(device: DeviceMeasurements, extra_ns: int) -> str:
    hidden = device.communication & device.compute
    for direction in JUDGED_DIRECTIONS:
        if direction in device.copies:
            hidden |= device.copies[direction].hidden
    net_ns = hidden.total_ns - extra_ns
    verdict = "won" if net_ns >= 0 else "lost"
    return (
        f"overlap hides {duration(hidden.total_ns)} of transfers and costs {duration(extra_ns)} in"
        f" longer kernels: net {duration(abs(net_ns))} {verdict}"
    )


def _slowed(device: DeviceMeasurements, measured: Measurements) -> list[str]:
    table = device.contention
    lines = []
    for row in range(min(len(table), MAX_LINES)):
        alone, shared = int(table.alone_ns[row]), int(table.shared_ns[row])
        beside = "collectives" if table.with_collective[row] else "copies"
        name = shortened(measured.names.strings.text(int(table.name_id[row])))
        lines.append(
            f"kernel {name}: {duration(alone)} alone ({int(table.alone_count[row])} times),"
            f" {duration(shared)} under {beside} ({int(table.shared_count[row])} times),"
            f" {shared / max(alone, 1):.1f} times as long"
        )
    return lines


CAUSE = _Contention()
