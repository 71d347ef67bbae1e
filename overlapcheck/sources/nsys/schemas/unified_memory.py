"""Page faults of kernels on unified memory; only with `--cuda-um-gpu-page-faults=true`.

A row is a group of faults at one address; older schemas give it no end.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from overlapcheck.columns import ABSENT, compact
from overlapcheck.recorder import Content
from overlapcheck.sources.nsys.processes import ANY_PROCESS
from overlapcheck.sources.nsys.schemas.select import Source, fetch
from overlapcheck.trace import Missing
from overlapcheck.trace_tables import PageFaults

if TYPE_CHECKING:
    from overlapcheck.sources.nsys.database import Database

GPU_FAULTS = "CUDA_UM_GPU_PAGE_FAULT_EVENTS"


def read_page_faults(db: Database) -> PageFaults | Missing:
    """Groups of page faults, by device."""
    if not db.has(GPU_FAULTS, "start"):
        return Missing(Content.PAGE_FAULTS, "the report holds no such rows")
    columns = fetch(
        db,
        GPU_FAULTS,
        {
            "start_ns": Source("start"),
            "process": Source("globalPid", ABSENT, ANY_PROCESS << 24),
            "device_id": Source("deviceId", 0),
            "faults": Source("numberOfPageFaults", 1),
        },
    )
    columns["process"] = compact(columns["process"] >> 24)
    return PageFaults(**columns)
