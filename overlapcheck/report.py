"""The finished answer: serialisable and bounded, all that any renderer may read.

A million-copy trace does not make a million-row report: lists hold the worst rows and say how many
there were. No environment, user or host name is in it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from overlapcheck.device_report import DeviceReport
from overlapcheck.finding import Finding
from overlapcheck.thresholds import moved_text
from overlapcheck.verdict import Outcome, Verdict

if TYPE_CHECKING:
    from pathlib import Path

    import pandas as pd

    from overlapcheck.captured import CapturedReport
    from overlapcheck.measurements import Measurements
    from overlapcheck.proved import Proved
    from overlapcheck.stream_report import StreamReport

SCHEMA = 1
"""Version of the JSON form: raised when a field changes its meaning or goes away."""


@dataclass(frozen=True)
class CaptureSummary:
    """What was recorded, and what spoils it."""

    report: str
    """File name without folders."""
    program: str
    nsys_version: str
    """Version of the recorder, nsys or another; "" where not known."""
    schema_version: str
    driver_version: str
    graph_granularity: str
    environment: Mapping[str, str]
    """Only CUDA_* and NCCL_* variables that change how a program runs."""
    problems: tuple[str, ...]
    messages: tuple[str, ...]
    """Warnings of the recorder itself."""
    event_edges: str = "unknown"
    """How waits between streams are known: "recorded" event rows, or "inferred" from times."""
    recorder: str = "nsys"
    """What made the recording."""

    @property
    def recorded_by(self) -> str:
        """Recorder and its version, "nsys 2025.3.1"."""
        who = self.recorder or "recorder"
        return f"{who} {self.nsys_version}" if self.nsys_version else f"{who} of unknown version"


@dataclass(frozen=True)
class Report:
    """Everything to show."""

    tool_version: str
    capture: CaptureSummary
    verdict: Verdict
    devices: tuple[DeviceReport, ...]
    findings: tuple[Finding, ...] = ()
    """In rank order, costliest first."""
    thresholds: Mapping[str, float] = field(default_factory=dict)
    """Numbers that decide and were moved from what this version uses, by name."""
    wants_control: str | None = None
    """What a control recording would settle, as a sentence; None where it would settle nothing."""
    proved: tuple[Proved, ...] = ()
    """Repairs that were made from outside, in runs of their own, and what they won."""
    captured: CapturedReport | None = field(default=None, repr=False, compare=False)
    """Where the recording lies and how the program ended; None where it was not made just now."""
    streams: StreamReport | None = field(default=None, repr=False, compare=False)
    """Which stream waits for which; None where nobody asked, and for a report read from JSON."""
    measurements: Measurements | None = field(default=None, repr=False, compare=False)
    """The full tables behind it; None for a report read back from JSON."""

    @property
    def moved(self) -> str:
        """The moved thresholds in words, "start-latency-ns = 5000"; "" where none was."""
        return moved_text(self.thresholds)

    def save(self, path: str | Path) -> None:
        """Write it; the suffix chooses the format, as of `-o`: .html, .json, .md, .txt ...

        Raises:
            PolicyInvalid: no format has this suffix.
            OutputUnwritable: naming the file.
        """
        from overlapcheck.showing import save

        save(self, path)

    def to_json(self) -> str:
        """What `--format json` prints."""
        from overlapcheck.showing import text_of

        return text_of(self, "json")

    def frame(self, name: str) -> pd.DataFrame:
        """A measured table of all devices as a pandas DataFrame, ids as names.

        Args:
            name: "gaps", "blocking", "steps", "ledger", "contention" or "streams"; times in ns.

        Raises:
            PolicyInvalid: there is no such table, or the report was read back from JSON.
        """
        from overlapcheck.showing import frame_of

        return frame_of(self, name)

    def _repr_html_(self) -> str:
        """The page, in a notebook."""
        from overlapcheck.showing import in_notebook

        return in_notebook(self)

    def __repr__(self) -> str:
        """Short: what was judged, and how it ended."""
        failed = dict.fromkeys(
            check.name for check in self.verdict.checks if check.outcome is self.verdict.outcome
        )
        said = f": {', '.join(failed)}" if self.verdict.outcome is not Outcome.PASS else ""
        cause = f"; first cause {self.findings[0].cause}" if self.findings and said else ""
        return f"<Report {self.verdict.outcome} of {self.capture.report}{said}{cause}>"
