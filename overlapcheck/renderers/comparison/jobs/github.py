"""A comparison of jobs as GitHub annotations.

What `--fail-if-worse` fails is an error, what else got worse a warning, the rest a notice.
"""

from __future__ import annotations

from collections.abc import Iterator

from overlapcheck.comparison import Change
from overlapcheck.fleet_comparison import CauseChange, FleetComparison
from overlapcheck.renderers._github_commands import Annotation, commands
from overlapcheck.renderers._plain_text import MAX_FINDINGS, plain
from overlapcheck.renderers.comparison.jobs import _words as words
from overlapcheck.renderers.formats.rooted import RootedFormat

_TITLE = "overlapcheck compare"


class FleetComparisonGithub(RootedFormat):
    """See `FleetComparisonRenderer`."""

    name = "github"
    suffix = ".github.txt"

    def render(self, found: FleetComparison, /) -> str:
        """See `FleetComparisonRenderer.render`."""
        return commands(_annotations(found))


def _annotations(found: FleetComparison) -> Iterator[Annotation]:
    worse = found.change is Change.WORSE
    uneasy = worse or found.too_noisy
    level = "error" if found.too_bad else "warning" if uneasy else "notice"
    title = f"{_TITLE}: {words.HEADLINES[found.change]}"
    yield Annotation(level, title, plain(words.headline(found)))
    if found.objections:
        text = f"not comparable, compared all the same: {plain('; '.join(found.objections))}"
        yield Annotation("warning", _TITLE, text)
    for clause in found.too_noisy:
        yield Annotation("warning", _TITLE, plain(clause))
    for said in words.alone_texts(found):
        yield Annotation("warning", _TITLE, plain(said))
    for clause in found.rank_clauses:
        yield Annotation("error", _TITLE, plain(clause))
    for one in found.quantities:
        if one.quantity.change is Change.WORSE or one.quantity.missing:
            bad = "error" if one.quantity.too_bad else "warning"
            level = bad if one.quantity.change is Change.WORSE else "notice"
            name = plain(one.quantity.name, 80)
            yield Annotation(level, f"{_TITLE}: {name}", plain(words.change_text(one)))
    for rank in found.slower[:MAX_FINDINGS]:
        level = "error" if found.too_bad else "warning"
        yield Annotation(level, f"{_TITLE}: slower", plain(words.rank_text(rank)))
    for cause in found.causes:
        level = "notice" if not cause.grew else "error" if found.too_bad else "warning"
        yield Annotation(level, f"{_TITLE}: {plain(cause.cause, 80)}", _told(cause, found))


def _told(one: CauseChange, found: FleetComparison) -> str:
    said = [plain(words.cause_text(one, found))]
    if one.grew and one.advice:
        said.append(f"do: {plain(one.advice)}")
    if one.grew and one.caveat:
        said.append(f"unless {plain(one.caveat)}")
    return "\n".join(said)


RENDERER = FleetComparisonGithub()
