"""What is kept of a recording that is shared: which part of its time, under which names."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Part:
    """What of a recording to write; other rows and all texts that are not known stay out."""

    span_ns: tuple[int, int] | None
    """Rows of what the host did in [start, end), trace time; None for all."""
    rename: bool = False
    """Whether the program's own kernels and ranges are called by number."""
    shortest_os_call_ns: int = 0
    """Shorter calls of the operating system stay out: they are most of many a recording."""
    most_rows: int | None = None
    """Of more nothing is written: they fit into no small file, and may fit into no memory."""


@dataclass(frozen=True)
class Kept:
    """What was written."""

    rows: int
    rows_before: int
    """In the tables that are judged; none is kept of any other."""
    tables_left_out: int
    """Tables with columns that nothing is judged by."""
    replaced: dict[str, int]
    """How many names stand for others, by what they are of: "thread", "kernel"."""


@dataclass(frozen=True)
class Trimmed:
    """A recording made small and nameless that gives the answer of the whole."""

    content: bytes
    """Of the file."""
    kept: Kept
    what: str
    """The part, in words: "steps 5 to 7 of 'step #' (12 are steady), and the one before"."""
    outcome: str
    """Of both."""
    first_cause: str | None
    """Of both; None where neither has one."""
    rename: bool
    too_large: bool
    """Whether nothing smaller than the limit gives the same answer."""
