"""`overlapcheck analyze`: judge an existing report."""

from __future__ import annotations

from pathlib import Path

import click

from overlapcheck.cli.options import Judging, judging_options


@click.command(short_help="Judge an existing report (.nsys-rep, .qdrep, .sqlite).")
@click.argument("report", type=click.Path(path_type=Path))
@judging_options
@click.option(
    "--nsys",
    type=click.Path(path_type=Path),
    metavar="PATH",
    help="The nsys to export with; default: the newest one found.",
)
def analyze(report: Path, judging: Judging, nsys: Path | None) -> int:
    """Judge REPORT: a .nsys-rep or .qdrep report, or its SQLite export.

    \b
    overlapcheck analyze train.nsys-rep
    overlapcheck analyze train.sqlite --min-overlap 90 -o result.json
    """
    from overlapcheck import pipeline
    from overlapcheck.capture.interruption import interruptible
    from overlapcheck.cli.output import deliver
    from overlapcheck.cli.progress import shown

    with interruptible(f"analysing {report}"), shown() as progress:
        result = pipeline.analyze(
            report,
            policy=judging.policy,
            selection=judging.selection,
            nsys=nsys,
            progress=progress,
        )
    return deliver(result, judging)
