"""A comparison of jobs as SARIF 2.1.0: a result for whatever got worse, and for ranks alone."""

from __future__ import annotations

from collections.abc import Iterator

from overlapcheck.comparison import Change
from overlapcheck.fleet_comparison import CauseChange, FleetComparison, JobQuantity, RankComparison
from overlapcheck.renderers._plain_text import plain, slug
from overlapcheck.renderers._sarif_document import (
    Result,
    Run,
    advice_text,
    cause_rule,
    message,
    sarif_text,
)
from overlapcheck.renderers.comparison.jobs import _words as words
from overlapcheck.renderers.formats.rooted import RootedFormat


class FleetComparisonSarif(RootedFormat):
    """See `FleetComparisonRenderer`."""

    name = "sarif"
    suffix = ".sarif"

    def render(self, found: FleetComparison, /) -> str:
        """See `FleetComparisonRenderer.render`."""
        run = Run(
            tool_version=found.tool_version,
            category="overlapcheck/compare/",
            exit_code=int(found.exit_code),
            results=list(_results(found)),
            properties={
                "outcome": found.change.value,
                "headline": plain(words.headline(found)),
                "base": plain(found.base.name),
                "new": plain(found.new.name),
                "objections": [plain(clause) for clause in found.objections],
            },
        )
        return sarif_text(run)


def _results(found: FleetComparison) -> Iterator[Result]:
    for one in found.quantities:
        if one.quantity.change is Change.WORSE or one.quantity.too_noisy:
            yield _of_quantity(one)
    level = "error" if found.too_bad else "warning"
    for rank in found.slower:
        yield _of_rank(rank, level)
    for cause in found.causes:
        if cause.grew:
            yield _of_cause(cause, found, level)


def _of_quantity(one: JobQuantity) -> Result:
    quantity, name = one.quantity, slug(one.quantity.name)
    rule = {
        "id": f"compare/{name}",
        "name": name,
        "shortDescription": {"text": f"'{plain(quantity.name, 80)}' must not get worse."},
    }
    said = plain(quantity.too_noisy or words.change_text(one))
    result = {
        "level": "error" if quantity.too_bad else "warning",
        "message": message([said]),
        "partialFingerprints": {"overlapcheck/v1": f"compare/{name}/job"},
        "properties": {
            "base": quantity.base,
            "new": quantity.new,
            "noise": quantity.noise,
            "unit": quantity.unit.value,
        },
    }
    return rule, result


def _of_rank(one: RankComparison, level: str) -> Result:
    rule = {
        "id": "compare/rank",
        "name": "rank",
        "shortDescription": {"text": "A rank must not get slower."},
    }
    result = {
        "level": level,
        "message": message([plain(words.rank_text(one))]),
        "partialFingerprints": {"overlapcheck/v1": f"compare/rank/{slug(one.rank)}"},
        "properties": {"rank": plain(one.rank)},
    }
    return rule, result


def _of_cause(one: CauseChange, found: FleetComparison, level: str) -> Result:
    name, advice, caveat = slug(one.cause), plain(one.advice), plain(one.caveat)
    said = [f"{plain(one.cause, 80)} {plain(words.cause_text(one, found))}"]
    if advice:
        said.append(f"Do: {advice_text(advice, caveat)}")
    result = {
        "level": level,
        "message": message(said),
        "partialFingerprints": {"overlapcheck/v1": f"compare/cause/{name}/job"},
        "properties": {"ranks": one.grew},
    }
    return cause_rule(name, plain(one.title) or name, advice, caveat), result


RENDERER = FleetComparisonSarif()
