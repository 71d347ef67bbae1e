"""What a text is laid out for: how wide the page is, and how much is told."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from enum import StrEnum

WIDTH = 80
"""Columns of a page that nobody has measured."""


class Detail(StrEnum):
    """How much of a report is told."""

    LINE = "line"
    """Its first line alone."""
    USUAL = "usual"
    """What deserves it: evidence of what fails, the worst rows of long tables."""
    ALL = "all"
    """Everything that the report holds, also of what passes."""


@dataclass(frozen=True)
class Page:
    """What a text is laid out for."""

    width: int = WIDTH
    """Columns that no line exceeds."""
    detail: Detail = Detail.USUAL


_USUAL_PAGE = Page()
_PAGE = ContextVar("page", default=_USUAL_PAGE)


@contextmanager
def laid_out_for(page: Page) -> Iterator[None]:
    """Lines made in the block are for this page."""
    token = _PAGE.set(page)
    try:
        yield
    finally:
        _PAGE.reset(token)


def columns() -> int:
    """Columns that no line exceeds."""
    return _PAGE.get().width


def tells_all() -> bool:
    """Whether everything is told."""
    return _PAGE.get().detail is Detail.ALL


def tells_a_line() -> bool:
    """Whether the first line is all."""
    return _PAGE.get().detail is Detail.LINE


def most(usual: int) -> int:
    """How many of something are told: usually so many, else all of them."""
    return sys.maxsize if tells_all() else usual
