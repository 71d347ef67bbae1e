"""What stdout can show, and how much of a report is wanted there."""

from __future__ import annotations

import os
import shutil
import stat
import sys
from collections.abc import Callable
from functools import wraps
from typing import Any, TypeVar

import click

from overlapcheck.errors import PolicyInvalid

Command = TypeVar("Command", bound=Callable[..., Any])

USUAL_WIDTH = 80
MOST_WIDTH = 120
"""Longer lines are hard to read."""
LEAST_WIDTH = 60
_COLOURED_LOGS = ("GITHUB_ACTIONS", "GITLAB_CI", "BUILDKITE", "CIRCLECI", "TF_BUILD")
"""Variables of CI services that show colours in their logs, though those are no terminals."""


def detail_options(command: Command) -> Command:
    """Add --verbose and --quiet; the command receives them as one `detail`, value of a `Detail`."""

    @wraps(command)
    def with_detail(**options: Any) -> Any:
        verbose, quiet = options.pop("verbose"), options.pop("quiet")
        if verbose and quiet:
            raise PolicyInvalid("--verbose and --quiet exclude each other")
        detail = "all" if verbose else "line" if quiet else "usual"
        return command(detail=detail, **options)

    added = (
        click.option("-v", "--verbose", is_flag=True, help="Tell everything, also of what passes."),
        click.option("-q", "--quiet", is_flag=True, help="Tell the outcome in one line."),
    )
    for option in reversed(added):
        with_detail = option(with_detail)
    return with_detail  # type: ignore[return-value]  # wraps keeps the signature for click


def width() -> int:
    """Columns of the terminal, within what is legible; a log and a file get the usual ones."""
    if sys.stdout.isatty():
        columns = shutil.get_terminal_size((USUAL_WIDTH, 0)).columns
        return min(max(columns, LEAST_WIDTH), MOST_WIDTH)
    return USUAL_WIDTH


def wants_color() -> bool:
    """A terminal or the log of a CI job, unless told otherwise.

    https://no-color.org, https://force-color.org
    """
    if os.environ.get("NO_COLOR"):
        return False
    if (forced := os.environ.get("FORCE_COLOR", "")) != "":
        return forced not in ("0", "false")
    if sys.stdout.isatty():
        return os.environ.get("TERM") != "dumb"
    return _goes_into_a_log() and any(os.environ.get(name) for name in _COLOURED_LOGS)


def wants_plain_signs() -> bool:
    """Whether stdout, or a locale that is set, has no UTF-8."""
    encoding = (getattr(sys.stdout, "encoding", None) or "utf-8").lower().replace("-", "")
    if not encoding.startswith("utf"):
        return True
    if os.environ.get("PYTHONIOENCODING") or os.environ.get("PYTHONUTF8") == "1":
        return False
    # Python takes the C locale for one of UTF-8, a terminal that was told so does not.
    locale = next(filter(None, map(os.environ.get, ("LC_ALL", "LC_CTYPE", "LANG"))), "utf8")
    return "utf8" not in locale.lower().replace("-", "") and (
        locale in ("C", "POSIX") or "." in locale
    )


def _goes_into_a_log() -> bool:
    """Not into a file that somebody has named."""
    try:
        return not stat.S_ISREG(os.fstat(sys.stdout.fileno()).st_mode)
    except (OSError, ValueError):
        return False
