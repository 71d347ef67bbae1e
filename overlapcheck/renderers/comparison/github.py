"""A comparison as GitHub annotations; a new cause stands on its source lines where they are known.

What `--fail-if-worse` fails is an error, what else got worse a warning, the rest a notice.
"""

from __future__ import annotations

from collections.abc import Iterator

from overlapcheck.comparison import Appeared, Change, Comparison, DeviceComparison
from overlapcheck.renderers._github_commands import Annotation, at_places, commands
from overlapcheck.renderers._plain_text import plain
from overlapcheck.renderers.comparison import _words as words
from overlapcheck.renderers.formats.rooted import RootedFormat

_TITLE = "overlapcheck compare"


class ComparisonGithub(RootedFormat):
    """See `ComparisonRenderer`."""

    name = "github"
    suffix = ".github.txt"

    def render(self, comparison: Comparison, /) -> str:
        """See `ComparisonRenderer.render`."""
        return commands(_annotations(comparison, self._root))


def _annotations(comparison: Comparison, root: str) -> Iterator[Annotation]:
    worse = comparison.change is Change.WORSE
    uneasy = worse or comparison.too_noisy
    level = "error" if comparison.too_bad else "warning" if uneasy else "notice"
    title = f"{_TITLE}: {words.HEADLINES[comparison.change]}"
    yield Annotation(level, title, plain(words.headline(comparison)))
    if comparison.objections:
        said = "; ".join(comparison.objections)
        text = f"not comparable, compared all the same: {plain(said)}"
        yield Annotation("warning", _TITLE, text)
    several = len(comparison.devices) > 1
    for device, title in zip(comparison.devices, words.titles(comparison), strict=True):
        yield from _of_device(device, f"{title}: " if several else "", root)


def _of_device(device: DeviceComparison, where: str, root: str) -> Iterator[Annotation]:
    for clause in device.too_noisy:
        yield Annotation("warning", _TITLE, plain(clause))
    for quantity in device.quantities:
        if quantity.change is Change.WORSE or quantity.missing:
            worse = "error" if quantity.too_bad else "warning"
            level = worse if quantity.change is Change.WORSE else "notice"
            text = f"{where}{plain(words.change_text(quantity))}"
            yield Annotation(level, f"{_TITLE}: {plain(quantity.name, 80)}", text)
    level = "error" if device.too_bad else "warning"
    for one in device.new_causes:
        title = f"{_TITLE}: {plain(one.cause, 80)}"
        yield from at_places(level, title, where + _told(one), one.source, root)
    for one in device.gone:
        text = f"{where}{words.cause_text(one, 'gone')}"
        yield Annotation("notice", f"{_TITLE}: {plain(one.cause, 80)}", text)


def _told(one: Appeared) -> str:
    said = [words.cause_text(one, "new")]
    if one.advice:
        said.append(f"do: {plain(one.advice)}")
    if one.caveat:
        said.append(f"unless {plain(one.caveat)}")
    return "\n".join(said)


RENDERER = ComparisonGithub()
