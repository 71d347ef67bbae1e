"""What every format makes of comparisons of jobs."""

from __future__ import annotations

import json
from dataclasses import replace
from xml.etree import ElementTree

import msgspec
import pytest
from jsonschema import Draft202012Validator

from overlapcheck.brief import Brief
from overlapcheck.compare.fleet import Job, compare_fleets
from overlapcheck.fleet_comparison import FleetComparison
from overlapcheck.renderers.comparison import comparison_renderers
from overlapcheck.renderers.comparison.jobs import fleet_comparison_renderers
from tests.compare.jobs import fleet, row, synchronised
from tests.json_schemas import published
from tests.renderers.reports import MARKUP, golden
from tests.renderers.test_hostile_names import require_clean
from tests.test_clean import HOSTILE


def compared(
    base: Job, new: Job, limit: float | None = 0.05, *, force: bool = False
) -> FleetComparison:
    found = compare_fleets(base, new, limit=limit, force=force)
    return replace(found, tool_version="0.1.0")


def hostile(text: str) -> FleetComparison:
    """Every name that comes from a trace or a folder is this text."""

    def named(waiting_ms: float) -> Job:
        rows = [
            replace(
                row(text, waiting_ms=waiting_ms, ledger={text: waiting_ms}, gpu=text), report=text
            )
        ]
        job = fleet(rows, late=text, name=text)
        causes = tuple(replace(one, cause=text, title=text, advice=text) for one in job.causes)
        return Job(text, replace(job, causes=causes))

    return compared(named(1), named(3))


COMPARISONS = {
    "late_rank": compared(
        Job("before.json", synchronised(40)), Job("after.json", synchronised(40, late=17))
    ),
    "a_cause_on_two_ranks": compared(
        Job("before", fleet([row(n, overlap={"h2d": 0.9}) for n in range(4)])),
        Job(
            "after",
            fleet(
                [
                    row(n, overlap={"h2d": 0.4 if n < 2 else 0.9},
                        ledger={"pageable-copy": 2.0 + n} if n < 2 else None)
                    for n in range(4)
                ]
            ),
        ),
    ),
    "no_partner": compared(
        Job("before", synchronised(4)), Job("after", synchronised(3)), force=True
    ),
    "better": compared(
        Job("before", synchronised(4, late=1)), Job("after", synchronised(4)), None
    ),
    "hostile": hostile(MARKUP),
}  # fmt: skip


@pytest.fixture(params=COMPARISONS)
def found(request: pytest.FixtureRequest) -> FleetComparison:
    return COMPARISONS[request.param]


def test_jobs_have_the_formats_of_a_comparison() -> None:
    assert {n: r.suffix for n, r in fleet_comparison_renderers().items()} == {
        n: r.suffix for n, r in comparison_renderers().items()
    }


@pytest.mark.parametrize("form", sorted(set(fleet_comparison_renderers()) - {"html"}))
@pytest.mark.parametrize("name", COMPARISONS)
def test_golden(form: str, name: str) -> None:
    renderer = fleet_comparison_renderers()[form]
    text = renderer.render(COMPARISONS[name])

    assert text == golden(f"comparison/jobs/{form}", f"{name}{renderer.suffix}", text)


@pytest.mark.parametrize("name", COMPARISONS)
def test_golden_page(name: str) -> None:
    text = fleet_comparison_renderers()["html"].render(COMPARISONS[name])
    body = text[text.index("<body>") : text.index("<script")].replace("><", ">\n<") + "\n"

    assert body == golden("comparison/jobs/html", f"{name}.body.html", body)


@pytest.mark.parametrize("text", HOSTILE)
@pytest.mark.parametrize("form", sorted(fleet_comparison_renderers()))
def test_no_format_says_a_name_as_the_trace_has_it(form: str, text: str) -> None:
    require_clean(fleet_comparison_renderers()[form].render(hostile(text)), form)


def test_json_fits_its_schema(found: FleetComparison) -> None:
    document = json.loads(fleet_comparison_renderers()["json"].render(found))
    Draft202012Validator(published("fleet-comparison")).validate(document)

    assert list(document) == list(published("fleet-comparison")["properties"])


def test_a_brief_stays_below_4_kb_and_names_the_rank() -> None:
    new = Job("after", synchronised(300, late=217))
    text = fleet_comparison_renderers()["brief"].render(
        compared(Job("before", synchronised(300)), new)
    )
    brief = msgspec.json.decode(text, type=Brief)

    assert len(text.encode()) < 4096
    assert brief.summary.startswith("FAIL --fail-if-worse 5; rank 217 got slower")
    assert [cause.cause for cause in brief.causes] == ["compute", "exposed-collective"]
    assert brief.next == "overlapcheck explain exposed-collective"


def test_text_is_as_long_for_300_ranks_as_for_40() -> None:
    def lines(ranks: int) -> int:
        sides = (Job("b", synchronised(ranks)), Job("a", fleet([row(n) for n in range(ranks)])))
        return len(fleet_comparison_renderers()["terminal"].render(compared(*sides)).splitlines())

    assert lines(300) == lines(40)


def test_the_page_starts_what_it_holds() -> None:
    text = fleet_comparison_renderers()["html"].render(COMPARISONS["better"])

    assert "function Theme(" in text
    assert "Theme(() =>" in text


def test_junit_is_red_where_the_exit_code_is(found: FleetComparison) -> None:
    suites = ElementTree.fromstring(fleet_comparison_renderers()["junit"].render(found))
    red = [*suites.iter("failure")]
    unsure = [*suites.iter("error")]

    assert bool(red) is (found.exit_code == 1)
    assert bool(unsure) is bool(found.too_noisy)
