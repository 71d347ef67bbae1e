"""The program's own source: paths as its owner would write them, and the lines themselves."""

from __future__ import annotations

import linecache
import re
from dataclasses import replace
from pathlib import Path

from overlapcheck.finding import Finding, SourceLine

# Whose home a file lies in is nobody else's business.
_HOME = re.compile(r"^/(home|Users)/[^/]+/|^/root/")
_MAX_LENGTH = 200


def located(finding: Finding, root: Path) -> Finding:
    """A finding whose source lines carry short paths and, where readable here, their text.

    Args:
        finding: with the paths that the recording holds.
        root: working directory that paths are told relative to.
    """
    if not finding.source:
        return finding
    return replace(finding, source=tuple(_located(line, root) for line in finding.source))


def _located(line: SourceLine, root: Path) -> SourceLine:
    path = Path(line.file)
    inside = path.is_absolute() and path.is_relative_to(root)
    shown = str(path.relative_to(root)) if inside else _HOME.sub("", line.file)
    # No file has such a name, and asking for one is an error.
    readable = line.line and "\0" not in line.file
    found = linecache.getline(str(root / path), line.line) if readable else ""
    return replace(line, file=shown, text=found.strip()[:_MAX_LENGTH])
