"""`overlapcheck trim`: the least of a report that gives the same answer, to be handed on."""

from __future__ import annotations

from pathlib import Path

import click

from overlapcheck.cli.option_types import FileName
from overlapcheck.errors import ExitCode

_FILE = FileName(path_type=Path)


@click.command(short_help="A small copy of a report to share, without names, that answers alike.")
@click.argument("report", type=_FILE)
@click.option("-o", "--output", type=_FILE, required=True, metavar="FILE",
              help="Write the SQLite file here.")  # fmt: skip
@click.option("--rename", is_flag=True,
              help="Call the program's own kernels and ranges by number, too.")  # fmt: skip
@click.option("--nsys", type=_FILE, metavar="PATH",
              help="The nsys to export with; default: the newest one found.")  # fmt: skip
@click.option("--no-cache", is_flag=True, help="Neither keep the export of a report nor use one.")
def trim(report: Path, output: Path, rename: bool, nsys: Path | None, no_cache: bool) -> int:
    """Write a few steps of REPORT that give the same verdict and first cause, and name nobody.

    \b
    overlapcheck trim train.nsys-rep -o small.sqlite
    overlapcheck trim train.sqlite -o small.sqlite --rename

    Environment, arguments, paths, users, hosts, processes and threads stay out or are called by
    number. What is written is what overlapcheck reads, and the default limits judge it.
    """
    from overlapcheck import pipeline
    from overlapcheck.cli.files import spare_inputs, write_bytes
    from overlapcheck.cli.messages import one_line, say
    from overlapcheck.cli.progress import shown
    from overlapcheck.cli.stopping import stoppable
    from overlapcheck.reading import Reading
    from overlapcheck.sharing.told import told

    spare_inputs([output], [report])
    with stoppable(f"trimming {report}"), shown() as progress:
        reading = Reading(
            nsys=nsys, cache=not no_cache, progress=progress, opened=progress.opens, warn=say
        )
        trimmed = pipeline.trim(report, rename=rename, reading=reading)
    write_bytes(output, trimmed.content)
    for line in told(trimmed, output.name):
        click.echo(one_line(line))
    return ExitCode.PASS
