"""Which reports are evidently of different programs, and which may be ranks of one job."""

from __future__ import annotations

from pathlib import Path

import pytest

from overlapcheck.errors import PolicyInvalid
from overlapcheck.ranks.programs import require_one_job
from overlapcheck.report_result import CollectiveSummary, ReportResult, Settings
from tests.compare.jobs import row


def result(program: str, communicator: str | None = None) -> ReportResult:
    """A report of a program; its all-reduces are of a communicator, "" where that is not known."""
    found = CollectiveSummary(
        "all-reduce", 7, 1, 1, 1, 0, on_compute_stream=False, communicator=communicator or ""
    )
    kept = (found,) if communicator is not None else ()
    one = row(0)
    rows = (type(one)(**{**vars(one), "collectives": kept}),)
    return ReportResult(Settings(program, "", "", {}), None, (), rows, ((),))


def judged(*results: ReportResult) -> None:
    paths = [Path(f"{number}.sqlite") for number in range(len(results))]
    require_one_job(paths, dict(enumerate(results)))


@pytest.mark.parametrize(
    "results",
    [
        [result("python train.py --rank 0"), result("python train.py --rank 1")],
        [result("python train.py a"), result("python train.py b")],
        [result("python train.py a", ""), result("python train.py b", "0x1")],
        [result("python train.py a", "0x1"), result("python train.py b", "0x1")],
        [result("./trainer", "0x1"), result("./sampler", "0x1")],
        [result("./trainer", ""), result("./sampler", "0x1")],
        [result("./trainer"), result("")],
        [result(f"python train.py --rank {n}", "0x1") for n in range(50)],
    ],
    ids=["ranks", "arguments", "unknown ids", "shared ids", "programs that meet",
         "programs that may meet", "no name", "many"],
)  # fmt: skip
def test_what_may_be_one_job_is_judged_as_one(results: list[ReportResult]) -> None:
    judged(*results)


@pytest.mark.parametrize(
    ("results", "said"),
    [
        ([result("python train.py"), result("python serve.py"), result("python train.py 7")],
         "3 reports of 2 programs that have no collective in common:"
         " train.py (0.sqlite and 1 more), serve.py (1.sqlite)"),
        ([result("./a", "0x1"), result("./b", "0x2")], "a (0.sqlite), b (1.sqlite)"),
        ([result("./a"), result("./b", "")], "a (0.sqlite), b (1.sqlite)"),
        ([result("python train.py a", "0x1"), result("python train.py b", "0x2")],
         "train.py (0.sqlite), train.py (1.sqlite)"),
        ([result(f"./program{name}") for name in "abcdefg"], "programd (3.sqlite) and 3 more"),
    ],
    ids=["programs", "other ids", "no collectives", "other runs", "many"],
)  # fmt: skip
def test_evidently_different_programs_are_no_job(results: list[ReportResult], said: str) -> None:
    with pytest.raises(PolicyInvalid) as refused:
        judged(*results)

    assert said in refused.value.message
    assert refused.value.hint.startswith("judge each alone: --each")
