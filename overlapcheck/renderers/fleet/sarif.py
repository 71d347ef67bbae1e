"""Many ranks as SARIF 2.1.0: a result for each check and each cause over all ranks.

The ranks that a result is of are among its properties. What passes is no result.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from hashlib import sha256
from typing import Any

from overlapcheck.fleet import FAILING_RANKS, FleetCause, FleetCheck, FleetReport
from overlapcheck.renderers._plain_text import MAX_EVIDENCE, plain, slug
from overlapcheck.renderers._sarif_document import (
    Result,
    Run,
    advice_text,
    cause_rule,
    locations,
    message,
    sarif_text,
)
from overlapcheck.renderers.fleet import _words as words
from overlapcheck.renderers.formats.rooted import RootedFormat
from overlapcheck.report_result import RankRow
from overlapcheck.verdict import Outcome

MAX_LABELS = 256
"""Ranks that a result lists; `ranksTotal` counts all."""
MAX_LOST = 100
_LEVELS = {Outcome.FAIL: "error", Outcome.INCONCLUSIVE: "warning", Outcome.PASS: "note"}
_RULES = {
    "straggler": "No rank is waited for.",
    "collective-order": "Ranks begin their collectives in one order.",
    "missing": "Every rank of the job has a report.",
    "lost": "Every report can be judged.",
}


class FleetSarif(RootedFormat):
    """See `FleetRenderer`."""

    name = "sarif"
    suffix = ".sarif"

    def render(self, report: FleetReport, /) -> str:
        """See `FleetRenderer.render`."""
        run = Run(
            tool_version=report.tool_version,
            # Not the category of a single report, whose results these would replace.
            category="overlapcheck/ranks/",
            exit_code=int(report.exit_code),
            results=list(_results(report, self._root)),
            properties={
                "outcome": report.outcome.value,
                "headline": plain("; ".join(words.grounds(report))),
                "reports": report.reports,
                "ranks": len(report.rows),
                "notes": [plain(note) for note in report.notes],
            },
        )
        return sarif_text(run)


def _results(report: FleetReport, root: str) -> Iterator[Result]:
    for check in report.checks:
        if check.outcome is not Outcome.PASS:
            yield _of_check(report, check)
    for cause in report.causes:
        yield _of_cause(report, cause, root)
    for one in report.stragglers:
        said = [f"Rank {one.rank} {words.straggler_text(one)}", words.meanwhile_text(one)]
        yield _of_job(report, "straggler", said, [one.rank])
    for order in report.crossed:
        yield _of_job(report, "collective-order", [order], [])
    if report.missing:
        said = [words.missing_text(report.missing)]
        yield _of_job(report, "missing", said, report.missing.labels)
    for lost in report.lost[:MAX_LOST]:
        yield _of_job(report, "lost", [words.lost_text(lost)], [])


def _listed(labels: Sequence[str]) -> dict[str, Any]:
    return {
        "ranks": [plain(label, 80) for label in labels[:MAX_LABELS]],
        "ranksTotal": len(labels),
    }


def _of_check(report: FleetReport, check: FleetCheck) -> Result:
    name = slug(check.name)
    rule = {
        "id": f"check/{name}",
        "name": name,
        "shortDescription": {"text": f"The check '{plain(check.name, 80)}' must pass."},
    }
    labels = [row.label for row in report.rows if _misses(row, check.name)]
    result = {
        "level": _LEVELS[words.mildest(check.outcome, report.outcome)],
        "message": message([plain(words.check_text(check))]),
        "partialFingerprints": {"overlapcheck/v1": f"ranks/check/{name}"},
        "properties": {
            "measured": check.worst,
            "median": check.median,
            "limit": check.limit,
            "worstRank": plain(check.worst_rank, 80),
            **_listed(labels),
        },
    }
    return rule, result


def _misses(row: RankRow, name: str) -> bool:
    if name == FAILING_RANKS:
        return row.outcome is not Outcome.PASS
    return any(one.name == name and one.outcome is not Outcome.PASS for one in row.checks)


def _of_cause(report: FleetReport, cause: FleetCause, root: str) -> Result:
    name = slug(cause.cause)
    advice, caveat = plain(cause.advice), plain(cause.caveat)
    said = [
        plain(f"{cause.title}, {words.where(cause, len(report.rows))}"),
        *map(plain, cause.evidence[:MAX_EVIDENCE]),
        *([f"Do: {advice_text(advice, caveat)}"] if advice else []),
    ]
    result = {
        "level": _LEVELS[words.told_with(report, cause)],
        "message": message(said),
        "locations": locations(cause.source, root),
        "partialFingerprints": {"overlapcheck/v1": f"ranks/cause/{name}"},
        "properties": {
            "medianShare": cause.median_share,
            "worstShare": cause.worst_share,
            "worstRank": plain(cause.worst_rank, 80),
            "farMore": [plain(label, 80) for label in cause.outlier_ranks],
            **_listed([row.label for row in words.holding(report, cause.cause)]),
        },
    }
    return cause_rule(name, plain(cause.title) or name, advice, caveat), result


def _of_job(report: FleetReport, name: str, said: Sequence[str], labels: Sequence[str]) -> Result:
    """A result that no check and no cause is: never an error."""
    lines = [plain(line) for line in said if line]
    which = plain(labels[0], 80) if labels else sha256(lines[0].encode()).hexdigest()[:16]
    result = {
        "level": _LEVELS[words.mildest(Outcome.INCONCLUSIVE, report.outcome)],
        "message": message(lines),
        "partialFingerprints": {"overlapcheck/v1": f"ranks/{name}/{which}"},
        "properties": _listed(labels),
    }
    rule = {"id": f"ranks/{name}", "name": name, "shortDescription": {"text": _RULES[name]}}
    return rule, result


RENDERER = FleetSarif()
