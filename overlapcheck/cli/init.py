"""`overlapcheck init`: a first policy file."""

from __future__ import annotations

from pathlib import Path

import click

from overlapcheck.errors import ExitCode, OutputUnwritable, PolicyInvalid


@click.command(short_help="Write a commented overlapcheck.toml to start from.")
@click.option("--force", is_flag=True, help="Replace the file that is there.")
def init(force: bool) -> int:
    """Write overlapcheck.toml here: every setting, its default, and what it means.

    \b
    overlapcheck init
    git add overlapcheck.toml
    """
    from overlapcheck.policy.find import OWN_FILE
    from overlapcheck.policy.template import TEMPLATE

    path = Path(OWN_FILE)
    try:
        with path.open("w" if force else "x", encoding="utf-8") as file:
            file.write(TEMPLATE)
    except FileExistsError as error:
        raise PolicyInvalid(
            f"{path}: is there already", "to replace it: overlapcheck init --force"
        ) from error
    except OSError as error:
        raise OutputUnwritable(
            f"{path}: cannot be written ({error.strerror or error})",
            "run it in a folder that you may write to",
        ) from error
    click.echo(f"wrote {path}")
    return ExitCode.PASS
