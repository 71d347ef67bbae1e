"""Which stream waits for which, on the page: drawn, and its operations marked in the timeline."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from selenium.webdriver.common.by import By

from overlapcheck import pipeline
from overlapcheck.renderers import renderers
from overlapcheck.renderers.html import RENDERER
from overlapcheck.report import Report
from overlapcheck.verdict import Outcome, Policy
from tests.cli.test_streams import export
from tests.export import RealExport
from tests.renderers.browser import Page
from tests.renderers.test_terminal import (
    a_check,
    a_device,
    a_finding,
    a_report,
    failing,
    passing,
)


def timelines(page: str) -> list[dict[str, Any]]:
    (embedded,) = re.findall(r'id="timelines">(.*?)</script>', page, flags=re.DOTALL)
    found: list[dict[str, Any]] = json.loads(embedded)
    return found


def analysed(path: Path) -> Report:
    return pipeline.analyze(path, policy=Policy())


def test_the_page_draws_every_edge_and_marks_its_operations(tmp_path: Path) -> None:
    report = analysed(export(tmp_path / "right.sqlite"))
    page = RENDERER.render(report)

    assert report.streams is not None
    (graph,) = report.streams.graphs
    assert page.count('class="waits"') == 1
    assert "reuse −2, 2 buffers" in page
    (data,) = timelines(page)
    edges = [one for one in data["instances"] if "said" in one]
    assert len(edges) == len(graph.edges) == 2
    for edge, one in zip(graph.edges, edges, strict=True):
        first, second = edge.example.before, edge.example.after
        assert first is not None and second is not None
        (row, start, _, role, text), (other, begin, _, waits, _) = one["marks"]
        assert (role, text, waits) == ("waited for", first.text, "waits")
        labels = [data["rows"][number]["label"] for number in (row, other)]
        assert labels == [f"s{first.stream_id}", f"s{second.stream_id}"]
        assert (start, begin) == (first.start_ns - data["origin"], second.start_ns - data["origin"])


def test_waits_of_the_host_are_marked_in_the_row_of_their_thread(
    real_export: RealExport, page: Page
) -> None:
    report = analysed(real_export("ddp_bucketed"))
    assert report.streams is not None
    text = RENDERER.render(report)

    for data, graph in zip(timelines(text), reversed(report.streams.graphs), strict=True):
        waits = [one for one in data["instances"] if one["cause"].startswith("host ")]
        assert len(waits) == len(graph.host) > 0
        for seen, one in zip(graph.host, waits, strict=True):
            waited = seen.example.waited
            assert waited is not None
            *_, (row, start, end, role, said) = one["marks"]
            assert role == "host waits" and said.startswith(seen.rule.call)
            assert data["rows"][row]["role"] == "thread"
            assert f"tid {waited.tid}," in data["rows"][row]["note"]
            assert (start, end) == (
                waited.start_ns - data["origin"],
                waited.end_ns - data["origin"],
            )
            assert one["view"][0] <= start and end <= one["view"][1]
    page.open_text(text)
    page.click(".show[data-cause^='host ']")
    said = page.driver.find_element(By.CSS_SELECTOR, ".chain").text
    assert "→ host: " in said and "host waits: cuda" in said
    assert page.console() == []


@pytest.mark.parametrize("name", ["streams", "sanitizer"])
def test_a_failed_order_is_told_instead_of_a_cause(name: str) -> None:
    gone = a_check(name, Outcome.FAIL, None, None, "the wait copy → compute is gone")
    report = a_report((*passing(), gone), (a_device(),), (a_finding(),))

    for form in ("html", "markdown"):
        text = renderers()[form].render(report)
        assert f"1 of 4 checks failed: {name}: the wait copy → compute is gone" in text
        assert "first cause" not in text
    late = a_report((*failing(), gone), (a_device(),), (a_finding(),))
    assert "first cause: pageable-copy" in RENDERER.render(late)


def test_processes_have_their_own_drawing(real_export: RealExport) -> None:
    page = RENDERER.render(analysed(real_export("ddp_bucketed")))

    assert page.count('class="waits"') == 2
    assert "3× ready 0" in page


def test_a_click_shows_an_edge_in_the_timeline(tmp_path: Path, page: Page) -> None:
    page.open(analysed(export(tmp_path / "right.sqlite")))
    page.driver.find_element(By.CSS_SELECTOR, ".edges .show").click()
    page.settle()

    said = page.driver.find_element(By.CSS_SELECTOR, ".chain strong").text
    assert said.startswith("compute → h2d, reuse −2: step ")
