"""Recordings of ../shared against what is known of their programs' waits."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest

from overlapcheck.measurements import Measurements
from overlapcheck.renderers.streams.json import document
from overlapcheck.stream_contract_file import written
from overlapcheck.stream_report import StreamReport
from tests.streams.programs import (
    SHARED,
    agreed,
    edges_of,
    hosts_of,
    measured_export,
    report_of,
    unpacked,
)

CONTRACT = SHARED / "contract"
SAME_PROGRAM = (
    ("pt_overlapped", "pt_starved", "pt_capture_range", "pt_pageable", "pt_malloc"),
    ("cu_double_buffer", "cu_priority", "cu_pageable", "cu_malloc_each", "fx_launch_blocking"),
    ("pt_item", "pt_default_flags", "pt_item_backtrace"),
    ("pt_graph", "pt_graph_node"),
    ("ddp_bucketed", "rank_0", "rank_1"),
    ("cu_many_streams", "cu_many_streams_conn1"),
    ("fx_copy_sync", "fx_register_each"),
)
"""Recordings of one program, or of programs that differ in no wait."""


@cache
def _measured(relative: str) -> Measurements:
    with TemporaryDirectory() as folder:
        return measured_export(unpacked(CONTRACT / relative, Path(folder)))


def _looked_at(relative: str) -> StreamReport:
    return report_of(_measured(relative))


def _known(name: str) -> list[Any]:
    if not CONTRACT.is_dir():
        why = pytest.mark.skip(reason="../shared with the known programs is not here")
        return [pytest.param({}, id="shared", marks=why)]
    known = json.loads((CONTRACT / name).read_text())
    return [pytest.param(expected, id=key) for key, expected in known.items()]


def _tuples(rules: list[dict[str, Any]], *names: str) -> set[tuple[Any, ...]]:
    return {tuple(rule[name] for name in names) for rule in rules}


@pytest.mark.parametrize("expected", _known("EXPECTED.json"))
def test_a_pair_is_called_what_it_is(expected: dict[str, Any]) -> None:
    contract = agreed(_looked_at(expected["reference"]))
    found = document(report_of(_measured(expected["candidate"]), contract))

    assert found["changed"] is expected["changed"]
    check = found["processes"][0]["check"]
    if expected["changed"]:
        gone = _tuples(expected["lost"], "from", "to", "kind", "distance", "count")
        came = _tuples(expected["gained"], "from", "to", "kind", "distance", "count")
        implied = _tuples(expected["implied"], "from", "to", "kind", "distance", "count")
        assert _tuples(check["lost"], "from", "to", "kind", "distance", "count") - implied == gone
        assert _tuples(check["gained"], "from", "to", "kind", "distance", "count") == came
        hosts = {h["call"] for h in check["host_gained"] if not h["copy"]}
        assert hosts == {h["call"] for h in expected["host_gained"]}
        assert bool(check["covers_less"]) == ("covers_less" in expected)
        if "covers_less" in expected:
            name = expected["covers_less"]["no_longer"].split()[0]
            assert name in check["covers_less"][0]["text"]
        if "never_recorded" in expected:
            assert check["never_recorded"] == [expected["never_recorded"]]
    elif expected["changed"] is None:
        assert "--cuda-event-trace=true" in check["settle_with"]


@pytest.mark.parametrize("expected", _known("traces.json"))
def test_a_recording_shows_the_waits_of_its_program(expected: dict[str, Any]) -> None:
    report = _looked_at(expected["file"])

    for graph in report.graphs:
        if expected["edges"] is None:
            assert graph.no_records
            continue
        assert edges_of(graph) == _tuples(
            expected["edges"], "from", "to", "kind", "distance", "count"
        )
        assert hosts_of(graph) == _tuples(expected["host"], "call", "of", "distance", "count")
        if expected["streams"] is not None:
            assert {
                str(number): seen.name for seen in graph.streams for number in seen.stream_ids
            } == expected["streams"]


@pytest.mark.skipif(not CONTRACT.is_dir(), reason="../shared with the recordings is not here")
@pytest.mark.parametrize("names", SAME_PROGRAM, ids=lambda names: names[0])
def test_a_contract_holds_for_every_recording_of_its_program(names: tuple[str, ...]) -> None:
    files = [f"../traces/{name}.sqlite.xz" for name in names]
    for reference in files:
        contract = agreed(_looked_at(reference))
        for candidate in files:
            report = report_of(_measured(candidate), contract)

            assert [check.reason for check in report.checks if check.changes] == []
            assert report.exit_code == 0


@pytest.mark.skipif(not CONTRACT.is_dir(), reason="../shared with the recordings is not here")
@pytest.mark.parametrize("family", ["prefetch", "results", "towers", "ddp"])
def test_a_contract_is_the_same_text_from_every_run(family: str) -> None:
    names = (family, f"{family}_rerun_a", f"{family}_rerun_b")
    texts = {written(_looked_at(f"{name}.sqlite.xz").to_agree_on()) for name in names}

    assert len(texts) == 1


@pytest.mark.skipif(not CONTRACT.is_dir(), reason="../shared with the recordings is not here")
@pytest.mark.parametrize(
    "relative",
    [
        *(f"../traces/{name}.sqlite.xz" for name in ("pt_overlapped", "cu_double_buffer")),
        *(f"../traces/{name}.sqlite.xz" for name in ("ddp_bucketed", "pt_bidir", "pt_two_compute")),
        *(f"../pairs/{name}.sqlite.xz" for name in ("ddp_ddp", "vision_prefetch")),
        *(f"{name}.sqlite.xz" for name in ("prefetch", "results", "towers", "ddp")),
    ],
)
def test_both_halves_of_a_recording_keep_one_contract(relative: str, tmp_path: Path) -> None:
    steps = _measured(relative).waits[0].steps
    (steady,) = steps.steady.nonzero()
    middle = steady[len(steady) // 2]
    bounds = (
        (int(steps.start_ns[steady[0]]), int(steps.end_ns[middle - 1]) + 1),
        (int(steps.start_ns[middle]), int(steps.end_ns[steady[-1]]) + 1),
    )
    export = unpacked(CONTRACT / relative, tmp_path)
    halves = [measured_export(export, window) for window in bounds]
    for reference in (*halves, _measured(relative)):
        contract = agreed(report_of(reference))
        for half in halves:
            report = report_of(half, contract)

            assert [check.reason for check in report.checks] == [
                "streams wait for each other as agreed"
            ] * len(report.checks)
