"""Rows of ranks as devices, so that ranks are compared by the rules of single reports."""

from __future__ import annotations

from dataclasses import replace
from statistics import NormalDist

from overlapcheck.device_report import (
    CopySummary,
    DeviceReport,
    LedgerEntry,
    MigrationSummary,
    Picture,
    Spread,
    StepSummary,
    WindowSummary,
)
from overlapcheck.report_result import RankRow
from overlapcheck.thresholds import Thresholds


def widening(ranks: int) -> float:
    """How much wider the noise of each of many ranks is.

    Of many ranks some always lie beyond what holds for one: so that all together mistake as seldom
    as one alone, each must lie further out (Bonferroni).
    """
    normal = NormalDist()
    by_chance = 1 - normal.cdf(Thresholds.noise_deviations)
    return normal.inv_cdf(1 - by_chance / max(ranks, 1)) / Thresholds.noise_deviations


def as_device(row: RankRow, widened: float = 1.0) -> DeviceReport:
    """A rank's row as the device that it is of, as far as a comparison looks at that.

    Args:
        row: of a rank.
        widened: by how much its steps seem to spread more than they do.
    """
    return DeviceReport(
        pid=row.pid,
        process="",
        device=row.device,
        name=row.gpu,
        window=WindowSummary(0, row.window_ns, "", "", None, row.steps, 0),
        window_ns=row.window_ns,
        compute_ns=row.compute_ns,
        opaque_ns=0,
        idle_ns=row.idle_ns,
        communication_ns=row.communication_ns,
        communication_hidden_ns=row.communication_ns - row.communication_exposed_ns,
        # Without it there is one recoverable to show, at whatever pace.
        bound_ns=row.bound_ns or 0,
        recoverable=row.recoverable,
        copies={
            direction: CopySummary(0, 0, row.copy_ns.get(direction, 0), 0, 0, 0, overlap, None)
            for direction, overlap in row.overlap.items()
        },
        migrations=MigrationSummary(0, 0, 0),
        streams=(),
        streams_total=0,
        gaps=(),
        gaps_total=0,
        blocking=(),
        blocking_total=0,
        steps=_steps(row, widened),
        picture=Picture(0, 0, (), ()),
        ledger=tuple(LedgerEntry(cause, ns) for cause, ns in row.ledger.items()),
        host=row.host,
        pace=row.pace,
        own_window_ns=row.own_window_ns if row.bound_ns is not None else None,
    )


def _steps(row: RankRow, widened: float) -> StepSummary | None:
    if row.per_step is not None:
        found = row.per_step
        return replace(
            found,
            step=_wider(found.step, widened),
            compute=_wider(found.compute, widened),
            idle=_wider(found.idle, widened),
            exposed_copy=_wider(found.exposed_copy, widened),
        )
    if row.step_median_ns is None:
        return None
    # Saved without spreads: then a difference is held against the least noise that there is.
    step = Spread(row.step_median_ns, row.step_median_ns, round(row.step_median_ns), 0)
    nothing = Spread(0.0, 0.0, 0, 0)
    return StepSummary(row.steps or 1, step, nothing, nothing, nothing)


def _wider(spread: Spread, widened: float) -> Spread:
    beyond = spread.p95_ns - spread.median_ns
    return replace(spread, p95_ns=spread.median_ns + beyond * widened)
