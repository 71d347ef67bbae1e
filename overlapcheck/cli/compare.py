"""`overlapcheck compare`: what changed between two runs."""

from __future__ import annotations

from pathlib import Path

import click

from overlapcheck.cli import completion, terminal_page
from overlapcheck.cli.option_types import FileName, Percentage

_FILE = FileName(path_type=Path)


@click.command(short_help="What changed between two results, reports or jobs.")
@click.argument("sides", nargs=-1, required=True, type=_FILE, metavar="[BASE] NEW")
@click.option("--baseline", metavar="NAME", shell_complete=completion.baselines,
              help="Compare with a saved baseline instead of BASE.")  # fmt: skip
@click.option("--fail-if-worse", type=Percentage(0), metavar="PCT", help="Exit 1 where the step"
              " got longer, or a share worse, by more than this and the noise.")  # fmt: skip
@click.option("--force", is_flag=True, help="Compare what is not comparable, too.")
@click.option(
    "--format", "format_", metavar="NAME", default="terminal", show_default=True,
    shell_complete=completion.formats,
    help="What to print: terminal, json, brief, html, markdown, junit, github, sarif or perfetto.",
)  # fmt: skip
@click.option("-o", "--output", "outputs", multiple=True, type=_FILE, metavar="FILE",
              help="Also write it here; the suffix chooses the format; may repeat.")  # fmt: skip
@terminal_page.detail_options
def compare(sides: tuple[Path, ...], baseline: str | None, fail_if_worse: float | None,
            force: bool, format_: str, outputs: tuple[Path, ...], detail: str) -> int:  # fmt: skip
    """Compare NEW with BASE: each a result (.json), a report, or its SQLite export.

    Or jobs of many ranks: each a result, a folder, a quoted glob or @LIST.

    \b
    overlapcheck compare before.json after.nsys-rep
    overlapcheck compare before_job.json after_job/
    overlapcheck compare --baseline main new.json --fail-if-worse 5

    Exits with 3 where the two are not comparable, or too noisy for --fail-if-worse.
    """
    from overlapcheck.cli.comparing import read_side, told_apart
    from overlapcheck.cli.comparison_output import check_formats, deliver_comparison
    from overlapcheck.cli.files import spare_inputs
    from overlapcheck.cli.progress import shown
    from overlapcheck.compare.baselines import baseline_file
    from overlapcheck.compare.either import compare_either as made
    from overlapcheck.errors import PolicyInvalid

    if len(sides) != (1 if baseline else 2):
        raise PolicyInvalid("compare takes BASE and NEW, or --baseline NAME and NEW")
    check_formats(format_, outputs)
    paths = [baseline_file(baseline, Path.cwd()), *sides] if baseline else list(sides)
    spare_inputs(outputs, paths)
    with shown() as progress:
        base, new = (read_side(path, progress) for path in paths)
    base, new = told_apart(base, new, (paths[0], paths[1]))
    found = made(base, new, limit=fail_if_worse and fail_if_worse / 100, force=force)
    return deliver_comparison(found, format_, outputs, detail)
