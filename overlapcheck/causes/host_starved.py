"""The device waits for the program itself, which loads, computes or sleeps.

What it is
    Nothing is queued on the device, and the thread that launches is outside CUDA: it waits for a
    data loader, reads a file, holds a lock, or computes in Python.

Why it costs overlap
    This is no overlap problem: with nothing issued there is nothing to overlap. Reordering copies
    and kernels wins none of this time.

What it looks like
    kernels  ####··········####··········
    copies   ··············..
    thread   L [next(loader)]  L             outside CUDA: in an OS call, or running

What to do
    PyTorch, where it waits for a loader: DataLoader(num_workers=..., prefetch_factor=...,
    persistent_workers=True, pin_memory=True); decode on the device (DALI, nvImageCodec). Else move
    what it does (logging, checkpointing, reading) to another thread. CUDA: prepare the next input
    in another thread, one or two steps ahead. To see which Python code: py-spy record, or a
    profiler that samples Python.

When this is wrong
    The thread may wait for the device in a way of its own (polling, a condition variable set by a
    callback): then look at what it waits for. With several ranks it may wait for another process.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

from overlapcheck.causes import _facts
from overlapcheck.causes._base import Evidence, IdleCause, by_cost
from overlapcheck.causes._job import others_of_job
from overlapcheck.ledger import IdleLedger, Reason
from overlapcheck.measurements import DeviceMeasurements, Framework, Measurements, WindowSource

_LOADER = re.compile(r"pt_data|pin_memory|data.?load|(?<![a-z])loader|prefetch", re.IGNORECASE)
"""Threads, and ranges of processes without kernels, that prepare the input."""
_QUEUE_WAIT = re.compile(r"sem_.*wait|pthread_cond_.*wait")
"""What the consumer of a queue is in, and a program of one thread never."""


@dataclass(frozen=True)
class _Starved(IdleCause):
    """The advice follows what the thread was seen in."""

    def detect(self, device: DeviceMeasurements, measured: Measurements, /) -> Evidence | None:
        """See `Cause.detect`."""
        found = super().detect(device, measured)
        if found is None:
            return None
        rows = device.ledger.rows(device.ledger.reason == self.reason)
        advice = _advice(rows, device, measured)
        meanwhile = sum(
            (found.blamed & other.compute).total_ns for other in others_of_job(device, measured)
        )
        # What another device computes meanwhile may be what this one waits for.
        if meanwhile < measured.thresholds.telling_share * found.blamed.total_ns:
            advice += "; overlap cannot win this time"
        return replace(found, advice=advice)


def _advice(rows: IdleLedger, device: DeviceMeasurements, measured: Measurements) -> str:
    ((os_name_id, _, _),) = by_cost(rows, rows.os_name_id, 1)
    call = measured.names.strings.text(os_name_id)
    once = device.window.source is WindowSource.WHOLE_RUN
    ahead = "ahead of its use" if once else "one or two steps ahead"
    waits = bool(_QUEUE_WAIT.fullmatch(call))
    if measured.framework is Framework.PYTORCH and (waits or _loader_seen(measured)):
        return (
            "raise num_workers and prefetch_factor of the DataLoader, with persistent_workers=True"
        )
    if waits:
        return f"the launching thread waited in {call} for another: let that one work {ahead}"
    if call:
        return f"the launching thread was in {call}: do that in another thread, {ahead}"
    python = measured.framework is not Framework.CUDA
    look = "py-spy record" if python else "perf record"
    did = "ran its own code" if measured.os_calls_recorded else "ran its own code or an OS call"
    return f"the launching thread {did} (what: {look}): do that in another thread, {ahead}"


def _loader_seen(measured: Measurements) -> bool:
    names, ranges = measured.names, measured.ranges
    if any(_LOADER.search(name) for name in names.threads.values()):
        return True
    with_kernels = {one.process for one in measured.devices}
    named = names.strings.matching(ranges.name_id, lambda text: bool(_LOADER.search(text)))
    return not with_kernels.issuperset(ranges.process[named].tolist())


CAUSE = _Starved(
    reason=Reason.HOST_STARVED,
    title="the launching thread is away from CUDA: the device waits for the program",
    facts=(_facts.host_whereabouts, _facts.waits),
    advice="prepare the next input in another thread, one or two steps ahead",
    caveat="the thread waits for the device by polling, or for another process: then look at what"
    " it waits for",
)
