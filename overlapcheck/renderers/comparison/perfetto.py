"""A comparison as Chrome trace JSON: a process for each side, with a median step as a bar."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from overlapcheck.comparison import Comparison
from overlapcheck.quantities import duration, percent
from overlapcheck.renderers._perfetto_slices import Slice, Track, trace_text
from overlapcheck.renderers._plain_text import plain
from overlapcheck.renderers.comparison import _words as words
from overlapcheck.renderers.comparison._bar import Bar, bars


class ComparisonPerfetto:
    """See `ComparisonRenderer`."""

    name = "perfetto"
    suffix = ".perfetto.json"

    def render(self, comparison: Comparison, /) -> str:
        """See `ComparisonRenderer.render`."""
        processes: list[str] = []
        tracks: list[Track] = []
        for device, title in zip(comparison.devices, words.titles(comparison), strict=True):
            for bar in bars(device):
                side = bar.side
                said = f"{bar.name}: {title}, {side.gpu or 'unknown'}, {side.report}"
                processes.append(plain(said, 200))
                what = "one median step" if bar.is_step else "the window"
                tracks.append(Track(len(processes), 1, what, "step", list(_slices(bar))))
        return trace_text(_about(comparison), processes, tracks)


def _about(comparison: Comparison) -> dict[str, Any]:
    word = words.HEADLINES[comparison.change]
    return {
        "tool": f"overlapcheck {comparison.tool_version}",
        "compare": f"{word}: {plain(words.headline(comparison))}",
        "objections": [plain(clause) for clause in comparison.objections],
    }


def _slices(bar: Bar) -> Iterator[Slice]:
    for part in bar.parts:
        args = {"share of the window": percent(part.share)}
        if bar.side.steps:
            average_ns = part.share * bar.side.window_ns / bar.side.steps
            args["per step, on average"] = duration(average_ns)
        yield Slice(plain(part.name, 80), part.start_ns, part.end_ns, args)


RENDERER = ComparisonPerfetto()
