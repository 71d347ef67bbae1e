"""What recurs over the steps, and what happens in fewer than a quarter of them."""

from __future__ import annotations

from math import ceil

import numpy as np

from overlapcheck.columns import Ints
from overlapcheck.finding import MATERIAL_SHARE
from overlapcheck.thresholds import Thresholds


def usual_ns(cost: Ints, steps: int) -> int:
    """What the costliest quarter of the steps all have.

    Args:
        cost: of the steps that have one, ns, in any order.
        steps: how many there are; one without kernels has no row, and no cost.
    """
    quarter = ceil(Thresholds.spike_step_share * steps)
    return int(np.sort(cost)[-quarter]) if 0 < quarter <= cost.size else 0


def lasting_ns(cost: Ints, usual: int) -> int:
    """The cost without what stands out of it."""
    return int(np.minimum(cost, usual).sum())


def does_recur(lasting: int, total: int, window_ns: int) -> bool:
    """Whether what is left without the spikes is most of the cost, or enough to matter."""
    return lasting >= MATERIAL_SHARE * window_ns or 2 * lasting >= total
