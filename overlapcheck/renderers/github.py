"""The report as GitHub workflow commands: annotations on the source lines, where they are known."""

from __future__ import annotations

from collections.abc import Iterator

from overlapcheck.device_report import DeviceReport
from overlapcheck.finding import Finding
from overlapcheck.renderers._github_commands import Annotation, at_places, commands
from overlapcheck.renderers._plain_text import (
    check_text,
    cost_text,
    device_text,
    findings_of,
    headline,
    judged_devices,
    key_of,
    plain,
)
from overlapcheck.renderers.formats.rooted import RootedFormat
from overlapcheck.report import Report
from overlapcheck.verdict import Check, Outcome, Verdict

_LEVELS = {Outcome.FAIL: "error", Outcome.INCONCLUSIVE: "warning", Outcome.PASS: "notice"}


class GithubRenderer(RootedFormat):
    """See `Renderer`."""

    name = "github"
    suffix = ".github.txt"
    draws_timeline = False

    def render(self, report: Report, /) -> str:
        """See `Renderer.render`."""
        return commands(_annotations(report, self._root))


def _annotations(report: Report, root: str) -> Iterator[Annotation]:
    outcome = report.verdict.outcome
    moved = f"\nmoved thresholds: {report.moved}" if report.moved else ""
    yield Annotation(_LEVELS[outcome], f"overlapcheck: {outcome.value}", headline(report) + moved)
    several = len(report.devices) > 1
    for device, checks in judged_devices(report):
        where = f"{device_text(device)}: " if device and several else ""
        for check in checks:
            if check.outcome is not Outcome.PASS:
                yield _of_check(check, where)
    for device in report.devices:
        where = f"{device_text(device)}: " if several else ""
        yield from _of_causes(report, device, where, root)


def _of_check(check: Check, where: str) -> Annotation:
    to_do = f"\nto do: {plain(check.settle_with)}" if check.settle_with else ""
    title = f"overlapcheck: {plain(check.name, 80)}"
    return Annotation(_LEVELS[check.outcome], title, f"{where}{check_text(check)}{to_do}")


def _of_causes(report: Report, device: DeviceReport, where: str, root: str) -> Iterator[Annotation]:
    key = key_of(device)
    level = _LEVELS[Verdict(report.verdict.of_device(key).checks).outcome]
    for found in findings_of(report, key):
        title = f"overlapcheck: {plain(found.cause, 80)}"
        text = where + _told(found)
        yield from at_places(level, title, text, found.source, root)


def _told(found: Finding) -> str:
    said = [f"{plain(found.title)} ({found.confidence.value})", cost_text(found)]
    if found.advice:
        said.append(f"do: {plain(found.advice)}")
    if found.caveat:
        said.append(f"unless {plain(found.caveat)}")
    return "\n".join(said)


RENDERER = GithubRenderer()
