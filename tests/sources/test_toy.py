"""A source that no other file knows: what it reads is judged like any recording."""

from __future__ import annotations

import json
import shutil
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import pytest

import overlapcheck
from overlapcheck import sources
from overlapcheck.errors import SourceUnusable
from overlapcheck.kinds import DeviceKey
from overlapcheck.sources._offered import may_be_offered
from overlapcheck.sources.nsys import SOURCE as NSYS
from tests.sources.toy import ToySource

TOY = overlapcheck.Reading(sources=[ToySource()])
KERNEL, COPY = 1, 2
STEPS = range(0, 100_000, 1_000)
# Launched far ahead of time: the host is never late.
HIDDEN = [
    row
    for number, at in enumerate(STEPS)
    for row in (
        (KERNEL, 2 * number, 500 + at, 1_450 + at, 0),
        (COPY, 2 * number + 1, 600 + at, 900 + at, 3),
    )
]
"""Kernels in stream 0, copies beside them in stream 3."""
IN_TURN = [
    row
    for number, at in enumerate(STEPS)
    for row in (
        (COPY, 2 * number, 500 + at, 800 + at, 0),
        (KERNEL, 2 * number + 1, 801 + at, 1_500 + at, 0),
    )
]
"""All of it in stream 0: each kernel waits for its copy."""


def recording(folder: Path, rows: Sequence[Sequence[int]]) -> Path:
    path = folder / "walk.toy"
    path.write_text(json.dumps({"toy": rows}))
    return path


def test_the_source_is_as_short_as_it_is_said_to_be() -> None:
    assert len(Path(__file__).with_name("toy.py").read_text().splitlines()) < 60


def test_a_recording_of_another_source_passes(tmp_path: Path) -> None:
    report = overlapcheck.analyze(recording(tmp_path, HIDDEN), reading=TOY)
    (device,) = report.devices

    assert report.verdict.outcome is overlapcheck.Outcome.PASS
    assert (device.pid, device.process, device.device) == (0, "toy (0)", 0)
    assert device.copies["h2d"].overlap == 1.0
    assert {stream.stream_id: stream.kind for stream in device.streams} == {0: "null", 3: "unknown"}
    assert report.capture.recorder == "toy"


def test_stream_0_is_a_stream_in_which_work_waits_its_turn(tmp_path: Path) -> None:
    report = overlapcheck.analyze(recording(tmp_path, IN_TURN), reading=TOY)

    assert report.verdict.outcome is overlapcheck.Outcome.FAIL
    assert report.devices[0].copies["h2d"].overlap == 0.0
    assert report.findings[0].cause == "same-stream"
    assert report.findings[0].device == DeviceKey(0, 0)
    assert sum(entry.ns for entry in report.devices[0].ledger) == report.devices[0].idle_ns


def test_work_of_the_first_call_is_found_though_its_id_is_0(tmp_path: Path) -> None:
    trace = overlapcheck.read_trace(recording(tmp_path, HIDDEN), reading=TOY)
    (device,) = overlapcheck.measure(trace).devices

    assert device.order.operations.call.tolist()[:2] == [0, 1]


def test_what_is_missing_is_told_in_the_words_of_the_source(tmp_path: Path) -> None:
    lost = [row for row in HIDDEN if row[0] == KERNEL]
    path = recording(tmp_path, lost)
    trace = overlapcheck.read_trace(path, reading=TOY)

    assert trace.recorder.record_again(overlapcheck.Content.ALL_ROWS) == "wind it up again"
    assert "nsys" not in trace.recorder.record_again(overlapcheck.Content.GRAPH_NODES)


def test_without_the_source_nobody_knows_the_recording(tmp_path: Path) -> None:
    with pytest.raises(overlapcheck.OverlapcheckError, match="not an Nsight Systems report"):
        overlapcheck.analyze(recording(tmp_path, HIDDEN))


def test_the_source_of_nsys_refuses_what_nobody_knows_whichever_is_asked_last(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(sources, "_built_in", lambda: (NSYS, ToySource()))

    assert sources.source_of(tmp_path / "unknown") is NSYS


@pytest.fixture
def install(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Callable[[str], Path]]:
    def installed(value: str) -> Path:
        place = tmp_path / "packages"
        information = place / "toy_source-1.dist-info"
        information.mkdir(parents=True)
        (information / "METADATA").write_text(
            "Metadata-Version: 2.1\nName: toy-source\nVersion: 1\n"
        )
        (information / "entry_points.txt").write_text(f"[{sources.GROUP}]\ntoy = {value}\n")
        monkeypatch.syspath_prepend(str(place))
        sources._installed.cache_clear()
        return place

    yield installed
    monkeypatch.undo()
    sources._installed.cache_clear()


def test_an_installed_source_is_found(install: Callable[[str], Path], tmp_path: Path) -> None:
    install("tests.sources.toy:TOY")

    report = overlapcheck.analyze(recording(tmp_path, HIDDEN))

    assert report.verdict.outcome is overlapcheck.Outcome.PASS


@pytest.mark.parametrize(
    ("value", "said"),
    [
        ("tests.sources.nothing:TOY", "'toy' of toy-source cannot be loaded: ModuleNotFoundError"),
        ("tests.sources.toy:TEXTS", "lacks one of recognises, read, record_again"),
    ],
)
def test_an_installed_source_that_does_not_work_is_named(
    install: Callable[[str], Path], value: str, said: str, tmp_path: Path
) -> None:
    install(value)

    with pytest.raises(SourceUnusable, match=said):
        overlapcheck.analyze(recording(tmp_path, HIDDEN))


def test_an_installed_source_in_an_archive_is_found(
    install: Callable[[str], Path], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    place = install("tests.sources.toy:TOY")
    archive = shutil.make_archive(str(tmp_path / "packed"), "zip", place)
    monkeypatch.setattr(sys, "path", [archive, *(one for one in sys.path if one != str(place))])

    report = overlapcheck.analyze(recording(tmp_path, HIDDEN))

    assert report.capture.recorder == "toy"


class _Finder:
    """Where packages lie that are in no folder."""

    def find_spec(self, *_: object) -> None:
        return None

    def find_distributions(self, *_: object) -> tuple[()]:
        return ()


def test_a_finder_of_another_kind_may_offer_a_source(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "path", [])
    alone = may_be_offered(sources.GROUP)
    monkeypatch.setattr(sys, "meta_path", [_Finder(), *sys.meta_path])

    assert (alone, may_be_offered(sources.GROUP)) == (False, True)


def test_a_package_that_offers_something_else_offers_no_source(
    install: Callable[[str], Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "path", [str(install("tests.sources.toy:TOY")), "/nowhere"])

    assert may_be_offered(sources.GROUP)
    assert not may_be_offered("overlapcheck.colours")
