"""What goes to stderr: the one place where messages, warnings and progress are printed."""

from __future__ import annotations

import sys
from io import StringIO

import click

from overlapcheck.clean import clean, inert
from overlapcheck.redaction import without_homes


def say(text: str) -> None:
    """Print a message of ours: one line, with nothing in it that a terminal or a runner obeys."""
    click.echo(f"overlapcheck: {one_line(text)}", err=True)


def say_live(text: str, width: int) -> None:
    """Show a message over the one before; an empty one clears the line."""
    shown = f"overlapcheck: {one_line(text)}"[:width] if text else ""
    click.echo(f"\r{shown:<{width}}" + ("" if text else "\r"), err=True, nl=False)


def say_usage(error: click.ClickException) -> None:
    """Print how a command is called, and what was wrong, as click words it."""
    written = StringIO()
    error.show(written)
    for line in written.getvalue().splitlines():
        click.echo(inert(without_homes(clean(line))), file=sys.stderr)


def one_line(text: str) -> str:
    """A text with names in it as one line of a log."""
    return inert(without_homes(" ".join(clean(text).split())))
