"""What goes wrong in one worker costs one report."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, NoReturn

import pytest

from overlapcheck.errors import ExitCode, Interrupted
from overlapcheck.ranks.pool import LocalPool, ThisProcess
from overlapcheck.ranks.work import draw_report
from overlapcheck.report_result import LostReport, Task

TASKS = [Task(number, Path(f"rank_{number}.sqlite")) for number in range(4)]


def endless(number: int) -> int:
    return endless(number + 1)


def unsendable(task: Task) -> Any:
    """A result that cannot be sent back, of one report."""
    return (lambda: None) if task.number == 2 else task.number


def drawn(path: Path) -> str:
    """A page, but for one report."""
    if path.stem == "rank_2":
        endless(0)
    return path.stem


@pytest.mark.parametrize(
    ("work", "says"),
    [(unsendable, "Can't pickle"), (partial(draw_report, drawn), "RecursionError")],
    ids=["a result that cannot be sent", "endless recursion"],
)
def test_an_unforeseen_error_loses_one_report(work: Callable[[Task], Any], says: str) -> None:
    results = {task.number: made for task, made in LocalPool(2).run(work, TASKS)}

    lost = results.pop(2)
    assert isinstance(lost, LostReport)
    assert (lost.report, lost.exit_code) == ("rank_2.sqlite", ExitCode.COULD_NOT_RUN)
    assert says in lost.why
    assert "please report it" in lost.hint
    assert sorted(results) == [0, 1, 3]


def test_whoever_stops_one_report_stops_all() -> None:
    def stopped(_: Path) -> NoReturn:
        raise Interrupted("stopped by SIGTERM while exporting", signum=15)

    with pytest.raises(Interrupted):
        list(ThisProcess().run(partial(draw_report, stopped), TASKS))
