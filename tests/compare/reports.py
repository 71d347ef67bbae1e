"""Reports with chosen numbers, for comparing."""

from __future__ import annotations

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
from overlapcheck.finding import Confidence, Finding
from overlapcheck.intervals import Intervals
from overlapcheck.report import CaptureSummary, Report
from overlapcheck.verdict import Verdict

MS = 1_000_000


def spread(median_ms: float, beyond_ms: float = 0.0) -> Spread:
    """A median and how far above it the 95th percentile lies."""
    median, p95 = median_ms * MS, (median_ms + beyond_ms) * MS
    return Spread(median, p95, round(p95), 3)


def device(
    *,
    step_ms: float | None = 10.0,
    beyond_ms: float = 0.0,
    steps: int = 16,
    number: int = 0,
    pid: int = 7,
    gpu: str = "NVIDIA H200",
    family: str | None = "step #",
    recoverable: float = 0.05,
    overlap: dict[str, float] | None = None,
    copy_ms: float = 4.0,
    exposed_beyond_ms: float = 0.0,
    ledger: dict[str, float] | None = None,
    opaque_ms: float = 0.0,
) -> DeviceReport:
    """A device whose steps take `step_ms` each; ledger in ms per step."""
    window_ns = round((step_ms or 10.0) * MS * steps)
    entries = tuple(
        LedgerEntry(cause, round(ms * MS * steps)) for cause, ms in (ledger or {}).items()
    )
    copies = {
        way: CopySummary(
            count=steps,
            bytes=steps,
            copy_ns=round(copy_ms * MS * steps),
            hidden_ns=round(copy_ms * MS * steps * share),
            exposed_ns=round(copy_ms * MS * steps * (1 - share)),
            pageable_count=0,
            overlap=share,
            ceiling=1.0,
        )
        for way, share in (overlap or {}).items()
    }
    return DeviceReport(
        pid=pid,
        process=f"python3 ({pid})",
        device=number,
        name=gpu,
        window=WindowSummary(
            0,
            window_ns,
            "nvtx-steps" if step_ms else "all-kernels",
            "",
            family if step_ms else None,
            steps if step_ms else None,
            0,
        ),
        window_ns=window_ns,
        compute_ns=window_ns - sum(entry.ns for entry in entries),
        opaque_ns=round(opaque_ms * MS),
        idle_ns=sum(entry.ns for entry in entries),
        communication_ns=0,
        communication_hidden_ns=0,
        bound_ns=window_ns,
        recoverable=recoverable,
        copies=copies,
        migrations=MigrationSummary(0, 0, 0),
        streams=(),
        streams_total=0,
        gaps=(),
        gaps_total=0,
        blocking=(),
        blocking_total=0,
        steps=StepSummary(
            steps,
            spread(step_ms, beyond_ms),
            spread(step_ms),
            spread(1.0, beyond_ms),
            spread(1.0, exposed_beyond_ms),
        )
        if step_ms
        else None,
        picture=Picture(0, 1, (), ()),
        ledger=entries,
    )


def report(*devices: DeviceReport, problems: tuple[str, ...] = (), name: str = "a") -> Report:
    """A report whose findings are the ledgers of its devices."""
    findings = tuple(
        Finding(
            cause=entry.cause,
            title=entry.cause,
            device=one.key,
            blamed=Intervals.span(0, entry.ns),
            share=entry.ns / one.window_ns,
            per_step_ns=entry.ns / one.window.steps if one.window.steps else None,
            saves_at_most_ns=entry.ns,
            confidence=Confidence.SURE,
            evidence=(),
            advice="",
            caveat="",
        )
        for one in devices
        for entry in one.ledger
    )
    capture = CaptureSummary(
        f"{name}.sqlite", f"python {name}.py", "", "", "", "", {}, problems, ()
    )
    return Report("1", capture, Verdict(()), devices, findings)
