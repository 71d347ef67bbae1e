"""What of all repairs is told: those with idle time, what wins, what wins only together."""

from __future__ import annotations

from dataclasses import replace

import pytest

from overlapcheck.causes.ranking.findings import findings
from overlapcheck.finding import MATERIAL_SHARE
from overlapcheck.forecast import Forecast
from overlapcheck.kinds import DeviceKey
from overlapcheck.pipeline import measure
from overlapcheck.predicting import forecasts_of
from overlapcheck.prediction import Bound, Prediction, Win
from overlapcheck.selection import Selection
from overlapcheck.whatif.predict import Predictor
from overlapcheck.whatif.repairs import REPAIRS
from tests.pictures import picture
from tests.whatif.graphs import drawn

DEVICE = DeviceKey(1, 0)
MS = 1_000_000
# The input copy and the read-back stand in the stream of the kernels, and the host then waits:
# without the wait the copies would still stand in the way.
SERIAL_BEHIND_A_SYNC = """
s7   h2d pinned 20MB          |.cccc........|
s7   kernel fwd               |.....aaaaaa..|
s7   d2h pinned 8MB           |...........dd|
t1   cudaMemcpyAsync          |c..d.........|
t1   cudaLaunchKernel         |..a..........|
t1   cudaDeviceSynchronize    |....sssssssss|
t1   nvtx step                |0000000000000|
"""


def predicted(*fix: str, step: float = 6.0) -> Prediction:
    ns = int(step * MS)
    bound = Bound("compute", ns)
    return Prediction(fix, (), 10 * MS, ns, ns - MS // 2, ns + MS // 2, bound)


def forecast(*singles: Prediction, pairs: tuple[Prediction, ...] = ()) -> Forecast:
    return Forecast(DEVICE, 10 * MS, 8, 8, singles, None, pairs)


def test_a_win_is_of_the_cause_alone() -> None:
    win = forecast(predicted("host-sync")).win("host-sync")

    assert win is not None
    assert win.text == "wins about 4.0 ms per step (3.5 to 4.5), then compute-bound"
    assert forecast().win("host-sync") is None


def test_two_that_win_only_together_say_so() -> None:
    both = predicted("same-stream", "host-sync", step=8.7)
    alone = (predicted("same-stream", step=9.9), predicted("host-sync", step=9.9))
    win = forecast(*alone, pairs=(both,)).win("host-sync")

    assert win is not None
    assert win.with_causes == ("same-stream",)
    assert win.text == (
        "wins about 1.3 ms per step together with same-stream (800.0 us to 1.8 ms),"
        " then compute-bound"
    )


def test_a_repair_that_wins_nothing_is_told_so() -> None:
    only = forecast(predicted("host-sync", step=9.9))
    win = only.win("host-sync")

    assert only.wins_nothing == ("host-sync",)
    assert win is not None
    assert win.text == "repairing it alone wins nothing: the step stays compute-bound"


def test_copies_in_line_come_before_the_wait_behind_them() -> None:
    trace = picture(SERIAL_BEHIND_A_SYNC, repeat=12, column_us=100).trace()
    measured = measure(trace, Selection(skip=0))
    forecasts = forecasts_of(trace, measured)
    first, second = findings(measured, forecasts)[:2]

    assert (first.cause, second.cause) == ("same-stream", "host-sync")
    assert first.predicted is not None
    assert second.predicted is not None
    assert first.predicted.win_ns > 2 * second.predicted.win_ns


def test_a_cause_whose_repair_wins_nothing_is_not_first() -> None:
    trace = picture(SERIAL_BEHIND_A_SYNC, repeat=12, column_us=100).trace()
    measured = measure(trace, Selection(skip=0))
    (device,) = measured.devices
    alone = predicted("same-stream", step=9.9), predicted("host-sync", step=9.0)
    ranked = findings(measured, {device.key: replace(forecast(*alone), device=device.key)})

    assert ranked[0].cause == "host-sync"
    assert ranked[1].share > ranked[0].share >= MATERIAL_SHARE


def test_a_model_of_the_host_decides_about_no_rank() -> None:
    trace = picture(
        """
        s7   kernel fwd               |..............aaaaaa|
        t1   cudaLaunchKernel         |.............a......|
        t1   os pthread_cond_wait     |...oooooooooo.......|
        t1   nvtx step                |00000000000000000000|
        """,
        repeat=8,
        column_us=100,
    ).trace()
    measured = measure(trace, Selection(skip=0))
    (device,) = measured.devices
    nothing = replace(forecast(predicted("host-starved", step=9.9)), device=device.key)
    first = findings(measured, {device.key: nothing})[0]

    assert first.cause == "host-starved"
    assert first.predicted is None


def test_one_launch_is_not_praised_where_nothing_waits_for_launches() -> None:
    trace = picture(
        """
        s7   kernel fwd               |aaaaaaaaab|
        t1   cudaLaunchKernel         |ab........|
        t1   nvtx step                |0000000000|
        """,
        repeat=8,
        column_us=100,
    ).trace()
    measured = measure(trace, Selection(skip=0))

    assert forecasts_of(trace, measured) == {}


@pytest.mark.parametrize("what", ["compute", "h2d", "d2h", "p2p", "collectives", "host", "input"])
def test_every_bound_has_its_words(what: str) -> None:
    bound = Bound(what, 9_700_000)  # type: ignore[arg-type]

    assert bound.told(9_800_000).startswith(f"{bound.word}: 9.7 of 9.8 ms is ")


def test_the_best_chain_is_no_longer_than_it_takes() -> None:
    graph = drawn(SERIAL_BEHIND_A_SYNC)
    best = Predictor.of(graph).best_chain(REPAIRS)

    assert best is not None
    assert best.fix == ("same-stream", "host-sync")
    assert best.next_bound.what == "compute"


def test_a_win_that_is_known_to_be_small_has_no_negative_band() -> None:
    win = forecast(predicted("host-sync", step=9.7)).win("host-sync")

    assert win == Win(300_000, 0, 800_000, Bound("compute", 9_700_000), 0.03)


def test_that_the_host_is_late_in_any_case_decides_about_no_rank() -> None:
    trace = picture(SERIAL_BEHIND_A_SYNC, repeat=12, column_us=100).trace()
    measured = measure(trace, Selection(skip=0))
    (device,) = measured.devices
    late = replace(predicted("same-stream", step=9.9), next_bound=Bound("input", 9 * MS))
    forecasts = {device.key: replace(forecast(late), device=device.key)}
    first = findings(measured, forecasts)[0]

    assert first.cause == "same-stream"
    assert first.predicted is None
