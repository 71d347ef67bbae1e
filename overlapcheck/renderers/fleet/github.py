"""Many ranks as GitHub annotations; a cause stands on the worst rank's source lines, where known.

No level is above that of the job's verdict: what a policy lets fail is a notice.
"""

from __future__ import annotations

from collections.abc import Iterator

from overlapcheck.fleet import FleetCause, FleetReport
from overlapcheck.renderers._github_commands import Annotation, at_places, commands
from overlapcheck.renderers._plain_text import plain
from overlapcheck.renderers.fleet import _words as words
from overlapcheck.renderers.formats.rooted import RootedFormat
from overlapcheck.verdict import Outcome

_LEVELS = {Outcome.FAIL: "error", Outcome.INCONCLUSIVE: "warning", Outcome.PASS: "notice"}
_TITLE = "overlapcheck"


class FleetGithub(RootedFormat):
    """See `FleetRenderer`."""

    name = "github"
    suffix = ".github.txt"

    def render(self, report: FleetReport, /) -> str:
        """See `FleetRenderer.render`."""
        return commands(_annotations(report, self._root))


def _annotations(report: FleetReport, root: str) -> Iterator[Annotation]:
    level = _LEVELS[report.outcome]
    text = plain("; ".join(words.grounds(report)))
    moved = [plain(note) for note in report.notes if note.startswith("moved thresholds: ")]
    yield Annotation(level, f"{_TITLE}: {report.outcome.value}", "\n".join([text, *moved]))
    for check in report.checks:
        if check.outcome is not Outcome.PASS:
            milder = _LEVELS[words.mildest(check.outcome, report.outcome)]
            title = f"{_TITLE}: {plain(check.name, 80)}"
            yield Annotation(milder, title, plain(words.check_text(check)))
    unsure = _LEVELS[words.mildest(Outcome.INCONCLUSIVE, report.outcome)]
    if report.missing:
        text = plain(words.missing_text(report.missing))
        yield Annotation(unsure, f"{_TITLE}: ranks without a report", text)
    for cause in report.causes:
        title = f"{_TITLE}: {plain(cause.cause, 80)}"
        text = _told(cause, len(report.rows))
        how = _LEVELS[words.told_with(report, cause)]
        yield from at_places(how, title, text, cause.source, root)
    for one in report.stragglers:
        said = [f"rank {one.rank} {words.straggler_text(one)}", words.meanwhile_text(one)]
        text = "\n".join(plain(line) for line in said if line)
        yield Annotation(_aside(report), f"{_TITLE}: a rank that the others wait for", text)
    for order in report.crossed:
        yield Annotation(_aside(report), f"{_TITLE}: collective order", plain(order))
    for lost in report.lost:
        yield Annotation(unsure, f"{_TITLE}: a report was lost", plain(words.lost_text(lost)))


def _aside(report: FleetReport) -> str:
    """Level of what no policy asks about."""
    return "notice" if report.outcome is Outcome.PASS else "warning"


def _told(cause: FleetCause, ranks: int) -> str:
    said = [plain(cause.title), plain(words.where(cause, ranks))]
    if cause.advice:
        said.append(f"do: {plain(cause.advice)}")
    if cause.caveat:
        said.append(f"unless {plain(cause.caveat)}")
    return "\n".join(said)


RENDERER = FleetGithub()
