"""Reading what PyTorch's CUDA sanitizer prints on stderr, among whatever the program prints."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise
from pathlib import Path

from overlapcheck.finding import SourceLine
from overlapcheck.sanitizer_run import Access, Unordered

_BEGIN = re.compile(r"CSAN detected a possible data race on tensor with data pointer (\d+)")
_CURRENT = re.compile(r"Access by stream (-?\d+) during kernel:")
_PREVIOUS = re.compile(r"Previous access by stream (-?\d+) during kernel:")
_ALLOCATED = "Tensor was allocated with stack trace:"
_FRAME = re.compile(r'\s*File "(?P<file>[^"]+)", line (?P<line>\d+), in (?P<function>.+)')
_OPERATOR = re.compile(r"[\w:.]+")
_LIBRARY = re.compile(r"(^|/)(site-packages|dist-packages|torch)/|^<|/lib/python[\d.]+/")
"""Frames of libraries: the line to change is further out."""


def unordered_in(text: str, root: Path) -> tuple[Unordered, ...]:
    """Every report in a program's stderr, each pair of places once.

    Args:
        text: all that the program printed.
        root: folder that files are named relative to, where they lie below it.
    """
    lines = text.splitlines()
    begins = [number for number, line in enumerate(lines) if _BEGIN.search(line)]
    found = (_report(lines[a:b], root) for a, b in pairwise([*begins, len(lines)]))
    return tuple(dict.fromkeys(one for one in found if one is not None))


def _report(lines: Sequence[str], root: Path) -> Unordered | None:
    current = _access(lines, _CURRENT, root)
    previous = _access(lines, _PREVIOUS, root)
    if current is None or previous is None:
        return None
    return Unordered(current, previous, _allocation(lines, root))


def _access(lines: Sequence[str], head: re.Pattern[str], root: Path) -> Access | None:
    for number, line in enumerate(lines):
        found = head.match(line.strip())
        if found is None or number + 2 >= len(lines):
            continue
        operator = _OPERATOR.match(lines[number + 1].strip())
        return Access(
            int(found[1]),
            operator[0] if operator else lines[number + 1].strip(),
            lines[number + 2].strip(),
            _own(_frames(lines[number + 4 :]), root),
        )
    return None


def _allocation(lines: Sequence[str], root: Path) -> SourceLine | None:
    for number, line in enumerate(lines):
        if line.strip() == _ALLOCATED:
            return _own(_frames(lines[number + 1 :]), root)
    return None


def _frames(lines: Sequence[str]) -> Iterator[SourceLine]:
    """Frames of the stack that comes first, outermost first."""
    for line in lines:
        if line[:1].strip():
            return  # a stack is indented, and the next one has a head
        found = _FRAME.match(line)
        if found is not None:
            yield SourceLine(found["file"], int(found["line"]), found["function"].strip())


def _own(frames: Iterator[SourceLine], root: Path) -> SourceLine | None:
    """The innermost frame of the user's own code."""
    own = [frame for frame in frames if not _LIBRARY.search(frame.file)]
    if not own:
        return None
    place = own[-1]
    path = Path(place.file)
    if path.is_relative_to(root):
        return SourceLine(str(path.relative_to(root)), place.line, place.function)
    return place
