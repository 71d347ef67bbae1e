"""Options that `run` and `analyze` share."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from overlapcheck.errors import PolicyInvalid

if TYPE_CHECKING:
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


_PERCENT = click.FloatRange(0, 100)
_OPTIONS = (
    click.option(
        "--min-overlap",
        type=_PERCENT,
        default=80.0,
        metavar="PCT",
        show_default=True,
        help="Least share of each direction's copy time that must run under compute.",
    ),
    click.option(
        "--no-ceiling",
        is_flag=True,
        help="Ask for --min-overlap even where compute is too short to hide that much.",
    ),
    click.option(
        "--max-recoverable",
        type=_PERCENT,
        default=10.0,
        metavar="PCT",
        show_default=True,
        help="Largest share of the time that perfect overlap could still win back.",
    ),
    click.option("--max-idle", type=_PERCENT, metavar="PCT", help="Largest share without compute."),
    click.option(
        "--max-exposed-comm",
        type=_PERCENT,
        metavar="PCT",
        help="Largest share with communication and no compute.",
    ),
    click.option("--require-copies", is_flag=True, help="Fail where there are no copies to judge."),
    click.option(
        "--fail-on",
        metavar="CAUSE,...",
        help="Fail where one of these causes costs 2 % or more; see explain.",
    ),
    click.option(
        "--steps",
        metavar="PATTERN",
        help="NVTX ranges that are the steps: 'my step #' or a regular expression.",
    ),
    click.option(
        "--skip",
        type=click.IntRange(min=0),
        metavar="N",
        help="Leading steps to leave out; default: warm-up, 0 keeps all.",
    ),
    click.option(
        "--window", metavar="START..END", help="Judge this part of the trace, in its seconds."
    ),
    click.option("--device", type=click.IntRange(min=0), metavar="N", help="Judge only device N."),
    click.option(
        "--comm-pattern",
        multiple=True,
        metavar="REGEX",
        help="Further names of communication kernels; may repeat.",
    ),
    click.option(
        "--format",
        "format_",
        default="terminal",
        metavar="NAME",
        show_default=True,
        help="What to print: terminal or json.",
    ),
    click.option(
        "-o",
        "--output",
        "outputs",
        multiple=True,
        type=click.Path(path_type=Path),
        metavar="FILE",
        help="Also write the report here; the suffix chooses the format; may repeat.",
    ),
)

_NAMES = (
    "min_overlap",
    "max_recoverable",
    "max_idle",
    "max_exposed_comm",
    "no_ceiling",
    "require_copies",
    "fail_on",
    "steps",
    "skip",
    "window",
    "device",
    "comm_pattern",
    "format_",
    "outputs",
)


def judging_options(command: Command) -> Command:
    """Add the shared options; the command receives them as one `judging` argument."""

    @wraps(command)
    def with_judging(**options: Any) -> Any:
        judging = _judging(**{name: options.pop(name) for name in _NAMES})
        return command(judging=judging, **options)

    for option in reversed(_OPTIONS):
        with_judging = option(with_judging)
    return with_judging  # type: ignore[return-value]  # wraps keeps the signature for click


def _judging(**o: Any) -> Judging:
    from overlapcheck.selection import Selection
    from overlapcheck.verdict import Policy

    if 0 < o["min_overlap"] < 1:
        raise PolicyInvalid(
            f"--min-overlap {o['min_overlap']:g} is less than one percent",
            f"limits are percentages: --min-overlap {o['min_overlap'] * 100:g}",
        )
    policy = Policy(
        min_overlap=o["min_overlap"] / 100,
        relief_from_ceiling=not o["no_ceiling"],
        max_recoverable=o["max_recoverable"] / 100,
        max_idle=_share(o["max_idle"]),
        max_exposed_communication=_share(o["max_exposed_comm"]),
        require_copies=o["require_copies"],
        fail_on=_causes(o["fail_on"] or ""),
    )
    selection = Selection(
        steps=_pattern("--steps", o["steps"]) if o["steps"] is not None else None,
        skip=o["skip"],
        window_ns=_window(o["window"]) if o["window"] else None,
        device=o["device"],
        communication=tuple(_pattern("--comm-pattern", text) for text in o["comm_pattern"]),
    )
    return Judging(policy, selection, _format(o["format_"]), _outputs(o["outputs"]))


def _causes(text: str) -> frozenset[str]:
    from overlapcheck.causes import check_known

    named = frozenset(part.strip() for part in text.split(",") if part.strip())
    check_known(named)
    return named


def _share(percent: float | None) -> float | None:
    return None if percent is None else percent / 100


def _pattern(option: str, text: str) -> str:
    import re

    try:
        re.compile(text)
    except re.error as error:
        raise PolicyInvalid(
            f"{option} {text!r}: not a regular expression ({error})", "escape ( [ * + with \\"
        ) from error
    return text


def _window(text: str) -> tuple[int, int]:
    try:
        start, end = (round(float(part) * 1e9) for part in text.split(".."))
    except (ValueError, OverflowError):
        start, end = 0, 0
    if end <= start:
        raise PolicyInvalid(
            f"--window {text}: not a start and a later end", "write seconds: --window 1.5..2.25"
        )
    return start, end


def _format(name: str) -> str:
    from overlapcheck.renderers import renderers

    if name not in renderers():
        raise PolicyInvalid(
            f"--format {name}: no such format", f"use one of {', '.join(sorted(renderers()))}"
        )
    return name


def _outputs(paths: tuple[Path, ...]) -> tuple[Path, ...]:
    from overlapcheck.renderers import renderer_for_file

    for path in paths:
        renderer_for_file(path.name)
    return paths
