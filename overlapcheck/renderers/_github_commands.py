"""GitHub workflow commands: annotations, on a source line where one is known.

GitHub shows ten annotations of each level for a step, so no more are written.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from overlapcheck.finding import SourceLine
from overlapcheck.quantities import count_of
from overlapcheck.renderers._plain_text import MAX_SOURCE, place_text
from overlapcheck.renderers._source_path import relative_path

MOST_OF_A_LEVEL = 10


@dataclass(frozen=True)
class Annotation:
    """One annotation."""

    level: str
    """error, warning or notice."""
    title: str
    text: str
    file: str = ""
    line: int = 0

    @property
    def command(self) -> str:
        """The line that the runner reads."""
        place = {"file": self.file, "line": str(self.line) if self.line > 0 else ""}
        properties = {**(place if self.file else {}), "title": self.title}
        said = ",".join(f"{key}={_property(value)}" for key, value in properties.items() if value)
        return f"::{self.level} {said}::{_message(self.text)}\n"


def at_places(
    level: str, title: str, text: str, places: tuple[SourceLine, ...], root: str
) -> Iterator[Annotation]:
    """An annotation on each of some source lines; in words where they are not below the root."""
    if not places:
        yield Annotation(level, title, text)
    for place in places[:MAX_SOURCE]:
        file = relative_path(place.file, root)
        where = "" if file else f"\nat {place_text(place)}"
        yield Annotation(level, title, text + where, file, place.line)


def commands(annotations: Iterable[Annotation]) -> str:
    """As many of each level as GitHub shows; the last says how many it stands for."""
    return "".join(one.command for one in _first_of_each(list(annotations)))


def _first_of_each(annotations: list[Annotation]) -> Iterator[Annotation]:
    for level in ("error", "warning", "notice"):
        mine = [annotation for annotation in annotations if annotation.level == level]
        if len(mine) <= MOST_OF_A_LEVEL:
            yield from mine
            continue
        yield from mine[: MOST_OF_A_LEVEL - 1]
        rest = count_of(len(mine) - MOST_OF_A_LEVEL + 1, f"more {level}")
        yield Annotation(level, "overlapcheck", f"{rest}: see the full report")


def _message(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _message(text).replace(":", "%3A").replace(",", "%2C")
