"""What a starved device is advised: by what its thread was seen in, and who else computes."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from overlapcheck.causes._ranking import findings

from overlapcheck.measurements import Framework, Measurements
from overlapcheck.passes.measure import measure
from overlapcheck.selection import Selection
from tests.pictures import picture

LOADER = (
    "raise num_workers and prefetch_factor of the DataLoader, with persistent_workers=True;"
    " overlap cannot win this time"
)


def starved(call: str = "", **options: Any) -> Measurements:
    """Its thread is away for 200 us, for 160 of them in a call of the system, if any."""
    away = f"t1   os {call}         |....oooooooooooooooo.............|" if call else ""
    return picture(
        f"""
        s7   kernel fwd         |.aaaaaa....................bbbbbb|
        t1   cudaLaunchKernel   |a.........................b......|
        {away}
        """,
        column_us=10,
        **options,
    ).measure()


def advice(measured: Measurements, framework: Framework = Framework.CUDA) -> str:
    found = findings(replace(measured, framework=framework))
    (one,) = (one.advice for one in found if one.cause == "host-starved")
    return one


@pytest.mark.parametrize("call", ["pthread_cond_timedwait", "pthread_cond_wait", "sem_timedwait"])
def test_who_waits_for_a_queue_is_told_to_fill_it(call: str) -> None:
    assert advice(starved(call), Framework.PYTORCH) == LOADER
    assert advice(starved(call)) == (
        f"the launching thread waited in {call} for another: let that one work ahead of its use;"
        " overlap cannot win this time"
    )


@pytest.mark.parametrize("framework", Framework)
def test_what_the_thread_was_in_is_told(framework: Framework) -> None:
    assert advice(starved("read"), framework) == (
        "the launching thread was in read: do that in another thread, ahead of its use;"
        " overlap cannot win this time"
    )


@pytest.mark.parametrize(
    ("framework", "recorded", "did"),
    [
        (Framework.CUDA, True, "ran its own code (what: perf record)"),
        (Framework.PYTORCH, True, "ran its own code (what: py-spy record)"),
        (Framework.CUPY, False, "ran its own code or an OS call (what: py-spy record)"),
    ],
)
def test_what_it_ran_is_for_a_sampler_to_say(
    framework: Framework, recorded: bool, did: str
) -> None:
    measured = replace(starved(), os_calls_recorded=recorded)

    assert advice(measured, framework) == (
        f"the launching thread {did}: do that in another thread, ahead of its use;"
        " overlap cannot win this time"
    )


def test_a_program_of_steps_works_one_or_two_of_them_ahead() -> None:
    drawn = picture(
        """
        s7   kernel fwd         |..............aaaaaa|
        t1   cudaLaunchKernel   |.............a......|
        t1   os read            |oooooooooooo........|
        t1   nvtx step          |00000000000000000000|
        """,
        column_us=10,
        repeat=4,
    )
    assert "do that in another thread, one or two steps ahead;" in advice(drawn.measure())


def test_of_two_calls_the_one_that_took_longer_counts() -> None:
    drawn = picture(
        """
        s7   kernel fwd         |.aaaaaa..............................bbbbbb|
        t1   cudaLaunchKernel   |a...................................b......|
        t1   os write           |.......oooooo..............................|
        t1   os read            |...............oooooooooooooooooooo........|
        """,
        column_us=10,
    )
    assert "the launching thread was in read:" in advice(drawn.measure())


@pytest.mark.parametrize(
    ("name", "loads"), [("pt_data_worker", True), ("pt_autograd_0", False), ("uploader", False)]
)
def test_a_thread_that_loads_is_known_by_its_name(name: str, loads: bool) -> None:
    """In PyTorch alone there is a DataLoader to advise."""
    measured = starved("read")
    names = replace(measured.names, threads={(0, 1000): "python3", (0, 1001): name})
    measured = replace(measured, names=names)

    assert (advice(measured, Framework.PYTORCH) == LOADER) is loads
    assert "was in read" in advice(measured)


@pytest.mark.parametrize(
    ("process", "name", "loads"),
    [(2, "load the data", False), (2, "data_load", True), (1, "data_load", False)],
)
def test_a_process_without_kernels_that_loads_is_known_by_its_ranges(
    process: int, name: str, loads: bool
) -> None:
    trace = picture(
        f"""
        p1 s7   kernel fwd         |.aaaaaa....................bbbbbb|
        p1 t1   cudaLaunchKernel   |a.........................b......|
        p1 t1   os read            |....oooooooooooooooooooooo.......|
        p2 t1   cudaEventQuery     |q................................|
        p{process} t1 nvtx {name}  |.xxxxxxxxxxx.....................|
        """,
        column_us=10,
    ).trace()
    measured = measure(trace, Selection(skip=0))

    assert (advice(measured, Framework.PYTORCH) == LOADER) is loads


@pytest.mark.parametrize(("until_us", "won"), [(169.999, False), (170.0, True)])
def test_what_another_device_computes_meanwhile_may_be_waited_for(
    until_us: float, won: bool
) -> None:
    """Of 200 us, from 70 to 270, half or a little less."""
    drawn = picture(
        """
        gpu0 s7   kernel fwd         |.aaaaaa....................bbbbbb|
        gpu1 s9   kernel fwd         |.cccccccccccccccc................|
        t1   cudaLaunchKernel        |a.........................b......|
        t2   cudaLaunchKernel        |c................................|
        """,
        column_us=10,
        gpu_us={"c": [10.0, until_us]},
    )
    measured = drawn.measure()
    first = next(
        one
        for one in findings(measured)
        if one.cause == "host-starved" and one.device.device_id == 0
    )

    assert first.blamed.total_ns == 200_000
    assert ("overlap cannot win this time" not in first.advice) is won
