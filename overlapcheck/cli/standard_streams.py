"""Our stdout and stderr: what goes wrong there costs neither a file nor the verdict.

A reader may go away (`| head`), a disk may be full, a stream may be closed. The commands need not
know: they write, what cannot be written is dropped, and `main` asks at the end.
"""

from __future__ import annotations

import errno
import io
import os
import select
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, TextIO

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer as Buffer


class _Lenient(io.FileIO):
    """A descriptor that remembers that it could not be written to."""

    failure: OSError | None = None

    def write(self, data: Buffer) -> int:
        """Write, or drop."""
        if self.failure is None:
            try:
                # None: a terminal that another program has made non-blocking.
                while (written := super().write(data)) is None:
                    select.select([], [self], [])
            except OSError as error:
                self.failure = error
            else:
                return written
        return memoryview(data).nbytes


class StandardStreams:
    """The streams of one run of the command line."""

    def __init__(self, stdout: _Lenient | None) -> None:
        self._stdout = stdout

    @property
    def lost_output(self) -> OSError | None:
        """Why the report on stdout is not whole, where that is an error.

        A reader that went away has seen what it wanted; a stdout that was closed has none.
        """
        failure = self._stdout.failure if self._stdout else None
        return None if failure is None or failure.errno == errno.EPIPE else failure


@contextmanager
def standard_streams() -> Iterator[StandardStreams]:
    """Make stdout and stderr lenient while the block runs; replaced ones stay as they are."""
    _fill_closed()
    before = sys.stdout, sys.stderr
    stdout, out = _lenient(sys.stdout, sys.__stdout__)
    stderr, _ = _lenient(sys.stderr, sys.__stderr__)
    sys.stdout, sys.stderr = stdout, stderr
    try:
        yield StandardStreams(out)
    finally:
        sys.stdout, sys.stderr = before
        for stream, old in zip((stdout, stderr), before, strict=True):
            with suppress(OSError, ValueError):
                stream.close() if old is None else stream.flush()


def _fill_closed() -> None:
    """No file opened later may get the number of a stream: what is printed would go there."""
    while (descriptor := os.open(os.devnull, os.O_RDWR)) <= 2:
        os.set_inheritable(descriptor, True)
    os.close(descriptor)


def _lenient(stream: TextIO | None, original: TextIO | None) -> tuple[TextIO, _Lenient | None]:
    if stream is None:
        return open(os.devnull, "w", encoding="utf-8"), None  # noqa: PTH123
    if stream is not original:
        return stream, None
    with suppress(OSError, ValueError):
        stream.flush()
    raw = _Lenient(stream.fileno(), "w", closefd=False)
    text = io.TextIOWrapper(
        io.BufferedWriter(raw),
        encoding=stream.encoding,
        errors=stream.errors,
        line_buffering=True,
    )
    return text, raw
