"""Small programs drawn as pictures, and what is made of recordings."""

from __future__ import annotations

import lzma
from pathlib import Path
from typing import Any

from overlapcheck.measurements import Measurements
from overlapcheck.passes.measure import measure
from overlapcheck.selection import Selection
from overlapcheck.sources.nsys.read import read_trace
from overlapcheck.stream_changes import StreamCheck
from overlapcheck.stream_contract import StreamContract
from overlapcheck.stream_contract_file import read_contract, written
from overlapcheck.stream_graph import StreamGraph
from overlapcheck.stream_report import StreamReport
from overlapcheck.streams.report import stream_report
from tests.conftest import ROOT
from tests.pictures import picture

SHARED = ROOT.parent / "shared"

# One step of a double buffer: the copy waits for the step before last, the kernels for the copy.
DOUBLE_BUFFER = """
s7  kernel k            |........kkkkmmmm...|
s13 h2d pinned 64MiB    |....cccc...........|
t1  cudaStreamWaitEvent |.u..w..............|
t1  cudaMemcpyAsync     |..c................|
t1  cudaEventRecord     |...r.......d.......|
t1  cudaLaunchKernel    |.....k.m...........|
t1  nvtx step           |0000000000000000000|
"""


def double_buffer(**changes: Any) -> StreamReport:
    """Eight steps of the double buffer; `waits`, `picture` or other keys of a picture differ."""
    options: dict[str, Any] = {
        "column_us": 10,
        "repeat": 8,
        "streams": {"7": "non-blocking", "13": "non-blocking"},
        "records": [
            {"call": "r", "stream": 13},
            {"call": "d", "stream": 7},
        ],
        "waits": [
            {"call": "u", "stream": 13, "record": "d", "back": 2},
            {"call": "w", "stream": 7, "record": "r"},
        ],
    }
    text = changes.pop("picture", DOUBLE_BUFFER)
    return report_of(picture(text, **(options | changes)).measure(skip=None, stream_waits=True))


def report_of(measured: Measurements, contract: StreamContract | None = None) -> StreamReport:
    """What `streams` finds."""
    return stream_report("picture.sqlite", measured, contract)


def agreed(report: StreamReport) -> StreamContract:
    """The contract of a recording, once through its file."""
    return read_contract(written(report.to_agree_on()), "streams.toml")


def unpacked(path: Path, folder: Path) -> Path:
    """An export without its compression."""
    export = folder / path.name.removesuffix(".xz")
    export.write_bytes(lzma.decompress(path.read_bytes()))
    return export


def measured_export(path: Path, window_ns: tuple[int, int] | None = None) -> Measurements:
    """An export with the waits of its processes."""
    selection = Selection(stream_waits=True, window_ns=window_ns)
    return measure(read_trace(path, window_ns), selection)


def edges_of(graph: StreamGraph) -> set[tuple[str, str, str, int, int]]:
    """Edges that events prove, as tuples: from, to, kind, distance, count."""
    return {
        (e.rule.source, e.rule.target, e.rule.kind.value, e.rule.distance, e.rule.count)
        for e in graph.edges
        if e.rule.proof.value == "event"
    }


def hosts_of(graph: StreamGraph) -> set[tuple[str, str | None, int | None, int]]:
    """Synchronisations of the host as tuples: call, stream, distance, count."""
    return {
        (h.rule.call, h.rule.of, h.rule.distance, h.rule.count)
        for h in graph.host
        if not h.rule.copy
    }


def kinds_of(check: StreamCheck) -> list[str]:
    """What changed, by kind."""
    return [change.kind.value for change in check.changes]
