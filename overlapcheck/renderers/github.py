"""The report as GitHub workflow commands: annotations on the source lines, where they are known.

GitHub shows ten annotations of each level for a step, so no more are written.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from overlapcheck.finding import Finding
from overlapcheck.quantities import count_of
from overlapcheck.renderers._plain_text import (
    MAX_SOURCE,
    check_text,
    cost_text,
    device_text,
    findings_of,
    headline,
    judged_devices,
    key_of,
    plain,
)
from overlapcheck.renderers._source_path import relative_path
from overlapcheck.report import DeviceReport, Report
from overlapcheck.verdict import Check, Outcome, Verdict

MOST_OF_A_LEVEL = 10

_LEVELS = {Outcome.FAIL: "error", Outcome.INCONCLUSIVE: "warning", Outcome.PASS: "notice"}


@dataclass(frozen=True)
class _Annotation:
    level: str
    title: str
    text: str
    file: str = ""
    line: int = 0

    @property
    def command(self) -> str:
        place = {"file": self.file, "line": str(self.line) if self.line > 0 else ""}
        properties = {**(place if self.file else {}), "title": self.title}
        said = ",".join(f"{key}={_property(value)}" for key, value in properties.items() if value)
        return f"::{self.level} {said}::{_message(self.text)}\n"


class GithubRenderer:
    """See `Renderer`.

    Args:
        root: folder of the repository; source files below it are named relative to it.
    """

    name = "github"
    suffix = ".github.txt"

    def __init__(self, *, root: str = "") -> None:
        self._root = root

    def render(self, report: Report, /) -> str:
        """See `Renderer.render`."""
        annotations = list(_annotations(report, self._root))
        return "".join(annotation.command for annotation in _first_of_each(annotations))


def _annotations(report: Report, root: str) -> Iterator[_Annotation]:
    outcome = report.verdict.outcome
    yield _Annotation(_LEVELS[outcome], f"overlapcheck: {outcome.value}", headline(report))
    several = len(report.devices) > 1
    for device, checks in judged_devices(report):
        where = f"{device_text(device)}: " if device and several else ""
        for check in checks:
            if check.outcome is not Outcome.PASS:
                yield _of_check(check, where)
    for device in report.devices:
        where = f"{device_text(device)}: " if several else ""
        yield from _of_causes(report, device, where, root)


def _of_check(check: Check, where: str) -> _Annotation:
    to_do = f"\nto do: {plain(check.settle_with)}" if check.settle_with else ""
    title = f"overlapcheck: {plain(check.name, 80)}"
    return _Annotation(_LEVELS[check.outcome], title, f"{where}{check_text(check)}{to_do}")


def _of_causes(
    report: Report, device: DeviceReport, where: str, root: str
) -> Iterator[_Annotation]:
    key = key_of(device)
    level = _LEVELS[Verdict(report.verdict.of_device(key).checks).outcome]
    for found in findings_of(report, key):
        title = f"overlapcheck: {plain(found.cause, 80)}"
        text = where + _told(found)
        if not found.source:
            yield _Annotation(level, title, text)
        for place in found.source[:MAX_SOURCE]:
            yield _Annotation(level, title, text, relative_path(place.file, root), place.line)


def _told(found: Finding) -> str:
    said = [f"{plain(found.title)} ({found.confidence.value})", cost_text(found)]
    if found.advice:
        said.append(f"do: {plain(found.advice)}")
    if found.caveat:
        said.append(f"unless {plain(found.caveat)}")
    return "\n".join(said)


def _first_of_each(annotations: list[_Annotation]) -> Iterator[_Annotation]:
    """As many of each level as GitHub shows; the last says how many it stands for."""
    for level in ("error", "warning", "notice"):
        mine = [annotation for annotation in annotations if annotation.level == level]
        if len(mine) <= MOST_OF_A_LEVEL:
            yield from mine
            continue
        yield from mine[: MOST_OF_A_LEVEL - 1]
        rest = count_of(len(mine) - MOST_OF_A_LEVEL + 1, f"more {level}")
        yield _Annotation(level, "overlapcheck", f"{rest}: see the full report")


def _message(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _message(text).replace(":", "%3A").replace(",", "%2C")


RENDERER = GithubRenderer()
