"""What a shell offers after Tab: causes, formats, profiles of the policy file, baselines.

Nothing here fails: a shell that completes has nowhere to show an error.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import suppress
from pathlib import Path

import click

from overlapcheck.errors import OverlapcheckError

Completer = Callable[[click.Context, click.Parameter, str], list[str]]


def _completer(offered: Callable[[click.Context], Iterable[str]]) -> Completer:
    def complete(ctx: click.Context, _: click.Parameter, incomplete: str) -> list[str]:
        # Of a list with commas the last part.
        done, comma, begun = incomplete.rpartition(",")
        with suppress(OverlapcheckError, OSError):
            return [f"{done}{comma}{one}" for one in sorted(offered(ctx)) if one.startswith(begun)]
        return []

    return complete


def _causes(_: click.Context) -> Iterable[str]:
    from overlapcheck.causes import causes

    return causes()


def _formats(_: click.Context) -> Iterable[str]:
    from overlapcheck.renderers import renderers

    return renderers()


def _profiles(ctx: click.Context) -> Iterable[str]:
    from overlapcheck.policy.find import find_policy_file, open_policy_file

    config = ctx.params.get("config")
    found = open_policy_file(Path(config)) if config else find_policy_file(Path.cwd())
    profiles = found.table.get("profiles") if found else None
    return profiles if isinstance(profiles, dict) else ()


def _baselines(_: click.Context) -> Iterable[str]:
    from overlapcheck.compare.baselines import baseline_names

    return baseline_names(Path.cwd())


causes = _completer(_causes)
formats = _completer(_formats)
profiles = _completer(_profiles)
baselines = _completer(_baselines)
