"""Chrome trace JSON: it parses, its ledger track is the ledger, its size has an end."""

from __future__ import annotations

import json
from collections import defaultdict
from dataclasses import replace
from decimal import Decimal
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from overlapcheck import pipeline
from overlapcheck.device_report import LedgerEntry
from overlapcheck.errors import PolicyInvalid
from overlapcheck.ledger import IdleLedger, Reason
from overlapcheck.renderers import renderer_for_file, renderers
from overlapcheck.renderers._perfetto_slices import Slice, in_lanes, nanoseconds
from overlapcheck.report import Report
from overlapcheck.saved import restored
from overlapcheck.selection import Selection
from tests.export import RealExport
from tests.pictures import picture
from tests.renderers.reports import golden
from tests.renderers.test_terminal import GOLDENS

SERIAL = """
s7  kernel {name}     |.aaaa....cccc....eeee....gggg|
s13 h2d pageable 64MiB|.....bbbb....dddd....ffff....|
t1  cudaLaunchKernel  |a........c.......e.......g...|
t1  cudaMemcpyAsync   |.....bbbb....dddd....ffff....|
t1  nvtx step         |00000000111111112222222233333|
"""
TWO = """
gpu0 s7 kernel k      |.aaaa..cccc..|
gpu1 s7 kernel k      |..bbbb..dddd.|
gpu0 s9 kernel nccl_k |.....nn......|
t1  cudaLaunchKernel  |ab.n.cd......|
"""
EXPORTS = ("pt_pageable", "ddp_bucketed", "pt_graph", "fx_p2p_serial", "cu_legacy_default")


def analysed(drawing: str, folder: Path, **names: str) -> Report:
    path = picture(drawing.format(**names), column_us=100).export(folder / "drawn.sqlite")
    report = pipeline.analyze(path, selection=Selection(skip=0))
    return replace(report, tool_version="0.1.0")


def render(report: Report) -> str:
    return renderers()["perfetto"].render(report)


def document(report: Report) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(render(report), parse_float=Decimal)
    return found


def slices(report: Report, category: str = "") -> list[dict[str, Any]]:
    events = document(report)["traceEvents"]
    return [e for e in events if e["ph"] == "X" and category in ("", e["cat"])]


def assert_the_ledger_is_exact(report: Report) -> None:
    for number, device in enumerate(report.devices, 1):
        added: dict[str, Decimal] = defaultdict(Decimal)
        for event in slices(report, "ledger"):
            if event["pid"] == number:
                added[event["name"]] += event["dur"] * 1000
        assert added == {entry.cause: entry.ns for entry in device.ledger}


def assert_no_track_overlaps(report: Report) -> None:
    tracks = defaultdict(list)
    for event in slices(report):
        tracks[event["pid"], event["tid"]].append((event["ts"], event["ts"] + event["dur"]))
    for spans in tracks.values():
        assert all(end <= start for (_, end), (start, _) in pairwise(spans))


@pytest.mark.parametrize("name", ["serial", "two_devices", "hostile"])
def test_golden(name: str, tmp_path: Path) -> None:
    drawing = TWO if name == "two_devices" else SERIAL
    kernel = 'a<b>&c|d,e"f\\g' if name == "hostile" else "k"
    text = render(analysed(drawing, tmp_path, name=kernel))

    assert text == golden("perfetto", f"{name}.perfetto.json", text)


@pytest.mark.parametrize("name", EXPORTS)
def test_durations_of_the_ledger_track_are_the_ledger(name: str, real_export: RealExport) -> None:
    report = pipeline.analyze(real_export(name))

    assert_the_ledger_is_exact(report)
    assert_no_track_overlaps(report)


def test_streams_copies_calls_and_steps_are_there(tmp_path: Path) -> None:
    report = analysed(SERIAL, tmp_path, name="k")
    events = document(report)["traceEvents"]
    names = {e["args"]["name"] for e in events if e["name"] == "thread_name"}
    shown = {(event["cat"], event["name"]) for event in slices(report)}

    assert {"steps", "time without compute, by cause"} <= names
    assert ("device", "k") in shown
    assert ("device", "h2d copy from pageable memory") in shown
    assert ("host", "cudaMemcpyAsync") in shown
    assert ("step", "step 1") in shown
    (first, *_) = (e for e in slices(report, "device") if "h2d" in e["name"])
    assert (first["ts"], first["dur"]) == (Decimal("500.000"), Decimal("400.000"))
    assert first["args"] == {"kind": "h2d", "bytes": 64 << 20, "speed": "167.8 GB/s"}


def test_a_report_without_devices_is_an_empty_trace(tmp_path: Path) -> None:
    report = analysed("t1 nvtx step |012|", tmp_path)

    assert slices(report) == []


def test_a_saved_result_has_no_events_to_draw() -> None:
    saved = restored(renderers()["json"].render(GOLDENS["fail"]))
    with pytest.raises(PolicyInvalid, match="a saved result holds none; write it where the trace"):
        render(saved)


def test_a_long_ledger_is_added_up_and_stays_exact(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    most = 1_000
    monkeypatch.setattr("overlapcheck.renderers.perfetto.MOST_PIECES", most)
    report = analysed(SERIAL, tmp_path, name="k")
    measured = report.measurements
    assert measured is not None
    count = 6 * most + 7
    rng = np.random.default_rng(1)
    start = np.cumsum(rng.integers(2, 90, count))
    ledger = measured.devices[0].ledger
    names = IdleLedger.__dataclass_fields__
    columns: dict[str, Any] = {name: np.zeros(count, dtype=np.int64) for name in names}
    columns |= {"start_ns": start, "end_ns": start + rng.integers(1, 3, count)}
    columns |= {"reason": rng.integers(0, 5, count), "inferred": np.zeros(count, dtype=bool)}
    long = IdleLedger(**columns)
    totals: dict[str, int] = defaultdict(int)
    for piece, reason in zip(long.end_ns - long.start_ns, long.reason, strict=True):
        totals[Reason(int(reason)).cause] += int(piece)
    device = replace(measured.devices[0], ledger=long)
    entries = tuple(LedgerEntry(cause, ns) for cause, ns in totals.items())
    report = replace(
        report,
        devices=(replace(report.devices[0], ledger=entries),),
        measurements=replace(measured, devices=(device,)),
    )

    assert len(ledger) < len(slices(report, "ledger")) <= most
    assert_the_ledger_is_exact(report)
    assert_no_track_overlaps(report)


def test_overlapping_events_go_to_further_lanes() -> None:
    some = [Slice("a", 0, 10), Slice("b", 5, 7), Slice("c", 7, 12), Slice("d", 12, 13)]
    lanes = in_lanes(some, 8)

    assert [[one.name for one in lane] for lane in lanes] == [["a", "d"], ["b", "c"]]


@pytest.mark.parametrize(
    ("ns", "text"), [(0, "0.000"), (5, "0.005"), (1_234_567, "1234.567"), (-5, "-0.005")]
)
def test_times_are_exact_to_the_nanosecond(ns: int, text: str) -> None:
    assert nanoseconds(ns) == text


def test_its_suffix_is_told_from_that_of_json() -> None:
    assert renderer_for_file("t.perfetto.json").name == "perfetto"
    assert renderer_for_file("perfetto.json").name == "json"
