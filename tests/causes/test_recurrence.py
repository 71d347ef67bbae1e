"""What recurs ranks before what happens once, and both say how often."""

from __future__ import annotations

import numpy as np
import pytest

from overlapcheck.causes.ranking.findings import findings
from overlapcheck.causes.ranking.recurrence import comes_again
from overlapcheck.finding import Finding
from overlapcheck.reporting.tables import measured_tables
from overlapcheck.thresholds import USUAL
from tests.pictures import Picture, picture

STEPS = 8


def stepped(reads: dict[int, int], first: int = 0) -> Picture:
    """Eight steps of a free and a kernel, 30 and 20 us; before some, a read of so many columns."""
    rows = dict.fromkeys(
        ("s7 kernel fwd", "t1 cudaFree", "t1 os read", "t1 cudaLaunchKernel", "t1 nvtx step"), ""
    )
    for step in range(STEPS):
        wait, kernel = reads.get(step, 0), "abcdefgh"[step]
        rows["s7 kernel fwd"] += "." * wait + "...." + 2 * kernel
        rows["t1 cudaFree"] += "." * wait + 3 * kernel.upper() + "..."
        rows["t1 os read"] += "o" * wait + 6 * "."
        rows["t1 cudaLaunchKernel"] += "." * wait + "..." + kernel + ".."
        rows["t1 nvtx step"] += str(step + first) * (wait + 6)
    drawn = "\n".join(f"{name} |{cells}|" for name, cells in rows.items())
    return picture(drawn, column_us=10)


def explained(drawn: Picture) -> dict[str, Finding]:
    return {found.cause: found for found in findings(drawn.measure(skip=0))}


def test_a_spike_ranks_behind_what_every_step_waits_for() -> None:
    found = explained(stepped({5: 60}))
    spike, recurring = found["host-starved"], found["allocation"]

    assert spike.share > recurring.share
    assert next(iter(found)) == "allocation"
    assert recurring.recurs
    assert not spike.recurs


def test_a_spike_has_a_line_of_its_own() -> None:
    spike = explained(stepped({5: 60}))["host-starved"]

    assert spike.evidence[0] == "one-off: read, 610.0 us without compute at step 5"
    assert spike.cost_text == "610.0 us in 1 of 8 steps"


def test_the_line_names_the_step_as_its_range_does_and_so_do_the_tables() -> None:
    drawn = stepped({5: 60}, first=1)
    measured = drawn.measure(skip=0)
    spike = next(found for found in findings(measured) if found.cause == "host-starved")
    tables = measured_tables(measured)
    steps, ledger = tables["steps"], tables["ledger"]

    assert "at step 6" in spike.evidence[0]
    assert any("longest 600.0 us at step 6" in fact for fact in spike.evidence)
    assert steps["number"].iloc[int(steps["idle_ns"].to_numpy().argmax())] == 6
    assert set(ledger["step"][ledger["cause"] == "host-starved"]) == {6}


def test_two_of_eight_steps_are_a_quarter_and_recur() -> None:
    assert explained(stepped({2: 60, 5: 60}))["host-starved"].recurs
    assert next(iter(explained(stepped({2: 60, 5: 60})))) == "host-starved"


def test_what_recurs_says_its_median_and_how_often() -> None:
    found = explained(stepped({1: 20, 3: 30, 5: 40}))["host-starved"]

    assert (found.steps, found.steps_hit, found.median_step_ns) == (8, 3, 310_000)
    assert found.cost_text == "median 310.0 us in 3 of 8 steps"


def test_without_steps_nothing_is_a_spike() -> None:
    drawn = stepped({5: 60})
    found = findings(drawn.measure(window_ns=(0, 1_080_000)))[0]

    assert (found.cause, found.recurs) == ("host-starved", True)
    assert (found.steps, found.steps_hit, found.median_step_ns) == (None, None, None)
    assert not any("one-off" in fact for fact in found.evidence)
    assert "step" not in found.cost_text + found.saving_text


@pytest.mark.parametrize(
    ("hit", "again"),
    [
        ("x...." * 8, True),  # a read in every fifth repeat of the same kernels
        ("....x" * 3, True),
        ("x....x...." + "." * 20, False),  # twice
        ("xxx" + "." * 20, False),  # at the beginning only
        ("x.x.x" + "." * 20 + "x", False),  # at no even distance
    ],
)
def test_what_comes_again_at_even_distances_recurs_in_repeats_of_kernels(
    hit: str, again: bool
) -> None:
    assert comes_again(np.array([cell == "x" for cell in hit]), USUAL) is again
