"""The log that `run --sync-debug` leaves beside a report."""

from __future__ import annotations

import json
from pathlib import Path

from overlapcheck.finding import SourceLine
from overlapcheck.sync_warnings import LOG_SUFFIX, SyncWarning


def read_sync_log(report: Path) -> tuple[SyncWarning, ...]:
    """Warnings in order of time; none where there is no log or a line of it is not whole."""
    report = report.absolute()  # "." has no name
    log = report.with_name(report.name + LOG_SUFFIX)
    try:
        lines = log.read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return ()
    return tuple(sorted(filter(None, map(_warning, lines)), key=lambda w: w.utc_ns))


def _warning(line: str) -> SyncWarning | None:
    try:
        entry = json.loads(line)
        place = SourceLine(str(entry["file"]), int(entry["line"]), str(entry["function"]))
        return SyncWarning(int(entry["utc_ns"]), int(entry["pid"]), place)
    except (ValueError, KeyError, TypeError):
        return None  # a process was killed while it wrote
