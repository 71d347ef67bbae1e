"""What a recording itself says about the ranks of its processes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from overlapcheck.kinds import ProcessKey


@dataclass(frozen=True)
class RankHints:
    """Ranks by what the program was told, and by what it told NVTX."""

    variables: Mapping[str, str] = field(default_factory=dict)
    """Rank of the launched program by environment variable (RANK, SLURM_PROCID ...): digits only.
    Under a launcher that the report holds too it is the launcher's own."""
    sizes: Mapping[str, int] = field(default_factory=dict)
    """How many ranks the job has, by the variable of the rank that it belongs to: RANK for
    WORLD_SIZE."""
    names: Mapping[ProcessKey, str] = field(default_factory=dict)
    """Rank by process, where its NVTX, thread and process names say one and only one."""
