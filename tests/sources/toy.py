"""A second kind of recording, as a stranger would add it: JSON, times in microseconds."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np

from overlapcheck import Content, Trace
from overlapcheck.capture_info import CaptureInfo
from overlapcheck.kinds import CopyKind, MemoryKind, ProcessKey
from overlapcheck.trace import Process, Strings
from overlapcheck.trace_tables import ApiCalls, Contexts, Copies, Kernels, Syncs

TEXTS = {0: "gemm", 1: "cudaLaunchKernel", 2: "cudaMemcpyAsync"}


class ToySource:
    """Operations as [kind, launched, start, end, stream], of process 0 on device 0."""

    name = "toy"

    def recognises(self, path: Path, /) -> bool:
        """By its first word."""
        return path.is_file() and path.read_bytes().startswith(b'{"toy"')

    def read(self, path: Path, _window_ns: tuple[int, int] | None, /) -> Trace:
        """All of it, whatever the window."""
        rows = np.array(json.loads(path.read_text())["toy"], dtype=np.int64).reshape(-1, 5)
        call, launched, start, end, stream = (rows * [1, 1000, 1000, 1000, 1]).T
        row = np.arange(len(rows))  # 0 is a call like any other

        def on_device(kind: int) -> dict[str, Any]:
            own = np.flatnonzero(call == kind)
            times = {"start_ns": start[own], "end_ns": end[own], "stream_id": stream[own]}
            ids = {"process": 0, "device_id": 0, "context_id": 0, "correlation_id": row[own]}
            return times | ids | {"rows": own.size}

        calls = {"start_ns": launched, "end_ns": launched + 1000, "correlation_id": row, "tid": 0}
        h2d = {"kind": CopyKind.HOST_TO_DEVICE, "source": MemoryKind.PINNED, "bytes": 1 << 20}
        return Trace(
            CaptureInfo(),
            (Process(ProcessKey(0), "toy"),),
            Strings(TEXTS),
            kernels=Kernels.filled(**on_device(1), name_id=0),
            copies=Copies.filled(**on_device(2), **h2d, destination=MemoryKind.DEVICE),
            api_calls=ApiCalls.filled(len(rows), **calls, process=0, succeeded=True, name_id=call),
            syncs=Syncs.none(),
            contexts=Contexts.filled(1, process=0, device_id=0, context_id=0, null_stream_id=0),
        )

    def record_again(self, lacking: Content, /) -> str | None:
        """Toys know one thing only."""
        return "wind it up again" if lacking is Content.ALL_ROWS else None


TOY = ToySource()
