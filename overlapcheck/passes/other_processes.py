"""When other processes compute on the same GPU.

Each process is in `any` where it computes itself, so what remains of it are the others; where two
compute at once, somebody else does for either of them:

    process 1   ####....##
    process 2   ..####....
    any         ######..##
    two         ..##......      others of 1: two | (any - 1) = ..####....
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from overlapcheck.columns import is_constant
from overlapcheck.grouping import by_group, groups
from overlapcheck.intervals import Intervals
from overlapcheck.kinds import DeviceKey, ProcessKey
from overlapcheck.trace import Trace, rows_or_none
from overlapcheck.trace_tables import Kernels


@dataclass(frozen=True)
class _Gpu:
    any: Intervals
    two: Intervals


class _GpuKey(NamedTuple):
    """A GPU of one machine; a report may hold several machines."""

    machine: int
    number: int


class OtherProcesses:
    """The kernels of each GPU by process; device numbers are each process's own."""

    def __init__(self, trace: Trace) -> None:
        self._gpu_of = trace.gpu_of
        self._by_gpu: dict[_GpuKey, dict[ProcessKey, Intervals]] = {}
        self._keys: dict[_GpuKey, list[DeviceKey]] = {}
        for key, busy in _busy(trace).items():
            by_process = self._by_gpu.setdefault(self._number(key), {})
            self._keys.setdefault(self._number(key), []).append(key)
            mine = by_process.get(key.process, Intervals.empty())
            by_process[key.process] = mine | busy
        self._shared = {
            number: _Gpu(*Intervals.once_and_twice(list(by_process.values())))
            for number, by_process in self._by_gpu.items()
            if len(by_process) > 1
        }

    def of(self, key: DeviceKey) -> Intervals:
        """Kernels of all other processes on the GPU that a process calls by this number."""
        number = self._number(key)
        gpu = self._shared.get(number)
        if gpu is None:
            return Intervals.empty()
        return gpu.two | (gpu.any - self._by_gpu[number].get(key.process, Intervals.empty()))

    def sharing(self, key: DeviceKey) -> tuple[DeviceKey, ...]:
        """What the other processes that run kernels on the same GPU call it."""
        known = self._keys.get(self._number(key), ())
        return tuple(other for other in known if other.process != key.process)

    def _number(self, key: DeviceKey) -> _GpuKey:
        return _GpuKey(key.host, self._gpu_of.get(key, key.device_id))


def _busy(trace: Trace) -> dict[DeviceKey, Intervals]:
    kernels = rows_or_none(trace.kernels, Kernels)
    if is_constant(kernels.process):
        return {}
    first, group = groups(kernels.process, kernels.device_id)
    order, bounds = by_group(group, first.size)
    return {
        trace.device_key(int(kernels.process[row]), int(kernels.device_id[row])): Intervals.of(
            kernels.start_ns[order[bounds[i] : bounds[i + 1]]],
            kernels.end_ns[order[bounds[i] : bounds[i + 1]]],
        )
        for i, row in enumerate(first.tolist())
    }
