"""What repairs would win, for people: a table, the answer first."""

from __future__ import annotations

from rich.text import Text

from overlapcheck.forecast import ASSUMED
from overlapcheck.predicted import WhatIf
from overlapcheck.prediction import Prediction
from overlapcheck.quantities import count_of, duration, percent
from overlapcheck.renderers._terminal_text import (
    BOLD,
    DIM,
    INDENT,
    Cell,
    paragraph,
    styled,
    table,
    text_of,
    wrap,
)
from overlapcheck.renderers.formats.page import columns
from overlapcheck.renderers.formats.terminal import TerminalFormat

_LABEL = 9
"""Columns of "program  ", as in the report."""
_HANG = 7
"""Columns of "then   "."""


class WhatIfTerminal(TerminalFormat):
    """See `WhatIfRenderer`."""

    def render(self, found: WhatIf, /) -> str:
        """See `WhatIfRenderer.render`."""
        return self.printed(lambda: _lines(found))


def _lines(found: WhatIf) -> list[Text]:
    blocks = [_headline(found), _about(found)]
    if found.repairs:
        blocks += [_overview(found), *map(_repair, found.repairs)]
    if found.forecast.wins_nothing and not found.asked:
        blocks.append(paragraph("win nothing:", ", ".join(found.forecast.wins_nothing)))
    if found.checked:
        blocks.append(_checked(found))
    blocks.append([line for said in ASSUMED for line in paragraph(styled("-", DIM), said)])
    blocks[-1].insert(0, text_of(" " * INDENT, styled("assumed", BOLD)))
    lines: list[Text] = []
    for block in blocks:
        lines += [text_of(), *block] if lines else block
    return lines


def _headline(found: WhatIf) -> list[Text]:
    best = found.told
    if best is None or not best.is_worth_while:
        what = _names(best) if best else "no repair of a cause that was found"
        said = f"{what} wins 2 % of the {duration(found.forecast.before_ns)} step or more"
        if best:
            said = f"{what} is predicted to win less than 2 % of the step"
        return paragraph(styled("NOTHING", "bold"), said, indent=0)
    said = (
        f"of {duration(best.before_ns)} per step by repairing {_names(best)}:"
        f" {duration(best.step_ns)} ({best.band_text})"
    )
    return paragraph(styled(f"WINS {duration(best.win_ns)}", "bold green"), said, indent=0)


def _names(found: Prediction) -> str:
    return " + ".join(found.fix)


def _about(found: WhatIf) -> list[Text]:
    forecast = found.forecast
    replayed = count_of(forecast.steps, "steady step")
    if forecast.steps < forecast.recorded_steps:
        replayed = f"the last {forecast.steps} of {forecast.recorded_steps} steady steps"
    basis = "at the program's own pace" if forecast.at_own_pace else "as recorded"
    device = f"{forecast.device.device_id}, {found.gpu}".rstrip(", ")
    sort = "mean" if forecast.by_mean else "median"
    said = f"{replayed} replayed, {sort} {duration(forecast.before_ns)} {basis}"
    lines = []
    if found.program:
        program = wrap(found.program, columns() - INDENT - _LABEL)[0]
        lines += paragraph(styled("program", DIM), program, hang=_LABEL)
    if found.others:
        device += f"; {count_of(len(found.others), 'other device')} not looked at: --device"
    lines += paragraph(styled("device", DIM), device, hang=_LABEL)
    return [*lines, *paragraph(styled("steps", DIM), said, hang=_LABEL)]


def _overview(found: WhatIf) -> list[Text]:
    head: tuple[Cell, ...] = ("repair", "step", "win", "", "band")
    rows = [head]
    for one in found.repairs:
        share = percent(one.win_ns / max(one.before_ns, 1))
        win = styled(duration(one.win_ns), "bold green" if one.is_worth_while else "bold")
        rows.append((_names(one), duration(one.step_ns), win, share, one.band_text))
    return table(rows, "lrrrr", flexible=(0,))


def _repair(one: Prediction) -> list[Text]:
    lines = [
        text_of(" " * INDENT, styled(line, BOLD)) for line in wrap(_names(one), columns() - INDENT)
    ]
    if one.not_there:
        said = f"nothing of {', '.join(one.not_there)} in these steps"
        lines += paragraph(styled("but", BOLD), said, indent=INDENT + 2, hang=_HANG)
    for label, texts in (("do", one.what), ("needs", one.edges_added)):
        for said in texts:
            lines += paragraph(styled(label, BOLD), said, indent=INDENT + 2, hang=_HANG)
    then = one.next_bound.told(one.step_ns)
    return [*lines, *paragraph(styled("then", BOLD), then, indent=INDENT + 2, hang=_HANG)]


def _checked(found: WhatIf) -> list[Text]:
    checked = found.checked
    if checked is None:
        return []
    inside = "in the band" if checked.in_band else "outside of the band"
    said = (
        f"{_names(checked.predicted)}: predicted {duration(checked.predicted.step_ns)},"
        f" {checked.report} has {duration(checked.real_ns)}:"
        f" {checked.error * 100:+.1f} %, {inside}"
    )
    return paragraph(styled("verified", BOLD), said)


RENDERER = WhatIfTerminal()
