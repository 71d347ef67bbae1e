"""`overlapcheck doctor`: would a capture work here?"""

from __future__ import annotations

from pathlib import Path

import click

from overlapcheck.cli.option_types import FileName
from overlapcheck.errors import ExitCode


@click.command(short_help="Would a capture work on this machine?")
@click.option("--nsys", type=FileName(path_type=Path), metavar="PATH", help="The nsys to check.")
def doctor(nsys: Path | None) -> int:
    """Check nsys, its importer, the GPU and permissions; exit 0 only if a capture would work.

    Every problem is followed by the command that fixes it.
    """
    from overlapcheck.capture.health import examine
    from overlapcheck.cli.messages import one_line

    health = examine(nsys)
    for check in health.checks:
        click.echo(f"{check.state:<8} {check.name:<12} {one_line(check.found)}")
        if check.fix:
            click.echo(f"{'':<8} {'':<12} fix: {one_line(check.fix)}")
    works = "a capture works here" if health.usable else "a capture would not work here"
    click.echo(f"\n{works}")
    return ExitCode.PASS if health.usable else ExitCode.COULD_NOT_RUN
