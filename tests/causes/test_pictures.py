"""Every cause drawn: pictures in which it fires, and look-alikes in which it stays quiet."""

from __future__ import annotations

from functools import cache
from typing import Any

import pytest

from overlapcheck.causes import causes
from overlapcheck.causes.ranking.findings import findings
from overlapcheck.finding import MATERIAL_SHARE, Finding
from overlapcheck.measurements import Measurements
from tests.conftest import ROOT
from tests.pictures import Picture, load_pictures

FOLDER = ROOT / "fixtures" / "causes"
SELECTION_KEYS = ("skip", "device")
KNOWN_BUG = "bug"
"""Key of a picture that is not explained yet, saying why; strict, so that it goes with the bug."""
LOOK_ALIKES = set(range(1, 25))
"""Rows of research/causes.md 3.3, each drawn in the file of the cause that a naive rule names."""


def cases() -> dict[str, tuple[str, Picture]]:
    """Cause and picture by "cause/section"."""
    return {
        f"{cause}/{name}": (cause, drawing)
        for cause in sorted(causes())
        for name, drawing in load_pictures(
            FOLDER / f"{cause.replace('-', '_')}.toml", (*SELECTION_KEYS, KNOWN_BUG)
        ).items()
    }


def _parameters() -> list[Any]:
    return [
        pytest.param(
            case,
            marks=[pytest.mark.xfail(reason=str(drawing.options[KNOWN_BUG]))]
            if KNOWN_BUG in drawing.options
            else [],
        )
        for case, (_, drawing) in CASES.items()
    ]


CASES = cases()


@cache
def measured_picture(case: str) -> Measurements:
    """The measurements of a picture, with the selection that it asks for."""
    drawing = CASES[case][1]
    return drawing.measure(
        **{k: drawing.options[k] for k in SELECTION_KEYS if k in drawing.options}
    )


@pytest.mark.parametrize("case", _parameters())
def test_the_picture_is_explained(case: str) -> None:
    cause, drawing = CASES[case]
    expect: dict[str, Any] = drawing.options.get("expect", {})
    measured = measured_picture(case)
    found = findings(measured)
    material = [finding for finding in found if finding.share >= MATERIAL_SHARE]
    named = {finding.cause for finding in material}

    if "first" in expect:
        assert (material[0].cause if material else "none") == expect["first"], _told(found)
    if "problem" in expect:
        assert [p.fault.value for p in measured.problems] == [expect["problem"]] * bool(
            expect["problem"]
        )
    fires = case.split("/")[1].startswith("fires")
    assert (cause in named) == (fires and "problem" not in expect), _told(found)
    assert not named & set(drawing.options.get("never", ()))
    for wanted, blamed_us in expect.get("us", {}).items():
        blamed_ns = sum(f.blamed.total_ns for f in found if f.cause == wanted)
        assert blamed_ns == blamed_us * 1000, _told(found)
    if "saves" in expect:
        assert material[0].saves_at_most_ns == expect["saves"] * 1000
    if "confidence" in expect:
        assert material[0].confidence == expect["confidence"]
    for words in expect.get("says", ()):
        assert words in _text(material[0]), _text(material[0])
    for words in expect.get("silent", ()):
        assert words not in _text(material[0]), _text(material[0])
    for device in measured.devices:
        ledger = device.ledger
        assert int((ledger.end_ns - ledger.start_ns).sum()) == device.idle_ns


def test_every_look_alike_is_drawn() -> None:
    drawn = {
        int(name.split("row_")[1][:2])
        for name in (case.split("/")[1] for case in CASES)
        if "row_" in name
    }

    assert drawn == LOOK_ALIKES


def test_every_expectation_is_understood() -> None:
    known = {"first", "us", "saves", "confidence", "says", "silent", "problem"}

    for case, (_, drawing) in CASES.items():
        assert case.split("/")[1].startswith(("fires_", "quiet_")), case
        assert set(drawing.options.get("expect", {})) <= known, case


def _text(finding: Finding) -> str:
    return "\n".join((finding.title, *finding.evidence, finding.advice, finding.caveat))


def _told(found: tuple[Finding, ...]) -> str:
    return "\n".join(
        f"{f.cause} {f.blamed.total_ns / 1000:g} us, {f.share:.1%}: {list(f.evidence)}"
        for f in found
    )
