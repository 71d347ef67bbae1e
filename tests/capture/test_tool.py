"""Commands that are run to their end, and what is left of those that are not."""

from __future__ import annotations

import gc
import warnings
from pathlib import Path

import pytest

from overlapcheck.capture.discovery import Nsys
from overlapcheck.capture.export_failures import explain
from overlapcheck.capture.tool import ToolRun, run_tool
from overlapcheck.errors import CaptureFailed


def test_a_command_that_takes_too_long_leaves_no_file_open() -> None:
    gc.collect()
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        with pytest.raises(CaptureFailed, match="did not end within"):
            run_tool(["sleep", "1000"], timeout_s=0.1)
        gc.collect()

    assert [str(warning.message) for warning in warned] == []


def test_what_a_tool_says_last_is_shown_without_secrets_and_homes() -> None:
    said = "starting\nHF_TOKEN=xyz-1 cannot open /home/xyz-person/a.nsys-rep"

    assert ToolRun(1, said).last_words == "HF_TOKEN=*** cannot open a.nsys-rep"
    assert ToolRun(3, "\n").last_words == "exit code 3"


def test_nor_does_a_failed_export_tell_them(tmp_path: Path) -> None:
    report = tmp_path / "a.nsys-rep"
    report.write_bytes(b"no report")
    said = "token=xyz-1 at /home/xyz-person/a"
    error, _ = explain(said, report, Nsys(Path("nsys"), "2025.3.2.474-1"), tmp_path)

    assert "token=*** at a" in str(error)
