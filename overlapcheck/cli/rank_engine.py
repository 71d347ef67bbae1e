"""Where several reports are read: this machine's processes, or a Dask cluster."""

from __future__ import annotations

from overlapcheck.cli.rank_options import Fleet
from overlapcheck.ranks.dask_cluster import DaskCluster
from overlapcheck.ranks.pool import LocalPool
from overlapcheck.ranks.run import Engine
from overlapcheck.ranks.work import usable_cores


def engine_of(fleet: Fleet, reports: int) -> Engine:
    """The engine that the options ask for."""
    if fleet.dask or fleet.dask_local:
        return DaskCluster(fleet.dask or "", fleet.dask_local or 0)
    return LocalPool(min(fleet.jobs or usable_cores(), reports))
