"""Unified memory migrates between host and device inside the loop.

What it is
    Memory of cudaMallocManaged moves page by page when the side that does not have it touches it:
    on a page fault, by prefetch, or when the device is full (eviction).

Why it costs overlap
    A fault on the host holds the launching thread until the pages are back; a fault on the device
    stalls the kernel, which then seems to compute. Migrations on demand come in small pieces, far
    below the link's speed.

What it looks like
    kernels    ####··········####        while the host touches what the kernel wrote
    migration  ....~~~~~~~~~~~~··
    kernels    ####################      while the kernel touches what the host wrote: the same
    migration  ..~~.~~.~~.~~.~~..        kernel on resident pages takes a fraction of it

What to do
    CUDA: cudaMemPrefetchAsync on a side stream before the use, cudaMemAdvise (preferred location,
    read mostly), or plain cudaMalloc with cudaMemcpyAsync from pinned memory. PyTorch: its own
    allocator uses none; look for cudaMallocManaged in extensions, RAPIDS (rmm) and offload modes.

When this is wrong
    If the data does not fit on the device, migration is the price: prefetch instead of faulting.
    The blame rests on both happening at the same time: where the host computed meanwhile anyway,
    or pages were prefetched under a kernel that needs others, only part of it can be won. Record
    page faults to see which.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from overlapcheck.causes import _facts, _facts_device
from overlapcheck.causes._base import Evidence, IdleCause
from overlapcheck.finding import Confidence
from overlapcheck.intervals import Intervals
from overlapcheck.ledger import Reason
from overlapcheck.measurements import DeviceMeasurements, Measurements
from overlapcheck.quantities import count_of, duration, percent
from overlapcheck.recorder import Content


@dataclass(frozen=True)
class _Migration(IdleCause):
    """Idle time under migrations, and compute that waited for its pages."""

    def detect(self, device: DeviceMeasurements, measured: Measurements, /) -> Evidence | None:
        """See `Cause.detect`."""
        idle = super().detect(device, measured)
        if not device.stalled:
            return idle
        found = idle or Evidence(Intervals.empty(), (), self.confidence)
        facts = (*_stalls(device), *(found.facts or _facts_device.told_migrations(device)))
        return replace(found, blamed=found.blamed | device.stalled, facts=facts)


def _stalls(device: DeviceMeasurements) -> list[str]:
    stalled = device.stalled.total_ns
    lines = [
        f"pages migrate in {duration(stalled)} of the kernel time,"
        f" {percent(stalled / device.compute_ns)} of it: the kernels wait for them"
    ]
    if device.page_faults:
        lines.append(f"{count_of(device.page_faults, 'page fault')} of kernels recorded")
    return lines


CAUSE = _Migration(
    reason=Reason.UVM_MIGRATION,
    title="unified memory migrates while the device, or a kernel on it, waits",
    facts=(_facts_device.migrations, _facts.waits),
    advice="call cudaMemPrefetchAsync on a side stream before the use, or replace cudaMallocManaged"
    " by cudaMalloc and cudaMemcpyAsync from pinned memory",
    caveat="the data does not fit on the device: then prefetch in time, for migrating is the price",
    confidence=Confidence.LIKELY,
    lacks=Content.PAGE_FAULTS,
)
