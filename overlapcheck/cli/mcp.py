"""`overlapcheck mcp`: answer an assistant that asks over the Model Context Protocol."""

from __future__ import annotations

from pathlib import Path

import click

from overlapcheck.cli.option_types import FileName
from overlapcheck.errors import ExitCode


@click.command(short_help="Serve an assistant over MCP (stdin and stdout; reads only).")
@click.option("--root", "roots", multiple=True, metavar="DIR",
              type=FileName(exists=True, file_okay=False, path_type=Path),
              help="Read below DIR; may repeat; default: the current directory.")  # fmt: skip
def mcp(roots: tuple[Path, ...]) -> int:
    """Answer analyze, compare, explain and streams for files below the roots.

    \b
    overlapcheck mcp --root ~/runs

    Needs pip install 'overlapcheck[mcp]'. It speaks on stdin and stdout until stdin ends, writes no
    result, and reads nothing outside of the roots; docs/agents.md says how to read its answers.
    """
    from overlapcheck.cli.allowed_folders import AllowedFolders
    from overlapcheck.cli.assistant import server

    server(AllowedFolders(roots or (Path.cwd(),))).run("stdio")
    return ExitCode.PASS
