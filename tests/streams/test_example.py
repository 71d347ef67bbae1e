"""The pull request of examples/streams is true: its lines are those of two recordings."""

from __future__ import annotations

import difflib
from pathlib import Path

import pytest

from overlapcheck.stream_contract_file import read_contract, written
from tests.conftest import ROOT
from tests.streams.programs import SHARED, measured_export, report_of, unpacked

EXAMPLE = ROOT / "examples" / "streams"


def changed_lines(diff: str) -> list[str]:
    """The lines that a diff takes out and puts in."""
    return [
        line
        for line in diff.splitlines()
        if line[:1] in "+-" and not line.startswith(("+++", "---"))
    ]


def test_the_example_is_a_contract_and_the_diff_leads_to_it() -> None:
    text = (EXAMPLE / "streams.toml").read_text(encoding="utf-8")
    diff = (EXAMPLE / "pull-request.diff").read_text(encoding="utf-8")

    assert written(read_contract(text, "streams.toml")) == text
    whole = text + (EXAMPLE / "train.py").read_text(encoding="utf-8")
    for line in changed_lines(diff):
        assert (line[1:] in whole.splitlines()) == line.startswith("+")


@pytest.mark.skipif(not SHARED.is_dir(), reason="../shared with the recordings is not here")
def test_the_lines_are_those_of_recordings(tmp_path: Path) -> None:
    before, after = (
        written(
            report_of(
                measured_export(unpacked(SHARED / "traces" / f"{name}.sqlite.xz", tmp_path))
            ).to_agree_on()
        )
        for name in ("pt_overlapped", "pt_bidir")
    )
    assert after == (EXAMPLE / "streams.toml").read_text(encoding="utf-8")
    said = changed_lines((EXAMPLE / "pull-request.diff").read_text(encoding="utf-8"))
    expected = changed_lines(
        "\n".join(difflib.unified_diff(before.splitlines(), after.splitlines(), lineterm=""))
    )
    assert expected and all(line in said for line in expected)
