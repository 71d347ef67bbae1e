"""What reads recordings: one source for each kind of them."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Protocol, runtime_checkable

from overlapcheck.recorder import Content, Recorder
from overlapcheck.trace import Trace

if TYPE_CHECKING:
    from overlapcheck.shared_part import Kept, Part


class Source(Protocol):
    """What each file of `sources/` offers as `SOURCE`, and other packages as an entry point.

    >>> class Kineto:
    ...     name = "kineto"
    ...     def recognises(self, path): return path.name.endswith(".pt.trace.json")
    ...     def read(self, path, window_ns): ...
    ...     def record_again(self, lacking): return None
    """

    name: str
    """Of what makes such recordings, as its users call it."""

    def recognises(self, path: Path, /) -> bool:
        """Whether a file or folder is such a recording; never raises for one that is not."""
        ...

    def read(self, path: Path, window_ns: tuple[int, int] | None, /) -> Trace:
        """Read a recording; nothing of it is changed.

        Args:
            path: a file or folder that `recognises` knows.
            window_ns: the part, [start, end), that is judged: more may be read; None for all.

        Raises:
            OverlapcheckError: one line that names the file and what to do.
        """
        ...

    def record_again(self, lacking: Content, /) -> str | None:
        """What a user does to record a content, as a clause; None where it cannot be had."""
        ...


@runtime_checkable
class NeedsExport(Protocol):
    """A source, some of whose recordings only nsys itself can open: it reads their exports."""

    def needs_export(self, path: Path, /) -> bool:
        """Whether this one must be exported first.

        Raises:
            OverlapcheckError: it is none of its recordings; says what it is instead.
        """
        ...


@runtime_checkable
class Shares(Protocol):
    """A source that can write a part of a recording as one of its own, which names nobody."""

    def shared(self, path: Path, part: Part, /) -> tuple[bytes, Kept]:
        """The content of the new recording's file, and what it is of the old one.

        Args:
            path: a recording that `read` reads.
            part: what is kept.

        Raises:
            TooLarge: the part has more rows than it may.
            OverlapcheckError: one line that names the file and what to do.
        """
        ...


def recorder_of(source: Source) -> Recorder:
    """The words of a source, as a trace carries them."""
    said = ((content, source.record_again(content)) for content in Content)
    return Recorder(source.name, {content: words for content, words in said if words})
