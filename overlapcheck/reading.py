"""How recordings are read: with what, from where, and who is told meanwhile."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from overlapcheck.excerpt import RANK_BOUNDS, USUAL_BOUNDS, ExcerptBounds

if TYPE_CHECKING:
    from overlapcheck.source import Source

Progress = Callable[[str], None]
"""Told what begins now, as a clause: "exporting train.nsys-rep"; "" where nothing of ours does."""


def silent(_: str) -> None:
    """Progress that nobody wants to see."""


def ignored(_: Path) -> None:
    """For whoever need not know which file is read."""


@dataclass(frozen=True)
class Reading:
    """Choices of how recordings are read, which change neither numbers nor verdicts.

    >>> import overlapcheck
    >>> reading = overlapcheck.Reading(cache=False, progress=print)
    >>> report = overlapcheck.analyze("train.nsys-rep", reading=reading)   # doctest: +SKIP
    """

    nsys: Path | None = None
    """The nsys to record and to export with; None finds one."""
    cache: bool = True
    """Whether exports of reports are kept in the user's cache folder, and found there."""
    keep_export: Path | None = None
    """Leave the export of a report here, where nothing is yet, and not in the cache."""
    sources: Sequence[Source] = ()
    """Asked whether they know a recording before those that are installed; pickled for workers."""
    source_root: Path | None = None
    """Folder of the program's source: its lines may be shown beside those of the current one's."""
    timeline: bool = True
    """Whether to read out what HTML and Perfetto draw; False saves its time."""
    excerpt: ExcerptBounds = USUAL_BOUNDS
    """How much of each device a result keeps to be drawn beside others."""
    jobs: int | None = None
    """Recordings read at once, where there are several; None takes as many as there are cores."""
    progress: Progress = silent
    """Told what begins."""
    opened: Callable[[Path], None] = ignored
    """Told which file or folder is read now, as soon as it is known."""
    warn: Progress = silent
    """Told at once what the user should know: what is kept, which kept export is not believed."""

    @property
    def of_rank(self) -> Reading:
        """How one of many ranks is read: drawn small, and only beside others."""
        return replace(self, timeline=False, excerpt=RANK_BOUNDS)
