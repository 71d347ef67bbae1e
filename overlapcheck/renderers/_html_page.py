"""The page around a report: nothing is fetched, so it works offline and for years.

The page allows itself no request and no script but its own, which it names by hash: even a kernel
name that got past the escaping could not run.
"""

from __future__ import annotations

import json
from base64 import b64encode
from functools import cache
from hashlib import sha256
from importlib.resources import files

from overlapcheck.renderers._cause_looks import style_sheet
from overlapcheck.renderers._html_markup import Child, Html, el, html


def page(
    title: str, body: Html, *, styles: tuple[str, ...], scripts: tuple[str, ...], data: object
) -> str:
    """The whole file.

    Args:
        title: of the window.
        body: header, main and footer.
        styles: style sheets of `_html/`, in order.
        scripts: scripts of `_html/`, in order; the last starts them.
        data: timelines of the devices, for the scripts; None for a device without.
    """
    script = "".join(map(_asset, scripts))
    allowed = b64encode(sha256(script.encode()).digest()).decode("ascii")
    policy = (
        f"default-src 'none'; img-src data:; style-src 'unsafe-inline'; "
        f"script-src 'sha256-{allowed}'; base-uri 'none'; form-action 'none'"
    )
    written = el(
        "html",
        el(
            "head",
            el("meta", charset="utf-8"),
            el("meta", http_equiv="Content-Security-Policy", content=policy),
            el("meta", name="viewport", content="width=device-width, initial-scale=1"),
            el("meta", name="color-scheme", content="light dark"),
            el("link", rel="icon", href="data:,"),
            el("title", title),
            el("style", Html("".join([*map(_asset, styles), style_sheet()]))),
        ),
        el(
            "body",
            body,
            el("script", _embedded(data), type="application/json", id="timelines"),
            el("script", Html(script)),
        ),
        lang="en",
    )
    return f"<!doctype html>\n{written}\n"


def header(tool_version: str, title: str, *content: Child) -> Html:
    """The top of a page: the tool, the switch of the theme, a title for those who cannot see."""
    brand = el(
        "p",
        el("b", "overlapcheck"),
        el("span", tool_version, cls="dim"),
        el("button", "dark", type="button", id="theme", aria_label="switch theme"),
        cls="brand",
    )
    return el("header", brand, el("h1", title, cls="visually-hidden"), html(*content))


def verdict(badge: Html, said: str, outcome: str) -> Html:
    """The answer: the word, what is behind it, and the exit code."""
    return el(
        "div",
        badge,
        el("p", el("strong", said), cls="said"),
        el("p", outcome, cls="dim exit"),
        cls="verdict",
    )


def _embedded(data: object) -> Html:
    """JSON of cleaned texts inside a script element: no character in it can end the element."""
    text = json.dumps(data, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return Html(text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026"))


@cache
def _asset(name: str) -> str:
    folder = files("overlapcheck.renderers") / "_html"
    return (folder / name).read_text(encoding="utf-8")
