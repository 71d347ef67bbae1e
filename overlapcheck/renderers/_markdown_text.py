"""Markdown in which a text from a trace is a text: no markup, no mention, no broken table."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence

from overlapcheck.renderers._plain_text import MAX_TEXT, plain
from overlapcheck.verdict import Outcome

MARKER = "<!-- overlapcheck -->"
"""First line: by it a bot finds its comment again."""
OUTCOME_MARKS = {Outcome.PASS: "✅", Outcome.FAIL: "❌", Outcome.INCONCLUSIVE: "❔"}

# Letters that mean something wherever they stand, _emphasis_, and www. or http: as a link.
_MARKUP = re.compile(
    r"[&<>|`*~$\\\[\]]|(?<!\w)_|_(?!\w)|(?<=www)\.|(?<=http):|(?<=https):", re.IGNORECASE
)
# @mention, #123 and :smile: are looked for in the finished page, where an entity is a letter again.
_REFERENCE = re.compile(r"@|#(?=\d)|:(?=[\w+-]+:)")
MOST_CHARACTERS = 60_000
"""GitHub takes comments of 65 536."""
_TOO_LONG = "_The rest is too long for a comment: see the full report._\n"
_WORD_JOINER = "\u2060"
"""Has no width and breaks no line."""


def inline(text: str, most: int = MAX_TEXT) -> str:
    """A text to stand within a line."""
    apart = _REFERENCE.sub(rf"\g<0>{_WORD_JOINER}", plain(text, most))
    return _MARKUP.sub(lambda found: f"&#{ord(found[0])};", apart)


def table(head: Sequence[str], rows: Sequence[Sequence[str]], right: Collection[str]) -> str:
    """A table.

    Args:
        head: titles of the columns.
        rows: cells, safe to stand within a line.
        right: titles of the columns that are aligned to the right.
    """
    rule = ["--:" if title in right else ":--" for title in head]
    return "".join(f"| {' | '.join(row)} |\n" for row in (head, rule, *rows))


def details(summary: str, text: str) -> str:
    """A part that is closed until somebody opens it."""
    return f"<details><summary>{summary}</summary>\n\n{text.rstrip()}\n\n</details>\n"


def bounded(blocks: Iterable[str], foot: str) -> str:
    """Blocks, each ending in a newline, as far as a comment has room for them; then the foot."""
    kept, room = [], MOST_CHARACTERS - len(foot) - len(_TOO_LONG)
    for block in filter(None, blocks):
        room -= len(block) + 1
        if room < 0:
            kept.append(_TOO_LONG)
            break
        kept.append(block)
    return "\n".join([*kept, foot])
