"""Pieces of the page of many ranks that its parts share: links to ranks, sections, lists cut."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from urllib.parse import quote

from overlapcheck.clean import clean
from overlapcheck.fleet import RankPage
from overlapcheck.quantities import count_of
from overlapcheck.renderers._html_markup import Child, Html, el, html

NONE = "\u2013"
MAX_NAME = 120
"""Characters of a file name or a rank's name that are shown."""


def section(name: str, title: str, *content: Child) -> Html:
    """A part of the page that the list on top leads to."""
    return el("section", el("h2", title), *content, id=name, cls="block")


def short(text: str) -> str:
    """A name that may be as long as a file system allows."""
    return text if len(text) <= MAX_NAME else f"{text[:MAX_NAME]}..."


def rank_link(label: str) -> Html | None:
    """A rank's name, leading to its row."""
    if not label:
        return None
    return el("a", short(label), href=f"#rank-{quote(clean(label))}")


def rank_and_timeline(label: str, pages: Mapping[str, RankPage]) -> Html:
    """A rank's name, and its timeline where there is one."""
    page = pages.get(label)
    timeline = el("a", "timeline", href=page.address, cls="to") if page else None
    return html(el("b", rank_link(label)), timeline)


def rank_links(labels: Sequence[str], most: int) -> Html:
    """Ranks as links, the first ones of many: "ranks 3, 5 and 2 more"."""
    pieces: list[Child] = ["ranks " if len(labels) > 1 else "rank "]
    for number, label in enumerate(labels[:most]):
        pieces += [", " if number else None, rank_link(label)]
    more = len(labels) - most
    return html(*pieces, f" and {more} more" if more > 0 else None)


def more_of(total: int, shown: int, noun: str) -> Html | None:
    """What a list leaves out, and where it is."""
    if total <= shown:
        return None
    left = count_of(total - shown, f"more {noun}")
    return el("p", f"and {left}; -o FILE.json has the longer list", cls="dim note")
