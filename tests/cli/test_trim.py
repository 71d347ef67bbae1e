"""`overlapcheck trim`, and that no command tells what it left out."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from overlapcheck.cli import main
from overlapcheck.renderers import renderers
from overlapcheck.renderers.streams import stream_renderers
from tests.export import RealExport
from tests.sharing.plants import SECRET, planted, with_telling_names

Run = Callable[..., tuple[int, str, str]]


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Run:
    """Run `overlapcheck ARGUMENTS`: exit code, stdout, stderr."""

    def called(*arguments: str | Path) -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "argv", ["overlapcheck", *map(str, arguments)])
        with pytest.raises(SystemExit) as stop:
            main()
        return int(stop.value.code or 0), *capfd.readouterr()

    return called


def test_it_says_what_it_kept(run: Run, real_export: RealExport, tmp_path: Path) -> None:
    small = tmp_path / "small.sqlite"
    code, out, err = run("trim", real_export("pt_pageable"), "-o", small)

    assert (code, err) == (0, "")
    assert out.splitlines() == [
        f"small.sqlite: {small.stat().st_size / 1024:.1f} KiB, 900 of 26914 rows",
        "kept: 3 steady 'step #' steps, from the middle, and the one before",
        "the same answer: FAIL, first cause pageable-copy (default limits)",
        "left out: environment, arguments, paths, users, hosts, messages, stacks, payloads and"
        " 25 tables that nothing is judged by",
        "called by number: 8 thread names",
        "kept by name: kernels and ranges; --rename calls them by number, too",
    ]


def test_no_command_tells_what_was_left_out(
    run: Run, real_export: RealExport, tmp_path: Path
) -> None:
    whole = planted(real_export("pt_pageable"), tmp_path / "whole.sqlite")
    with_telling_names(whole)
    small, result = tmp_path / "small.sqlite", tmp_path / "result.json"
    said = [run("trim", whole, "-o", small)]
    said += [run("analyze", small, "--format", name) for name in sorted(renderers())]
    said += [run("analyze", small, "-o", result, "--tables", tmp_path / "tables",
                 "--tables-format", "csv")]  # fmt: skip
    said += [run("streams", small, "--format", name) for name in sorted(stream_renderers())]
    said += [run("render", result), run("compare", result, small), run("doctor")]
    written = [small, result, *(tmp_path / "tables").iterdir()]

    assert {code for code, _, _ in said[:-1]} <= {0, 1}
    assert [out for _, out, err in said if SECRET in out + err] == []
    assert [path for path in written if SECRET.encode() in path.read_bytes()] == []


def test_the_input_is_not_written_over(run: Run, real_export: RealExport, tmp_path: Path) -> None:
    whole = planted(real_export("pt_pageable"), tmp_path / "whole.sqlite")
    before = whole.read_bytes()
    code, out, err = run("trim", whole, "-o", whole)

    assert (code, out) == (2, "")
    assert "is what is read, and would be lost" in err
    assert whole.read_bytes() == before


def test_what_is_no_report_is_told_in_one_line(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "notes.txt"
    path.write_text("no report")
    code, out, err = run("trim", path, "-o", tmp_path / "small.sqlite")

    assert (code, out) == (4, "")
    assert len(err.splitlines()) == 1
    assert not (tmp_path / "small.sqlite").exists()
