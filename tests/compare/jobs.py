"""Jobs of many ranks with chosen numbers, for comparing."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from overlapcheck.device_report import StepSummary
from overlapcheck.fleet import FleetCause, FleetReport, Straggler
from overlapcheck.report_result import CollectiveSummary, RankRow, Settings
from overlapcheck.verdict import Outcome
from tests.compare.reports import MS, spread

STEPS = 20
WAITING = "exposed-collective"


def row(
    rank: int | str,
    *,
    compute_ms: float = 8.0,
    waiting_ms: float = 1.0,
    ledger: dict[str, float] | None = None,
    beyond_ms: float = 0.1,
    gpu: str = "NVIDIA H200",
    recoverable: float = 0.1,
    overlap: dict[str, float] | None = None,
) -> RankRow:
    """A rank that computes, loses time to causes and waits in collectives: ms per step."""
    lost = {WAITING: waiting_ms, **(ledger or {})}
    step_ms = compute_ms + sum(lost.values())
    all_reduce = CollectiveSummary(
        "all-reduce", 20, STEPS * 4, round((waiting_ms + 2) * MS * STEPS),
        round(waiting_ms * MS * STEPS), 0, on_compute_stream=False,
    )  # fmt: skip
    return RankRow(
        report=f"rank_{rank}.sqlite",
        pid=7,
        device=0,
        gpu=gpu,
        outcome=Outcome.PASS,
        checks=(),
        window_ns=round(step_ms * MS * STEPS),
        steps=STEPS,
        step_median_ns=step_ms * MS,
        compute_ns=round(compute_ms * MS * STEPS),
        idle_ns=round(sum(lost.values()) * MS * STEPS),
        communication_ns=round((waiting_ms + 2) * MS * STEPS),
        communication_exposed_ns=round(waiting_ms * MS * STEPS),
        recoverable=recoverable,
        overlap=dict(overlap or {}),
        ledger={cause: round(ms * MS * STEPS) for cause, ms in lost.items()},
        causes=(),
        collectives=(all_reduce,),
        label=str(rank),
        bound_ns=round(step_ms * MS * STEPS * (1 - recoverable)),
        copy_ns=dict.fromkeys(overlap or {}, STEPS * MS),
        per_step=StepSummary(
            STEPS,
            spread(step_ms, beyond_ms),
            spread(compute_ms, beyond_ms),
            spread(1.0, beyond_ms),
            spread(0.0),
        ),
    )


def fleet(rows: Sequence[RankRow], *, late: str = "", name: str = "train.py") -> FleetReport:
    """A job of these ranks; `late` is one that the others wait for."""
    told = {
        "pageable-copy": ("copies from pageable memory", "pin the source", "it is rewritten"),
        WAITING: ("collectives that nothing hides", "overlap them", "it waits for a late rank"),
    }
    causes = tuple(
        FleetCause(
            cause, title, 1, ("0",), 0.0, 0.1, "0", (), (), advice, caveat
        )
        for cause, (title, advice, caveat) in told.items()
    )  # fmt: skip
    straggler = Straggler(late, len(rows), 20, 20, 3 * MS, 3 * MS, 0.3, {"compute": 3 * MS})
    return FleetReport(
        tool_version="0.1.0",
        outcome=Outcome.PASS,
        reports=len(rows),
        settings=Settings(f"python {name}", "", "", {}),
        rows=tuple(rows),
        lost=(),
        notes=(),
        checks=(),
        stragglers=(straggler,) if late else (),
        stragglers_total=1 if late else 0,
        outliers=(),
        outliers_total=0,
        causes=causes,
        meetings=(),
        meetings_total=0,
    )


def synchronised(ranks: int, *, late: int | None = None, by_ms: float = 3.0) -> FleetReport:
    """All meet in every step: when one computes longer the others wait for it."""
    rows = [
        row(rank, compute_ms=8 + by_ms)
        if rank == late
        else row(rank, waiting_ms=1 + (by_ms if late is not None else 0))
        for rank in range(ranks)
    ]
    return fleet(rows, late="" if late is None else str(late))


def without_spreads(one: FleetReport) -> FleetReport:
    """As it was saved before rows kept figures per step."""
    rows = (
        replace(row, per_step=None, bound_ns=None, own_window_ns=None, copy_ns={})
        for row in one.rows
    )
    return replace(one, rows=tuple(rows))
