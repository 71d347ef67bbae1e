"""No damaged export gets an answer that none may get; and the fuzzer would see it if one did."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any

import pytest

from tests.export import RealExport
from tests.hostile import fuzz
from tests.hostile.judgement import Outcome, judged
from tests.hostile.mutations import Allowed, Applied, NotApplicable, all_mutations
from tests.hostile.trial import CPU_S, MEMORY_MB, Answer

CASES = 300
SMALL = ("cu_double_buffer", "ddp_payload", "pt_capture_range", "pt_graph")
"""Together they hold everything that a mutation asks for."""


def _report(code: int, idle_ns: int = 5) -> dict[str, Any]:
    return {
        "verdict": {"exit_code": code, "checks": []},
        "devices": [{"idle_ns": idle_ns}],
        "findings": [],
    }


def _answer(code: int, **changed: Any) -> Answer:
    stderr = "overlapcheck: a.sqlite: damaged\n" if code in (2, 4) else ""
    report = {} if code in (2, 4) else _report(code)
    whole = Answer(code, "", stderr, 1.0, 100, timed_out=False, left_behind=(), report=report)
    return replace(whole, **changed)


def test_hostile_exports_get_the_right_answer_or_a_word() -> None:
    """Where it fails, `make fuzz SEED=...` with what stands first in a line tries that case."""
    done = subprocess.run(
        [sys.executable, "-m", "tests.hostile.fuzz", "--bundled", f"--cases={CASES}"],
        cwd=fuzz.ROOT,
        env={**os.environ, "PYTHONPATH": str(fuzz.ROOT)},
        capture_output=True,
        text=True,
        check=False,
    )

    assert done.returncode == 0, f"{done.stdout}\n{done.stderr}"
    assert "VIOLATION                               0" in done.stdout


@pytest.mark.parametrize("kind", sorted(all_mutations()))
def test_a_mutation_changes_the_export_and_its_seed_repeats_it(
    kind: str, real_export: RealExport, tmp_path: Path
) -> None:
    changed = 0
    for name in SMALL:
        whole = real_export(name).read_bytes()
        for number in range(3):
            one = _applied(kind, whole, tmp_path / f"{name}{number}a", number)
            other = _applied(kind, whole, tmp_path / f"{name}{number}b", number)
            assert one == other
            changed += one is not None and one[1] != {"export.sqlite": whole}
        if changed:
            return

    pytest.fail("it applies to no export")


def _applied(
    kind: str, whole: bytes, folder: Path, number: int
) -> tuple[Applied, dict[str, bytes]] | None:
    folder.mkdir()
    export = folder / "export.sqlite"
    export.write_bytes(whole)
    try:
        applied = all_mutations()[kind](export, Random(number))
    except NotApplicable:
        return None
    # Journals carry numbers that SQLite draws.
    files = {p.name: b"" if "-" in p.name else p.read_bytes() for p in folder.iterdir()}
    return applied, files


def test_every_kind_is_tried_in_continuous_integration() -> None:
    names = sorted(fuzz.exports(bundled_only=True))

    kinds = {seed.split(":")[1] for seed in fuzz.seeds(CASES, names)}

    assert kinds == set(all_mutations())


@pytest.mark.parametrize("allowed", Allowed)
@pytest.mark.parametrize(
    ("changed", "kind"),
    [
        ({"exit_code": -11}, "crash: signal 11"),
        ({"timed_out": True}, "hang"),
        ({"cpu_s": CPU_S + 1.0}, "hang"),
        ({"memory_mb": MEMORY_MB + 1}, "memory"),
        ({"stderr": "Traceback (most recent call last):\n  File\nKeyError: 1\n"}, "KeyError: 1"),
        ({"left_behind": ("export.sqlite-shm",)}, "input changed"),
        ({"stdout": "a\x1b[31m"}, "raw characters on stdout"),
        ({"stderr": "a\u202e"}, "raw characters on stderr"),
        ({"exit_code": 5}, "exit code 5"),
        ({"exit_code": 1}, "exit code 1 without a report"),
        ({"report": {}}, "exit code 0 without a report"),
        ({"exit_code": 4}, "not one line"),
        ({"exit_code": 4, "stderr": "one\ntwo\n"}, "not one line"),
        ({"exit_code": 4, "stderr": "overlapcheck: one\n", "stdout": "FAIL"}, "with a report"),
        (
            {"exit_code": 4, "stderr": "overlapcheck: an error of our own, KeyError\n"},
            "unforeseen",
        ),
    ],
)
def test_what_no_input_may_cause_is_a_violation(
    changed: dict[str, Any], kind: str, allowed: Allowed
) -> None:
    outcome, violation = judged(_answer(0), _answer(0, **changed), allowed)

    assert outcome is Outcome.VIOLATION
    assert kind in violation


@pytest.mark.parametrize(
    ("answer", "outcomes"),
    [
        (_answer(0), (Outcome.EQUAL,) * 4),
        (
            _answer(0, report=_report(0, idle_ns=6)),
            (Outcome.VIOLATION, Outcome.VIOLATION, Outcome.MOVED, Outcome.MOVED),
        ),
        (_answer(1), (Outcome.VIOLATION,) * 3 + (Outcome.OTHER,)),
        (_answer(3), (Outcome.VIOLATION,) + (Outcome.INCONCLUSIVE,) * 3),
        (_answer(4), (Outcome.VIOLATION,) + (Outcome.REFUSED,) * 3),
        (
            _answer(4, stderr="overlapcheck: reading a ...\noverlapcheck: a: damaged\n"),
            (Outcome.VIOLATION,) + (Outcome.REFUSED,) * 3,
        ),
    ],
)
def test_what_else_is_allowed_depends_on_the_mutation(
    answer: Answer, outcomes: tuple[Outcome, ...]
) -> None:
    assert tuple(judged(_answer(0), answer, allowed)[0] for allowed in Allowed) == outcomes


def test_a_verdict_is_not_made_of_inconclusive() -> None:
    outcome, violation = judged(_answer(3), _answer(0), Allowed.SAME_VERDICT)

    assert outcome is Outcome.VIOLATION
    assert violation == "another verdict: INCONCLUSIVE became PASS"
