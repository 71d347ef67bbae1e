"""The upper part of the page of many ranks: the answer, what was looked at, the checks."""

from __future__ import annotations

from collections.abc import Sequence

from overlapcheck.fleet import FleetCheck, FleetReport
from overlapcheck.quantities import percent, percent_beside
from overlapcheck.renderers._html_head import badge, definitions, meanings
from overlapcheck.renderers._html_markup import Child, Html, el, html, table
from overlapcheck.renderers._html_page import verdict
from overlapcheck.renderers.fleet._html_parts import NONE, rank_link, section
from overlapcheck.renderers.fleet._words import grounds
from overlapcheck.verdict import Outcome

MAX_GPUS = 4
_MARKS = {Outcome.PASS: "ok", Outcome.FAIL: "FAIL", Outcome.INCONCLUSIVE: "?"}


def verdict_block(report: FleetReport) -> Html:
    """The answer: outcome, what is behind it, exit code."""
    code = f"exit code {int(report.exit_code)}"
    return verdict(badge(report.outcome, large=True), "; ".join(grounds(report)), code)


def facts_block(report: FleetReport) -> Html:
    """Program, reports and versions; the variables that change how a program runs."""
    settings = report.settings
    judged = report.reports - len(report.lost)
    gpus = list(dict.fromkeys(row.gpu for row in report.rows if row.gpu))
    more = f" and {len(gpus) - MAX_GPUS} other kinds" if len(gpus) > MAX_GPUS else ""
    lost = el("a", f"{len(report.lost)} lost", href="#lost", cls="to") if report.lost else None
    missing = (
        el("a", f"{report.missing.count} missing", href="#lost", cls="to")
        if report.missing
        else None
    )
    pairs: list[tuple[str, Child]] = [
        ("program", settings.program),
        ("reports", html(f"{judged} of {report.reports}", lost)),
        ("ranks", html(str(len(report.rows)), missing)),
        ("hosts", str(report.hosts) if report.hosts > 1 else ""),
        ("GPU", ", ".join(gpus[:MAX_GPUS]) + more),
        ("nsys", settings.nsys_version or "unknown version"),
        ("driver", settings.driver_version),
        ("set", " ".join(f"{name}={value}" for name, value in settings.environment.items())),
    ]
    return definitions([(label, text) for label, text in pairs if text], cls="facts")


def notes_block(report: FleetReport) -> Html | None:
    """How ranks were told apart and compared."""
    if not report.notes:
        return None
    return el("ul", *(el("li", note) for note in report.notes), cls="remarks dim")


def checks_block(checks: Sequence[FleetCheck]) -> Html | None:
    """How many ranks failed each check, the median and the worst."""
    if not checks:
        return None
    head = (
        "check",
        "ranks",
        "failed",
        "unsure",
        "median",
        "worst",
        "limit",
        "result",
        "worst rank",
        "reason there",
    )
    rows = [_check(check) for check in checks]
    shown = table(head, rows, "lrrrrrrlln")
    return section("checks", "Checks", shown, meanings([check.name for check in checks]))


def _check(check: FleetCheck) -> tuple[Child, ...]:
    sign = "\u2265" if check.at_least else "\u2264"
    missed = check.limit if check.failed else None
    worst = percent_beside(check.worst, missed) if check.worst is not None else NONE
    return (
        el("b", check.name),
        str(check.ranks),
        str(check.failed),
        str(check.inconclusive),
        percent(check.median) if check.median is not None else NONE,
        worst,
        f"{sign} {percent(check.limit)}" if check.limit is not None else NONE,
        el("span", _mark(check), cls=f"mark {check.outcome.value.lower()}"),
        rank_link(check.worst_rank) or NONE,
        check.reason,
    )


def _mark(check: FleetCheck) -> str:
    return "n/a" if check.too_small else _MARKS[check.outcome]
