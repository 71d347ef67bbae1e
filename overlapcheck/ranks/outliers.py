"""What is usual among ranks, and which ranks are not: medians and robust spreads."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from overlapcheck.columns import Floats, Mask
from overlapcheck.finding import MATERIAL_SHARE
from overlapcheck.fleet import Outlier
from overlapcheck.report_result import RankRow
from overlapcheck.thresholds import USUAL, Thresholds

NORMAL = 1.4826
"""Median absolute deviation → standard deviation of a normal distribution."""


@dataclass(frozen=True)
class _Measure:
    """One quantity of every rank that has it."""

    name: str
    unit: str
    values: Mapping[int, float]
    """By position of the row."""
    weight: float
    """From its unit to a share of the window; a time per step has its own median as scale."""
    worse: int
    """1 where more is worse, -1 where less is."""


def outliers(rows: Sequence[RankRow], limits: Thresholds = USUAL) -> tuple[Outlier, ...]:
    """Ranks that are worse than the median by more than the robust spread, heaviest first."""
    found: list[Outlier] = []
    for measure in _measures(rows):
        if len(measure.values) < limits.outlier_ranks_least:
            continue
        numbers = list(measure.values)
        values = np.array([measure.values[n] for n in numbers], dtype=np.float64)
        median = float(np.median(values))
        scale = measure.weight or (1 / median if median else 0.0)
        deviations = worse_by(values, scale, limits) * measure.worse
        shares = (values - median) * scale * measure.worse
        least = limits.outlier_step_share if measure.unit == "ns" else MATERIAL_SHARE
        unusual = (deviations >= limits.outlier_deviations) & (shares >= least)
        if measure.unit == "share" and measure.worse > 0:
            unusual &= far_above(values, limits)
        found += [
            Outlier(
                rank=rows[numbers[i]].label,
                measure=measure.name,
                value=float(values[i]),
                median=median,
                deviations=round(float(deviations[i]), 1),
                share=float(shares[i]),
                unit=measure.unit,
            )
            for i in np.flatnonzero(unusual).tolist()
        ]
    position = {row.label: n for n, row in enumerate(rows)}
    found.sort(key=lambda one: (-one.share, position[one.rank], one.measure))
    return tuple(found)


def worse_by(values: Floats, scale: float, limits: Thresholds) -> Floats:
    """How many robust standard deviations each value lies above the median.

    Args:
        values: of all ranks.
        scale: from their unit to a share of the window.
        limits: how much ranks that are alike differ.
    """
    median = np.median(values)
    spread = NORMAL * np.median(np.abs(values - median))
    least = limits.outlier_spread_share / scale if scale else 0.0
    result: Floats = (values - median) / max(float(spread), least, 1e-12)
    return result


def far_above(values: Floats, limits: Thresholds) -> Mask:
    """Which shares of the window are unusually large."""
    median = np.median(values)
    above: Mask = (
        (worse_by(values, 1.0, limits) >= limits.outlier_deviations)
        & (values - median >= MATERIAL_SHARE)
        & (values >= limits.outlier_ratio * median)
    )
    return above


def _measures(rows: Sequence[RankRow]) -> list[_Measure]:
    def of(values: list[float | None]) -> dict[int, float]:
        return {n: value for n, value in enumerate(values) if value is not None}

    found = [
        _Measure("step time", "ns", of([row.step_median_ns for row in rows]), 0.0, 1),
        _Measure(
            "compute per step",
            "ns",
            of([row.compute_ns / row.steps if row.steps else None for row in rows]),
            0.0,
            1,
        ),
        _Measure("recoverable", "share", of([row.recoverable for row in rows]), 1.0, 1),
    ]
    for direction in sorted({d for row in rows for d in row.overlap if d != "d2d"}):
        overlap = of([row.overlap.get(direction) for row in rows])
        found.append(_Measure(f"overlap {direction}", "share", overlap, 1.0, -1))
    for cause in sorted({cause for row in rows for cause in row.ledger}):
        idle = of([row.ledger.get(cause, 0) / row.window_ns for row in rows if row.window_ns])
        if len(idle) == len(rows):
            found.append(_Measure(f"idle: {cause}", "share", idle, 1.0, 1))
    return found
