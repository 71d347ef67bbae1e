"""What every format makes of every job of ranks, as a file to look at."""

from __future__ import annotations

import pytest

from overlapcheck.errors import PolicyInvalid
from overlapcheck.fleet import FleetReport
from overlapcheck.renderers import renderers
from overlapcheck.renderers.fleet import (
    fleet_renderer,
    fleet_renderer_for_file,
    fleet_renderers,
)
from overlapcheck.saved import any_restored
from tests.renderers.fleet.jobs import JOBS, NOTHING, many
from tests.renderers.reports import golden

TEXTS = sorted(set(fleet_renderers()) - {"html"})
"""A page is looked at in a browser: its text is mostly style."""


def test_many_ranks_have_the_formats_of_a_report() -> None:
    assert {n: r.suffix for n, r in fleet_renderers().items()} == {
        n: r.suffix for n, r in renderers().items()
    }


@pytest.mark.parametrize("form", TEXTS)
@pytest.mark.parametrize("name", JOBS)
def test_golden(form: str, name: str) -> None:
    renderer = fleet_renderers()[form]
    text = renderer.render(JOBS[name])

    assert text == golden(f"fleet/{form}", f"{name}{renderer.suffix}", text)


@pytest.mark.parametrize("form", TEXTS)
@pytest.mark.parametrize("job", [*JOBS.values(), NOTHING, many()])
def test_a_saved_job_is_told_as_it_was(form: str, job: FleetReport) -> None:
    """The evidence of a single rank is saved once for all, and the page alone shows it."""
    saved = fleet_renderers()["json"].render(job)
    again = any_restored(saved)

    assert isinstance(again, FleetReport)
    assert fleet_renderers()[form].render(again) == fleet_renderers()[form].render(job)
    assert again.exit_code == job.exit_code
    assert fleet_renderers()["html"].render(again)


@pytest.mark.parametrize(
    ("file", "name"),
    [
        ("f.json", "json"),
        ("f.html", "html"),
        ("f.MD", "markdown"),
        ("f.junit.xml", "junit"),
        ("f.xml", "junit"),
        ("f.sarif", "sarif"),
        ("f.perfetto.json", "perfetto"),
        ("f.github.txt", "github"),
        ("f.txt", "terminal"),
    ],
)
def test_the_suffix_chooses_the_format(file: str, name: str) -> None:
    assert fleet_renderer_for_file(file).name == name


def test_what_there_is_not_is_refused_and_the_others_named() -> None:
    with pytest.raises(PolicyInvalid, match="use one of brief, github, html"):
        fleet_renderer("pdf")
    with pytest.raises(PolicyInvalid, match=r"use one of .*\.sarif"):
        fleet_renderer_for_file("fleet.pdf")
