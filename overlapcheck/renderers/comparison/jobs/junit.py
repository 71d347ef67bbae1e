"""A comparison of jobs as JUnit XML: a suite for the job, and one for the ranks that changed.

As of two reports a case fails where `--fail-if-worse` fails, is an error where that cannot be told,
and is skipped where a side has no such number.
"""

from __future__ import annotations

from collections.abc import Iterator

from overlapcheck.comparison import Change
from overlapcheck.fleet_comparison import FleetComparison, JobQuantity
from overlapcheck.renderers._junit_document import Case, Suite, junit_text, lines_of
from overlapcheck.renderers._plain_text import MAX_FINDINGS
from overlapcheck.renderers.comparison.jobs import _words as words

_CLASS = "overlapcheck.compare"


class FleetComparisonJunit:
    """See `FleetComparisonRenderer`."""

    name = "junit"
    suffix = ".xml"

    def render(self, found: FleetComparison, /) -> str:
        """See `FleetComparisonRenderer.render`."""
        properties = {
            "base": words.side_text(found.base),
            "base program": found.base.program,
            "new": words.side_text(found.new),
            "new program": found.new.program,
            "noise": found.noise_rule,
            "objections": "; ".join(found.objections),
        }
        job = Suite("job", properties, [_case(found, one) for one in found.quantities])
        return junit_text("overlapcheck compare", [job, Suite("ranks", {}, list(_ranks(found)))])


def _case(found: FleetComparison, one: JobQuantity) -> Case:
    quantity, class_name, text = one.quantity, f"{_CLASS}.job", words.change_text(one)
    if quantity.too_bad:
        body = lines_of(_body(found, quantity.too_bad))
        return Case(quantity.name, class_name, text, "failure", "worse", body)
    if quantity.too_noisy:
        return Case(quantity.name, class_name, text, "error", "inconclusive", quantity.too_noisy)
    if quantity.change is Change.UNKNOWN:
        return Case(quantity.name, class_name, text, "skipped")
    return Case(quantity.name, class_name, text)


def _body(found: FleetComparison, reason: str) -> Iterator[tuple[str, str]]:
    yield "reason", reason
    for one in found.slower[:MAX_FINDINGS]:
        yield "slower", words.rank_text(one)
    for cause in [one for one in found.causes if one.grew][:MAX_FINDINGS]:
        yield "", ""
        yield "cause", f"{cause.cause} {words.cause_text(cause, found)}"
        yield "do", cause.advice
        yield "unless", cause.caveat


def _ranks(found: FleetComparison) -> Iterator[Case]:
    """All ranks in one case, what fails alone, and those without a partner."""
    class_name = f"{_CLASS}.ranks"
    said = f"{len(found.slower)} of {len(found.ranks)} ranks got slower beyond noise"
    if found.rank_clauses:
        body = lines_of(_body(found, "; ".join(found.rank_clauses)))
        yield Case("each rank", class_name, "; ".join(found.rank_clauses), "failure", "worse", body)
    else:
        yield Case("each rank", class_name, said)
    alone = "; ".join(words.alone_texts(found))
    if alone and found.limit is not None:
        yield Case("every rank has a partner", class_name, alone, "error", "inconclusive", alone)
    elif alone:
        yield Case("every rank has a partner", class_name, alone, "skipped")
    else:
        yield Case("every rank has a partner", class_name, f"{len(found.ranks)} do")


RENDERER = FleetComparisonJunit()
