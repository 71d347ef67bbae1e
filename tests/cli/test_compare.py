"""`overlapcheck compare` as its users meet it."""

from __future__ import annotations

import json
import lzma
import shutil
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from overlapcheck.cli import main
from overlapcheck.cli.comparing import distinct_names
from overlapcheck.renderers.comparison import comparison_renderers
from tests.conftest import ROOT
from tests.export import RealExport
from tests.pictures import picture

TRACES = ROOT.parent / "shared" / "traces"
Overlapcheck = Callable[..., tuple[int, str, str]]
# Three steps; the copy of each is exposed in one and hidden in the other.
EXPOSED = """
s7  kernel k         |.aaaa......bbbb......cccc......|
s13 h2d pinned 64MiB |.....dddd......eeee......ffff..|
t1  cudaLaunchKernel |a.........b.........c..........|
t1  cudaMemcpyAsync  |..d.........e.........f........|
t1  nvtx step        |00000000001111111111222222222. |
"""
HIDDEN = """
s7  kernel k         |.aaaa.bbbb.cccc......|
s13 h2d pinned 64MiB |.dddd.eeee.ffff......|
t1  cudaLaunchKernel |a....b....c..........|
t1  cudaMemcpyAsync  |.d....e....f.........|
t1  nvtx step        |000001111122222......|
"""


@pytest.fixture
def overlapcheck(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str], tmp_path: Path
) -> Overlapcheck:
    """Run a command in an empty folder: exit code, stdout, stderr."""
    monkeypatch.chdir(tmp_path)
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
def exposed(tmp_path: Path) -> Path:
    return picture(EXPOSED, column_us=100).export(tmp_path / "exposed.sqlite")


@pytest.fixture
def hidden(tmp_path: Path) -> Path:
    return picture(HIDDEN, column_us=100).export(tmp_path / "hidden.sqlite")


def shared_trace(name: str, folder: Path) -> Path:
    packed = TRACES / f"{name}.sqlite.xz"
    if not packed.exists():
        pytest.skip("../shared with the recorded traces is not here")
    path = folder / f"{name}.sqlite"
    path.write_bytes(lzma.decompress(packed.read_bytes()))
    return path


def test_of_the_pageable_and_the_overlapped_run_it_says_what_was_won(
    overlapcheck: Overlapcheck, tmp_path: Path
) -> None:
    sides = [shared_trace(name, tmp_path) for name in ("pt_pageable", "pt_overlapped")]
    code, out, err = overlapcheck("compare", *sides, "--fail-if-worse", "5")
    head = " ".join(out.split("\n\n")[0].split())

    assert (code, err) == (0, "")
    assert head == (
        "BETTER median step 22.3 ms -> 19.3 ms: 3.0 ms per step won (13.6 %);"
        " gone: pageable-copy (4.7 ms per step; predicted to win 4.6 ms)"
    )
    assert overlapcheck("compare", *reversed(sides))[0] == 0
    code, out, _ = overlapcheck("compare", *reversed(sides), "--fail-if-worse", "5")
    assert (code, out.split()[0]) == (1, "WORSE")
    assert "FAIL --fail-if-worse 5: step time is 15.7 % longer" in out


def test_of_a_trace_with_itself_it_says_no_change(
    overlapcheck: Overlapcheck, real_export: RealExport
) -> None:
    trace = real_export("pt_pageable")
    code, out, err = overlapcheck("compare", trace, trace, "--fail-if-worse", "0")

    assert (code, err) == (0, "")
    assert out.startswith("NO CHANGE  median step 22.3 ms on both sides\n")
    assert "better" not in out and "worse\n" not in out


def test_sides_of_one_name_are_told_apart_by_their_folders(
    overlapcheck: Overlapcheck, exposed: Path, hidden: Path, tmp_path: Path
) -> None:
    for folder, trace in (("before", exposed), ("after", hidden)):
        (tmp_path / folder).mkdir()
        trace.rename(tmp_path / folder / "rank_0.sqlite")

    out = overlapcheck("compare", "before/rank_0.sqlite", "after/rank_0.sqlite")[1]

    assert "base     before/rank_0.sqlite, 2 steps" in out
    assert "new      after/rank_0.sqlite, 2 steps" in out


def test_jobs_in_folders_of_one_name_are_told_apart(
    overlapcheck: Overlapcheck, exposed: Path, hidden: Path, tmp_path: Path
) -> None:
    for run, trace in (("mon", exposed), ("tue", hidden)):
        (tmp_path / run / "ranks").mkdir(parents=True)
        for rank in ("rank_0", "rank_1"):
            shutil.copy(trace, tmp_path / run / "ranks" / f"{rank}.sqlite")

    out = overlapcheck("compare", "mon/ranks", "tue/ranks")[1]

    assert "base     mon/ranks, 2 ranks" in out
    assert "new      tue/ranks, 2 ranks" in out


@pytest.mark.parametrize(
    ("one", "other", "names"),
    [
        ("/data/a/x.sqlite", "/data/b/x.sqlite", ("a/x.sqlite", "b/x.sqlite")),
        ("/data/a/job/x", "/data/b/job/x", ("a/job/x", "b/job/x")),
        ("/data/x", "/data/x", ("x", "x")),
        ("/home/ann/x", "/home/bob/x", ("x", "x")),
        ("/home/ann/runs/x", "/data/runs/x", ("~/runs/x", "data/runs/x")),
    ],
)
def test_two_paths_of_one_name_are_told_by_where_they_differ(
    one: str, other: str, names: tuple[str, str]
) -> None:
    assert distinct_names(Path(one), Path(other)) == names


def test_a_saved_result_is_as_good_as_its_trace(
    overlapcheck: Overlapcheck, exposed: Path, hidden: Path
) -> None:
    overlapcheck("analyze", exposed, "-o", "before.json")

    assert overlapcheck("compare", "before.json", hidden) == overlapcheck(
        "compare", exposed, hidden
    )


def test_every_format_is_written_where_it_is_asked_for(
    overlapcheck: Overlapcheck, exposed: Path, hidden: Path
) -> None:
    code, out, _ = overlapcheck(
        "compare", exposed, hidden, "--format", "json", "-o", "c.md", "-o", "c.txt", "-o", "c.json"
    )  # fmt: skip

    assert code == 0
    assert json.loads(out) == json.loads(Path("c.json").read_text())
    assert Path("c.md").read_text().startswith("### 🟢 overlapcheck compare: BETTER\n")
    assert Path("c.txt").read_text().startswith("BETTER  median step ")


def test_all_formats_at_once(overlapcheck: Overlapcheck, exposed: Path, hidden: Path) -> None:
    suffixes = [one.suffix for one in comparison_renderers().values()]
    files = [Path(f"c{suffix}") for suffix in (*suffixes, ".junit.xml")]
    asked = [word for file in files for word in ("-o", file)]
    code, out, err = overlapcheck("compare", exposed, hidden, *asked)

    assert (code, err) == (0, "")
    assert out == Path("c.txt").read_text()
    assert Path("c.html").read_text().startswith("<!doctype html>")
    assert Path("c.xml").read_text() == Path("c.junit.xml").read_text()
    assert json.loads(Path("c.sarif").read_text())["version"] == "2.1.0"
    assert json.loads(Path("c.perfetto.json").read_text())["traceEvents"]
    assert Path("c.github.txt").read_text().startswith("::notice title=overlapcheck compare")


@pytest.mark.parametrize("name", sorted(comparison_renderers()))
def test_every_format_is_printed(
    name: str, overlapcheck: Overlapcheck, exposed: Path, hidden: Path
) -> None:
    suffix = comparison_renderers()[name].suffix
    code, out, _ = overlapcheck("compare", exposed, hidden, "--format", name, "-o", f"c{suffix}")

    assert code == 0
    assert out == Path(f"c{suffix}").read_text(encoding="utf-8")


def test_the_summary_of_a_job_gets_the_comparison_after_what_is_there(
    overlapcheck: Overlapcheck, exposed: Path, hidden: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    Path("summary.md").write_text("before\n", encoding="utf-8")
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", "summary.md")
    overlapcheck("compare", exposed, hidden)

    text = Path("summary.md").read_text(encoding="utf-8")
    assert text.startswith("before\n### 🟢 overlapcheck compare: BETTER\n")


def test_no_suffix_is_unknown_once_a_side_is_read(overlapcheck: Overlapcheck) -> None:
    code, out, err = overlapcheck("compare", "no.sqlite", "no.sqlite", "-o", "c.md", "-o", "c.pdf")

    assert (code, out) == (2, "")
    assert "c.pdf: a comparison has no format with this suffix" in err
    assert not Path("c.md").exists()


def test_steps_of_another_kind_are_refused(
    overlapcheck: Overlapcheck, hidden: Path, tmp_path: Path
) -> None:
    other = picture(HIDDEN.replace("step ", "chunk"), column_us=100).export(tmp_path / "o.sqlite")
    code, out, err = overlapcheck("compare", hidden, other)

    assert (code, out) == (3, "")
    assert err == (
        "overlapcheck: not comparable: other steps: 'step #' against 'chunk #';"
        " to compare all the same: --force\n"
    )
    assert overlapcheck("compare", hidden, other, "--force")[0] == 0


def test_a_recording_without_kernels_is_not_comparable(
    overlapcheck: Overlapcheck, hidden: Path, tmp_path: Path
) -> None:
    nothing = picture("t1 nvtx step |001122|").export(tmp_path / "cpu.sqlite")

    assert overlapcheck("compare", hidden, nothing, "--force")[0] == 3


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (["a.json"], 2, "compare takes BASE and NEW, or --baseline NAME and NEW"),
        (["a", "b", "c"], 2, "compare takes BASE and NEW"),
        (["--baseline", "main", "a", "b"], 2, "compare takes BASE and NEW"),
        (["hidden.sqlite", "no.json"], 4, "no.json: cannot be read: No such file or directory"),
        (["hidden.sqlite", "bad.json"], 4, "bad.json"),
        (["hidden.sqlite", "."], 3, ". is a job of 1 rank, hidden.sqlite is one report"),
        (["hidden.sqlite", "hidden.sqlite", "-o", "x.pdf"], 2, "no format with this suffix"),
        (["hidden.sqlite", "hidden.sqlite", "--format", "pdf"], 2, "--format pdf: a comparison"),
    ],
)
def test_what_cannot_be_compared_has_its_exit_code(
    arguments: list[str], code: int, said: str, overlapcheck: Overlapcheck, hidden: Path
) -> None:
    Path("bad.json").write_text("{ not json")
    found, out, err = overlapcheck("compare", *arguments)

    assert (found, out) == (code, "")
    assert said in err
