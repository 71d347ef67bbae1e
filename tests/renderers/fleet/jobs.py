"""Jobs of ranks that every format is tried on, made by hand: no trace is read."""

from __future__ import annotations

from dataclasses import fields, is_dataclass, replace
from enum import Enum
from typing import Any

from overlapcheck.collective_speed import CollectiveSpeed
from overlapcheck.finding import SourceLine
from overlapcheck.fleet import (
    FAILING_RANKS,
    FleetCause,
    FleetCheck,
    FleetReport,
    MeetingSummary,
    MissingRanks,
    Outlier,
    RankWait,
    Straggler,
)
from overlapcheck.pace import Pace
from overlapcheck.report_result import CollectiveSummary, LostReport, RankCause, RankRow, Settings
from overlapcheck.verdict import Check, Outcome
from tests.renderers.reports import MARKUP
from tests.renderers.test_terminal import HOSTILE

MS = 1_000_000
STEPS = 10
STEP_MS = 10
ALLOWED = 0.5
"""Share of the ranks that may fail, where some may."""
CAUSE = RankCause(
    cause="pageable-copy",
    title="copies go through pageable memory",
    blamed_ns=20 * MS,
    share=0.2,
    saves_at_most_ns=20.0 * MS,
    evidence=("10 x h2d of 64.0 MiB from pageable memory", "each waits 2.0 ms"),
    advice="pin the source",
    caveat="the buffer is used once",
    source=(SourceLine("/repo/train.py", 104, "prefetch"), SourceLine("/usr/lib/x.py", 0, "wait")),
)
SMALL = replace(CAUSE, cause="exposed-collective", share=0.03, blamed_ns=3 * MS, source=())


def a_check(name: str, outcome: Outcome, measured: float | None, reason: str) -> Check:
    limits: dict[str, tuple[float, bool]] = {
        "overlap h2d": (0.8, True),
        "recoverable": (0.1, False),
    }
    limit, at_least = limits.get(name, (None, False))
    settle = "record it again" if outcome is Outcome.INCONCLUSIVE else ""
    return Check(name, None, outcome, measured, limit, reason, at_least, settle)


def a_rank(number: int, *, fails: bool = False, unsure: bool = False) -> RankRow:
    capture = (Outcome.INCONCLUSIVE, "buffers were lost") if unsure else (Outcome.PASS, "complete")
    judged = Outcome.FAIL if fails else Outcome.PASS
    idle = {"pageable-copy": 20 * MS, "exposed-collective": 3 * MS} if fails else {}
    idle |= {"launch-latency": MS}
    return RankRow(
        report=f"rank_{number}.sqlite",
        pid=100 + number,
        device=number % 8,
        gpu="NVIDIA H200",
        outcome=judged if fails else capture[0],
        checks=(
            a_check("capture", capture[0], None, capture[1]),
            a_check("overlap h2d", judged, 0.31 if fails else 0.97, "ceiling 100.0 %"),
            a_check("recoverable", judged, 0.21 if fails else 0.02, "2.0 ms of 100.0 ms"),
        ),
        window_ns=STEPS * STEP_MS * MS,
        steps=STEPS,
        step_median_ns=STEP_MS * MS + 0.5,
        compute_ns=STEPS * STEP_MS * MS - sum(idle.values()),
        idle_ns=sum(idle.values()),
        communication_ns=20 * MS,
        communication_exposed_ns=3 * MS if fails else 0,
        recoverable=0.21 if fails else 0.02,
        overlap={"h2d": 0.31 if fails else 0.97},
        ledger=idle,
        causes=(CAUSE, SMALL) if fails else (),
        collectives=(
            CollectiveSummary("all-reduce", 20, 40, 20 * MS, 3 * MS, MS, on_compute_stream=False),
        ),
        label=str(number),
        report_number=number,
        pace=Pace(STEP_MS * MS),
    )


def a_job(*rows: RankRow, allowed: float | None = None, **more: Any) -> FleetReport:
    """The ranks as one answer; the worst rank's, unless a share of them may fail."""
    outcomes = [row.outcome for row in rows]
    failed = outcomes.count(Outcome.FAIL)
    outcome = min(outcomes, key=[Outcome.FAIL, Outcome.INCONCLUSIVE, Outcome.PASS].index)
    checks = [_over_all(name, rows) for name in ("capture", "overlap h2d", "recoverable")]
    if allowed is not None:
        outcome = Outcome.FAIL if failed > allowed * len(rows) else Outcome.PASS
        said = f"{failed} of {len(rows)} failed"
        share = failed / len(rows)
        checks.append(
            FleetCheck(
                FAILING_RANKS, outcome, len(rows), failed, 0, allowed, False, None, share, "", said
            )
        )
    facts: dict[str, Any] = {
        "tool_version": "0.1.0",
        "outcome": outcome,
        "reports": len(rows),
        "settings": Settings("python train.py", "2025.3.2", "580.1", {}),
        "rows": rows,
        "lost": (),
        "notes": ("ranks by report names",),
        "checks": tuple(checks),
        "stragglers": (),
        "stragglers_total": 0,
        "outliers": (),
        "outliers_total": 0,
        "causes": tuple(_merged(rows)),
        "meetings": (),
        "meetings_total": 0,
    }
    return FleetReport(**facts | more)


def _over_all(name: str, rows: tuple[RankRow, ...]) -> FleetCheck:
    found = [(row.label, check) for row in rows for check in row.checks if check.name == name]
    order = [Outcome.FAIL, Outcome.INCONCLUSIVE, Outcome.PASS]
    rank, worst = min(found, key=lambda one: order.index(one[1].outcome))
    outcomes = [check.outcome for _, check in found]
    return FleetCheck(
        name=name,
        outcome=worst.outcome,
        ranks=len(found),
        failed=outcomes.count(Outcome.FAIL),
        inconclusive=outcomes.count(Outcome.INCONCLUSIVE),
        limit=worst.limit,
        at_least=worst.at_least,
        median=found[0][1].measured,
        worst=worst.measured,
        worst_rank=rank,
        reason=worst.reason,
    )


def _merged(rows: tuple[RankRow, ...]) -> list[FleetCause]:
    found = []
    for one in (CAUSE, SMALL):
        labels = tuple(row.label for row in rows if one in row.causes)
        if labels:
            found.append(
                FleetCause(
                    cause=one.cause,
                    title=one.title,
                    ranks=len(labels),
                    labels=labels[:16],
                    median_share=0.0,
                    worst_share=one.share,
                    worst_rank=labels[0],
                    outlier_ranks=labels[:1] if one is CAUSE and len(rows) > 3 else (),
                    evidence=one.evidence,
                    advice=one.advice,
                    caveat=one.caveat,
                    source=one.source,
                )
            )
    return found


def met(*labels: str) -> MeetingSummary:
    waits = tuple(
        RankWait(label, 6 * MS * (n > 0), 13 * MS, 2 * MS * (n > 0), 4 * MS, 40 * (n == 0))
        for n, label in enumerate(labels[:16])
    )
    speed = CollectiveSpeed(
        kind="all-reduce", communicator="0x00000000000000aa", count=40, bytes=40 << 20,
        least_bytes=1 << 20, most_bytes=1 << 20, time_ns=13 * MS, waits_included=False,
        ranks=len(labels), algorithm_gbs=123.4, bus_gbs=215.9,
    )  # fmt: skip
    return MeetingSummary(
        labels[:16], len(labels), {"all-reduce": 40}, 40, 9000, True, waits, speeds=(speed,)
    )


def failing(ranks: int = 8, *, fails: tuple[int, ...] = (6,), **more: Any) -> FleetReport:
    """One rank that the others wait for, one with a cause of its own."""
    rows = tuple(a_rank(n, fails=n in fails) for n in range(ranks))
    straggler = Straggler("2", ranks, 40, 40, 6 * MS, 2 * MS, 0.06, {"compute": 5 * MS})
    outlier = Outlier("6", "idle: pageable-copy", 0.2, 0.0, 999.0, 0.2, "share")
    facts: dict[str, Any] = {
        "stragglers": (straggler,),
        "stragglers_total": 1,
        "outliers": (outlier, replace(outlier, measure="step time", value=2e7, unit="ns")),
        "outliers_total": 2,
        "meetings": (met(*(row.label for row in rows)),),
        "meetings_total": 1,
        "crossed": ("the order differs: rank 1 began the all-reduce of stream 20 before the rest",),
    }
    return a_job(*rows, **facts | more)


LOST = (
    LostReport("rank_1.sqlite", "the file is empty", "record it again"),
    LostReport("rank_9.qdstrm", "never imported", ""),
)
MISSING = MissingRanks(2, ("3", "5"), "there is a rank 7", "give all reports, or --expect-ranks 6")


def incomplete(outcome: Outcome = Outcome.INCONCLUSIVE) -> FleetReport:
    """Ranks that pass, beside some that are not there."""
    rows = tuple(a_rank(n) for n in (0, 2, 4, 6, 7))
    return a_job(*rows, reports=7, lost=LOST, missing=MISSING, outcome=outcome)


def many(ranks: int = 300) -> FleetReport:
    """As many ranks as large jobs have; a tenth fail and a tenth cannot be judged."""
    rows = tuple(a_rank(n, fails=n % 10 == 3, unsure=n % 10 == 7) for n in range(ranks))
    meetings = tuple(met(*(str(n) for n in range(first, first + 8))) for first in range(0, 400, 8))
    straggler = Straggler("2", 8, 40, 40, 6 * MS, 2 * MS, 0.06, {"compute": 5 * MS})
    outlier = Outlier("3", "idle: pageable-copy", 0.2, 0.0, 12.0, 0.2, "share")
    return a_job(
        *rows,
        reports=ranks + 90,
        lost=LOST * 45,
        missing=replace(MISSING, count=40),
        stragglers=(straggler,) * 50,
        stragglers_total=70,
        outliers=(outlier,) * 200,
        outliers_total=230,
        meetings=meetings,
        meetings_total=60,
    )


def hostile(text: str) -> FleetReport:
    """A job in which every text is this one, or ends in it."""
    job = replace(failing(), lost=LOST, missing=MISSING, reports=10)
    renamed: FleetReport = _renamed(job, text)
    return renamed


def _renamed(value: Any, name: str) -> Any:
    if isinstance(value, str) and not isinstance(value, Enum):
        return name
    if type(value) is tuple:
        return tuple(_renamed(item, name) for item in value)
    if isinstance(value, dict):
        return dict(zip([name], value.values(), strict=False))
    if is_dataclass(value) and not isinstance(value, type):
        new = {field.name: _renamed(getattr(value, field.name), name) for field in fields(value)}
        new.pop("tool_version", None)
        # What tells things apart still does.
        for key, kinds in (
            ("label", RankRow),
            ("name", (Check, FleetCheck)),
            ("cause", (RankCause, FleetCause)),
        ):
            if isinstance(value, kinds):
                new[key] = f"{getattr(value, key)}{name}"
        if isinstance(value, Outlier):
            new["unit"] = value.unit
        return replace(value, **new)
    return value


JOBS: dict[str, FleetReport] = {
    "pass": a_job(*map(a_rank, range(4)), meetings=(met("0", "1", "2", "3"),), meetings_total=1),
    "fail": failing(),
    "unsure": a_job(a_rank(0), a_rank(1, unsure=True)),
    "incomplete": incomplete(),
    "fail_allowed": failing(allowed=ALLOWED),
    "lost_allowed": incomplete(Outcome.PASS),
    "one_of_many_processes": a_job(
        replace(a_rank(0), label="0.0"), replace(a_rank(1, fails=True), label="0.1", gpu="")
    ),
    "hostile": hostile(MARKUP),
}
NOTHING = replace(a_job(a_rank(0)), rows=(), checks=(), outcome=Outcome.INCONCLUSIVE)
EVERY = [
    *JOBS.values(),
    *map(hostile, HOSTILE),
    hostile("\udcff\x00\x0b\ufffe\uffff\U0001f600"),
    replace(JOBS["unsure"], rows=(replace(a_rank(0), checks=(), outcome=Outcome.INCONCLUSIVE),)),
    NOTHING,
    many(),
]
