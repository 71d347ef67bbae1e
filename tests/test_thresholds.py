"""Every number that decides has a reason, and moving one moves what it decides."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from overlapcheck.causes import causes, manual
from overlapcheck.checks.judge import judge
from overlapcheck.errors import PolicyInvalid
from overlapcheck.finding import MATERIAL_SHARE
from overlapcheck.ledger import Reason
from overlapcheck.passes.measure import measure
from overlapcheck.policy.resolve import Source, resolve, settings_of
from overlapcheck.quantities import figure
from overlapcheck.renderers.markdown import MarkdownRenderer
from overlapcheck.renderers.terminal import TerminalRenderer
from overlapcheck.reporting.build import build_report
from overlapcheck.saved import report_document as document
from overlapcheck.selection import Selection
from overlapcheck.threshold import Threshold
from overlapcheck.thresholds import Thresholds, with_values
from overlapcheck.verdict import Policy
from tests.conftest import ROOT
from tests.pictures import picture
from tests.threshold_page import TAKEN_FOR_GRANTED

PACKAGE = ROOT / "overlapcheck"
STAGES = ("passes", "causes", "checks", "compare", "whatif")
ALL = Thresholds().described()
DECIDING = [
    *(PACKAGE / "collective_order.py", PACKAGE / "collective_speed.py", PACKAGE / "rendezvous.py"),
    *(PACKAGE / "ranks" / "meet.py", PACKAGE / "ranks" / "outliers.py", PACKAGE / "finding.py"),
    *(PACKAGE / "prediction.py", PACKAGE / "step_graph.py"),
    *(path for stage in STAGES for path in (PACKAGE / stage).rglob("*.py")),
]
"""Modules in which a number may decide, about a verdict or about what is predicted."""
DECIDE_NOTHING = {
    "ABSENT": "stands for none",
    "_STEP": "packs two numbers into one",
    "_FIRST_SITE": "numbers places",
    "_MOST_DIGITS": "of an int64",
    "P95_DEVIATIONS": "of a normal distribution",
    "MEDIAN_FACTOR": "of a normal distribution",
    "NORMAL": "of a normal distribution",
    "_SAMPLED": "rows that are looked at, for time",
    "_MAX_KERNELS": "rows that are looked at, for time",
    "_PROJECTIONS": "random signs, for time",
    "_DENSE": "which of two searches is faster",
    "_FEW": "which of two searches is faster",
    "_MOST_THREADS": "for time",
    "MOST_OPERATIONS": "how much is replayed, for time",
    "MOST_OF_LONG_STEPS": "how much is replayed, for time",
    "_TIMES_AS_MUCH": "how much is replayed, for time",
    "PACE_TRIALS": "halvings of a search, for time",
    "OF_SYSTEM": "stands for a kind",
    "MOST_DEVICES": "more are refused",
    "UNIFORM_RATIO": "how values are written",
    "_TENTH": "how values are written",
    "_ROUNDING": "of floating point",
    "NAME_LENGTH": "how much is shown",
}
"""Module constants that are no thresholds, and why; MAX_... is how much is shown."""
LAUNCHES = """
s7   kernel fwd               |.aa.bb.cc|
t1   cudaLaunchKernel         |a..b..c..|
"""


@pytest.mark.parametrize("one", (*ALL, *TAKEN_FOR_GRANTED), ids=lambda one: one.name)
def test_a_threshold_says_why_and_what_a_wrong_one_would_do(one: Threshold) -> None:
    assert len(one.reason.split()) > 4
    assert "smaller" in one.if_wrong
    assert "larger" in one.if_wrong
    assert set(one.causes) <= set(causes())


@pytest.mark.parametrize("one", ALL, ids=lambda one: one.name)
def test_the_page_of_each_cause_shows_the_numbers_that_decide_about_it(one: Threshold) -> None:
    for cause in one.causes:
        assert f"{one.name} = {figure(one.value)}" in " ".join(manual(cause).split())


@pytest.mark.parametrize("path", DECIDING, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_no_number_decides_anywhere_else(path: Path) -> None:
    numbers = {
        target.id
        for node in ast.parse(path.read_text(encoding="utf-8")).body
        if isinstance(node, ast.Assign | ast.AnnAssign) and _is_number(node.value)
        for target in (node.targets if isinstance(node, ast.Assign) else [node.target])
        for target in (target.elts if isinstance(target, ast.Tuple) else [target])
        if isinstance(target, ast.Name)
    }

    assert {name for name in numbers if not name.startswith("MAX_")} <= set(DECIDE_NOTHING)


def _is_number(value: ast.expr | None) -> bool:
    if isinstance(value, ast.BinOp):
        return _is_number(value.left)
    if isinstance(value, ast.UnaryOp):
        return _is_number(value.operand)
    if isinstance(value, ast.Tuple):
        return any(map(_is_number, value.elts))
    return isinstance(value, ast.Constant) and type(value.value) in (int, float)


def test_what_is_fixed_is_listed_and_stays_as_it_is() -> None:
    fixed = {one.name: one.value for one in ALL if one.fixed}

    assert fixed["material-share"] == MATERIAL_SHARE
    with pytest.raises(TypeError, match="material_share"):
        with_values({"material-share": 0.1})
    assert not set(Thresholds().moved()) & set(fixed)


def settings(tmp_path: Path, text: str) -> Selection:
    file = tmp_path / "overlapcheck.toml"
    file.write_text(text, encoding="utf-8")
    return resolve(settings_of(Source(config=file), frozenset()), {})[1]


def test_the_policy_file_moves_a_threshold_and_the_ledger_follows(tmp_path: Path) -> None:
    trace = picture(LAUNCHES, column_us=10).trace()
    moved = settings(tmp_path, "[thresholds]\nsubmit-slack-ns = 500000\n")
    usual = {Reason(r) for r in measure(trace, Selection(skip=0)).devices[0].ledger.reason}
    other = {Reason(r) for r in measure(trace, moved).devices[0].ledger.reason}

    assert moved.thresholds == Thresholds(submit_slack_ns=500_000)
    assert Reason.LAUNCH_BOUND in usual
    assert Reason.LAUNCH_BOUND not in other


def test_the_policy_file_moves_what_makes_a_recording_incomplete(tmp_path: Path) -> None:
    lost = "s7   kernel fwd               |.aa....cc.dd|\n"
    trace = picture(f"{lost}t1   cudaLaunchKernel         |a..b..c..d..|\n", column_us=10).trace()
    moved = settings(tmp_path, "[thresholds]\nlost-share = 0.5\n")

    (problem,) = measure(trace, Selection(skip=0)).problems
    assert "1 of 4 kernel launches left no row" in problem.what
    assert measure(trace, moved).problems == ()


def test_a_profile_lays_its_thresholds_over_those_of_the_file(tmp_path: Path) -> None:
    file = tmp_path / "overlapcheck.toml"
    file.write_text(
        "[thresholds]\naway-ns = 1\nahead-ns = 2\n[profiles.study.thresholds]\nahead-ns = 3\n",
        encoding="utf-8",
    )
    found = settings_of(Source(config=file, profile="study"), frozenset())

    assert resolve(found, {})[1].thresholds.moved() == {"away-ns": 1, "ahead-ns": 3}


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("away-n = 1", "did you mean away-ns?"),
        ("away-ns = 1.5", "not a whole number"),
        ("away-ns = -1", "out of range"),
        ("away-ns = true", "not a number"),
        ('away-ns = "100us"', "not a number"),
        ("ceiling-share = 1.5", "out of range"),
        ("contention-ratio = 0.5", "out of range"),
        ("material-share = 0.05", "is 0.02 by definition and cannot be moved"),
    ],
)
def test_what_cannot_be_meant_is_refused(tmp_path: Path, text: str, said: str) -> None:
    with pytest.raises(PolicyInvalid) as caught:
        settings(tmp_path, f"[thresholds]\n{text}\n")

    assert said in f"{caught.value} {caught.value.hint}"
    assert "thresholds." in str(caught.value)


def test_a_report_says_which_were_moved_and_nothing_where_none_was() -> None:
    trace = picture(LAUNCHES, column_us=10).trace()
    for selection, expected in (
        (Selection(skip=0), {}),
        (Selection(skip=0, thresholds=with_values({"away-ns": 5})), {"away-ns": 5}),
    ):
        measured = measure(trace, selection)
        report = build_report(Path("a"), trace, measured, judge(measured, Policy()))

        assert document(report)["thresholds"] == expected
        for text in (TerminalRenderer().render(report), MarkdownRenderer().render(report)):
            assert ("away-ns = 5" in text) == bool(expected)
