"""Signals while worker processes read many reports: all of them end, and nothing is left behind."""

from __future__ import annotations

import signal
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.capture.conftest import wait_for

if TYPE_CHECKING:
    from tests.capture.conftest import Machine, Running

REPORTS, JOBS = 5, 2


@pytest.fixture
def reading(machine: Machine, fake_nsys: Callable[..., Path]) -> Running:
    """An analysis whose two workers each wait for an nsys that never ends."""
    for number in range(REPORTS):
        report = machine.work / f"rank_{number}.nsys-rep"
        report.write_bytes(b"NVIDIA Tegra Profiler Report %d [END]" % number)
    nsys = fake_nsys(export=f": >{machine.work}/exporting.$$; exec sleep 1000")
    jobs = ["--jobs", str(JOBS)]
    running = machine.start("analyze", ".", "--nsys", str(nsys), *jobs, "-o", "fleet.json")
    running.wait_for(lambda: len(list(machine.work.glob("exporting.*"))) == JOBS)
    return running


def assert_nothing_is_left(machine: Machine) -> None:
    machine.assert_clean()
    assert not (machine.work / "fleet.json").exists()


@pytest.mark.parametrize("signum", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
@pytest.mark.parametrize("times", [1, 2, 3])
def test_signals_end_it(
    machine: Machine, reading: Running, signum: signal.Signals, times: int
) -> None:
    for _ in range(times):
        reading.send(signum)
    ended = reading.end()

    assert ended.exit_code in (128 + signum, -signum)  # the last may come when all is done
    assert f"stopped by {signum.name} while analysing {REPORTS} reports" in ended.stderr
    assert "Traceback" not in ended.stderr
    if times == 1:
        # A repeated signal may kill a worker before it has ended the nsys that it waits for.
        wait_for(lambda: not machine.processes())
        assert_nothing_is_left(machine)


def test_workers_end_with_their_parent(machine: Machine, reading: Running) -> None:
    assert len(machine.processes()) > JOBS
    reading.send(signal.SIGKILL)
    reading.end()

    assert_nothing_is_left(machine)
