"""An export that does not fit into memory is refused before it is read, with what would fit."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from overlapcheck.cli import main
from overlapcheck.errors import ExitCode, TooLarge
from overlapcheck.sources.nsys import excerpt, memory
from overlapcheck.sources.nsys.read import read_trace
from tests.export import RealExport


def test_what_does_not_fit_is_refused_with_the_window_that_would(
    real_export: RealExport, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(memory, "free_bytes", lambda: 100_000)

    with pytest.raises(TooLarge) as refused:
        read_trace(real_export("pt_pageable"))

    assert "rows need about" in refused.value.message
    assert "97.7 KiB are free" in refused.value.message
    assert "--window" in refused.value.hint
    assert "\n" not in str(refused.value)
    assert refused.value.exit_code is ExitCode.COULD_NOT_RUN


def test_the_part_that_a_window_needs_may_fit_where_the_whole_does_not(
    real_export: RealExport, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = real_export("pt_pageable")
    monkeypatch.setattr(excerpt, "MARGIN_NS", 1_000_000)
    monkeypatch.setattr(memory, "free_bytes", lambda: 500_000)

    with pytest.raises(TooLarge):
        read_trace(path)
    with pytest.raises(TooLarge):
        read_trace(path, (0, 100_000_000_000))
    assert read_trace(path, (16_500_000_000, 16_510_000_000)).kernels is not None


def test_nothing_is_refused_where_nobody_knows_what_is_free(
    real_export: RealExport, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(memory, "free_bytes", lambda: None)

    assert read_trace(real_export("pt_pageable")).kernels is not None


def test_the_command_says_it_in_one_line(
    real_export: RealExport, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(memory, "free_bytes", lambda: 100_000)
    monkeypatch.setattr(sys, "argv", ["overlapcheck", "analyze", str(real_export("pt_pageable"))])

    with pytest.raises(SystemExit) as stop:
        main()

    out, err = capfd.readouterr()
    assert (stop.value.code, out) == (ExitCode.COULD_NOT_RUN, "")
    assert "need about" in err.splitlines()[-1]


def test_the_tightest_of_system_and_container_counts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    meminfo, most, used, stat = (tmp_path / name for name in ("meminfo", "max", "current", "stat"))
    meminfo.write_text("MemTotal: 9000 kB\nMemAvailable:    4000 kB\n")
    most.write_text("3000000\n")
    used.write_text("1000000\n")
    stat.write_text("anon 900000\n")
    monkeypatch.setattr(memory, "_MEMINFO", meminfo)
    monkeypatch.setattr(memory, "_CGROUPS", ((most, used, stat),))
    monkeypatch.setattr(memory, "_limit", lambda: None)

    assert memory.free_bytes() == 2_000_000

    # Files that were read count as used, but give way.
    stat.write_text("anon 300000\nfile 700000\ninactive_file 500000\nactive_file 100000\n")
    assert memory.free_bytes() == 2_600_000

    stat.write_text("inactive_file 7\ntotal_inactive_file 200000\ntotal_active_file 0\n")
    assert memory.free_bytes() == 2_200_000

    most.write_text("max\n")
    assert memory.free_bytes() == 4_096_000

    meminfo.unlink()
    assert memory.free_bytes() is None
