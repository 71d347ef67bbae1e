"""Types of options and arguments: click's, but in words for people, and without its surprises."""

from __future__ import annotations

import math
import os
from pathlib import Path
from typing import Any

import click


class Number(click.IntRange):
    """A whole number."""

    name = "whole number"


class Percentage(click.FloatRange):
    """A number that can be compared; click takes NaN for one in every range."""

    name = "percentage"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> float:
        """See click."""
        number = float(super().convert(value, param, ctx))
        if not math.isfinite(number):
            self.fail(f"{value!r} is not a valid {self.name}.", param, ctx)
        return number


class FileName(click.Path):
    """A path that names something: to Python an empty one is the current directory."""

    def convert(
        self,
        value: str | os.PathLike[str],
        param: click.Parameter | None,
        ctx: click.Context | None,
    ) -> Any:
        """See click."""
        if not os.fspath(value):
            self.fail("an empty name; is a variable not set?", param, ctx)
        return super().convert(value, param, ctx)


FILE = FileName(path_type=Path)
"""A file that need not be there yet."""
