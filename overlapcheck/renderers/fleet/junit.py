"""Many ranks as JUnit XML: a suite for the job, and one for each rank.

The file is as red as the exit code: what a policy lets fail is skipped, and so is what no policy
asks about but is worth a look, a rank that the others wait for. Of many ranks the worst have
suites; the suite of the job counts all.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from overlapcheck.fleet import FAILING_RANKS, FleetCause, FleetCheck, FleetReport, named
from overlapcheck.quantities import count_of, duration, percent
from overlapcheck.renderers._junit_document import Case, Suite, junit_text, lines_of
from overlapcheck.renderers._plain_text import (
    MAX_EVIDENCE,
    MAX_SOURCE,
    limit_text,
    measured_text,
    place_text,
    plain,
)
from overlapcheck.renderers.fleet import _words as words
from overlapcheck.report_result import RankRow
from overlapcheck.verdict import Check, Outcome

MAX_RANKS = 128
"""Ranks with a suite of their own."""
MAX_LOST = 16
MAX_LABELS = 32
_NOTHING = "nothing was judged"


class FleetJunit:
    """See `FleetRenderer`."""

    name = "junit"
    suffix = ".xml"

    def render(self, report: FleetReport, /) -> str:
        """See `FleetRenderer.render`."""
        ranks = words.telling_rows(report, MAX_RANKS)
        suites = [_job(report), *(_rank(report, row) for row in ranks)]
        if report.outcome is not Outcome.PASS and not _is_red(suites):
            suites.append(Suite("verdict", {}, [_unjudged("overlapcheck.job")]))
        return junit_text("overlapcheck ranks", suites)


def _is_red(suites: list[Suite]) -> bool:
    return any(case.element in ("failure", "error") for suite in suites for case in suite.cases)


def _unjudged(class_name: str) -> Case:
    return Case("verdict", class_name, _NOTHING, "error", "inconclusive")


def _element(report: FleetReport, failed: bool, unsure: bool) -> str:
    """What of a case did not pass; skipped where the job passes all the same."""
    if failed and report.outcome is Outcome.FAIL:
        return "failure"
    if unsure and report.outcome is not Outcome.PASS:
        return "error"
    return "skipped" if failed or unsure else ""


def _a_case(name: str, class_name: str, text: str, element: str, body: str) -> Case:
    # What is skipped has a message and no more.
    body = "" if element == "skipped" else body
    return Case(name, class_name, plain(text), element, _TYPES.get(element, ""), body)


_TYPES = {"failure": "fail", "error": "inconclusive"}


# ---- the job


def _job(report: FleetReport) -> Suite:
    left = len(report.rows) - MAX_RANKS
    properties = {
        "program": report.settings.program,
        "nsys": report.settings.nsys_version,
        "reports": str(report.reports),
        "ranks": str(len(report.rows)),
        "ranks without a suite": str(left) if left > 0 else "",
        "verdict": "; ".join(words.grounds(report)),
        "notes": "; ".join(report.notes),
    }
    cases = [
        _reports(report),
        _expected(report),
        *(_check(report, check) for check in report.checks),
        *_collectives(report),
    ]
    return Suite("job", properties, cases)


def _job_case(name: str, text: str, element: str = "", body: str = "") -> Case:
    return _a_case(name, "overlapcheck.job", text, element, body)


def _reports(report: FleetReport) -> Case:
    if not report.lost:
        return _job_case("reports", f"{count_of(report.reports, 'report')} judged")
    lost = [("lost", words.lost_text(one)) for one in report.lost[:MAX_LOST]]
    more = len(report.lost) - len(lost)
    lost += [("and", count_of(more, "more report"))] if more else []
    said = f"{len(report.lost)} of {count_of(report.reports, 'report')} lost"
    return _job_case("reports", said, _element(report, False, True), lines_of(lost))


def _expected(report: FleetReport) -> Case:
    ranks = count_of(len(report.rows), "rank")
    if report.missing is None:
        return _job_case("ranks", f"{ranks}, and none is known to be missing")
    said = f"{words.who_is_missing(report.missing)} missing beside {ranks}: {report.missing.why}"
    body = lines_of([("to do", report.missing.hint)])
    return _job_case("ranks", said, _element(report, False, True), body)


def _check(report: FleetReport, check: FleetCheck) -> Case:
    text = words.check_text(check)
    element = _element(report, bool(check.failed), bool(check.inconclusive))
    if check.name == FAILING_RANKS and check.outcome is Outcome.PASS:
        element = ""
    return _job_case(check.name, text, element, lines_of(_why(report, check)))


def _why(report: FleetReport, check: FleetCheck) -> Iterator[tuple[str, str]]:
    for outcome, label in ((Outcome.FAIL, "failed"), (Outcome.INCONCLUSIVE, "unsure")):
        found = [row.label for row in report.rows if _outcome(row, check.name) is outcome]
        yield label, named(found, MAX_LABELS) if found else ""
    yield "measured", words.measured(check) if check.worst is not None else ""
    yield "limit", words.limit(check)
    yield "reason", check.reason
    if check.failed and report.causes:
        first, *others = report.causes
        yield from (("", ""), *_cause(first, len(report.rows)))
        yield "also", ", ".join(plain(one.cause, 40) for one in others)


def _outcome(row: RankRow, name: str) -> Outcome | None:
    if name == FAILING_RANKS:
        return row.outcome
    return next((check.outcome for check in row.checks if check.name == name), None)


def _cause(cause: FleetCause, ranks: int) -> Iterator[tuple[str, str]]:
    yield "cause", f"{cause.cause}: {cause.title}"
    yield "where", words.where(cause, ranks)
    yield from (("evidence", fact) for fact in cause.evidence[:MAX_EVIDENCE])
    yield from (("at", place_text(place)) for place in cause.source[:MAX_SOURCE])
    yield "do", cause.advice
    yield "unless", cause.caveat


def _collectives(report: FleetReport) -> Iterator[Case]:
    """No policy asks about these: they are never red."""
    if not report.meetings_total:
        return
    if report.stragglers:
        first = report.stragglers[0]
        said = [f"rank {first.rank} {words.straggler_text(first)}", words.meanwhile_text(first)]
        more = report.stragglers_total - 1
        said.append(f"and {count_of(more, 'more straggler')}" if more > 0 else "")
        yield _job_case("stragglers", "; ".join(filter(None, said)), "skipped")
    else:
        yield _job_case("stragglers", "no rank is waited for")
    if report.crossed:
        yield _job_case("collective order", "; ".join(report.crossed), "skipped")
    else:
        yield _job_case("collective order", "ranks begin their collectives in one order")


# ---- one rank


def _rank(report: FleetReport, row: RankRow) -> Suite:
    class_name = f"overlapcheck.rank{re.sub(r'[^0-9A-Za-z-]', '_', plain(row.label, 80))}"
    steps = count_of(row.steps, "step") if row.steps is not None else ""
    properties = {
        "report": row.report,
        "device": f"{row.device}, {row.gpu}" if row.gpu else str(row.device),
        "window": f"{duration(row.window_ns)}{', ' if steps else ''}{steps}",
        "step": duration(row.step_median_ns) if row.step_median_ns is not None else "",
        "pace": row.pace.told if row.pace else "",
        "causes": ", ".join(f"{one.cause} {percent(one.share)}" for one in row.causes),
    }
    cases = [_of_rank(report, row, check, class_name) for check in row.checks]
    name = plain(f"rank {row.label}", 160)
    return Suite(name, properties, cases or [_unjudged(class_name)])


def _of_rank(report: FleetReport, row: RankRow, check: Check, class_name: str) -> Case:
    failed, unsure = check.outcome is Outcome.FAIL, check.outcome is Outcome.INCONCLUSIVE
    element = _element(report, failed, unsure)
    said = f" is {measured_text(check)}" if check.measured is not None else ""
    if not element:
        return _a_case(check.name, class_name, f"{check.name}{said or ' passed'}", "", "")
    asked = f", limit {limit_text(check)}" if said and limit_text(check) else ""
    text = f"{check.name}{said}{asked}: {check.reason}"
    facts = [
        ("measured", measured_text(check)),
        ("limit", limit_text(check)),
        ("reason", check.reason),
        ("to do", check.settle_with),
        *(("cause", f"{one.cause}, {percent(one.share)} of the window") for one in row.causes),
    ]
    return _a_case(check.name, class_name, text, element, lines_of(facts))


RENDERER = FleetJunit()
