"""Options that `run` and `analyze` share."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from overlapcheck.cli import completion
from overlapcheck.cli.option_types import FileName, Number, Percentage
from overlapcheck.cli.option_values import (
    causes_in,
    check_format,
    check_outputs,
    pattern,
    time_ns,
    window_ns,
)
from overlapcheck.cli.terminal_page import detail_options
from overlapcheck.errors import PolicyInvalid

if TYPE_CHECKING:
    from overlapcheck.policy.settings import Setting
    from overlapcheck.selection import Selection
    from overlapcheck.verdict import Policy

Command = TypeVar("Command", bound=Callable[..., Any])


@dataclass(frozen=True)
class Judging:
    """What the user asked for: what to measure, how to judge it, where to write it."""

    policy: Policy
    selection: Selection
    format: str
    outputs: tuple[Path, ...]
    tables: Path | None = None
    """Folder for the full tables."""
    tables_format: str = "parquet"
    source_root: Path | None = None
    """Folder of the program's source, beside the current directory."""
    cache: bool = True
    """Whether exports of reports are kept in the user's cache folder, and found there."""
    detail: str = "usual"
    """How much is told, value of a `Detail`."""


_PERCENT = Percentage(0, 100)
_OPTIONS = (
    click.option(
        "--min-overlap",
        type=_PERCENT,
        metavar="PCT",
        show_default="80",
        help="Least share of each direction's copy time that must run under compute.",
    ),
    click.option(
        "--ceiling/--no-ceiling",
        default=None,
        help="Whether 0.9 of what compute can hide is enough, or --min-overlap always is asked.",
    ),
    click.option(
        "--max-recoverable",
        type=_PERCENT,
        metavar="PCT",
        show_default="10",
        help="Largest share of the time that perfect overlap could still win back.",
    ),
    click.option("--max-idle", type=_PERCENT, metavar="PCT", help="Largest share without compute."),
    click.option(
        "--max-exposed-comm",
        type=_PERCENT,
        metavar="PCT",
        help="Largest share with communication and no compute.",
    ),
    click.option(
        "--require-copies/--no-require-copies",
        default=None,
        help="Fail where there are no copies to judge.",
    ),
    click.option(
        "--fail-on",
        metavar="CAUSE,...",
        shell_complete=completion.causes,
        help="Fail where one of these causes costs 2 % or more; see explain.",
    ),
    click.option(
        "--streams",
        metavar="FILE",
        help="Fail where streams do not wait for each other as this contract says; see streams.",
    ),
    click.option(
        "--steps",
        metavar="PATTERN",
        help="NVTX ranges that are the steps: 'my step #' or a regular expression.",
    ),
    click.option(
        "--skip",
        type=Number(min=0),
        metavar="N",
        help="Leading steps to leave out; default: warm-up, 0 keeps all.",
    ),
    click.option(
        "--step-time",
        metavar="TIME",
        help="How long a step takes when nothing records it, 20.6ms: judge at that pace.",
    ),
    click.option(
        "--window", metavar="START..END", help="Judge this part of the trace, in its seconds."
    ),
    click.option("--device", type=Number(min=0), metavar="N", help="Judge only device N."),
    click.option(
        "--comm-pattern",
        multiple=True,
        metavar="REGEX",
        help="Further names of communication kernels; may repeat.",
    ),
    click.option(
        "--config",
        type=FileName(path_type=Path),
        metavar="FILE",
        help="Policy file; default: the nearest overlapcheck.toml or pyproject.toml upward,"
        " in the repository.",
    ),
    click.option("--no-config", is_flag=True, help="Use no policy file."),
    click.option(
        "--profile",
        metavar="NAME",
        shell_complete=completion.profiles,
        help="Use this profile of the policy file.",
    ),
    click.option(
        "--format",
        "format_",
        default="terminal",
        metavar="NAME",
        shell_complete=completion.formats,
        show_default=True,
        help="What to print: terminal, json, brief, junit, markdown, github, sarif, html or"
        " perfetto.",
    ),
    click.option(
        "-o",
        "--output",
        "outputs",
        multiple=True,
        type=FileName(path_type=Path),
        metavar="FILE",
        help="Also write the report here; the suffix chooses the format (.txt .json .xml .md"
        " .github.txt .sarif .html .brief.json .perfetto.json); may repeat.",
    ),
    click.option(
        "--source-root",
        type=FileName(exists=True, file_okay=False, path_type=Path),
        metavar="DIR",
        help="Show lines of source files below DIR, too; default: below the current directory.",
    ),
    click.option(
        "--tables",
        type=FileName(file_okay=False, path_type=Path),
        metavar="DIR",
        help="Also write the full tables here, a file each: gaps, blocking, steps, ledger,"
        " contention, streams.",
    ),
    click.option(
        "--tables-format",
        type=click.Choice(["parquet", "csv"]),
        default="parquet",
        show_default=True,
        help="What --tables writes.",
    ),
    click.option(
        "--no-cache",
        is_flag=True,
        help="Neither keep the export of a report nor use one; see overlapcheck cache.",
    ),
)
_OF_RANKS = (
    click.option(
        "--max-failing-ranks",
        type=_PERCENT,
        metavar="PCT",
        show_default="0",
        help="Several reports: largest share of the ranks that may fail.",
    ),
    click.option(
        "--expect-ranks",
        type=Number(min=1),
        metavar="N",
        help="Several reports: how many ranks there must be; default: as many as reports say.",
    ),
)

_NAMES = (
    "min_overlap",
    "max_recoverable",
    "max_idle",
    "max_exposed_comm",
    "max_failing_ranks",
    "expect_ranks",
    "ceiling",
    "require_copies",
    "fail_on",
    "streams",
    "steps",
    "skip",
    "step_time",
    "window",
    "device",
    "comm_pattern",
    "config",
    "no_config",
    "profile",
    "format_",
    "outputs",
    "tables",
    "tables_format",
    "source_root",
    "no_cache",
    "detail",
)


def judging_options(command: Command) -> Command:
    """Add the shared options; the command receives them as one `judging` argument."""
    return _with(command, _OPTIONS)


def judging_options_of_ranks(command: Command) -> Command:
    """The same, and those that judge several reports."""
    return _with(command, (*_OPTIONS, *_OF_RANKS))


def _with(command: Command, added: Sequence[Callable[[Command], Command]]) -> Command:
    @wraps(command)
    def with_judging(**options: Any) -> Any:
        judging = _judging(**{name: options.pop(name, None) for name in _NAMES})
        return command(judging=judging, **options)

    with_judging = detail_options(with_judging)
    for option in reversed(added):
        with_judging = option(with_judging)
    return with_judging  # type: ignore[return-value]  # wraps keeps the signature for click


def _judging(**o: Any) -> Judging:
    from overlapcheck.causes import causes
    from overlapcheck.policy.resolve import Source, resolve, settings_of

    if o["min_overlap"] is not None and 0 < o["min_overlap"] < 1:
        raise PolicyInvalid(
            f"--min-overlap {o['min_overlap']:g} is less than one percent",
            f"limits are percentages: --min-overlap {o['min_overlap'] * 100:g}",
        )
    file = settings_of(Source(o["config"], o["no_config"], o["profile"]), causes())
    policy, selection = resolve(file, given(o))
    return Judging(
        policy,
        selection,
        check_format(o["format_"]),
        check_outputs(o["outputs"]),
        o["tables"],
        o["tables_format"],
        o["source_root"] and o["source_root"].absolute(),
        not o["no_cache"],
        o["detail"],
    )


def given(o: Mapping[str, Any]) -> dict[str, Setting]:
    """What the command line says about the policy, by the keys of the policy file."""
    from overlapcheck.policy.settings import Setting

    values = {
        "min-overlap": o["min_overlap"],
        "ceiling": o["ceiling"],
        "max-recoverable": o["max_recoverable"],
        "max-idle": o["max_idle"],
        "max-exposed-comm": o["max_exposed_comm"],
        "max-failing-ranks": o["max_failing_ranks"],
        "expect-ranks": o["expect_ranks"],
        "require-copies": o["require_copies"],
        "fail-on": causes_in(o["fail_on"]) if o["fail_on"] is not None else None,
        "streams": o["streams"],
        "steps": pattern("--steps", o["steps"]) if o["steps"] is not None else None,
        "skip": o["skip"],
        "step-time": time_ns("--step-time", o["step_time"]),
        "window": window_ns(o["window"]) if o["window"] else None,
        "device": o["device"],
        "comm-patterns": tuple(pattern("--comm-pattern", text) for text in o["comm_pattern"])
        or None,
    }
    options = {"ceiling": "--ceiling" if o["ceiling"] else "--no-ceiling"}
    return {
        key: Setting(value, options.get(key, f"--{key}"))
        for key, value in values.items()
        if value is not None
    }
