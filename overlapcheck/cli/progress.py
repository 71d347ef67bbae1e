"""Progress on stderr, for whatever takes longer than a second."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import click

PATIENCE_S = 1.0


@contextmanager
def shown() -> Iterator[Callable[[str], None]]:
    """Yield a progress callback: each stage is named once it has lasted a second."""
    timer: threading.Timer | None = None

    def begins(what: str) -> None:
        nonlocal timer
        if timer is not None:
            timer.cancel()
        timer = threading.Timer(PATIENCE_S, _say, (what,))
        timer.daemon = True
        timer.start()

    try:
        yield begins
    finally:
        if timer is not None:
            timer.cancel()


def warn(text: str) -> None:
    """A line on stderr, at once."""
    click.echo(f"overlapcheck: {text}", err=True)


def _say(what: str) -> None:
    click.echo(f"overlapcheck: {what} ...", file=sys.stderr)
