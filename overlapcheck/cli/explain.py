"""`overlapcheck explain`: what a cause means."""

from __future__ import annotations

import click

from overlapcheck.cli import completion


@click.command(short_help="What a cause means and what to do about it.")
@click.argument("cause", required=False, shell_complete=completion.causes)
def explain(cause: str | None) -> int:
    """Print the page of CAUSE, or list all causes."""
    from overlapcheck.causes import manual, manual_index
    from overlapcheck.source import recorder_of
    from overlapcheck.sources import all_sources

    recorders = [recorder_of(source) for source in all_sources()] if cause else []
    click.echo(manual(cause, recorders) if cause else manual_index(), nl=False)
    return 0
