"""The fleet report as one HTML file without scripts: the terminal's words, and a heat map.

The heat map has a row per rank and a column per cause of idle time; its cells are shares of the
rank's window. A rank's row opens to its time as a bar, its checks and its evidence, and leads to
the page with its timeline, or says the command that draws it.
"""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence

from overlapcheck.fleet import FleetReport, RankPage, RankRow
from overlapcheck.quantities import duration, percent
from overlapcheck.renderers._html_markup import Html, clean, el, html
from overlapcheck.renderers.fleet.terminal import FleetTerminal
from overlapcheck.verdict import SEVERITY

MAX_COLUMNS = 14
MAX_DETAILS = 256
"""Rows that show checks and evidence; of more ranks the worst ones."""
MAX_FILE_NAME = 120
_SHADES = 10
_DARKEST = 0.3
"""Share of the window from which on a cell is as dark as it gets."""
_COLOURS = ("c8475f", "2f3a94", "d0b14a", "14734a", "59a9cf", "7c2458", "3c9d8f", "8f8f3a")
_STYLE = (
    """
:root{color-scheme:light dark}
body{font:14px system-ui,sans-serif;margin:2em auto;max-width:80em;padding:0 1em;color:#1b1f24}
pre{background:#f5f6f8;padding:1em;overflow:auto;line-height:1.35}
.map{overflow:auto;max-height:85vh}
table{border-collapse:collapse;font-variant-numeric:tabular-nums}
th,td{padding:.15em .5em;text-align:right;border-bottom:1px solid #e3e6ea;vertical-align:top}
td{white-space:nowrap}th:first-child,td:first-child{text-align:left}
thead th{position:sticky;top:0;background:#fff;vertical-align:bottom}
.FAIL{color:#b3261e}.INCONCLUSIVE{color:#8a6d00}.PASS{color:#1a7f37}
summary{cursor:pointer}code{overflow-wrap:anywhere}
details[open]{width:36em;max-width:90vw;white-space:normal;padding-bottom:.5em}
.bar{display:flex;height:12px;margin:.3em 0;background:#e3e6ea}.bar i{display:block}
.key span{display:inline-block;margin-right:1em}.key i{display:inline-block;width:.8em;height:.8em}
.k{background:#3f6fa3}.o{background:#8d939a}
"""
    + "".join(f".c{n}{{background:#{colour}}}" for n, colour in enumerate(_COLOURS))
    + "".join(f".h{n}{{background:rgba(214,69,38,{n / _SHADES:g})}}" for n in range(1, _SHADES + 1))
    + """
@media(prefers-color-scheme:dark){body{background:#14171a;color:#e4e7eb}
pre,thead th,.bar{background:#1e2327}th,td{border-color:#333a41}.FAIL{color:#ff8a80}
.INCONCLUSIVE{color:#ffd54f}.PASS{color:#7ee787}a{color:#6ea8ff}}
"""
)
_POLICY = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"


class FleetHtml:
    """See `FleetRenderer`."""

    name = "html"
    suffix = ".html"

    def render(self, report: FleetReport, /) -> str:
        """See `FleetRenderer.render`."""
        program = report.settings.program or "several ranks"
        page = el(
            "html",
            el(
                "head",
                el("meta", charset="utf-8"),
                el("meta", http_equiv="Content-Security-Policy", content=_POLICY),
                el("meta", name="viewport", content="width=device-width, initial-scale=1"),
                el("title", f"{report.outcome.value} {program}"),
                el("style", Html(_STYLE)),
            ),
            el(
                "body",
                el(
                    "h1",
                    el("span", report.outcome.value, cls=report.outcome.value),
                    f" {program}",
                ),
                el("pre", FleetTerminal().render(report)),
                _timelines(report.pages),
                el("h2", "Idle time by cause, share of each rank's window"),
                _heat_map(report),
            ),
            lang="en",
        )
        return f"<!doctype html>\n{page}\n"


def _timelines(pages: Sequence[RankPage]) -> Html | None:
    if not pages:
        return None
    items = [
        el("li", el("a", f"rank {page.rank}", href=page.address), f": {page.why}") for page in pages
    ]
    return html(el("h2", "Timelines"), el("ul", *items))


def _heat_map(report: FleetReport) -> Html:
    totals: dict[str, float] = {}
    for row in report.rows:
        for cause, ns in row.ledger.items():
            totals[cause] = totals.get(cause, 0.0) + ns / max(row.window_ns, 1)
    causes = sorted(totals, key=lambda cause: (-totals[cause], cause))[:MAX_COLUMNS]
    worst = sorted(
        range(len(report.rows)), key=lambda n: (SEVERITY.index(report.rows[n].outcome), n)
    )
    in_full = set(worst[:MAX_DETAILS])
    pages = {page.rank: page for page in report.pages}
    head = [
        el("th", name, scope="col")
        for name in ("rank", *(["timeline"] if pages else []), "verdict", "step", "idle", *causes)
    ]
    rows = [
        html("\n", _row(row, causes, pages, in_full=n in in_full))
        for n, row in enumerate(report.rows)
    ]
    table = el("table", el("thead", el("tr", *head)), el("tbody", *rows))
    return html(_key(causes), el("div", table, cls="map", tabindex=0, role="region"))


def _key(causes: Sequence[str]) -> Html:
    names = [("k", "compute"), *((_colour(n), cause) for n, cause in enumerate(causes))]
    named = [el("span", el("i", cls=colour), " ", name) for colour, name in names if colour != "o"]
    rest = [el("span", el("i", cls="o"), " other causes")] if len(causes) > len(_COLOURS) else []
    return el("p", "In a rank's bar: ", *named, *rest, cls="key")


def _colour(number: int) -> str:
    return f"c{number}" if number < len(_COLOURS) else "o"


def _row(
    row: RankRow, causes: Sequence[str], pages: Mapping[str, RankPage], *, in_full: bool
) -> Html:
    window = max(row.window_ns, 1)
    step = duration(row.step_median_ns) if row.step_median_ns is not None else "-"
    page = pages.get(row.label)
    inside = [_bar(row, causes), *_how_to_draw(row, page)]
    if in_full:
        inside.append(_details(row))
    return el(
        "tr",
        el("td", el("details", el("summary", f"rank {row.label}"), *inside)),
        el("td", el("a", "open", href=page.address) if page else None) if pages else None,
        el("td", row.outcome.value, cls=row.outcome.value),
        el("td", step),
        el("td", percent(row.idle_ns / window)),
        *(_cell(row.ledger.get(cause, 0) / window) for cause in causes),
        id=f"rank-{row.label}",
    )


def _cell(share: float) -> Html:
    if share < 0.0005:
        return Html("<td></td>")
    shade = max(1, round(min(1.0, share / _DARKEST) * _SHADES))
    return el("td", percent(share), cls=f"h{shade}")


def _bar(row: RankRow, causes: Sequence[str]) -> Html:
    """The window as compute and idle time by cause."""
    parts = [("k", row.compute_ns)]
    parts += [(_colour(n), row.ledger.get(cause, 0)) for n, cause in enumerate(causes)]
    window = max(row.window_ns, 1)
    shown = [
        Html(f"<i class={colour} style=width:{100 * ns / window:.1f}%></i>")
        for colour, ns in parts
        if ns >= 0.001 * window
    ]
    return el("div", *shown, cls="bar")


def _how_to_draw(row: RankRow, page: RankPage | None) -> list[str]:
    if page is not None:
        return [el("a", "timeline", href=page.address), f": {page.why}"]
    report = row.report
    if len(report) > MAX_FILE_NAME:
        return [f"report {report[:MAX_FILE_NAME]}..."]
    command = f"overlapcheck analyze {shlex.quote(clean(report))} -o rank.html"
    return ["timeline: ", el("code", command)]


def _details(row: RankRow) -> Html:
    lines: list[str] = [f"{row.report}, device {row.device} {row.gpu}"]
    lines += [
        f"{check.outcome.value} {check.name} {percent(check.measured)}: {check.reason}"
        for check in row.checks
    ]
    for cause in row.causes:
        lines.append(html(el("b", cause.cause), f" {percent(cause.share)}"))
        lines += cause.evidence
    return el("div", *(el("div", line) for line in lines))


RENDERER = FleetHtml()
