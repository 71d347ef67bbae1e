"""The program's own source: paths as its owner would write them, and the lines themselves.

A recording names any file it likes, and whoever made it is not always whoever judges it: a line is
shown only of source text below the folders that the user works in.
"""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache
from pathlib import Path

from overlapcheck.finding import Finding, SourceLine

# Whose home a file lies in is nobody else's business.
_HOME = re.compile(r"^/(home|Users)/[^/]+/|^/root/")
_MAX_LENGTH = 200
_LARGEST_FILE = 4 << 20
_LONGEST_LINE = 1000
"""Of bytes: what is longer was not written by hand."""
# Settings and notes below the working directory hold secrets; programs are looked for, only.
_SOURCE_SUFFIXES = frozenset({
    ".py", ".pyx", ".pxd", ".pxi", ".pyi", ".c", ".cc", ".cpp", ".cxx", ".cu", ".cuh", ".h", ".hh",
    ".hpp", ".hxx", ".inl", ".f", ".f90", ".f95", ".f03", ".cuf", ".for", ".jl", ".rs", ".go",
    ".java", ".kt", ".scala", ".cs", ".m", ".mm", ".lua", ".r", ".d", ".zig", ".nim", ".swift",
})  # fmt: skip


def located(finding: Finding, roots: Sequence[Path]) -> Finding:
    """A finding whose source lines carry short paths and, where they may be read, their text.

    Args:
        finding: with the paths that the recording holds.
        roots: folders whose source text may be shown; paths are told relative to them, and
            relative paths are looked up in them, the first one first.
    """
    if not finding.source:
        return finding
    return replace(finding, source=tuple(_located(line, roots) for line in finding.source))


def _located(line: SourceLine, roots: Sequence[Path]) -> SourceLine:
    path = Path(line.file)
    inside = (root for root in roots if path.is_absolute() and path.is_relative_to(root))
    root = next(inside, None)
    shown = _HOME.sub("", line.file) if root is None else str(path.relative_to(root))
    # Joined to an absolute path, a root is dropped: it must lie below the root by itself.
    texts = (_text(root, root / path, line.line) for root in roots)
    return replace(line, file=shown, text=next(filter(None, texts), ""))


def _text(root: Path, path: Path, number: int) -> str:
    """A line of a source file below a root; "" where there is none that may be shown."""
    if number < 1 or path.suffix.lower() not in _SOURCE_SUFFIXES:
        return ""
    lines = _lines(root, path)
    line = lines[number - 1] if number <= len(lines) else b""
    if len(line) > _LONGEST_LINE:
        return ""
    return line.decode("utf-8").strip()[:_MAX_LENGTH]


@lru_cache(maxsize=8)
def _lines(root: Path, path: Path) -> tuple[bytes, ...]:
    try:
        real = Path(os.path.realpath(path, strict=True))
        below = real.relative_to(os.path.realpath(root, strict=True))
        hidden = any(part.startswith(".") for part in below.parts)
        if hidden or real.suffix.lower() not in _SOURCE_SUFFIXES:
            return ()
        # No waiting for the writer of a FIFO, and no link put there meanwhile.
        descriptor = os.open(real, os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_CLOEXEC)
        with os.fdopen(descriptor, "rb") as file:
            status = os.fstat(descriptor)
            if not stat.S_ISREG(status.st_mode) or status.st_size > _LARGEST_FILE:
                return ()
            content = file.read(_LARGEST_FILE + 1)
        content.decode("utf-8")
    except (OSError, ValueError):
        return ()
    if b"\0" in content or len(content) > _LARGEST_FILE:
        return ()
    return tuple(content.splitlines())
