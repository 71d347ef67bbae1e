"""`overlapcheck streams`: which stream waits for which, and whether that is as agreed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from overlapcheck.cli.option_types import FileName, Number

_FILE = FileName(path_type=Path)


@click.command(short_help="Which stream waits for which; write it down, and hold it.")
@click.argument("report", type=_FILE)
@click.option("--write", "write_to", type=_FILE, metavar="FILE",
              help="Write what this recording keeps; buffers declared in it stay.")  # fmt: skip
@click.option("--check", "check_by", type=_FILE, metavar="FILE",
              help="Exit 1 where an edge of this is lost or weaker, or is new.")  # fmt: skip
@click.option("--steps", metavar="PATTERN", help="NVTX ranges that are the steps.")
@click.option("--skip", type=Number(min=0), metavar="N", help="Leading steps to leave out.")
@click.option("--window", metavar="START..END", help="Look at this part, in seconds of the trace.")
@click.option("--comm-pattern", multiple=True, metavar="REGEX",
              help="Further names of communication kernels; may repeat.")  # fmt: skip
@click.option("--config", type=_FILE, metavar="FILE", help="Policy file; default: the nearest.")
@click.option("--no-config", is_flag=True, help="Use no policy file.")
@click.option("--nsys", type=_FILE, metavar="PATH", help="The nsys to export with.")
@click.option("--no-cache", is_flag=True, help="Neither keep the export of a report nor use one.")
@click.option("--format", "format_", default="terminal", show_default=True, metavar="NAME",
              help="What to print: terminal, json, brief or mermaid.")  # fmt: skip
@click.option("-o", "--output", "outputs", multiple=True, type=_FILE, metavar="FILE",
              help="Also write it here (.txt .json .brief.json .mmd); may repeat.")  # fmt: skip
def streams(report: Path, write_to: Path | None, check_by: Path | None, **options: Any) -> int:
    """Show streams by role, the edges between them per step, and waits of the host.

    \b
    overlapcheck streams train.sqlite
    overlapcheck streams train.sqlite --write streams.toml
    overlapcheck streams other.sqlite --check streams.toml

    Exits with 3 where the recording cannot tell.
    """
    from overlapcheck.cli.stream_output import examine

    return examine(report, write_to, check_by, **options)
