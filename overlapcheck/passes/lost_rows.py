"""Device rows that are missing for calls that succeeded: lost, or only cut off at the end.

Work that was still running or queued when recording stopped leaves no row, and what the profiler
had not yet written leaves none either; both take nothing from the window before. It is a loss
where work handed over later has a row, where other work goes on without this kind of it, where a
wait returned that proves it done, or where it is more than an end that was cut off:

    launches    L1  L2  L3  L4  L5          thread
    kernels     K1      K3  K4              L2 is lost, L5 was cut off

    launches    L1  C1  L2  C2  L3  C3      thread
    kernels     K1                          L2 and L3 are lost: nothing kept them
    copies          M1      M2      M3      from running beside C2 and C3
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from overlapcheck.capture_info import CaptureInfo, GraphGranularity
from overlapcheck.capture_problem import CaptureFault, CaptureProblem
from overlapcheck.columns import ABSENT, Codes, Ints, Mask
from overlapcheck.grouping import distinct, numbered
from overlapcheck.passes.lost_nodes import lost_nodes
from overlapcheck.passes.process import ProcessTables
from overlapcheck.passes.submissions import (
    NEVER,
    DeviceRows,
    HandedOver,
    Submissions,
    device_rows,
    done_by_ns,
    submissions,
    work_of_calls,
)
from overlapcheck.quantities import count_of
from overlapcheck.recorder import Content
from overlapcheck.thresholds import Thresholds
from overlapcheck.trace import Missing, Trace


def lost_rows(trace: Trace, process: ProcessTables, limits: Thresholds) -> list[CaptureProblem]:
    """Problems of calls without rows, per kind of work."""
    work = work_of_calls(process)
    handed_over = submissions(process, work)
    missing = _missing(trace)
    found: list[CaptureProblem | None] = []
    if not handed_over.present.all():
        search = _Search(process, work, handed_over, limits)
        found = [_problem(search, kind, missing.get(kind)) for kind in _FAULTS]
        found.append(_graphs(process, search, trace.info))
    found.append(lost_nodes(process, work, missing, limits))
    return [problem for problem in found if problem is not None]


def _missing(trace: Trace) -> dict[HandedOver, Missing]:
    """Tables that are not there at all, by what they would hold."""
    tables = {HandedOver.COPY: trace.copies, HandedOver.MEMSET: trace.memsets}
    found = {kind: table for kind, table in tables.items() if isinstance(table, Missing)}
    return found | ({HandedOver.KERNEL: trace.single_kernels} if trace.single_kernels else {})


_CALLS = {
    HandedOver.KERNEL: ("kernel launch", "kernel launches"),
    HandedOver.COPY: ("copy call", "copy calls"),
    HandedOver.MEMSET: ("memset call", "memset calls"),
}
_FAULTS = {
    HandedOver.KERNEL: CaptureFault.LAUNCHES_WITHOUT_ROWS,
    HandedOver.COPY: CaptureFault.COPIES_WITHOUT_ROWS,
    HandedOver.MEMSET: CaptureFault.MEMSETS_WITHOUT_ROWS,
}


def _problem(search: _Search, kind: HandedOver, missing: Missing | None) -> CaptureProblem | None:
    process, lost, total = search.process, search.count(kind), search.total(kind)
    if not lost > search.limits.lost_share * max(total, 1):
        return None
    where = " on the device" if missing is None else f": {missing.why}"
    said = f"{lost} of {count_of(total, *_CALLS[kind])} left no row{where}"
    lacking = Content.ALL_ROWS if missing is None else missing.table
    return process.problem(
        _FAULTS[kind],
        said,
        lacking,
    )


@dataclass(frozen=True)
class _Search:
    """Tells calls whose rows are lost from those that the end of the recording cut off."""

    process: ProcessTables
    work: Codes
    handed_over: Submissions
    limits: Thresholds

    @cached_property
    def rows(self) -> DeviceRows:
        return device_rows(self.process)

    @cached_property
    def last_end_ns(self) -> int:
        tables = (self.process.kernels, self.process.copies, self.process.memsets)
        return max(int(table.end_ns.max()) for table in tables if len(table))

    @cached_property
    def submit_ns(self) -> Ints:
        """When each row's work was handed over."""
        return self.process.calls.start_ns[self.rows.call]

    @property
    def in_flight(self) -> int:
        return self.limits.in_flight_calls * int(
            distinct(self.process.calls.tid[self.handed_over.call]).size
        )

    def total(self, kind: HandedOver) -> int:
        return int(np.count_nonzero(self.handed_over.work == kind))

    def count(self, kind: HandedOver) -> int:
        """Calls of a kind whose rows are lost."""
        mine = self.handed_over.work == kind
        call, present = self.handed_over.call[mine], self.handed_over.present[mine]
        if present.all():
            return 0
        thread = self.process.calls.tid[call]
        submit = self.process.calls.start_ns[call]
        done = np.full(call.size, NEVER, dtype=np.int64)
        done[~present] = done_by_ns(self.process, self.work, self.rows, call[~present])
        interior = ~present & _interior(thread, present)
        # Copies overtake each other on streams of their own; kernels are held to their order.
        if kind is not HandedOver.KERNEL:
            interior &= ~self._may_wait(submit, done)
        tail = ~present & ~interior
        return int(np.count_nonzero(interior | self._lost_tail(kind, thread, submit, done, tail)))

    def _lost_tail(
        self, kind: HandedOver, thread: Ints, submit: Ints, done: Ints, tail: Mask
    ) -> Mask:
        if not tail.any():
            return tail
        proven = tail & (done != NEVER)
        too_many = np.count_nonzero(tail) >= self.limits.cut_share * tail.size
        if (too_many and proven.any()) or self._others_went_on(kind, submit, tail):
            return tail
        lost: Mask = done < self.last_end_ns - self.limits.clock_noise_ns
        lost |= self._of_forgotten_threads(kind, thread, submit)
        after = tail & (submit > self.last_end_ns)
        if not self.may_be_cut(int(np.count_nonzero(after)), tail.size):
            lost |= after
        return lost

    def may_be_cut(self, count: int, total: int) -> bool:
        """Whether so many calls after the last row may only have been cut off."""
        return count <= self.in_flight or count < self.limits.cut_share * total

    def _others_went_on(self, kind: HandedOver, submit: Ints, tail: Mask) -> bool:
        """Whether other work ran for longer than any of this kind ever waited or took."""
        first = int(submit[tail].min())
        alike = self.work[self.rows.call] == kind
        if not alike.any():
            waited = self.last_end_ns - first
            return waited > self._longest_wait(before_ns=first)
        start, end = self.submit_ns[alike], self.rows.end_ns[alike]
        order = np.argsort(end, kind="stable")
        start, end = start[order], end[order]
        alone = end - np.maximum(start, np.append(start[:1], end[:-1]))
        longest = int(alone.max(initial=0))
        silence = self.last_end_ns - max(int(end[-1]), first)
        return silence > self.limits.patience_ratio * longest + self.limits.clock_noise_ns

    def _of_forgotten_threads(self, kind: HandedOver, thread: Ints, submit: Ints) -> Mask:
        """Calls of threads that have not one row, and waited longer than anything recorded did."""
        alike = self.work[self.rows.call] == kind
        known = np.isin(thread, self.process.calls.tid[self.rows.call[alike]])
        old = self.last_end_ns - submit > self._longest_wait()
        lost = ~known & old
        found, number = numbered(thread)
        many = np.bincount(number[lost], minlength=found.size) > self.limits.in_flight_calls
        mask: Mask = lost & many[number]
        return mask

    def _may_wait(self, submit: Ints, done: Ints) -> Mask:
        """Work that may still have been queued when the recording ended.

        What is queued has waited about as long as the work handed over just before it did.
        """
        order = np.argsort(self.submit_ns, kind="stable")
        took = np.maximum.accumulate((self.rows.end_ns - self.submit_ns)[order])
        before = np.searchsorted(self.submit_ns[order], submit)
        longest = np.concatenate(([0], took))[before]
        mask: Mask = (done == NEVER) & (
            self.last_end_ns - submit
            <= self.limits.patience_ratio * longest + self.limits.clock_noise_ns
        )
        return mask

    def _longest_wait(self, before_ns: int = NEVER) -> float:
        """Longest time from hand-over to end, of work handed over before; with patience."""
        took = (self.rows.end_ns - self.submit_ns)[self.submit_ns < before_ns]
        longest = int(took.max(initial=0))
        return self.limits.patience_ratio * longest + self.limits.clock_noise_ns


def _interior(thread: Ints, present: Mask) -> Mask:
    """Calls (in time order) that have a later present one of the same thread."""
    found, number = numbered(thread)
    last = np.full(found.size, ABSENT, dtype=np.intp)
    last[number[present]] = np.flatnonzero(present)
    mask: Mask = np.arange(thread.size) < last[number]
    return mask


def _graphs(process: ProcessTables, search: _Search, info: CaptureInfo) -> CaptureProblem | None:
    launches = search.handed_over.work == HandedOver.GRAPH
    missing = launches & ~search.handed_over.present
    submit = process.calls.start_ns[search.handed_over.call]
    tail = missing & (submit > search.last_end_ns)
    total = int(np.count_nonzero(launches))
    if search.may_be_cut(int(np.count_nonzero(tail)), total):
        missing &= ~tail
    lost = int(np.count_nonzero(missing))
    if lost <= search.limits.lost_share * max(total, 1):
        return None
    how = " (recorded as whole graphs)" if info.graph_granularity is GraphGranularity.GRAPH else ""
    return process.problem(
        CaptureFault.GRAPH_LAUNCHES_INVISIBLE,
        f"{lost} of {count_of(total, 'graph launch', 'graph launches')} left no rows{how}",
        Content.GRAPH_NODES,
    )
