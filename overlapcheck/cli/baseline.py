"""`overlapcheck baseline`: results kept in the repository to compare with."""

from __future__ import annotations

from pathlib import Path

import click

from overlapcheck.clean import clean, inert
from overlapcheck.cli import completion
from overlapcheck.cli.messages import one_line
from overlapcheck.cli.option_types import FileName


@click.group(short_help="Keep results in the repository to compare with.")
def baseline() -> None:
    """Keep results as small JSON files in .overlapcheck/baselines of the repository.

    \b
    overlapcheck baseline save main result.json
    overlapcheck compare --baseline main new.json --fail-if-worse 5
    """


@baseline.command()
@click.argument("name", shell_complete=completion.baselines)
@click.argument("result", type=FileName(path_type=Path))
def save(name: str, result: Path) -> None:
    """Keep RESULT (a .json, a report, its export, or a folder of ranks) as the baseline NAME."""
    from overlapcheck.cli.baseline_files import save_baseline
    from overlapcheck.cli.comparing import read_side
    from overlapcheck.cli.progress import shown
    from overlapcheck.compare.baselines import baseline_path

    path = baseline_path(name, Path.cwd())
    with shown() as progress:
        done = save_baseline(read_side(result, progress), path)
    click.echo(one_line(f"{done} {path}"))


@baseline.command("list")
def list_() -> None:
    """List the baselines by name, with the step and the overlap of each device."""
    from overlapcheck.cli.baseline_files import baseline_lines

    click.echo("\n".join(inert(clean(line)) for line in baseline_lines(Path.cwd())))


@baseline.command()
@click.argument("name", shell_complete=completion.baselines)
def show(name: str) -> None:
    """Print the report that the baseline NAME was made from."""
    from overlapcheck.cli import output
    from overlapcheck.compare.baselines import baseline_file
    from overlapcheck.reporting.restore import read_any_result

    output.show(read_any_result(baseline_file(name, Path.cwd())), "terminal")
