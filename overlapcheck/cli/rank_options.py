"""Options of `analyze` alone: control recordings, and what matters to several reports."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields
from functools import wraps
from pathlib import Path
from typing import Any, TypeVar

import click

from overlapcheck.cli.option_types import FileName, Number
from overlapcheck.job import Job

Command = TypeVar("Command", bound=Callable[..., Any])


@dataclass(frozen=True)
class Fleet:
    """What to judge beside, and how to read and judge several reports."""

    each: bool
    """Whether they are reports of different programs, judged each alone."""
    rank_pattern: str | None
    same_host: bool
    jobs: int | None
    dask: str | None
    dask_local: int | None
    resume: bool
    rank_pages: int
    control: tuple[Path, ...]
    """Control recordings, of one report or of several."""

    @property
    def job(self) -> Job:
        """What the user knows of the job."""
        return Job(self.rank_pattern, self.same_host, self.control)


_COUNT = Number(min=1)
_OPTIONS = (
    click.option(
        "--control",
        multiple=True,
        type=FileName(path_type=Path),
        metavar="CONTROL",
        help="The same program recorded with --trace=nvtx alone, report or export: judge at its own"
        " pace. May repeat: for several runs, or one for each of several reports.",
    ),
    click.option(
        "--each",
        is_flag=True,
        help="Several reports: judge each alone, a line a report; the worst exit code counts.",
    ),
    click.option(
        "--rank-pattern",
        metavar="REGEX",
        help="Several reports: the rank in a report's path, as a group named rank.",
    ),
    click.option("--same-host", is_flag=True, help="Several reports: all share one clock."),
    click.option(
        "--jobs", type=_COUNT, metavar="N", help="Several reports: judge N at once; default: cores."
    ),
    click.option("--dask", metavar="ADDRESS", help="Several reports: judge them on this cluster."),
    click.option(
        "--dask-local", type=_COUNT, metavar="N", help="Several reports: on N local Dask workers."
    ),
    click.option(
        "--resume",
        is_flag=True,
        help="Several reports: keep finished results beside the output, and reuse them.",
    ),
    click.option(
        "--rank-pages",
        type=Number(min=0),
        default=8,
        show_default=True,
        metavar="N",
        help="Several reports: timelines to draw beside an .html output, of the telling ranks.",
    ),
)


def fleet_options(command: Command) -> Command:
    """Add the options; the command receives them as one `fleet` argument."""

    @wraps(command)
    def with_fleet(**options: Any) -> Any:
        chosen = {field.name: options.pop(field.name) for field in fields(Fleet)}
        return command(fleet=Fleet(**chosen), **options)

    for option in reversed(_OPTIONS):
        with_fleet = option(with_fleet)
    return with_fleet  # type: ignore[return-value]  # wraps keeps the signature for click
