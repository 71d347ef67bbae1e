"""The saved form of reports that were judged each alone: see `saved_report.py`."""

from __future__ import annotations

from typing import Annotated, Literal

from msgspec import Meta, Struct

from overlapcheck.saved_fields import SavedTool
from overlapcheck.separate import SCHEMA, SeparateReport, SeparateReports


class SavedSeparateReports(Struct, frozen=True, kw_only=True):
    """What `overlapcheck analyze FOLDER --each --format json` writes: one line per report."""

    schema: Annotated[int, Meta(ge=1, le=SCHEMA)]
    """Version of this form."""
    kind: Literal["separate-reports"]
    tool: SavedTool
    exit_code: Literal[0, 1, 3, 4]
    """The worst: 1 where one failed, else 4 where one could not be judged, else 3, else 0."""
    reports: tuple[SeparateReport, ...]

    @classmethod
    def of(cls, found: SeparateReports) -> SavedSeparateReports:
        """The saved form of all."""
        return cls(
            schema=SCHEMA,
            kind="separate-reports",
            tool=SavedTool.of(found.tool_version),
            exit_code=int(found.exit_code),  # type: ignore[arg-type]
            reports=found.reports,
        )
