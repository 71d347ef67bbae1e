"""The excerpt that a result keeps: a typical step and those after it, bounded, all of it true."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from overlapcheck.compare.baselines import as_baseline
from overlapcheck.errors import NotAReport
from overlapcheck.excerpt import RANK_BOUNDS, USUAL_BOUNDS, Excerpt, ExcerptBounds
from overlapcheck.ledger import Reason
from overlapcheck.pipeline import analyze
from overlapcheck.reading import Reading
from overlapcheck.report import Report
from overlapcheck.reporting import build
from overlapcheck.saved import restored
from overlapcheck.timeline import EventKind, RowRole
from tests.export import RealExport, edit
from tests.pictures import picture

QUICK = Reading(timeline=False)
STEPS = """
s7   kernel fwd              |aaaaaa......|
s13  h2d pageable 64MiB      |......dddd..|
s7   kernel opt              |...........c|
t1   cudaLaunchKernel        |ac..........|
t1   cudaMemcpyAsync         |......dddd..|
t1   nvtx step               |000000000000|
"""


def drawn(folder: Path, **options: Any) -> Report:
    path = picture(STEPS, column_us=100, repeat=7, **options).export(folder / "drawn.sqlite")
    return analyze(path, reading=QUICK)


def excerpt_of(report: Report) -> Excerpt:
    excerpt = report.devices[0].excerpt
    assert excerpt is not None
    return excerpt


def test_it_begins_with_a_typical_step_and_goes_on_with_those_after_it(tmp_path: Path) -> None:
    excerpt = excerpt_of(drawn(tmp_path))

    assert excerpt.step_texts == ("step 4", "step 5", "step 6")
    assert (excerpt.step_text, excerpt.step_span_ns) == ("step 4", (0, 1_200_000))
    assert excerpt.step_start_ns == (0, 1_200_000, 2_400_000)
    assert excerpt.length_ns == 3_600_000


def test_every_event_of_the_steps_is_in_it_and_none_of_others(tmp_path: Path) -> None:
    excerpt = excerpt_of(drawn(tmp_path))
    rows = {row.label: row for row in excerpt.rows}
    words = [excerpt.kinds[kind] for kind in rows["s13"].kind]

    assert (words, rows["s13"].start_ns) == (["h2d"] * 3, (600_000, 1_800_000, 3_000_000))
    assert (rows["s13"].length_ns, rows["s13"].bytes) == ((400_000,) * 3, (64 << 20,) * 3)
    assert [excerpt.names[name] for name in rows["s7"].name] == ["fwd", "opt"] * 3
    assert "these steps" in rows["no compute"].note
    idle = sum(ns for kind, ns in excerpt.busy_ns.items() if kind >= EventKind.IDLE)
    assert (excerpt.busy_ns[EventKind.COMPUTE], idle) == (3 * 700_000, 3 * 500_000)


def test_what_it_says_of_a_real_step_is_what_the_timeline_says(real_export: RealExport) -> None:
    """Compute in its steps, from the events of the excerpt and from those of the whole window."""
    report = analyze(real_export("pt_pageable"))
    excerpt, timeline = excerpt_of(report), report.devices[0].timeline
    assert timeline is not None and timeline.resolution_ns == excerpt.resolution_ns == 0
    start, end = excerpt.start_ns, excerpt.start_ns + excerpt.length_ns

    for kind in (EventKind.COMPUTE, EventKind.H2D, EventKind.IDLE + Reason.PAGEABLE_COPY):
        whole = timeline.events.rows(timeline.events.kind == kind)
        inside = whole.end_ns.clip(start, end) - whole.start_ns.clip(start, end)
        kept = excerpt.timeline.events
        kept = kept.rows(kept.kind == kind)
        assert (kept.end_ns.clip(start, end) - kept.start_ns).sum() == inside.sum() > 0


@pytest.mark.parametrize("bounds", [USUAL_BOUNDS, RANK_BOUNDS, ExcerptBounds(events=60)])
def test_it_is_bounded_and_blocks_account_for_every_event(
    bounds: ExcerptBounds, real_export: RealExport
) -> None:
    report = analyze(real_export("ddp_bucketed"), reading=replace(QUICK, excerpt=bounds))

    for device in report.devices:
        excerpt = device.excerpt
        assert excerpt is not None and excerpt.resolution_ns > 0
        assert sum(len(row.count) for row in excerpt.rows) <= bounds.events
        assert sum(sum(row.count) for row in excerpt.rows) == excerpt.recorded
        assert any(row.role is RowRole.THREAD for row in excerpt.rows) is bounds.threads


def test_a_window_without_steps_is_drawn_whole(tmp_path: Path) -> None:
    drawing = "\n".join(line for line in STEPS.splitlines() if "nvtx" not in line)
    path = picture(drawing, column_us=100).export(tmp_path / "drawn.sqlite")
    device = analyze(path, reading=QUICK).devices[0]

    assert device.excerpt is not None and device.window.steps is None
    assert (device.excerpt.step_text, device.excerpt.typical) == ("", 0)
    assert device.excerpt.step_span_ns == (0, device.window_ns)


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("value", [(1 << 63) - 1, -(1 << 61), -5, 0])
@pytest.mark.parametrize(
    "column", ["KERNEL.end", "RUNTIME.end", "MEMCPY.end", "MEMCPY.bytes", "KERNEL.start"]
)
def test_damaged_rows_cost_no_result(column: str, value: int, tmp_path: Path) -> None:
    """Times that no clock shows, and sizes that nothing has."""
    table, _, name = column.partition(".")
    path = picture(STEPS, column_us=100, repeat=7).export(tmp_path / "damaged.sqlite")
    edit(path, f'UPDATE CUPTI_ACTIVITY_KIND_{table} SET "{name}" = {value} WHERE rowid = 5')
    report = analyze(path, reading=QUICK)

    assert restored(report.to_json()).devices == report.devices


# --- saved ------------------------------------------------------------------------------------


def test_a_result_keeps_it_and_a_baseline_does_not(tmp_path: Path) -> None:
    report = drawn(tmp_path)

    assert excerpt_of(restored(report.to_json())) == excerpt_of(report)
    assert as_baseline(report).devices[0].excerpt is None


def test_results_of_earlier_versions_have_none(tmp_path: Path) -> None:
    document = json.loads(drawn(tmp_path).to_json())
    del document["devices"][0]["excerpt"]

    assert restored(json.dumps(document)).devices[0].excerpt is None


def test_kinds_of_later_versions_are_left_out(tmp_path: Path) -> None:
    excerpt = excerpt_of(drawn(tmp_path))
    later = replace(
        excerpt, kinds=tuple("idle: bad-weather" if "idle" in k else k for k in excerpt.kinds)
    )

    assert len(later.timeline.events) < len(excerpt.timeline.events)
    assert set(later.busy_ns) == {kind for kind in excerpt.busy_ns if kind < EventKind.IDLE}


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda e: e["rows"][1]["start_ns"].pop(), "equally long"),
        (lambda e: e["rows"][1]["kind"].__setitem__(0, 99), "not there"),
        (lambda e: e["rows"][1]["name"].__setitem__(0, -1), "not there"),
        (lambda e: e["rows"][1]["length_ns"].__setitem__(0, -5), "below 0"),
        (lambda e: e["rows"][1]["start_ns"].reverse(), "ascend"),
        (lambda e: e["step_end_ns"].pop(), "step_number"),
        (lambda e: e.update(typical=7), "typical"),
        (lambda e: [row.update(bytes=[1]) for row in e["rows"]], "bytes"),
    ],
)
def test_one_that_cannot_be_drawn_is_refused(change: Any, said: str, tmp_path: Path) -> None:
    document = json.loads(drawn(tmp_path).to_json())
    change(document["devices"][0]["excerpt"])

    with pytest.raises(NotAReport, match=said):
        restored(json.dumps(document), "x.json")


def test_of_very_many_devices_only_the_first_have_one(
    real_export: RealExport, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(build, "MAX_EXCERPTS", 1)
    first, second = analyze(real_export("ddp_bucketed")).devices

    assert first.excerpt is not None
    assert second.excerpt is None
