"""`overlapcheck cache`: the exports that are kept for the next time."""

from __future__ import annotations

import click

from overlapcheck.errors import ExitCode


@click.command(short_help="The kept exports of reports; --clear removes them.")
@click.option("--clear", is_flag=True, help="Remove them.")
def cache(*, clear: bool) -> int:
    """Say which exports of reports are kept, and how large they are.

    nsys needs minutes to export a large report, so its exports are kept in XDG_CACHE_HOME, else in
    ~/.cache: 20 GiB at most, and half of the room there; what was not used for longest goes first.
    """
    from overlapcheck.capture.export_cache import ExportCache, size_of
    from overlapcheck.quantities import count_of

    kept = ExportCache()
    sizes = list(map(size_of, kept.entries()))
    if clear:
        left = kept.clear()
        note = f", {left} left that are being read" if left else ""
        click.echo(f"{kept.folder}: {count_of(len(sizes) - left, 'export')} removed{note}")
    else:
        click.echo(f"{kept.folder}: {count_of(len(sizes), 'export')}, {sum(sizes) >> 20} MB")
    return ExitCode.PASS
