"""Reports judged each alone for people: outcome, first cause and path, a line a report."""

from __future__ import annotations

from rich.text import Text

from overlapcheck.quantities import count_of, percent
from overlapcheck.renderers._terminal_head import OUTCOME_STYLES
from overlapcheck.renderers._terminal_text import clip, clip_middle, styled, text_of, width_of
from overlapcheck.renderers.formats.page import columns
from overlapcheck.renderers.formats.terminal import TerminalFormat
from overlapcheck.separate import ERROR, SeparateReport, SeparateReports
from overlapcheck.verdict import Outcome

_OUTCOME = 13
_CAUSE = 28
_LEAST_PATH = 16


class SeparateTerminal(TerminalFormat):
    """See `SeparateRenderer`."""

    def render(self, found: SeparateReports, /) -> str:
        """See `SeparateRenderer.render`."""
        return self.printed(lambda: [_counts(found), *map(_line, found.reports)])


def _line(one: SeparateReport) -> Text:
    style = "bold red" if one.outcome == ERROR else OUTCOME_STYLES[Outcome(one.outcome)]
    most = columns() - _OUTCOME - 2 - _LEAST_PATH
    # Why there is no verdict may take the room of the path, a cause need not.
    said = clip(_cause(one), most if one.outcome == ERROR else _CAUSE)
    said += " " * max(0, _CAUSE - width_of(said))
    path = clip_middle(one.report, columns() - _OUTCOME - width_of(said) - 2)
    padding = " " * (_OUTCOME - width_of(one.outcome))
    return text_of(styled(one.outcome, style), padding, said, "  ", path)


def _cause(one: SeparateReport) -> str:
    if one.outcome == ERROR:
        return one.why
    return f"{one.first_cause} {percent(one.share)}" if one.first_cause else "-"


def _counts(found: SeparateReports) -> Text:
    outcomes = [one.outcome for one in found.reports]
    counts = [f"{outcomes.count(word)} {word}" for word in dict.fromkeys(outcomes)]
    return text_of(f"{count_of(len(outcomes), 'report')}: {', '.join(counts)}")


RENDERER = SeparateTerminal()
