"""HTML that cannot be broken by what it shows: text is escaped where it becomes part of a page."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from overlapcheck.clean import clean

_VOID = frozenset({"br", "hr", "input", "link", "meta"})


class Html(str):
    """Markup: the only text that `el` does not escape."""

    __slots__ = ()


Child = str | int | None
"""What goes into an element; None is left out, and a str that is not `Html` is escaped."""


def html(*children: Child) -> Html:
    """Several pieces as one."""
    return Html("".join(_piece(child) for child in children if child is not None))


def el(tag: str, *children: Child, **attributes: Child | bool) -> Html:
    """An element.

    Args:
        tag: its name.
        children: its content.
        attributes: `cls` is class, `for_` is for, `data_cause` is data-cause; None and False leave
            an attribute out, True writes its name alone.
    """
    written = "".join(_attribute(name, value) for name, value in attributes.items())
    if tag in _VOID:
        return Html(f"<{tag}{written}>")
    return Html(f"<{tag}{written}>{html(*children)}</{tag}>")


def table(
    head: tuple[Child, ...], rows: Sequence[tuple[Child, ...]], align: str, caption: Child = None
) -> Html:
    """A table in a box that scrolls sideways where it is too wide.

    Args:
        head: heads of the columns.
        rows: their cells.
        align: l (text), r (number) or n (name that may be long) per column.
        caption: what the table is.
    """

    def cells(tag: str, row: tuple[Child, ...]) -> list[Html]:
        return [
            el(
                tag,
                cell,
                cls={"r": "num", "n": "name"}.get(kind),
                scope="col" if head is row else None,
            )
            for cell, kind in zip(row, align, strict=True)
        ]

    body = [el("tr", *cells("td", row)) for row in rows]
    return el(
        "div",
        el(
            "table",
            el("caption", caption) if caption else None,
            el("thead", el("tr", *cells("th", head))),
            el("tbody", *body),
        ),
        cls="scroll",
        tabindex=0,
        role="region",
        aria_label=caption if caption else "checks",
    )


def _piece(child: str | int) -> str:
    if isinstance(child, Html):
        return child
    return escape(clean(str(child)), quote=True)


def _attribute(name: str, value: Child | bool) -> str:
    if value is None or value is False:
        return ""
    plain = {"cls": "class", "for_": "for"}.get(name, name.replace("_", "-"))
    return f" {plain}" if value is True else f' {plain}="{escape(clean(str(value)), quote=True)}"'
