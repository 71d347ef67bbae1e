"""A comparison of jobs for ui.perfetto.dev: a median step of both sides, of the telling ranks."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from overlapcheck.fleet_comparison import FleetComparison
from overlapcheck.quantities import percent
from overlapcheck.renderers._perfetto_slices import Slice, Track, trace_text
from overlapcheck.renderers._plain_text import plain
from overlapcheck.renderers.comparison._bar import Bar, bars
from overlapcheck.renderers.comparison.jobs import _words as words


class FleetComparisonPerfetto:
    """See `FleetComparisonRenderer`."""

    name = "perfetto"
    suffix = ".perfetto.json"

    def render(self, found: FleetComparison, /) -> str:
        """See `FleetComparisonRenderer.render`."""
        processes: list[str] = []
        tracks: list[Track] = []
        for one in words.shown_ranks(found):
            said = f"rank {one.rank}: {one.change.value}, {one.device.new.report}"
            processes.append(plain(said, 200))
            for number, bar in enumerate(bars(one.device), 1):
                what = "one median step" if bar.is_step else "the window"
                slices = list(_slices(bar))
                tracks.append(Track(len(processes), number, f"{bar.name}: {what}", "step", slices))
        return trace_text(_about(found), processes, tracks)


def _about(found: FleetComparison) -> dict[str, Any]:
    return {
        "tool": f"overlapcheck {found.tool_version}",
        "compare": f"{words.HEADLINES[found.change]}: {plain(words.headline(found))}",
        "objections": [plain(clause) for clause in found.objections],
    }


def _slices(bar: Bar) -> Iterator[Slice]:
    for part in bar.parts:
        args = {"share of the window": percent(part.share)}
        yield Slice(plain(part.name, 80), part.start_ns, part.end_ns, args)


RENDERER = FleetComparisonPerfetto()
