"""What ranks share in the fleet report for people: causes, collectives, lost reports."""

from __future__ import annotations

from collections.abc import Sequence

from rich.text import Text

from overlapcheck.collective_speed import PER_RANK_KINDS, CollectiveSpeed
from overlapcheck.fleet import FleetCause, FleetReport, MeetingSummary
from overlapcheck.quantities import count_of, duration, size
from overlapcheck.renderers._terminal_text import BOLD, Cell, paragraph, styled, table, text_of
from overlapcheck.renderers.fleet._head_lines import LABEL
from overlapcheck.renderers.fleet._words import lost_text, missing_text, where, who_met
from overlapcheck.renderers.formats.page import most

MAX_CAUSES = 5
MAX_MEETINGS = 2
MAX_WAITS = 4
MAX_SPEEDS = 3
MAX_LOST = 6


def cause_lines(report: FleetReport) -> list[Text]:
    """Causes, with the ranks that they hold for."""
    lines: list[Text] = []
    for number, cause in enumerate(report.causes[: most(MAX_CAUSES)], start=1):
        lines += _cause(number, cause, len(report.rows))
    more = [cause.cause for cause in report.causes[most(MAX_CAUSES) :]]
    if more:
        lines += paragraph("smaller", ", ".join(more), hang=LABEL)
    return lines


def _cause(number: int, cause: FleetCause, ranks: int) -> list[Text]:
    lines = paragraph(styled(f"{number} {cause.cause}", BOLD), where(cause, ranks))
    for fact in cause.evidence[:3]:
        lines += paragraph("-", fact, indent=4)
    lines += paragraph("do", cause.advice, indent=4, hang=7)
    lines += paragraph("unless", cause.caveat, indent=4, hang=7)
    return lines


def meeting_lines(report: FleetReport) -> list[Text]:
    """Ranks that met in collectives: waiting and moving data."""
    lines: list[Text] = []
    for one in report.meetings[: most(MAX_MEETINGS)]:
        lines += [text_of(), *_meeting(one)] if lines else _meeting(one)
    more = report.meetings_total - min(most(MAX_MEETINGS), len(report.meetings))
    if more > 0:
        lines.append(text_of(f"  and {count_of(more, 'more group')} of ranks"))
    return lines


def _meeting(one: MeetingSummary) -> list[Text]:
    kinds = ", ".join(f"{count} {kind}" for kind, count in one.kinds.items())
    part = "" if one.complete else ", the first ones of the window"
    lines = paragraph(styled("collectives", BOLD), f"{kinds} in which {who_met(one)} met{part}")
    for speed in one.speeds[: most(MAX_SPEEDS)]:
        lines += paragraph("", _speed(speed), indent=4)
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
        for wait in one.waits[: most(MAX_WAITS)]
    ]
    lines += table(rows, "lrrrrr", flexible=(0,))
    if one.ranks > most(MAX_WAITS):
        lines.append(text_of(f"  and {count_of(one.ranks - most(MAX_WAITS), 'more rank')}"))
    return lines


def _speed(one: CollectiveSpeed) -> str:
    """Sizes and, from the last rank's start to the end, bandwidths."""
    least, most = size(one.least_bytes), size(one.most_bytes)
    sizes = least if least == most else f"{least} to {most}"
    each = " per rank" if one.kind in PER_RANK_KINDS else ""
    said = f"{one.count} {one.kind} of {sizes}{each}"
    if one.bus_gbs is not None:
        said += f": {one.bus_gbs:.1f} GB/s bus bandwidth (algorithm {one.algorithm_gbs:.1f})"
    if one.waits_included:
        said += ", waiting for ranks without a report included"
    return said


def lost_lines(report: FleetReport) -> list[Text]:
    """Ranks without a report, and reports without a result."""
    lines = []
    if (missing := report.missing) is not None:
        lines += paragraph(styled("missing", BOLD), missing_text(missing))
    for one in report.lost[: most(MAX_LOST)]:
        lines += paragraph(styled("lost", BOLD), lost_text(one))
    more = len(report.lost) - most(MAX_LOST)
    if more > 0:
        lines.append(text_of(f"  and {count_of(more, 'more report')}"))
    return lines
