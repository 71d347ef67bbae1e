"""How a cost is spread over steps: each term, just within its limit and just beyond."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from overlapcheck.causes._recurrence import Recurrence, comes_again, recurrence

from overlapcheck.causes._base import Evidence
from overlapcheck.finding import Confidence
from overlapcheck.intervals import Intervals
from overlapcheck.ledger import IdleLedger, Reason
from overlapcheck.measurements import StepTimes, WindowSource
from overlapcheck.thresholds import USUAL
from overlapcheck.trace import Strings
from tests.pictures import picture

STEP_NS = 10_000
MEASURED = picture("s7 kernel k |a.b.|\nt1 cudaLaunchKernel |ab..|").measure()
NAMES = {3: "cudaFree", 4: "read", 5: "cudaMalloc"}


def spread(
    cost: Sequence[int],
    *,
    window_ns: int = 100_000,
    source: WindowSource = WindowSource.NVTX_STEPS,
    steps: int | None = None,
    outside_ns: int = 0,
    placed: bool = True,
    pieces: Sequence[Mapping[str, int]] = (),
    cause: str = "host-starved",
) -> Recurrence:
    """Of a cause that costs so much in steps of 10 us each; 2 % of the window are 2 us."""
    (device,) = MEASURED.devices
    start = STEP_NS * np.arange(len(cost))
    count = len(cost) if steps is None else steps
    times = StepTimes.filled(
        len(cost), number=np.arange(len(cost)) + 100, start_ns=start, end_ns=start + STEP_NS
    )
    window = replace(device.window, start_ns=0, end_ns=window_ns, steps=count, source=source)
    blamed = Intervals.of([*start, window_ns - outside_ns], [*(start + cost), window_ns])
    judged = replace(device, window=window, steps=times, ledger=ledger(pieces))
    names = replace(MEASURED.names, strings=Strings(NAMES))
    evidence = Evidence(blamed, (), Confidence.SURE, placed=placed)
    return recurrence(cause, evidence, judged, replace(MEASURED, names=names))


def ledger(pieces: Sequence[Mapping[str, int]]) -> IdleLedger:
    usual = {"reason": Reason.HOST_STARVED, "call_name_id": -1, "os_name_id": -1, "call_ns": -1}
    rows: list[dict[str, Any]] = [usual | {"call_start_ns": -1} | dict(piece) for piece in pieces]
    columns = {name: [row[name] for row in rows] for name in rows[0]} if rows else {}
    return IdleLedger.filled(len(rows), **columns)


@pytest.mark.parametrize(("spike", "lasting"), [(2100, 800), (2099, 2799)])
def test_a_spike_that_would_be_material_is_taken_out(spike: int, lasting: int) -> None:
    """Seven steps cost 100 ns, one 2000 more, which are 2 % of the window, or a little less."""
    found = spread([100] * 5 + [spike] + [100] * 2)

    assert found == Recurrence(
        steps_hit=8,
        median_ns=100.0,
        recurs=False,
        lasting_ns=lasting,
        spikes=(f"one-off: host-starved {spike / 1000:.1f} us at step 105",),
    )


@pytest.mark.parametrize(("spike", "told"), [(2300, True), (2299, False)])
def test_a_spike_beside_what_recurs_is_told_where_it_is_material(spike: int, told: bool) -> None:
    found = spread([300] * 5 + [spike] + [300] * 2)

    assert found.recurs
    assert bool(found.spikes) is told
    assert found.lasting_ns == (8 * 300 if told else 7 * 300 + spike)


@pytest.mark.parametrize(("usual", "recurs"), [(250, True), (249, False)])
def test_what_every_step_has_recurs_where_it_is_material(usual: int, recurs: bool) -> None:
    """Of eight steps, beside a spike that is more than all of it."""
    assert spread([usual] * 7 + [9000]).recurs is recurs


def test_a_nanosecond_is_a_hit() -> None:
    found = spread([0, 1, 3, 0])

    assert (found.steps_hit, found.median_ns) == (2, 2.0)


def test_what_lies_between_the_steps_hits_none() -> None:
    found = spread([0] * 8, outside_ns=500)

    assert found == Recurrence(steps_hit=0, median_ns=0.0, recurs=False, lasting_ns=500)


@pytest.mark.parametrize(
    "unknown", [{"steps": 0}, {"cost": [], "steps": 8}, {"placed": False}], ids=str
)
def test_without_steps_or_places_nothing_is_a_spike(unknown: dict[str, Any]) -> None:
    found = spread(**{"cost": [0] * 5 + [9000], "outside_ns": 700} | unknown)

    assert found == Recurrence(lasting_ns=700 if "cost" in unknown else 9700)


@pytest.mark.parametrize(
    ("source", "last", "recurs"),
    [
        (WindowSource.KERNEL_PERIOD, 12, True),
        (WindowSource.KERNEL_PERIOD, 8, False),
        (WindowSource.NVTX_STEPS, 12, False),
    ],
)
def test_only_steps_found_from_names_may_be_parts_of_a_step(
    source: WindowSource, last: int, recurs: bool
) -> None:
    """Three of sixteen, at even distances over most of them, or not."""
    cost = [0] * 16
    cost[2] = cost[7] = cost[last] = 900
    found = spread(cost, source=source)

    assert (found.steps_hit, found.median_ns, found.recurs) == (3, 900.0, recurs)
    assert found.lasting_ns == (2700 if recurs else 0)
    assert len(found.spikes) == (0 if recurs else 2)


@pytest.mark.parametrize(
    ("rows", "steps", "again"),
    [
        ([1, 3, 5], 8, True),  # 4 of 8 steps
        ([1, 3, 5], 9, False),
        ([1, 5], 6, False),  # twice
        ([0, 2, 4, 8], 10, True),  # one beat left out
        ([0, 2, 4, 9], 10, False),
        ([3, 5, 7], 8, True),
    ],
)
def test_at_even_distances_over_half_of_the_steps(rows: list[int], steps: int, again: bool) -> None:
    assert comes_again(np.isin(np.arange(steps), rows), USUAL) is again


def test_the_longest_two_spikes_are_told_by_time() -> None:
    cost = [10] * 16
    cost[3], cost[8], cost[12] = 5000, 3000, 4000

    assert spread(cost).spikes == (
        "one-off: host-starved 5.0 us at step 103",
        "one-off: host-starved 4.0 us at step 112",
    )


@pytest.mark.parametrize(("spike", "told"), [(2000, False), (2001, True)])
def test_more_than_twice_of_what_is_usual_is_a_spike(spike: int, told: bool) -> None:
    """Where two steps of eight have 1000."""
    assert bool(spread([0] * 5 + [1000, 1000, spike], window_ns=50_000).spikes) is told


def spike_with(*pieces: Mapping[str, int], cause: str = "host-starved") -> str:
    """Its line; it lies in the last of eight steps, from 70 to 80 us."""
    (line,) = spread([0] * 7 + [9000], pieces=pieces, cause=cause).spikes
    return line


def of_call(start: int, end: int, name: int = 3, **more: int) -> dict[str, int]:
    """A piece in a call that lasts as long."""
    made = {"call_name_id": name, "call_start_ns": start, "call_ns": end - start}
    return {"start_ns": start, "end_ns": end, **made, **more}


def test_a_spike_names_the_call_of_its_longest_piece() -> None:
    said = spike_with(of_call(70_000, 73_000, name=5), of_call(74_000, 75_000))

    assert said == "one-off: cudaMalloc 3.0 us, 9.0 us without compute at step 107"


def test_pieces_of_other_steps_and_causes_are_not_its() -> None:
    before, after = of_call(60_000, 70_000, name=5), of_call(80_000, 95_000, name=5)
    other = of_call(73_000, 79_000, name=5, reason=int(Reason.ALLOCATION))

    said = spike_with(before, of_call(71_000, 72_000), other, after)

    assert said == "one-off: cudaFree 1.0 us, 9.0 us without compute at step 107"
    assert spike_with(before, other, after) == "one-off: host-starved 9.0 us at step 107"


def test_a_call_of_the_system_has_a_name_and_no_call_none() -> None:
    read = {"start_ns": 71_000, "end_ns": 72_000, "os_name_id": 4}
    nowhere = {"start_ns": 73_000, "end_ns": 79_000}

    assert spike_with(read, nowhere) == ("one-off: read, 9.0 us without compute at step 107")
    assert spike_with(nowhere) == "one-off: host-starved 9.0 us at step 107"


@pytest.mark.parametrize(
    ("start", "length", "inside"),
    [(-5_000, 6_000, "1.0 us"), (95_000, 20_000, "5.0 us"), (70_000, 7_000, "7.0 us")],
)
def test_of_a_call_what_lies_in_the_window_is_told(start: int, length: int, inside: str) -> None:
    piece = of_call(71_000, 72_000, call_start_ns=start, call_ns=length)

    assert f"cudaFree {inside}, 9.0 us without" in spike_with(piece)


def test_a_cause_that_is_no_reason_has_no_pieces() -> None:
    """The piece of no reason is not its."""
    assert spike_with(of_call(71_000, 72_000, reason=0), cause="contention") == (
        "one-off: contention 9.0 us at step 107"
    )
