"""`overlapcheck analyze` of several reports, as its users meet it."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from overlapcheck.cli import main
from overlapcheck.cli.output import suited
from overlapcheck.ranks.job_reports import JobReports
from overlapcheck.ranks.pool import ThisProcess
from overlapcheck.ranks.run import judge_fleet
from overlapcheck.ranks.store import FOLDER
from overlapcheck.renderers.fleet import fleet_renderer
from overlapcheck.reporting.fleet_tables import fleet_table_names
from overlapcheck.reporting.tables import table_names
from tests.ranks import fleets

Analyze = Callable[..., tuple[int, str, str]]


@pytest.fixture
def analyze(monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Analyze:
    """Run `overlapcheck analyze ARGUMENTS`: exit code, stdout, stderr.

    By default in this process: workers take seconds to start, and change nothing of the answer.
    """

    def run(*arguments: object, in_workers: bool = False) -> tuple[int, str, str]:
        jobs = () if in_workers or "--jobs" in arguments else ("--jobs", "1")
        monkeypatch.setattr("sys.argv", ["overlapcheck", "analyze", *map(str, arguments), *jobs])
        with pytest.raises(SystemExit) as ended:
            main()
        out, err = capfd.readouterr()
        return int(ended.value.code or 0), out, err

    return run


@pytest.fixture
def job(tmp_path: Path) -> Path:
    fleets.write_fleet(tmp_path / "job", 4, late=2)
    return tmp_path / "job"


def test_a_folder_is_a_job(analyze: Analyze, job: Path) -> None:
    code, out, err = analyze(job, in_workers=True)

    assert code == 1
    assert out.splitlines()[0] == out.splitlines()[-1]
    assert out.startswith("FAIL  4 of 4 ranks failed; waiting for rank 2")
    assert err == ""


def test_files_globs_and_lists_give_the_same(analyze: Analyze, job: Path) -> None:
    (job / "all.txt").write_text("rank_*.sqlite\n")

    outs = [
        analyze(*arguments, "--format", "json")[1]
        for arguments in ([job / f"rank_{n}.sqlite" for n in range(4)], [job / "rank_?.sqlite"])
    ]
    outs.append(analyze(f"@{job / 'all.txt'}", "--format", "json")[1])

    assert fleets.ranks_of(outs[0]) == ["0", "1", "2", "3"]
    assert len(set(outs)) == 1


def test_one_report_stays_what_it_was(analyze: Analyze, job: Path) -> None:
    _, out, _ = analyze(job / "rank_0.sqlite", "--format", "json")

    assert "fleet_schema" not in out
    assert json.loads(out)["capture"]["report"] == "rank_0.sqlite"


def test_results_are_written_and_kept(analyze: Analyze, job: Path, tmp_path: Path) -> None:
    code, out, _ = analyze(
        job,
        "-o",
        tmp_path / "f.json",
        "-o",
        tmp_path / "f.html",
        "-o",
        tmp_path / "f.txt",
        "--resume",
        "--jobs",
        1,
    )

    assert code == 1
    assert (tmp_path / "f.txt").read_text() == out
    assert fleets.ranks_of((tmp_path / "f.json").read_text()) == ["0", "1", "2", "3"]
    assert (tmp_path / "f.html").read_text().count('<tr id="rank-') == 4
    assert len(list((tmp_path / ".overlapcheck-ranks").iterdir())) == 4
    assert analyze(job, "-o", tmp_path / "f.json", "--resume")[1] == out


def test_the_rank_pattern_names_the_ranks(analyze: Analyze, job: Path) -> None:
    _, out, _ = analyze(job, "--rank-pattern", r"_(?P<rank>\d)\.", "--format", "json")

    assert json.loads(out)["notes"][0] == "ranks by --rank-pattern"


def test_the_limits_hold_for_every_rank(analyze: Analyze, job: Path) -> None:
    code, out, _ = analyze(job, "--max-recoverable", 100)

    assert code == 0
    assert out.startswith("PASS  all 4 ranks passed")


def test_a_share_of_the_ranks_may_fail(analyze: Analyze, job: Path) -> None:
    policy = job / "overlapcheck.toml"
    policy.write_text("max-failing-ranks = 100\n")

    code, out, _ = analyze(job, "--config", policy)
    strict, _, _ = analyze(job, "--config", policy, "--max-failing-ranks", 50)

    assert (code, strict) == (0, 1)
    assert out.startswith("PASS  4 of 4 ranks failed, 100.0 % may")


def test_a_page_of_html_brings_timelines(analyze: Analyze, job: Path, tmp_path: Path) -> None:
    analyze(job, "-o", tmp_path / "f.html", "-o", tmp_path / "none.html", "--rank-pages", 2)

    assert sorted(path.name for path in (tmp_path / "f-ranks").iterdir()) == [
        "rank-0.html",
        "rank-2.html",
    ]
    assert 'href="f-ranks/rank-2.html"' in (tmp_path / "f.html").read_text()
    assert 'class="timeline"' in (tmp_path / "none-ranks" / "rank-2.html").read_text()


def test_colours_are_for_terminals(job: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    answer = judge_fleet(JobReports(sorted(job.iterdir())), fleets.judge, ThisProcess())
    plain = suited(fleet_renderer("terminal"), to_terminal=True).render(answer)
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    monkeypatch.delenv("NO_COLOR", raising=False)
    coloured = suited(fleet_renderer("terminal"), to_terminal=True).render(answer)
    monkeypatch.setenv("NO_COLOR", "1")

    assert "\x1b[" not in plain
    assert coloured.startswith("\x1b[1;31mFAIL")
    assert re.sub(r"\x1b\[[0-9;]*m", "", coloured) == plain
    assert suited(fleet_renderer("terminal"), to_terminal=True).render(answer) == plain


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--format", "pdf"], "--format pdf: no such format"),
        (["-o", "x.docx"], "-o x.docx: no format has this suffix"),
        (["--rank-pattern", "x"], "no group named rank"),
        (["--rank-pattern", "x(?P<rank>.)"], "does not fit"),
    ],
)
def test_what_makes_no_sense_for_several_is_refused_before_any_work(
    analyze: Analyze, job: Path, options: list[str], said: str
) -> None:
    code, out, err = analyze(job, *options)

    assert (code, out) == (2, "")
    assert said in err


def test_a_lost_report_is_named(analyze: Analyze, job: Path) -> None:
    (job / "rank_1.sqlite").write_text("no report")

    code, out, _ = analyze(job, "--max-recoverable", 100)

    assert code == 3
    assert "1 report lost" in out
    assert "rank_1.sqlite" in out


# ---- ranks that are not there


def test_missing_ranks_keep_a_pass_from_being_one(analyze: Analyze, job: Path) -> None:
    (job / "rank_1.sqlite").unlink()

    code, out, _ = analyze(job, "--max-recoverable", 100)
    meant, _, _ = analyze(job, "--max-recoverable", 100, "--expect-ranks", 3)

    assert (code, meant) == (3, 0)
    assert out.startswith("INCONCLUSIVE  ")
    assert "1 rank missing" in out.splitlines()[0]
    assert "missing rank 1: there is a rank 3" in " ".join(out.split())


@pytest.mark.parametrize("name", ["0-of-4.sqlite", "train.sqlite"])
def test_the_only_report_of_a_job_is_not_the_job(
    name: str, analyze: Analyze, tmp_path: Path
) -> None:
    (tmp_path / "job").mkdir()
    environment = {"RANK": "0", "WORLD_SIZE": "4"}
    fleets.write_rank(fleets.USUAL, tmp_path / "job" / name, 1, environment=environment)
    lenient = ("--max-recoverable", 100)

    assert analyze(tmp_path / "job", *lenient)[0] == 3
    assert analyze(tmp_path / "job" / name, *lenient)[0] == 0
    assert analyze(tmp_path / "job", *lenient, "--expect-ranks", 1)[0] == 0
    assert analyze(tmp_path / "job" / name, *lenient, "--expect-ranks", 2)[0] == 3


def test_a_dangling_link_is_a_lost_rank(analyze: Analyze, job: Path) -> None:
    (job / "rank_4.sqlite").symlink_to("/nowhere/rank_4.sqlite")

    code, out, _ = analyze(job, "--max-recoverable", 100)

    assert code == 3
    assert "rank_4.sqlite: a link to a missing file" in " ".join(out.split())


def test_results_of_another_user_are_not_resumed(
    analyze: Analyze, job: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    analyze(job, "-o", tmp_path / "f.json", "--resume")
    kept = {path: path.stat().st_mtime_ns for path in (tmp_path / FOLDER).iterdir()}
    analyze(job, "-o", tmp_path / "f.json", "--resume")
    assert {path: path.stat().st_mtime_ns for path in kept} == kept

    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "of somebody else"))
    analyze(job, "-o", tmp_path / "f.json", "--resume")
    assert all(path.stat().st_mtime_ns != kept[path] for path in kept)


# ---- what one report has, ranks have


@pytest.fixture
def in_process(monkeypatch: pytest.MonkeyPatch) -> None:
    """No workers: these take a second to start."""
    monkeypatch.setattr("overlapcheck.cli.rank_engine.LocalPool", lambda _: ThisProcess())


@pytest.mark.usefixtures("in_process")
def test_every_format_is_printed_and_written(analyze: Analyze, job: Path, tmp_path: Path) -> None:
    suffixes = [".xml", ".md", ".sarif", ".github.txt", ".perfetto.json", ".brief.json"]
    files = [tmp_path / f"f{suffix}" for suffix in suffixes]
    code, out, _ = analyze(
        job, "--format", "junit", *(part for file in files for part in ("-o", file))
    )

    assert code == 1
    assert files[0].read_text() == out
    assert out.startswith('<?xml version="1.0" encoding="UTF-8"?>\n<testsuites')
    assert all(file.stat().st_size > 500 for file in files)


@pytest.mark.usefixtures("in_process")
def test_a_saved_job_is_rendered_as_it_was_judged(
    analyze: Analyze,
    job: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    saved, direct, again = (tmp_path / name for name in ("f.json", "f.md", "again.md"))
    _, out, _ = analyze(job, "-o", saved, "-o", direct)

    arguments = ["overlapcheck", "render", str(saved), "--format", "terminal", "-o", str(again)]
    monkeypatch.setattr("sys.argv", arguments)
    with pytest.raises(SystemExit) as ended:
        main()

    assert (ended.value.code or 0) == 0
    assert capfd.readouterr().out == out
    assert again.read_text() == direct.read_text()


@pytest.mark.usefixtures("in_process")
def test_the_summary_of_a_ci_job_gets_the_comment(
    analyze: Analyze, job: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    summary = tmp_path / "summary.md"
    summary.write_text("before\n")
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(summary))
    analyze(job)

    assert summary.read_text().startswith(
        "before\n<!-- overlapcheck -->\n### ❌ overlapcheck: FAIL"
    )


@pytest.mark.parametrize("kind", ["parquet", "csv"])
def test_tables_are_of_all_ranks_in_their_order(
    kind: str, analyze: Analyze, job: Path, tmp_path: Path
) -> None:
    folder = tmp_path / "deep" / "tables"
    read: Any = {"parquet": pd.read_parquet, "csv": pd.read_csv}[kind]
    _, out, err = analyze(
        job, "--tables", folder, "--tables-format", kind, "--format", "json", "--jobs", 2
    )
    rows = {row["rank"]: row for row in json.loads(out)["ranks"]}
    tables = {path.stem: read(path) for path in folder.iterdir()}
    ranks, ledger = tables["ranks"], tables["ledger"]

    assert err == ""
    assert set(tables) == {*fleet_table_names(), *table_names()}
    assert [str(rank) for rank in ranks["rank"]] == list(rows)
    assert ranks["compute_ns"].tolist() == [row["compute_ns"] for row in rows.values()]
    assert tables["stragglers"]["rank"].astype(str).tolist() == ["2"]
    pieces = (ledger["end_ns"] - ledger["start_ns"]).groupby([ledger["rank"], ledger["cause"]])
    assert {(str(rank), cause): ns for (rank, cause), ns in pieces.sum().items()} == {
        (rank, cause): ns for rank, row in rows.items() for cause, ns in row["ledger"].items()
    }
    for name in table_names():
        assert list(tables[name].columns[:3]) == ["rank", "pid", "device"]
        assert tables[name]["rank"].is_monotonic_increasing


@pytest.mark.usefixtures("in_process")
def test_tables_of_one_report_are_those_of_its_rank(
    analyze: Analyze, job: Path, tmp_path: Path
) -> None:
    analyze(job, "--tables", tmp_path / "all")
    analyze(job / "rank_2.sqlite", "--tables", tmp_path / "one")

    for name in table_names():
        whole = pd.read_parquet(tmp_path / "all" / f"{name}.parquet")
        alone = pd.read_parquet(tmp_path / "one" / f"{name}.parquet")
        mine = whole[whole["rank"] == "2"].drop(columns="rank").reset_index(drop=True)
        pd.testing.assert_frame_equal(mine, alone, check_dtype=len(alone) > 0)


@pytest.mark.usefixtures("in_process")
def test_ranks_of_one_report_have_their_own_rows(analyze: Analyze, tmp_path: Path) -> None:
    fleets.write_rank(
        "gpu0 s7 kernel k |..bbbb..dddd|\ngpu1 s7 kernel k |..aa....cc..|\n"
        "t1 cudaLaunchKernel |ab....cd....|\nt1 nvtx step |000000111111|",
        tmp_path / "both.sqlite",
        1,
    )
    analyze(tmp_path / "both.sqlite", "--expect-ranks", 2, "--tables", tmp_path / "t", "--skip", 0)
    streams = pd.read_parquet(tmp_path / "t" / "streams.parquet")

    assert streams.groupby("rank")["device"].unique().map(list).to_dict() == {
        "0": [0],
        "1": [1],
    }


@pytest.mark.usefixtures("in_process")
def test_tables_are_whole_where_results_were_kept(
    analyze: Analyze, job: Path, tmp_path: Path
) -> None:
    analyze(job, "-o", tmp_path / "f.json", "--resume")
    analyze(job, "-o", tmp_path / "f.json", "--resume", "--tables", tmp_path / "t")
    analyze(job, "--tables", tmp_path / "u")

    for file in (tmp_path / "u").iterdir():
        assert (tmp_path / "t" / file.name).read_bytes() == file.read_bytes()


@pytest.mark.usefixtures("in_process")
def test_a_rank_whose_tables_cannot_be_kept_keeps_its_verdict(
    analyze: Analyze, job: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("overlapcheck.reporting.rank_parts.RankParts.leave", full)
    code, out, err = analyze(job, "--tables", tmp_path / "t")

    assert (code, out.count("lost")) == (1, 0)
    assert "no tables of rank_2.sqlite: they could not be written" in err
    assert len(pd.read_parquet(tmp_path / "t" / "ranks.parquet")) == 4


def test_a_folder_of_tables_that_cannot_be_made_is_said_before_any_work(
    analyze: Analyze, job: Path, tmp_path: Path
) -> None:
    (tmp_path / "file").write_text("")
    code, out, err = analyze(job, "--tables", tmp_path / "file" / "t")

    assert (code, out) == (4, "")
    assert err.count("\n") == 1
