"""A comparison as JUnit XML: one suite per device, one case per quantity.

A case fails where `--fail-if-worse` fails, so the file is red where the exit code is 1; it is an
error where the noise hides what was asked, with 3. What one
side does not have is skipped: nothing is known of it, and a comparison does not demand it.
"""

from __future__ import annotations

from collections.abc import Iterator

from overlapcheck.comparison import Appeared, Change, Comparison, DeviceComparison, Quantity
from overlapcheck.renderers._junit_document import Case, Suite, junit_text, lines_of
from overlapcheck.renderers._plain_text import MAX_FINDINGS, MAX_SOURCE, place_text, plain
from overlapcheck.renderers.comparison import _words as words


class ComparisonJunit:
    """See `ComparisonRenderer`."""

    name = "junit"
    suffix = ".xml"

    def render(self, comparison: Comparison, /) -> str:
        """See `ComparisonRenderer.render`."""
        titles = words.titles(comparison)
        suites = [
            _suite(comparison, device, title)
            for device, title in zip(comparison.devices, titles, strict=True)
        ]
        return junit_text("overlapcheck compare", suites)


def _suite(comparison: Comparison, device: DeviceComparison, title: str) -> Suite:
    group = title.replace(", ", ".").replace(" ", "")
    properties = {
        "base": f"{device.base.report}, {words.steps(device.base)}",
        "base program": device.base.program,
        "new": f"{device.new.report}, {words.steps(device.new)}",
        "new program": device.new.program,
        "noise": comparison.noise_rule,
        "objections": "; ".join(comparison.objections),
    }
    name = plain(f"{title}, {words.gpu(device)}")
    class_name = f"overlapcheck.compare.{group}"
    return Suite(name, properties, [_case(device, q, class_name) for q in device.quantities])


def _case(device: DeviceComparison, quantity: Quantity, class_name: str) -> Case:
    text = words.change_text(quantity)
    if quantity.too_bad:
        body = lines_of(_body(device, quantity))
        return Case(quantity.name, class_name, text, "failure", "worse", body)
    if quantity.too_noisy:
        return Case(quantity.name, class_name, text, "error", "inconclusive", quantity.too_noisy)
    if quantity.change is Change.UNKNOWN:
        return Case(quantity.name, class_name, text, "skipped")
    return Case(quantity.name, class_name, text)


def _body(device: DeviceComparison, quantity: Quantity) -> Iterator[tuple[str, str]]:
    yield "base", words.value(quantity, quantity.base)
    yield "new", words.value(quantity, quantity.new)
    yield "change", words.difference(quantity)
    yield "noise", words.noise(quantity)
    yield "reason", quantity.too_bad
    for one in device.new_causes[:MAX_FINDINGS]:
        yield from _cause(one)


def _cause(one: Appeared) -> Iterator[tuple[str, str]]:
    yield "", ""
    yield "cause", f"{one.cause} ({words.cause_text(one, 'new')})"
    for place in one.source[:MAX_SOURCE]:
        yield "at", place_text(place)
    yield "do", one.advice
    yield "unless", one.caveat


RENDERER = ComparisonJunit()
