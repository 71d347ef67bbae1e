"""Many ranks as Chrome trace JSON: a median step of each rank as a bar, all to one scale.

A fleet holds totals and no events, so these are no recordings: compute and the causes of the time
without it are laid end to end, and so are waiting and moving data in the collectives in which ranks
met. All ranks are threads of one process, for ui.perfetto.dev shows those under each other.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from overlapcheck.fleet import COMPUTE, FleetReport, MeetingSummary, RankWait
from overlapcheck.quantities import duration, percent
from overlapcheck.renderers._end_to_end import laid_out
from overlapcheck.renderers._perfetto_slices import Slice, Track, trace_text
from overlapcheck.renderers._plain_text import plain
from overlapcheck.renderers.fleet import _words as words
from overlapcheck.report_result import RankRow

MAX_RANKS = 1024
"""Ranks that are drawn: of more the worst."""
_REST = "no compute"


class FleetPerfetto:
    """See `FleetRenderer`."""

    name = "perfetto"
    suffix = ".perfetto.json"

    def render(self, report: FleetReport, /) -> str:
        """See `FleetRenderer.render`."""
        order = {row.label: number for number, row in enumerate(report.rows)}
        shown = words.telling_rows(report, MAX_RANKS)
        shown.sort(key=lambda row: order[row.label])
        processes = ["ranks: a median step of each, laid end to end"] if shown else []
        tracks = [_rank(tid, row) for tid, row in enumerate(shown, 1)]
        for one in report.meetings:
            kinds = ", ".join(f"{count} {kind}" for kind, count in one.kinds.items())
            processes.append(plain(f"collectives: {kinds} in which {words.who_met(one)} met", 200))
            tracks += _waits(len(processes), one)
        return trace_text(_about(report, len(shown)), processes, tracks)


def _about(report: FleetReport, shown: int) -> dict[str, Any]:
    return {
        "tool": f"overlapcheck {report.tool_version}",
        "verdict": f"{report.outcome.value}: {plain('; '.join(words.grounds(report)))}",
        "reports": report.reports,
        "ranks": len(report.rows),
        "ranks_left_out": len(report.rows) - shown,
        "notes": [plain(note) for note in report.notes],
    }


def _rank(tid: int, row: RankRow) -> Track:
    about = "" if row.step_median_ns is not None else ", the window"
    title = plain(f"rank {row.label} {row.outcome.value}{about} ({row.report})", 120)
    return Track(1, tid, title, "step", list(_parts(row)))


def _parts(row: RankRow) -> Iterator[Slice]:
    rest_ns = row.window_ns - row.compute_ns - sum(row.ledger.values())
    divided = [(COMPUTE, row.compute_ns), *row.ledger.items(), (_REST, rest_ns)]
    length_ns = row.window_ns if row.step_median_ns is None else row.step_median_ns
    window_ns = max(row.window_ns, 1)
    for name, start_ns, end_ns, ns in laid_out(divided, window_ns, length_ns):
        args = {"share of the window": percent(ns / window_ns), "in the window": duration(ns)}
        yield Slice(plain(name, 80), start_ns, end_ns, args)


def _waits(pid: int, one: MeetingSummary) -> Iterator[Track]:
    for tid, wait in enumerate(one.waits, 1):
        title = f"rank {wait.rank}, comes last in {wait.came_last} of {one.occasions}"
        bars = [Slice(*part[:3]) for part in laid_out(_divided(wait), 1, 1)]
        yield Track(pid, tid, plain(title, 120), "collective", bars)


def _divided(wait: RankWait) -> list[tuple[str, int]]:
    return [
        ("waits without compute", wait.exposed_waiting_ns),
        ("waits under compute", wait.waiting_ns - wait.exposed_waiting_ns),
        ("moves data without compute", wait.exposed_transfer_ns),
        ("moves data under compute", wait.transfer_ns - wait.exposed_transfer_ns),
    ]


RENDERER = FleetPerfetto()
