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
    from overlapcheck.whatif.told import replayed_for

    recorders = [recorder_of(source) for source in all_sources()] if cause else []
    page = manual(cause, recorders) + replayed_for(cause) if cause else manual_index()
    click.echo(page, nl=False)
    return 0
