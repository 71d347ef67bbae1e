"""Where several reports are read, this machine's processes or a Dask cluster, and results kept."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from overlapcheck.capture.cache_folder import user_key
from overlapcheck.cli.options import Judging
from overlapcheck.cli.rank_options import Fleet
from overlapcheck.ranks.dask_cluster import DaskCluster
from overlapcheck.ranks.pool import LocalPool
from overlapcheck.ranks.run import Engine
from overlapcheck.ranks.work import content_digest, usable_cores

if TYPE_CHECKING:
    from overlapcheck.ranks.store import Store


def engine_of(fleet: Fleet, reports: int) -> Engine:
    """The engine that the options ask for."""
    if fleet.dask or fleet.dask_local:
        return DaskCluster(fleet.dask or "", fleet.dask_local or 0)
    return LocalPool(min(fleet.jobs or usable_cores(), reports))


def store_of(judging: Judging, controls: Sequence[Path]) -> Store:
    """Where results of earlier runs are: beside the first output.

    Args:
        judging: what is asked; results of other questions are not found there.
        controls: recordings that the results depend on, too.

    Raises:
        OutputUnwritable: they cannot be kept so that nobody else can have made them.
    """
    from overlapcheck.ranks.store import Store

    place = judging.outputs[0].parent if judging.outputs else Path()
    beside = tuple(content_digest(path) for path in controls)
    return Store.beside(place, judging.policy, judging.selection, user_key(), beside)
