"""What nsys's ids of processes become."""

from __future__ import annotations

from pathlib import Path

import pytest

from overlapcheck.columns import ABSENT
from overlapcheck.kinds import DeviceKey, ProcessKey
from overlapcheck.pipeline import analyze
from overlapcheck.sources.nsys.processes import ANY_PROCESS, process_key
from tests.export import VM, edit
from tests.pictures import picture


@pytest.mark.parametrize(
    ("shifted", "key"),
    [
        (1 << 24 | 4242, ProcessKey(4242, 1)),
        (2 << 24 | 4242, ProcessKey(4242, 2)),
        ((0xFE - 256) << 32 | 1 << 24 | 7, ProcessKey(7, 0xFE01)),
        (ANY_PROCESS, ProcessKey(ABSENT)),
    ],
)
def test_machine_and_process_are_told_apart(shifted: int, key: ProcessKey) -> None:
    assert process_key(shifted) == key


def test_processes_of_one_pid_on_two_machines_stay_apart(tmp_path: Path) -> None:
    path = picture("""
        p1 s7 kernel a         |aa..|
        p2 s7 kernel b         |..bb|
        p1 t1 cudaLaunchKernel |a...|
        p2 t1 cudaLaunchKernel |.b..|
        """).export(tmp_path / "two.sqlite")
    # The second process, 2000 on this machine, is process 1000 of another.
    other = f"({(VM + 1) << 24 | 1000} << 24)"
    for table, column in (("KERNEL", "globalPid"), ("RUNTIME", "globalTid")):
        edit(
            path,
            f"UPDATE CUPTI_ACTIVITY_KIND_{table} SET {column} = {other} | ({column} & 16777215)"
            f" WHERE {column} >> 24 & 16777215 = 2000",
        )
    report = analyze(path)

    assert [device.key for device in report.devices] == [
        DeviceKey(1000, 0, VM),
        DeviceKey(1000, 0, VM + 1),
    ]
    assert [device.process.rpartition(" (")[2] for device in report.devices] == [
        f"1000) on host {VM}",
        f"1000) on host {VM + 1}",
    ]
