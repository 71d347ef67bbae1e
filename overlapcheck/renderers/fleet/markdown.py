"""Many ranks as Markdown, for a comment on a change or a job's summary."""

from __future__ import annotations

from collections.abc import Iterator

from overlapcheck.fleet import FleetCause, FleetCheck, FleetReport, MeetingSummary
from overlapcheck.quantities import count_of, duration, percent
from overlapcheck.renderers._markdown_text import (
    MARKER,
    OUTCOME_MARKS,
    bounded,
    details,
    inline,
    table,
)
from overlapcheck.renderers._plain_text import MAX_EVIDENCE, MAX_FINDINGS, MAX_SOURCE, place_text
from overlapcheck.renderers.fleet import _words as words
from overlapcheck.report_result import RankRow
from overlapcheck.verdict import SEVERITY, Outcome

MAX_CHECKS = 40
MAX_REASON = 240
MAX_RANKS = 16
MAX_LOST = 10
MAX_STRAGGLERS = 4
MAX_OUTLIERS = 20
MAX_MEETINGS = 4
MAX_WAITS = 8


class FleetMarkdown:
    """See `FleetRenderer`."""

    name = "markdown"
    suffix = ".md"

    def render(self, report: FleetReport, /) -> str:
        """See `FleetRenderer.render`."""
        return bounded(_blocks(report), _foot(report))


def _blocks(report: FleetReport) -> Iterator[str]:
    outcome = report.outcome
    yield (
        f"{MARKER}\n### {OUTCOME_MARKS[outcome]} overlapcheck: {outcome.value}\n\n"
        f"{inline('; '.join(words.grounds(report)))}\n"
    )
    yield _checks(report)
    yield _without(report)
    yield _stragglers(report)
    yield from _causes(report)
    yield _ranks(report)
    yield _outliers(report)
    yield _collectives(report)
    if report.notes:
        notes = "".join(f"- {inline(note)}\n" for note in report.notes)
        yield details("How ranks were told apart and compared", notes)


def _checks(report: FleetReport) -> str:
    if not report.checks:
        return ""
    checks = sorted(report.checks, key=lambda check: SEVERITY.index(check.outcome))
    rows = [_check(check) for check in checks[:MAX_CHECKS]]
    numbers = ["ranks", "failed", "not judged", "median", "worst", "limit"]
    head = ["check", *numbers, "worst rank", "result", "why"]
    text = table(head, rows, right=set(numbers))
    left = len(checks) - len(rows)
    return f"{text}\nand {count_of(left, 'more check')}\n" if left else text


def _check(check: FleetCheck) -> list[str]:
    passed = check.outcome is Outcome.PASS
    sign = "≥" if check.at_least else "≤"
    return [
        inline(check.name, 80),
        str(check.ranks),
        str(check.failed),
        str(check.inconclusive),
        percent(check.median),
        words.measured(check),
        inline(f"{sign}{words.limit(check)[2:]}") if check.limit is not None else "",
        inline(check.worst_rank, 80) if check.worst is not None or not passed else "",
        f"{OUTCOME_MARKS[check.outcome]} {check.outcome.value}",
        inline(check.reason, MAX_REASON) if not passed or check.too_small else "",
    ]


def _without(report: FleetReport) -> str:
    """Ranks without a report, and reports without a result."""
    lines = []
    if report.missing:
        lines.append(f"- **missing** {inline(words.missing_text(report.missing))}")
    lines += [f"- **lost** {inline(words.lost_text(one))}" for one in report.lost[:MAX_LOST]]
    left = len(report.lost) - MAX_LOST
    lines += [f"- and {count_of(left, 'more report')}"] if left > 0 else []
    return "".join(f"{line}\n" for line in lines)


def _stragglers(report: FleetReport) -> str:
    lines = []
    for one in report.stragglers[:MAX_STRAGGLERS]:
        lines.append(f"- **rank {inline(one.rank, 80)}** {inline(words.straggler_text(one))}")
        if one.meanwhile:
            lines[-1] += f"; {inline(words.meanwhile_text(one))}"
    left = report.stragglers_total - len(lines)
    lines += [f"- and {count_of(left, 'more straggler')}"] if left > 0 else []
    lines += [f"- **collective order** {inline(text)}" for text in report.crossed]
    return "".join(f"{line}\n" for line in lines)


def _causes(report: FleetReport) -> Iterator[str]:
    shown = report.causes[:MAX_FINDINGS]
    told = [_cause(rank, one, len(report.rows)) for rank, one in enumerate(shown, 1)]
    if more := [inline(one.cause, 80) for one in report.causes[MAX_FINDINGS:]]:
        told.append(f"smaller: {', '.join(more)}\n")
    if told and report.outcome is Outcome.PASS:
        yield details("What still costs time", "\n".join(told))
    else:
        yield from told


def _cause(rank: int, cause: FleetCause, ranks: int) -> str:
    lines = [
        f"**{rank}. {inline(cause.cause, 80)}**: {inline(cause.title)}",
        "",
        f"- {inline(words.where(cause, ranks))}",
        *(f"- {inline(fact)}" for fact in cause.evidence[:MAX_EVIDENCE]),
    ]
    if cause.source:
        places = ", ".join(inline(place_text(place)) for place in cause.source[:MAX_SOURCE])
        lines.append(f"- **at** {places}")
    if cause.advice:
        lines.append(f"- **do** {inline(cause.advice)}")
    if cause.caveat:
        lines.append(f"- **unless** {inline(cause.caveat)}")
    return "\n".join(lines) + "\n"


def _ranks(report: FleetReport) -> str:
    rows = words.telling_rows(report, MAX_RANKS)
    if not rows:
        return ""
    numbers = ["step", "compute", "idle", "collectives", "exposed", "recoverable"]
    text = table(["rank", "result", *numbers, "first cause"], [_rank(row) for row in rows], numbers)
    left = len(report.rows) - len(rows)
    return f"{text}\nand {count_of(left, 'more rank')}\n" if left else text


def _rank(row: RankRow) -> list[str]:
    window = max(row.window_ns, 1)
    shares = (row.compute_ns, row.idle_ns, row.communication_ns, row.communication_exposed_ns)
    return [
        inline(row.label, 80),
        f"{OUTCOME_MARKS[row.outcome]} {row.outcome.value}",
        duration(row.step_median_ns) if row.step_median_ns is not None else "-",
        *(percent(ns / window) for ns in shares),
        percent(row.recoverable),
        inline(row.causes[0].cause, 80) if row.causes else "-",
    ]


def _outliers(report: FleetReport) -> str:
    if not report.outliers:
        return ""
    rows = [
        [
            inline(one.measure, 80),
            inline(one.rank, 80),
            words.in_unit(one, one.value),
            words.in_unit(one, one.median),
            words.deviations(one).replace(">=", "≥"),
        ]
        for one in report.outliers[:MAX_OUTLIERS]
    ]
    numbers = ["here", "median", "deviations"]
    text = table(["measure", "rank", *numbers], rows, numbers)
    left = report.outliers_total - len(rows)
    return details("Ranks unlike the others", text + (f"\nand {left} more\n" if left > 0 else ""))


def _collectives(report: FleetReport) -> str:
    if not report.meetings:
        return ""
    told = [_meeting(one) for one in report.meetings[:MAX_MEETINGS]]
    left = report.meetings_total - len(told)
    told += [f"and {count_of(left, 'more group')} of ranks\n"] if left > 0 else []
    return details("Collectives", "\n".join(told))


def _meeting(one: MeetingSummary) -> str:
    kinds = ", ".join(f"{count} {kind}" for kind, count in one.kinds.items())
    part = "" if one.complete else ", the first ones of the window"
    rows = [
        [
            inline(wait.rank, 80),
            duration(wait.waiting_ns),
            duration(wait.exposed_waiting_ns),
            duration(wait.transfer_ns),
            duration(wait.exposed_transfer_ns),
            f"{wait.came_last} of {one.occasions}",
        ]
        for wait in one.waits[:MAX_WAITS]
    ]
    numbers = ["waits", "without compute", "moves data", "without compute", "comes last"]
    text = f"{inline(f'{kinds} in which {words.who_met(one)} met{part}')}:\n\n"
    text += table(["rank", *numbers], rows, numbers)
    left = one.ranks - len(rows)
    return text + (f"\nand {count_of(left, 'more rank')}\n" if left > 0 else "")


def _foot(report: FleetReport) -> str:
    settings = report.settings
    facts = [
        inline(settings.program, 200),
        count_of(report.reports, "report"),
        f"nsys {inline(settings.nsys_version, 40)}" if settings.nsys_version else "",
        f"overlapcheck {inline(report.tool_version, 40)}",
    ]
    return f"<sub>{' · '.join(fact for fact in facts if fact)}</sub>\n"


RENDERER = FleetMarkdown()
