from __future__ import annotations

from pathlib import Path

import pytest

from overlapcheck import pipeline
from overlapcheck.errors import PolicyInvalid
from overlapcheck.renderers import renderer_for_file, renderers
from overlapcheck.selection import Selection
from overlapcheck.thresholds import Thresholds
from tests.pictures import picture


def test_every_file_of_the_folder_is_a_format() -> None:
    assert {"terminal", "json"} <= set(renderers())
    assert all(name == renderer.name for name, renderer in renderers().items())


def test_no_two_formats_share_a_suffix() -> None:
    suffixes = [renderer.suffix for renderer in renderers().values()]

    assert len(set(suffixes)) == len(suffixes)
    assert all(suffix.startswith(".") and suffix == suffix.lower() for suffix in suffixes)


@pytest.mark.parametrize("name", sorted(renderers()))
def test_every_format_tells_of_thresholds_that_were_moved(name: str, tmp_path: Path) -> None:
    path = picture("s7 kernel k |aa..bb|\nt1 cudaLaunchKernel |a..b..|").export(
        tmp_path / "t.sqlite"
    )
    usual = pipeline.analyze(path)
    moved = pipeline.analyze(
        path, selection=Selection(thresholds=Thresholds(start_latency_ns=5000))
    )

    assert "start-latency-ns" in renderers()[name].render(moved)
    assert "start-latency-ns" not in renderers()[name].render(usual)


@pytest.mark.parametrize("name", ["result.json", "RESULT.JSON", "a.b.json"])
def test_the_suffix_of_a_file_chooses_the_format(name: str) -> None:
    assert renderer_for_file(name).name == "json"


@pytest.mark.parametrize("name", ["result.docx", "result", "json"])
def test_an_unknown_suffix_is_refused_and_the_known_are_named(name: str) -> None:
    with pytest.raises(PolicyInvalid, match=rf"-o {name}: no format has this suffix; .*\.json"):
        renderer_for_file(name)
