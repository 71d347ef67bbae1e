"""A comparison as SARIF 2.1.0: a result for each quantity that got worse, and each new cause."""

from __future__ import annotations

from collections.abc import Iterator

from overlapcheck.comparison import Appeared, Change, Comparison, DeviceComparison, Quantity
from overlapcheck.renderers._plain_text import plain, slug
from overlapcheck.renderers._sarif_document import (
    Result,
    Run,
    advice_text,
    cause_rule,
    locations,
    message,
    sarif_text,
)
from overlapcheck.renderers.comparison import _words as words
from overlapcheck.renderers.formats.rooted import RootedFormat


class ComparisonSarif(RootedFormat):
    """See `ComparisonRenderer`."""

    name = "sarif"
    suffix = ".sarif"

    def render(self, comparison: Comparison, /) -> str:
        """See `ComparisonRenderer.render`."""
        run = Run(
            tool_version=comparison.tool_version,
            # Not the category of a report, whose results these would replace.
            category="overlapcheck/compare/",
            exit_code=int(comparison.exit_code),
            results=list(_results(comparison, self._root)),
            properties={
                "outcome": comparison.change.value,
                "headline": plain(words.headline(comparison)),
                "base": plain(comparison.devices[0].base.report),
                "new": plain(comparison.devices[0].new.report),
                "objections": [plain(clause) for clause in comparison.objections],
            },
        )
        return sarif_text(run)


def _results(comparison: Comparison, root: str) -> Iterator[Result]:
    for device, title in zip(comparison.devices, words.titles(comparison), strict=True):
        for quantity in device.quantities:
            if quantity.change is Change.WORSE or quantity.too_noisy:
                yield _of_quantity(device, quantity, title)
        for one in device.new_causes:
            yield _of_cause(device, one, title, root)


def _of_quantity(device: DeviceComparison, quantity: Quantity, title: str) -> Result:
    name = slug(quantity.name)
    rule = {
        "id": f"compare/{name}",
        "name": name,
        "shortDescription": {"text": f"'{plain(quantity.name, 80)}' must not get worse."},
    }
    told = quantity.too_noisy or words.change_text(quantity)
    said = plain(f"{title}: {told}")
    result = {
        "level": "error" if quantity.too_bad else "warning",
        "message": message([said]),
        "partialFingerprints": {"overlapcheck/v1": f"compare/{name}/{slug(title)}"},
        "properties": {
            "device": device.device,
            "base": quantity.base,
            "new": quantity.new,
            "noise": quantity.noise,
            "unit": quantity.unit.value,
        },
    }
    return rule, result


def _of_cause(device: DeviceComparison, one: Appeared, title: str, root: str) -> Result:
    name = slug(one.cause)
    advice, caveat = plain(one.advice), plain(one.caveat)
    said = [f"{title}: {plain(one.cause, 80)} is {words.cause_text(one, 'new')}"]
    if advice:
        said.append(f"Do: {advice_text(advice, caveat)}")
    result = {
        "level": "error" if device.too_bad else "warning",
        "message": message(said),
        "locations": locations(one.source, root),
        "partialFingerprints": {"overlapcheck/v1": f"compare/cause/{name}/{slug(title)}"},
        "properties": {
            "device": device.device,
            "share": one.share,
            "per_step_ns": one.per_step_ns,
        },
    }
    return cause_rule(name, plain(one.title) or name, advice, caveat), result


RENDERER = ComparisonSarif()
