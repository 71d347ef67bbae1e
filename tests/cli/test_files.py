"""Results go over no input, are as private as what they replace, pass through links and pipes."""

from __future__ import annotations

import csv
import json
import os
import stat
import subprocess
import sys
import threading
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from overlapcheck import pipeline
from overlapcheck.cli import main
from overlapcheck.cli.files import write
from overlapcheck.finding import Finding, SourceLine
from overlapcheck.measurements import Measurements
from overlapcheck.reading import Reading
from overlapcheck.renderers import renderers
from tests.export import edit
from tests.pictures import picture
from tests.renderers.test_terminal import a_finding

Run = Callable[..., tuple[int, str]]
ROWS = """
s7  kernel k          |.aaaaaaaaaaaaaaaaaa|
s13 h2d pinned 64MiB  |...bbbb............|
t1  cudaLaunchKernel  |a..................|
t1  cudaMemcpyAsync   |.b.................|
"""


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Run:
    def overlapcheck(*arguments: str | Path) -> tuple[int, str]:
        monkeypatch.setattr(sys, "argv", ["overlapcheck", *map(str, arguments)])
        with pytest.raises(SystemExit) as stop:
            main()
        return int(stop.value.code or 0), capfd.readouterr().err

    return overlapcheck


@pytest.fixture
def export(tmp_path: Path) -> Path:
    return picture(ROWS, column_us=100).export(tmp_path / "trace.sqlite")


@pytest.fixture
def result(run: Run, export: Path, tmp_path: Path) -> Path:
    path = tmp_path / "result.json"
    assert run("analyze", export, "-o", path)[0] == 0
    return path


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


# ---- over no input


@pytest.mark.parametrize("alias", ["itself", "link", "hard link", "roundabout"])
def test_a_report_is_never_written_over(alias: str, run: Run, export: Path, tmp_path: Path) -> None:
    output = tmp_path / "result.json"
    if alias == "itself":
        export.rename(output)
        export = output
    elif alias == "link":
        output.symlink_to(export)
    elif alias == "hard link":
        output.hardlink_to(export)
    else:
        export.rename(output)
        export = output
        (tmp_path / "folder").mkdir()
        output = tmp_path / "folder" / ".." / "result.json"
    before = export.read_bytes()
    other = tmp_path / "other.md"
    code, said = run("analyze", export, "-o", other, "-o", output)

    assert (code, "is what is read" in said) == (2, True)
    assert export.read_bytes() == before
    assert not other.exists()


@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_no_table_is_written_over_a_report(
    kind: str, run: Run, export: Path, tmp_path: Path
) -> None:
    folder = tmp_path / "tables"
    folder.mkdir()
    (folder / f"ledger.{kind}").symlink_to(export)
    before = export.read_bytes()
    code, said = run("analyze", export, "--tables", folder, "--tables-format", kind)

    assert (code, "is what is read" in said) == (2, True)
    assert export.read_bytes() == before


def test_a_saved_result_is_never_written_over(run: Run, result: Path, tmp_path: Path) -> None:
    before = result.read_bytes()
    other = tmp_path / "other.json"
    other.write_bytes(before)

    assert run("render", result, "-o", result)[0] == 2
    assert run("compare", result, other, "-o", other)[0] == 2
    assert run("compare", result, other, "-o", result)[0] == 2
    assert result.read_bytes() == other.read_bytes() == before


def test_no_rank_and_no_list_is_written_over(run: Run, export: Path, tmp_path: Path) -> None:
    second = tmp_path / "second.json"
    second.write_bytes(export.read_bytes())
    listed = tmp_path / "list.txt"
    listed.write_text(f"{export}\n{second}\n")
    before = second.read_bytes()

    assert run("analyze", export, second, "-o", second)[0] == 2
    assert run("analyze", f"@{listed}", "-o", listed)[0] == 2
    assert second.read_bytes() == before
    assert listed.read_text().startswith(str(export))


def test_a_folder_of_reports_may_take_the_answer(run: Run, export: Path, tmp_path: Path) -> None:
    (tmp_path / "two.sqlite").write_bytes(export.read_bytes())
    for _ in range(2):
        assert run("analyze", tmp_path, "-o", tmp_path / "fleet.json", "--jobs", "1")[0] == 0


# ---- as private as what was there


@pytest.mark.parametrize("before", [0o600, 0o640, 0o644, 0o400])
def test_a_file_that_is_replaced_keeps_its_mode(before: int, tmp_path: Path) -> None:
    path = tmp_path / "result.json"
    path.write_text("old")
    path.chmod(before)
    write(path, "new")

    assert (path.read_text(), mode(path)) == ("new", before)


def test_tables_keep_the_mode_too(run: Run, export: Path, tmp_path: Path) -> None:
    run("analyze", export, "--tables", tmp_path / "t", "--tables-format", "csv")
    (tmp_path / "t" / "gaps.csv").chmod(0o600)
    run("analyze", export, "--tables", tmp_path / "t", "--tables-format", "csv")

    assert mode(tmp_path / "t" / "gaps.csv") == 0o600


def test_a_reader_of_the_old_file_keeps_it_whole(tmp_path: Path) -> None:
    path = tmp_path / "result.json"
    path.write_text("old")
    with path.open() as reader:
        write(path, "new")
        assert reader.read() == "old"
    assert [file.name for file in tmp_path.iterdir()] == ["result.json"]


# ---- through links, pipes and devices


def test_a_link_stays_and_its_target_is_replaced(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    target, link = tmp_path / "folder" / "real.json", tmp_path / "result.json"
    target.write_text("old")
    target.chmod(0o600)
    link.symlink_to(target)
    write(link, "new")

    assert link.is_symlink()
    assert (target.read_text(), mode(target)) == ("new", 0o600)


def test_a_link_to_a_file_that_is_yet_to_be_makes_it(tmp_path: Path) -> None:
    link = tmp_path / "result.json"
    link.symlink_to("real.json")
    write(link, "new")

    assert link.is_symlink()
    assert (tmp_path / "real.json").read_text() == "new"


def test_a_pipe_is_written_to(tmp_path: Path) -> None:
    pipe = tmp_path / "result.json"
    os.mkfifo(pipe)
    got: list[str] = []
    reader = threading.Thread(target=lambda: got.append(pipe.read_text()), daemon=True)
    reader.start()
    write(pipe, "new" * 100_000)
    reader.join(10)

    assert got == ["new" * 100_000]
    assert stat.S_ISFIFO(pipe.stat().st_mode)


def test_a_device_is_written_to(tmp_path: Path) -> None:
    link = tmp_path / "result.json"
    link.symlink_to("/dev/null")
    write(link, "new")

    assert link.is_symlink() and stat.S_ISCHR(link.stat().st_mode)


@pytest.mark.parametrize("to", ["file", "pipe"])
def test_our_own_stdout_gets_both(to: str, export: Path, tmp_path: Path) -> None:
    link, printed = tmp_path / "result.json", tmp_path / "printed"
    link.symlink_to("/dev/stdout")
    command = [sys.executable, "-m", "overlapcheck", "analyze", str(export), "-o", str(link)]
    if to == "file":
        with printed.open("wb") as stream:
            subprocess.run(command, stdout=stream, check=True)
        text = printed.read_text()
    else:
        text = subprocess.run(command, stdout=subprocess.PIPE, check=True).stdout.decode()

    assert text.startswith("PASS")
    assert json.loads(text[text.index("\n{") :])["schema"] == 1


# ---- tables


def test_a_table_holds_no_formula(run: Run, tmp_path: Path) -> None:
    export = picture(
        """
        s7  kernel k          |.aaaa....cccc|
        t1  cudaLaunchKernel  |a...c........|
        """,
        column_us=100,
    ).export(tmp_path / "gaps.sqlite")
    edit(export, "UPDATE StringIds SET value = '=HYPERLINK(1)' || char(10) WHERE value LIKE 'k%'")
    run("analyze", export, "--tables", tmp_path / "t", "--tables-format", "csv")
    for path in (tmp_path / "t").iterdir():
        with path.open(newline="") as file:
            cells = [cell for row in csv.reader(file) for cell in row]

        assert not any(cell.startswith(("=", "+", "@", "\t", "\r")) for cell in cells)
        assert not any("\n" in cell for cell in cells)
    assert "'=HYPERLINK(1)" in (tmp_path / "t" / "gaps.csv").read_text()


# ---- source lines


@pytest.fixture
def found_at(monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Let the recording name files, in the first line of which its one cause lies."""

    def at(*files: str | Path) -> None:
        places = tuple(SourceLine(str(file), 1, "main") for file in files)

        def findings(measured: Measurements, _: object) -> tuple[Finding, ...]:
            finding = a_finding("host-sync", 0.1)
            return (replace(finding, device=measured.devices[0].key, source=places),)

        monkeypatch.setattr("overlapcheck.pipeline.findings", findings)

    return at


def test_lines_of_source_come_from_the_root_that_is_named(
    found_at: Callable[..., None], monkeypatch: pytest.MonkeyPatch, export: Path, tmp_path: Path
) -> None:
    found_at("train.py")
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "train.py").write_text("y = x.item()\n")
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    seen = [
        pipeline.analyze(export, reading=Reading(source_root=root)).findings[0].source[0].text
        for root in (None, tmp_path / "src")
    ]

    assert seen == ["", "y = x.item()"]


FORMS = ["terminal", "json", "html", "markdown", "junit", "github", "sarif"]


@pytest.mark.parametrize("form", FORMS)
def test_no_format_shows_a_line_of_a_file_elsewhere(
    form: str,
    found_at: Callable[..., None],
    monkeypatch: pytest.MonkeyPatch,
    export: Path,
    tmp_path: Path,
) -> None:
    (tmp_path / "work").mkdir()
    (tmp_path / "secret.py").write_text("password = 'xyz'\n")
    (tmp_path / "work" / "link.py").symlink_to(tmp_path / "secret.py")
    monkeypatch.chdir(tmp_path / "work")
    found_at(tmp_path / "secret.py", "../secret.py", "link.py")

    assert "xyz" not in renderers()[form].render(pipeline.analyze(export))


def test_the_option_reaches_the_analysis(
    found_at: Callable[..., None], run: Run, export: Path, tmp_path: Path
) -> None:
    found_at("train.py")
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "train.py").write_text("y = x.item()\n")
    output = tmp_path / "result.json"
    run("analyze", export, "--source-root", tmp_path / "src", "-o", output)

    (found,) = json.loads(output.read_text())["findings"]
    assert found["source"][0]["text"] == "y = x.item()"
    assert run("analyze", export, "--source-root", tmp_path / "gone")[0] == 2
