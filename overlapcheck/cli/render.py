"""`overlapcheck render`: show a saved result in another format."""

from __future__ import annotations

from pathlib import Path

import click

from overlapcheck.cli import completion
from overlapcheck.cli.option_types import FileName
from overlapcheck.cli.terminal_page import detail_options
from overlapcheck.errors import ExitCode


@click.command(short_help="Show a saved result (.json) in another format.")
@click.argument("result", type=FileName(path_type=Path))
@click.option(
    "--format",
    "format_",
    metavar="NAME",
    shell_complete=completion.formats,
    help="Print in this format: terminal, json, brief, junit, markdown, github, sarif or html, of"
    " ranks perfetto, too; default: terminal, or nothing with -o.",
)
@click.option(
    "-o",
    "--output",
    "outputs",
    multiple=True,
    type=FileName(path_type=Path),
    metavar="FILE",
    help="Write the report here; the suffix chooses the format; may repeat.",
)
@detail_options
def render(result: Path, format_: str | None, outputs: tuple[Path, ...], detail: str) -> int:
    """Show RESULT, which `-o FILE.json` wrote, in other formats; no trace is needed.

    \b
    overlapcheck render result.json
    overlapcheck render result.json -o report.md -o checks.junit.xml

    The exit code says whether this worked, whatever the verdict: 0, 2 for a wrong option, 4 for a
    file that cannot be read or written. A result holds no events: the html format draws its typical
    steps, but no timeline to zoom into, and of one report the perfetto format needs the trace.
    """
    from overlapcheck.cli.files import spare_inputs, write
    from overlapcheck.cli.option_values import check_format, check_outputs
    from overlapcheck.cli.output import show, text_for
    from overlapcheck.reporting.restore import read_any_result

    chosen = check_format(format_ or "terminal")
    check_outputs(outputs)
    spare_inputs(outputs, [result])
    report = read_any_result(result)
    texts = [(path, text_for(path, report, detail)) for path in outputs]
    if format_ or not outputs:
        show(report, chosen, detail)
    for path, text in texts:
        write(path, text)
    return ExitCode.PASS
