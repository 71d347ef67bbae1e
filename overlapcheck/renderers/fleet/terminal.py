"""The fleet report for people: 80 columns, as long for four thousand ranks as for forty."""

from __future__ import annotations

from rich.text import Text

from overlapcheck.fleet import FleetReport
from overlapcheck.renderers._terminal_text import text_of
from overlapcheck.renderers.fleet._head_lines import check_lines, looked_at, verdict_line
from overlapcheck.renderers.fleet._rank_lines import outlier_lines, rank_lines, straggler_lines
from overlapcheck.renderers.fleet._shared_lines import cause_lines, lost_lines, meeting_lines
from overlapcheck.renderers.formats.terminal import TerminalFormat


class FleetTerminal(TerminalFormat):
    """See `FleetRenderer`."""

    def render(self, report: FleetReport, /) -> str:
        """See `FleetRenderer.render`."""
        return self.printed(lambda: _lines(report))


def _lines(report: FleetReport) -> list[Text]:
    blocks = [
        [verdict_line(report)],
        looked_at(report),
        check_lines(report.checks),
        straggler_lines(report),
        outlier_lines(report),
        cause_lines(report),
        rank_lines(report),
        meeting_lines(report),
        lost_lines(report),
        [verdict_line(report)],
    ]
    lines: list[Text] = []
    for block in filter(None, blocks):
        lines += [text_of(), *block] if lines else block
    return lines


RENDERER = FleetTerminal()
