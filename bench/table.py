"""The tables as text, at most 80 columns wide, ready for docs/performance.md."""

from __future__ import annotations

import textwrap

from bench.budget import PER_ROW, START_UP, TENFOLD, TO_SCAN, Limits
from bench.contest import Ratio, ratio
from bench.contestants import HOW_TO_GET, HTA, SCAN
from bench.inputs import INPUTS
from bench.measured import Measured

WIDTH = 80
_FULL = "{:<26} {:>10} {:<16} {:>18} {:>6}"
_CHECK = "{:<13} {:>16} {:>6} {:>14} {:>6} {:>11} {:>6}"
FULL_HEAD = _FULL.format("input", "rows", "contestant", "time / scan", "MiB")
CHECK_HEAD = _CHECK.format(
    "input", "time / scan", "limit", "10x the rows", "limit", "bytes / row", "limit"
)
NOTES = (
    "time / scan: to the scan of the same round, median of the rounds (lowest-highest); n=1: ran "
    "once. The scan's own line says its seconds. 10x the rows: ours, to ours on a tenth of them. "
    "MiB: the most memory of any run. All times include the start of the program.",
    "The scan sums start, end and correlationId inside SQLite: of kernels and runtime calls for "
    f"'{INPUTS[0].what}', elsewhere of kernels, runtime calls, copies, synchronisations, OS calls "
    "and NVTX ranges. pandas reads kernels and runtime calls; nsys applies its five rules about "
    "copies, synchronisation and gaps.",
)
_HTA_NOTE = "HTA reads the PyTorch profiler's trace of 12 steps of the same program."


def full_rows(one: Measured) -> list[str]:
    """A line for each contestant, and one for ten times the rows."""
    scan = next(runs for runs in one.runs if runs.who == SCAN)
    lines = []
    for number, runs in enumerate(one.runs):
        head = (one.what, f"{one.rows:,}") if number == 0 else ("", "")
        if not runs.usages:
            cells = ("did not finish", "")
        elif runs is scan:
            cells = (f"= {short(runs.wall_s)} s", f"{runs.rss_mib:.0f}")
        else:
            cells = (spread(ratio(runs, scan)), f"{runs.rss_mib:.0f}")
        lines.append(_FULL.format(*head, runs.who, *cells).rstrip())
    if growth := one.ratios.get(TENFOLD):
        lines.append(_FULL.format("", "", "  10x the rows", f"{spread(growth)} x", "").rstrip())
    return lines


def check_row(one: Measured, limits: Limits) -> str:
    """What is judged of an input, each beside its limit."""
    first = START_UP if START_UP in one.ratios else TO_SCAN
    cells = [spread(one.ratios[first]), _limit(limits, first, one.name)]
    if growth := one.ratios.get(TENFOLD):
        cells += [spread(growth), _limit(limits, TENFOLD, one.name)]
    if one.bytes_per_row:
        cells += [f"{one.bytes_per_row:.0f}", _limit(limits, PER_ROW, one.name)]
    return _CHECK.format(one.name, *cells, *[""] * (6 - len(cells))).rstrip()


def notes(absent: list[str], *, with_peers: bool) -> str:
    """What a reader of the full table has to know."""
    paragraphs = list(NOTES)
    if with_peers and HTA not in absent:
        paragraphs.append(_HTA_NOTE)
    if with_peers and absent:
        missing = ", ".join(f"{who} ({HOW_TO_GET[who]})" for who in absent)
        paragraphs.append(f"Not installed here: {missing}.")
    return "\n".join(wrapped(paragraph) for paragraph in paragraphs)


def wrapped(text: str) -> str:
    """A paragraph."""
    return textwrap.fill(text, WIDTH, break_on_hyphens=False)


def spread(found: Ratio) -> str:
    """Median, lowest and highest; of a single round there is no spread."""
    if found.rounds == 1:
        return f"{short(found.median)} (n=1)"
    return f"{short(found.median)} ({short(found.low)}-{short(found.high)})"


def short(value: float) -> str:
    """No more digits than another run would repeat."""
    if value >= 99.95:
        return f"{value:.0f}"
    return f"{value:.1f}" if value >= 0.95 else f"{value:.2g}"


def _limit(limits: Limits, measure: str, name: str) -> str:
    limit = limits.limit(measure, name)
    return "" if limit is None else f"{limit:g}"
