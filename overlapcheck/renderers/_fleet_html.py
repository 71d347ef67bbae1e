"""The fleet report as one HTML file without scripts: the terminal's words, and a heat map.

The heat map has a row per rank and a column per cause of idle time; its cells are shares of the
rank's window. A rank's row opens to its checks and evidence.
"""

from __future__ import annotations

from html import escape

from overlapcheck.fleet import FleetReport, RankRow
from overlapcheck.quantities import duration, percent
from overlapcheck.renderers._fleet_terminal import fleet_text
from overlapcheck.verdict import Outcome

MAX_COLUMNS = 14
MAX_DETAILS = 256
"""Rows that open; of more ranks the worst ones."""
_SEVERITY = (Outcome.FAIL, Outcome.INCONCLUSIVE, Outcome.PASS)
_STYLE = """
body{font:14px system-ui,sans-serif;margin:2em auto;max-width:75em;padding:0 1em;color:#1b1f24}
pre{background:#f5f6f8;padding:1em;overflow:auto;line-height:1.35}
table{border-collapse:collapse;font-variant-numeric:tabular-nums}
th,td{padding:.15em .5em;text-align:right;border-bottom:1px solid #e3e6ea}
th:first-child,td:first-child{text-align:left}
thead th{position:sticky;top:0;background:#fff;vertical-align:bottom}
.FAIL{color:#b3261e}.INCONCLUSIVE{color:#8a6d00}.PASS{color:#1a7f37}
td.h{min-width:3.5em}details summary{cursor:pointer}
@media(prefers-color-scheme:dark){body{background:#14171a;color:#e4e7eb}
pre,thead th{background:#1e2327}th,td{border-color:#333a41}.FAIL{color:#ff8a80}
.INCONCLUSIVE{color:#ffd54f}.PASS{color:#7ee787}}
"""


def fleet_html(report: FleetReport) -> str:
    """The whole file."""
    program = escape(report.settings.program or "several ranks")
    return (
        (
            "<!doctype html>\n<html lang=en><head><meta charset=utf-8>"
            "<meta name=viewport content='width=device-width'>"
            f"<title>{report.outcome.value} {program}</title><style>{_STYLE}</style></head><body>\n"
            f"<h1><span class={report.outcome.value}>{report.outcome.value}</span> {program}</h1>\n"
            f"<pre>{escape(fleet_text(report))}</pre>\n"
            "<h2>Idle time by cause, share of each rank's window</h2>\n"
            f"{_heat_map(report)}\n</body></html>\n"
        )
        .encode("utf-8", "replace")
        .decode("utf-8")
    )


def _heat_map(report: FleetReport) -> str:
    totals: dict[str, float] = {}
    for row in report.rows:
        for cause, ns in row.ledger.items():
            totals[cause] = totals.get(cause, 0.0) + ns / max(row.window_ns, 1)
    causes = sorted(totals, key=lambda cause: (-totals[cause], cause))[:MAX_COLUMNS]
    head = "".join(f"<th scope=col>{escape(cause)}</th>" for cause in causes)
    worst = sorted(
        range(len(report.rows)), key=lambda n: (_SEVERITY.index(report.rows[n].outcome), n)
    )
    opened = set(worst[:MAX_DETAILS])
    body = "\n".join(_row(row, causes, n in opened) for n, row in enumerate(report.rows))
    return (
        "<table><thead><tr><th scope=col>rank</th><th scope=col>verdict</th>"
        f"<th scope=col>step</th><th scope=col>idle</th>{head}</tr></thead>\n"
        f"<tbody>\n{body}\n</tbody></table>"
    )


def _row(row: RankRow, causes: list[str], opens: bool) -> str:
    window = max(row.window_ns, 1)
    cells = "".join(_cell(row.ledger.get(cause, 0) / window) for cause in causes)
    step = duration(row.step_median_ns) if row.step_median_ns is not None else "-"
    name = f"rank {escape(row.label)}"
    if opens:
        name = f"<details><summary>{name}</summary>{_details(row)}</details>"
    outcome = row.outcome.value
    return (
        f"<tr id='rank-{escape(row.label, quote=True)}'><td>{name}</td>"
        f"<td class={outcome}>{outcome}</td><td>{step}</td>"
        f"<td>{percent(row.idle_ns / window)}</td>{cells}</tr>"
    )


def _cell(share: float) -> str:
    if share < 0.0005:
        return "<td class=h></td>"
    strength = min(1.0, share / 0.3)
    return f"<td class=h style='background:rgba(214,69,38,{strength:.2f})'>{percent(share)}</td>"


def _details(row: RankRow) -> str:
    lines = [f"{escape(row.report)}, device {row.device} {escape(row.gpu)}"]
    lines += [
        f"{check.outcome.value} {escape(check.name)} {percent(check.measured)}:"
        f" {escape(check.reason)}"
        for check in row.checks
    ]
    for cause in row.causes:
        lines.append(f"<b>{escape(cause.cause)}</b> {percent(cause.share)}")
        lines += [escape(fact) for fact in cause.evidence]
    return "<br>".join(lines)
