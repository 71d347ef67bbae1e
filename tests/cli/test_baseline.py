"""`overlapcheck baseline`, and comparing with one."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.test_compare import Overlapcheck, exposed, hidden, overlapcheck
from tests.export import RealExport
from tests.pictures import picture

__all__ = ["exposed", "hidden", "overlapcheck"]
MAIN = Path(".overlapcheck/baselines/main.json")


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    (tmp_path / ".git").mkdir()
    return tmp_path


def test_a_baseline_is_a_small_file_of_the_repository(
    overlapcheck: Overlapcheck,
    real_export: RealExport,
    repository: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    below = repository / "src" / "deep"
    below.mkdir(parents=True)
    monkeypatch.chdir(below)
    code, out, err = overlapcheck("baseline", "save", "main", real_export("pt_pageable"))
    kept = repository / MAIN

    assert (code, out, err) == (0, f"saved {kept}\n", "")
    assert kept.stat().st_size < 20_000
    assert json.loads(kept.read_text())["devices"][0]["gaps"] == []


def test_comparing_with_a_baseline_is_comparing_with_its_trace(
    overlapcheck: Overlapcheck, exposed: Path, hidden: Path
) -> None:
    overlapcheck("baseline", "save", "main", exposed)
    limit = ("--fail-if-worse", "3")

    assert overlapcheck("compare", "--baseline", "main", hidden, *limit) == overlapcheck(
        "compare", exposed, hidden, *limit
    )
    overlapcheck("baseline", "save", "main", hidden)
    code, out, _ = overlapcheck("compare", "--baseline", "main", exposed, *limit)
    assert (code, out.split()[0]) == (1, "WORSE")


def test_saving_again_replaces_and_says_so(
    overlapcheck: Overlapcheck, exposed: Path, hidden: Path
) -> None:
    overlapcheck("baseline", "save", "main", exposed)
    before = MAIN.read_text()

    assert overlapcheck("baseline", "save", "main", hidden)[1].startswith("replaced ")
    assert MAIN.read_text() != before


def test_a_saved_result_can_become_a_baseline(overlapcheck: Overlapcheck, exposed: Path) -> None:
    overlapcheck("baseline", "save", "main", exposed)
    overlapcheck("analyze", exposed, "-o", "result.json")
    overlapcheck("baseline", "save", "again", "result.json")

    assert MAIN.with_name("again.json").read_text() == MAIN.read_text()


def test_the_list_names_them_with_their_numbers(
    overlapcheck: Overlapcheck, real_export: RealExport, exposed: Path
) -> None:
    assert overlapcheck("baseline", "list")[1] == (
        "no baselines; save one: overlapcheck baseline save NAME RESULT\n"
    )
    overlapcheck("baseline", "save", "main", real_export("pt_pageable"))
    overlapcheck("baseline", "save", "a.b", exposed)
    code, out, _ = overlapcheck("baseline", "list")
    first, second = out.splitlines()

    assert code == 0
    assert first.startswith("a.b ")
    assert second == (
        "main             NVIDIA H200, step 22.3 ms, recoverable 22.1 %, h2d 73.4 %"
        "  python3 train.py pageable"
    )


def test_show_prints_the_report(overlapcheck: Overlapcheck, real_export: RealExport) -> None:
    overlapcheck("baseline", "save", "main", real_export("pt_pageable"))
    code, out, _ = overlapcheck("baseline", "show", "main")

    assert code == 0
    assert out.startswith("FAIL  2 of 3 checks failed")
    assert "pageable-copy" in out


def test_a_recording_that_proves_nothing_is_no_baseline(
    overlapcheck: Overlapcheck, tmp_path: Path
) -> None:
    nothing = picture("t1 nvtx step |001122|").export(tmp_path / "cpu.sqlite")
    code, _, err = overlapcheck("baseline", "save", "main", nothing)

    assert code == 3
    assert "no baseline, for the recording is incomplete" in err
    assert not MAIN.exists()


@pytest.mark.parametrize(
    ("name", "code", "said"),
    [
        ("mian", 4, "there is no baseline 'mian'; did you mean main?"),
        ("zzz", 4, "there is no baseline 'zzz'; there are main"),
        ("../main", 2, "'../main' is no name for a baseline"),
        ("", 2, "'' is no name for a baseline"),
    ],
)
def test_a_baseline_that_is_not_there_names_the_nearest(
    name: str, code: int, said: str, overlapcheck: Overlapcheck, exposed: Path
) -> None:
    overlapcheck("baseline", "save", "main", exposed)
    found, _, err = overlapcheck("baseline", "show", name)

    assert found == code
    assert said in err
