"""The fleet report for people: 80 columns, as long for four thousand ranks as for forty."""

from __future__ import annotations

from collections.abc import Sequence

from rich.text import Text

from overlapcheck.fleet import (
    FleetCause,
    FleetCheck,
    FleetReport,
    MeetingSummary,
    Outlier,
    RankRow,
    Straggler,
)
from overlapcheck.quantities import count_of, duration, percent
from overlapcheck.renderers._terminal_head import OUTCOME_STYLES
from overlapcheck.renderers._terminal_text import (
    BOLD,
    WIDTH,
    Cell,
    clip,
    paragraph,
    styled,
    table,
    text_of,
    width_of,
)
from overlapcheck.verdict import Outcome

MAX_RANKS = 16
"""Rows of the table; of more ranks only the worst are shown."""
MAX_STRAGGLERS = 4
MAX_OUTLIERS = 12
MAX_CAUSES = 5
MAX_MEETINGS = 2
MAX_WAITS = 4
MAX_LOST = 6
MAX_LABELS = 8
_LABEL = 9
_SEVERITY = (Outcome.FAIL, Outcome.INCONCLUSIVE, Outcome.PASS)
_MARKS = {Outcome.PASS: "ok", Outcome.FAIL: "FAIL", Outcome.INCONCLUSIVE: "?"}


def fleet_lines(report: FleetReport) -> list[Text]:
    """All lines, none wider than the page."""
    blocks = [
        [_verdict(report)],
        _looked_at(report),
        _checks(report.checks),
        _stragglers(report),
        _outliers(report),
        _causes(report),
        _ranks(report),
        _meetings(report),
        _lost(report),
        [_verdict(report)],
    ]
    lines: list[Text] = []
    for block in filter(None, blocks):
        lines += [text_of(), *block] if lines else block
    for line in lines:
        line.rstrip()
        if width_of(line) > WIDTH:
            line.truncate(WIDTH, overflow="ellipsis")
    return lines


def fleet_text(report: FleetReport) -> str:
    """The same as plain text."""
    return "".join(line.plain + "\n" for line in fleet_lines(report))


def _verdict(report: FleetReport) -> Text:
    mark = styled(report.outcome.value, OUTCOME_STYLES[report.outcome])
    return text_of(mark, "  ", clip("; ".join(_behind(report)), WIDTH - width_of(mark) - 2))


def _behind(report: FleetReport) -> list[str]:
    """What the verdict rests on, the most telling first."""
    ranks = len(report.rows)
    failed = [row.label for row in report.rows if row.outcome is Outcome.FAIL]
    unsure = sum(row.outcome is Outcome.INCONCLUSIVE for row in report.rows)
    said = []
    if failed:
        which = f" ({_named(failed)})" if len(failed) <= 3 and len(failed) < ranks else ""
        said.append(f"{len(failed)} of {count_of(ranks, 'rank')} failed{which}")
    if report.stragglers:
        said.append(f"waiting for rank {report.stragglers[0].rank}")
    own = next((one for one in report.causes if one.outlier_ranks), None)
    if own is not None:
        most = "only" if own.ranks == len(own.outlier_ranks) else "most"
        said.append(f"{own.cause} {most} on {_named(own.outlier_ranks)}")
    elif failed and report.causes:
        said.append(f"first cause: {report.causes[0].cause}")
    if unsure:
        said.append(f"{count_of(unsure, 'rank')} cannot be judged")
    if report.lost:
        said.append(f"{count_of(len(report.lost), 'report')} lost")
    if report.outcome is Outcome.PASS:
        said.insert(0, f"all {count_of(ranks, 'rank')} passed")
    return said or ["nothing was recorded"]


def _named(labels: Sequence[str]) -> str:
    shown = ", ".join(labels[:MAX_LABELS])
    more = f" and {len(labels) - MAX_LABELS} more" if len(labels) > MAX_LABELS else ""
    return f"rank{'s' if len(labels) > 1 else ''} {shown}{more}"


def _looked_at(report: FleetReport) -> list[Text]:
    settings = report.settings
    judged = report.reports - len(report.lost)
    read = f"{judged} of {count_of(report.reports, 'report')}, {count_of(len(report.rows), 'rank')}"
    gpus = dict.fromkeys(row.gpu for row in report.rows if row.gpu)
    versions = [f"nsys {settings.nsys_version}"] if settings.nsys_version else []
    lines = [_fact("program", settings.program)] if settings.program else []
    lines.append(_fact("reports", ", ".join([read, *list(gpus)[:2], *versions])))
    for note in report.notes:
        lines += paragraph("", note, indent=2 + _LABEL - 1)
    return lines


def _fact(label: str, text: str) -> Text:
    return text_of("  ", f"{label:<{_LABEL}}", clip(text, WIDTH - 2 - _LABEL))


def _checks(checks: Sequence[FleetCheck]) -> list[Text]:
    rows: list[Sequence[Cell]] = [
        ["check", "ranks", "failed", "unsure", "median", "worst", "limit", "worst rank"]
    ]
    for check in checks:
        outcome = (
            Outcome.FAIL
            if check.failed
            else Outcome.INCONCLUSIVE
            if check.inconclusive
            else Outcome.PASS
        )
        sign = ">=" if check.at_least else "<="
        rows.append(
            [
                styled(check.name, OUTCOME_STYLES[outcome] if check.failed else ""),
                str(check.ranks),
                str(check.failed),
                str(check.inconclusive),
                percent(check.median),
                percent(check.worst),
                f"{sign} {percent(check.limit)}" if check.limit is not None else "",
                check.worst_rank if check.worst is not None else "",
            ]
        )
    return table(rows, "lrrrrrrl", flexible=(0, 7))


def _stragglers(report: FleetReport) -> list[Text]:
    lines = []
    for one in report.stragglers[:MAX_STRAGGLERS]:
        lines += _straggler(one)
    more = report.stragglers_total - MAX_STRAGGLERS
    if more > 0:
        lines.append(text_of(f"  and {count_of(more, 'more straggler')}"))
    return [text_of("  ", styled("stragglers", BOLD)), *lines] if lines else []


def _straggler(one: Straggler) -> list[Text]:
    others = "the other rank" if one.ranks == 2 else f"the median of {one.ranks - 1} other ranks"
    said = (
        f"comes last in {one.came_last} of {one.occasions} collectives: {others} waits"
        f" {duration(one.cost_ns)} for it ({percent(one.share)} of the time),"
        f" {duration(one.exposed_cost_ns)} of that without compute"
    )
    lines = paragraph(styled(f"rank {one.rank}", BOLD), said)
    if one.meanwhile:
        spent = ", ".join(f"{what} {duration(ns)}" for what, ns in one.meanwhile.items())
        lines += paragraph("", f"meanwhile it spent more than the others on: {spent}", indent=4)
    return lines


def _outliers(report: FleetReport) -> list[Text]:
    if not report.outliers:
        return []
    rows: list[Sequence[Cell]] = [["unlike the others", "rank", "here", "median", "deviations"]]
    for one in report.outliers[:MAX_OUTLIERS]:
        shown = f"{one.deviations:.0f}" if one.deviations < 100 else ">= 100"
        rows.append([one.measure, one.rank, _value(one, one.value), _value(one, one.median), shown])
    lines = table(rows, "llrrr", flexible=(0, 1))
    more = report.outliers_total - MAX_OUTLIERS
    if more > 0:
        lines.append(text_of(f"  and {more} more"))
    return lines


def _value(one: Outlier, value: float) -> str:
    return percent(value) if one.unit == "share" else duration(value)


def _causes(report: FleetReport) -> list[Text]:
    lines: list[Text] = []
    for number, cause in enumerate(report.causes[:MAX_CAUSES], start=1):
        lines += _cause(number, cause, len(report.rows))
    more = [cause.cause for cause in report.causes[MAX_CAUSES:]]
    if more:
        lines += paragraph("smaller", ", ".join(more), hang=_LABEL)
    return lines


def _cause(number: int, cause: FleetCause, ranks: int) -> list[Text]:
    where = _named(cause.outlier_ranks or cause.labels)
    held = f"on all {ranks} ranks" if cause.ranks == ranks else f"on {cause.ranks} of {ranks} ranks"
    if cause.outlier_ranks:
        held = f"{held}, far more on {where}"
    elif cause.ranks < ranks:
        held = f"{held}: {where}"
    worst = f"median {percent(cause.median_share)}, worst {percent(cause.worst_share)}"
    lines = paragraph(
        styled(f"{number} {cause.cause}", BOLD), f"{held}; {worst} (rank {cause.worst_rank})"
    )
    for fact in cause.evidence[:3]:
        lines += paragraph("-", fact, indent=4)
    lines += paragraph("do", cause.advice, indent=4, hang=7)
    lines += paragraph("unless", cause.caveat, indent=4, hang=7)
    return lines


def _ranks(report: FleetReport) -> list[Text]:
    rows = list(enumerate(report.rows))
    shown = rows
    if len(rows) > MAX_RANKS:
        named = {one.rank for one in report.stragglers}
        named |= {one.rank for one in report.outliers}
        rows.sort(key=lambda one: (_badness(one[1]), one[1].label not in named, one[0]))
        shown = rows[:MAX_RANKS]
    collectives = any(row.communication_ns for _, row in shown)
    head: list[Cell] = ["rank", "", "step", "compute", "idle"]
    head += ["collect.", "exposed"] if collectives else []
    body = [_rank(row, collectives) for _, row in shown]
    lines = table(
        [[*head, "recov.", "first cause"], *body],
        "llrrr" + ("rr" if collectives else "") + "rl",
        flexible=(0, len(head) + 1),
    )
    if len(rows) > len(shown):
        left = len(rows) - len(shown)
        lines.append(text_of(f"  and {count_of(left, 'more rank')}, all of them in -o FILE.json"))
    return lines


def _badness(row: RankRow) -> int:
    return _SEVERITY.index(row.outcome)


def _rank(row: RankRow, collectives: bool) -> list[Cell]:
    window = max(row.window_ns, 1)
    cells: list[Cell] = [
        row.label,
        styled(_MARKS[row.outcome], OUTCOME_STYLES[row.outcome]),
        duration(row.step_median_ns) if row.step_median_ns is not None else "-",
        percent(row.compute_ns / window),
        percent(row.idle_ns / window),
    ]
    if collectives:
        cells += [
            percent(row.communication_ns / window),
            percent(row.communication_exposed_ns / window),
        ]
    return [*cells, percent(row.recoverable), row.causes[0].cause if row.causes else "-"]


def _meetings(report: FleetReport) -> list[Text]:
    lines: list[Text] = []
    for one in report.meetings[:MAX_MEETINGS]:
        lines += [text_of(), *_meeting(one)] if lines else _meeting(one)
    more = report.meetings_total - min(MAX_MEETINGS, len(report.meetings))
    if more > 0:
        lines.append(text_of(f"  and {count_of(more, 'more group')} of ranks"))
    return lines


def _meeting(one: MeetingSummary) -> list[Text]:
    kinds = ", ".join(f"{count} {kind}" for kind, count in one.kinds.items())
    part = "" if one.complete else ", the first ones of the window"
    lines = paragraph(
        styled("collectives", BOLD), f"{kinds} in which {_meeting_ranks(one)} met{part}"
    )
    rows: list[Sequence[Cell]] = [
        ["rank", "waits", "exposed", "moves data", "exposed", "comes last"]
    ]
    rows += [
        [
            wait.rank,
            duration(wait.waiting_ns),
            duration(wait.exposed_waiting_ns),
            duration(wait.transfer_ns),
            duration(wait.exposed_transfer_ns),
            f"{wait.came_last} of {one.occasions}",
        ]
        for wait in one.waits[:MAX_WAITS]
    ]
    lines += table(rows, "lrrrrr", flexible=(0,))
    if one.ranks > MAX_WAITS:
        lines.append(text_of(f"  and {count_of(one.ranks - MAX_WAITS, 'more rank')}"))
    return lines


def _meeting_ranks(one: MeetingSummary) -> str:
    if one.ranks <= MAX_LABELS:
        return _named(one.labels)
    return f"{one.ranks} ranks ({', '.join(one.labels[:3])} ...)"


def _lost(report: FleetReport) -> list[Text]:
    lines = []
    for one in report.lost[:MAX_LOST]:
        why = f"{one.report}: {one.why}"
        lines += paragraph(styled("lost", BOLD), f"{why}; {one.hint}" if one.hint else why)
    more = len(report.lost) - MAX_LOST
    if more > 0:
        lines.append(text_of(f"  and {count_of(more, 'more report')}"))
    return lines
