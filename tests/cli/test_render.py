"""`overlapcheck render`, `--tables` and the job summary, as their users meet them."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path

import pandas as pd
import pytest

from overlapcheck.cli import main
from overlapcheck.renderers import renderers
from tests.export import RealExport
from tests.renderers.reports import REPORTS

Command = Callable[..., tuple[int, str, str]]


@pytest.fixture
def command(monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Command:
    """Run `overlapcheck ARGUMENTS`: exit code, stdout, stderr."""
    monkeypatch.delenv("GITHUB_STEP_SUMMARY", raising=False)
    monkeypatch.delenv("GITHUB_WORKSPACE", raising=False)

    def run(*arguments: str | Path) -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "argv", ["overlapcheck", *map(str, arguments)])
        with pytest.raises(SystemExit) as stop:
            main()
        out, err = capfd.readouterr()
        return int(stop.value.code or 0), out, err

    return run


@pytest.fixture
def result(tmp_path: Path) -> Path:
    path = tmp_path / "result.json"
    path.write_text(renderers()["json"].render(REPORTS["with_findings"]), encoding="utf-8")
    return path


def test_a_result_is_shown_as_it_was_and_worked_whatever_the_verdict(
    command: Command, result: Path
) -> None:
    code, out, err = command("render", result)

    assert (code, err) == (0, "")
    assert out == renderers()["terminal"].render(REPORTS["with_findings"])


def test_files_are_written_and_stdout_stays_empty(
    command: Command, result: Path, tmp_path: Path
) -> None:
    files = [tmp_path / name for name in ("r.md", "r.junit.xml", "r.sarif", "again.json")]
    code, out, _ = command("render", result, *(part for path in files for part in ("-o", path)))

    assert (code, out) == (0, "")
    assert files[0].read_text(encoding="utf-8").startswith("<!-- overlapcheck -->")
    assert files[3].read_bytes() == result.read_bytes()


def test_a_format_is_printed_beside_the_files(
    command: Command, result: Path, tmp_path: Path
) -> None:
    _, out, _ = command("render", result, "--format", "github", "-o", tmp_path / "r.md")

    assert out.startswith("::error title=")


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (["--format", "pdf"], 2, "--format pdf: no such format"),
        (["-o", "r.docx"], 2, "-o r.docx: no format has this suffix"),
        (["-o", "r.perfetto.json"], 2, "a saved result holds none"),
        (["-o", "nowhere/r.md"], 4, "nowhere/r.md: cannot write the result"),
    ],
)
def test_what_does_not_work_is_one_line(
    arguments: list[str], code: int, said: str, command: Command, result: Path
) -> None:
    found, _, err = command("render", result, *arguments)

    assert found == code
    assert said in err
    assert err.count("\n") == 1


def test_no_file_is_written_where_one_format_cannot(
    command: Command, result: Path, tmp_path: Path
) -> None:
    command("render", result, "-o", tmp_path / "r.md", "-o", tmp_path / "r.perfetto.json")

    assert not (tmp_path / "r.md").exists()


def test_a_trace_is_no_result(command: Command, real_export: RealExport) -> None:
    code, out, err = command("render", real_export("cu_double_buffer"))

    assert (code, out) == (4, "")
    assert "overlapcheck analyze" in err


# ---- what analyze writes beside the report


def test_tables_hold_every_row_with_names(
    command: Command, real_export: RealExport, tmp_path: Path
) -> None:
    folder = tmp_path / "deep" / "tables"
    _, out, _ = command(
        "analyze", real_export("pt_pageable"), "--format", "json", "--tables", folder
    )
    (device,) = json.loads(out)["devices"]
    tables = {path.stem: pd.read_parquet(path) for path in folder.iterdir()}

    assert set(tables) == {"gaps", "blocking", "steps", "ledger", "contention", "streams"}
    ledger = tables["ledger"]
    by_cause = (ledger["end_ns"] - ledger["start_ns"]).groupby(ledger["cause"]).sum()
    assert by_cause.to_dict() == {row["cause"]: row["ns"] for row in device["ledger"]}
    assert len(tables["steps"]) == device["steps"]["count"]
    assert len(tables["blocking"]) == device["blocking_total"]
    assert len(tables["gaps"]) == device["gaps_total"]
    for table in tables.values():
        assert list(table.columns[:2]) == ["pid", "device"]
        assert not any(column.endswith("name_id") for column in table.columns)
    assert tables["gaps"]["after_kernel"].iloc[0] == device["gaps"][0]["after"]
    compute = tables["streams"].query("busy_with == 'compute'")
    assert int((compute["end_ns"] - compute["start_ns"]).sum()) == device["compute_ns"]


def test_tables_can_be_csv(command: Command, real_export: RealExport, tmp_path: Path) -> None:
    command(
        "analyze",
        real_export("ddp_bucketed"),
        *("--tables", tmp_path / "t", "--tables-format", "csv"),
    )
    steps = pd.read_csv(tmp_path / "t" / "steps.csv")

    assert sorted(steps["device"].unique()) == [0, 1]


def test_tables_of_nothing_are_empty_files(command: Command, tmp_path: Path) -> None:
    from tests.pictures import picture

    path = picture("t1 nvtx step |012|").export(tmp_path / "cpu.sqlite")
    code, _, _ = command("analyze", path, "--tables", tmp_path / "t")

    assert code == 3
    assert all(len(pd.read_parquet(file)) == 0 for file in (tmp_path / "t").iterdir())


def test_a_folder_that_cannot_be_made_is_one_line(
    command: Command, real_export: RealExport, tmp_path: Path
) -> None:
    (tmp_path / "file").write_text("")
    code, out, err = command(
        "analyze", real_export("pt_graph"), "--tables", tmp_path / "file" / "t"
    )

    assert code == 4
    assert out
    assert err.count("\n") == 1


def test_the_summary_of_a_job_gets_the_comment_after_what_is_there(
    command: Command, real_export: RealExport, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    summary = tmp_path / "summary.md"
    summary.write_text("before\n", encoding="utf-8")
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(summary))
    command("analyze", real_export("pt_pageable"))

    text = summary.read_text(encoding="utf-8")
    assert text.startswith("before\n<!-- overlapcheck -->\n### ❌")


def test_a_summary_that_cannot_be_written_costs_nothing(
    command: Command, real_export: RealExport, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(tmp_path / "none" / "summary.md"))
    code, out, err = command("analyze", real_export("pt_pageable"))

    assert code == 1
    assert out
    assert "no summary written" in err
