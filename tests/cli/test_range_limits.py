"""Limits of NVTX ranges in the policy file, from the file to the exit code, on a real trace."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from overlapcheck.cli import main
from tests.export import RealExport

Judged = Callable[..., tuple[int, str]]
NOTHING_ELSE = "min-overlap = 0\nmax-recoverable = 100\nskip = 3\n"


@pytest.fixture
def judged(
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
    tmp_path: Path,
    real_export: RealExport,
) -> Judged:
    """Analyse pt_pageable by a policy that asks nothing of the whole: exit code and output."""
    monkeypatch.chdir(tmp_path)
    trace = str(real_export("pt_pageable"))

    def run(ranges: str, *more: str) -> tuple[int, str]:
        Path("overlapcheck.toml").write_text(NOTHING_ELSE + ranges)
        monkeypatch.setattr(sys, "argv", ["overlapcheck", "analyze", trace, *more])
        with pytest.raises(SystemExit) as stop:
            main()
        return int(stop.value.code or 0), "".join(capfd.readouterr())

    return run


def checks(out: str) -> dict[str, Any]:
    return {check["name"]: check for check in json.loads(out)["verdict"]["checks"]}


def test_the_compute_of_the_pageable_program_is_fine_and_its_steps_are_not(judged: Judged) -> None:
    """`train.py pageable` copies between its compute ranges, so the loss is outside of them."""
    limits = "min-overlap = 95\nmax-recoverable = 5\nmax-idle = 5\n"
    green, out = judged(f"[ranges.compute]\n{limits}")
    red, told = judged(f"[ranges.'step *']\n{limits}", "--format", "json")

    assert (green, "overlap h2d in 'compute'" in out) == (0, True)
    assert red == 1
    assert [check["outcome"] for name, check in checks(told).items() if " in " in name] == [
        "FAIL"
    ] * 3
    assert checks(told)["idle in 'step *'"]["limit_from"] == "overlapcheck.toml"


def test_a_profile_tightens_one_limit_of_a_range(judged: Judged) -> None:
    ranges = (
        "[ranges.compute]\nmax-recoverable = 5\nmax-idle = 5\n"
        "[profiles.strict.ranges.compute]\nmax-idle = 1\n"
    )
    code, out = judged(ranges, "--profile", "strict", "--format", "json")
    found = checks(out)

    assert judged(ranges)[0] == 0
    assert code == 1
    assert found["recoverable in 'compute'"]["outcome"] == "PASS"
    assert found["idle in 'compute'"]["outcome"] == "FAIL"
    assert found["idle in 'compute'"]["limit_from"] == "overlapcheck.toml, profile strict"


def test_a_range_that_is_not_there_is_exit_code_3_and_names_one_that_is(judged: Judged) -> None:
    code, out = judged("[ranges.compuet]\nmax-idle = 50\n")

    assert code == 3
    assert "range 'compuet'" in out
    assert "what to do: name one that it has, 'compute'; all: nsys stats" in " ".join(out.split())


def test_a_wrong_key_is_exit_code_2_and_names_the_nearest(judged: Judged) -> None:
    code, out = judged("[ranges.compute]\nmax-idel = 50\n")

    assert code == 2
    assert out == (
        "overlapcheck: overlapcheck.toml: ranges.compute.max-idel is no limit of a range;"
        " did you mean max-idle?\n"
    )


# ---- choices that the file made are told as its own


def test_skipped_steps_of_the_file_name_the_file(judged: Judged) -> None:
    _, of_file = judged("")
    _, of_option = judged("", "--skip", "2")

    assert "262.2 ms; skip = 3 in overlapcheck.toml\n" in of_file
    assert "; --skip 2\n" in of_option


def test_steps_of_the_file_that_nothing_matches_name_the_file(judged: Judged) -> None:
    code, out = judged("steps = 'phase #'\n")

    assert code == 2
    assert out == (
        "overlapcheck: steps = 'phase #' in overlapcheck.toml: no NVTX range family of 3 or more"
        " matches it; list the names: nsys stats --report nvtx_sum REPORT\n"
    )
