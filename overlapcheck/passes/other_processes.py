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

from overlapcheck.columns import by_group, groups
from overlapcheck.intervals import Intervals
from overlapcheck.kinds import DeviceKey
from overlapcheck.trace import Kernels, Trace, rows_or_none


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
        self._by_gpu: dict[_GpuKey, dict[int, Intervals]] = {}
        self._keys: dict[_GpuKey, list[DeviceKey]] = {}
        for key, busy in _busy(rows_or_none(trace.kernels, Kernels)).items():
            by_pid = self._by_gpu.setdefault(self._number(key), {})
            self._keys.setdefault(self._number(key), []).append(key)
            by_pid[key.pid] = by_pid.get(key.pid, Intervals.empty()) | busy
        self._shared = {
            number: _Gpu(*Intervals.once_and_twice(list(by_pid.values())))
            for number, by_pid in self._by_gpu.items()
            if len(by_pid) > 1
        }

    def of(self, key: DeviceKey) -> Intervals:
        """Kernels of all other processes on the GPU that a process calls by this number."""
        number = self._number(key)
        gpu = self._shared.get(number)
        if gpu is None:
            return Intervals.empty()
        return gpu.two | (gpu.any - self._by_gpu[number].get(key.pid, Intervals.empty()))

    def sharing(self, key: DeviceKey) -> tuple[DeviceKey, ...]:
        """What the other processes that run kernels on the same GPU call it."""
        return tuple(
            other for other in self._keys.get(self._number(key), ()) if other.pid != key.pid
        )

    def _number(self, key: DeviceKey) -> _GpuKey:
        # Above the operating system's number a process key names its machine.
        return _GpuKey(key.pid >> 24, self._gpu_of.get(key, key.device_id))


def _busy(kernels: Kernels) -> dict[DeviceKey, Intervals]:
    if kernels.pid.strides == (0,):
        return {}
    first, group = groups(kernels.pid, kernels.device_id)
    order, bounds = by_group(group, first.size)
    return {
        DeviceKey(int(kernels.pid[row]), int(kernels.device_id[row])): Intervals.of(
            kernels.start_ns[order[bounds[i] : bounds[i + 1]]],
            kernels.end_ns[order[bounds[i] : bounds[i + 1]]],
        )
        for i, row in enumerate(first.tolist())
    }
