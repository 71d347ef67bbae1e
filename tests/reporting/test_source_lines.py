"""Lines of source are shown of the user's own source text only, whatever a recording names."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

import pytest

from overlapcheck.finding import SourceLine
from overlapcheck.reporting.source_lines import located
from tests.renderers.test_terminal import a_finding

LINE = "secret = 'xyz'"


@pytest.fixture
def work(tmp_path: Path) -> Path:
    folder = tmp_path / "work"
    folder.mkdir()
    return folder


def shown(file: str | Path, *roots: Path, line: int = 1) -> SourceLine:
    finding = replace(a_finding("c", 0.1), source=(SourceLine(str(file), line, "f"),))
    (place,) = located(finding, roots).source
    return place


def test_a_line_below_the_working_directory(work: Path) -> None:
    (work / "train.py").write_text(f"\n  {LINE}  \n")

    assert shown("train.py", work, line=2) == SourceLine("train.py", 2, "f", LINE)
    assert shown(work / "train.py", work, line=2) == SourceLine("train.py", 2, "f", LINE)
    assert [shown("train.py", work, line=n).text for n in (-1, 0, 1, 3, 10**30)] == [""] * 5


def test_a_line_below_another_root(work: Path, tmp_path: Path) -> None:
    source = tmp_path / "source"
    source.mkdir()
    (source / "train.py").write_text(LINE)

    assert shown(source / "train.py", work).text == ""
    assert shown(source / "train.py", source, work) == SourceLine("train.py", 1, "f", LINE)
    assert shown("train.py", source, work).text == LINE


def test_a_file_elsewhere_stays_unread(work: Path, tmp_path: Path) -> None:
    other = tmp_path / "other.py"
    other.write_text(LINE)

    for file in (other, "../other.py", work / "../other.py", work / "x" / ".." / ".." / "other.py"):
        assert shown(file, work).text == ""


def test_a_link_leads_nowhere_else(work: Path, tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.mkdir()
    (other / "other.py").write_text(LINE)
    (work / "link.py").symlink_to(other / "other.py")
    (work / "folder").symlink_to(other)
    (work / "loop.py").symlink_to("loop.py")

    for file in ("link.py", "folder/other.py", "loop.py"):
        assert shown(file, work).text == ""


def test_a_link_within_the_root_is_followed(work: Path, tmp_path: Path) -> None:
    (work / "train.py").write_text(LINE)
    (work / "link.py").symlink_to("train.py")
    (tmp_path / "alias").symlink_to(work)

    assert shown("link.py", work).text == LINE
    assert shown("train.py", tmp_path / "alias").text == LINE


@pytest.mark.parametrize(
    "content",
    [b"a\0b\n", b"\xff\xfe\n", b"x" * 5000, b"x = 1\n" * (1 << 20)],
    ids=["NUL", "no text", "long line", "large"],
)
def test_what_is_no_source_text_stays_unread(content: bytes, work: Path) -> None:
    (work / "train.py").write_bytes(content)

    assert shown("train.py", work).text == ""


@pytest.mark.parametrize("name", ["settings.json", ".env", ".git/config", ".a/x.py", "key.pem"])
def test_what_is_no_program_stays_unread(name: str, work: Path) -> None:
    (work / name).parent.mkdir(exist_ok=True)
    (work / name).write_text(LINE)
    (work / "link.py").symlink_to(name)

    assert shown(name, work).text == ""
    assert shown("link.py", work).text == ""


def test_a_pipe_or_device_is_not_waited_for(work: Path) -> None:
    os.mkfifo(work / "pipe.py")
    (work / "zero.py").symlink_to("/dev/zero")
    (work / "folder.py").mkdir()

    for name in ("pipe.py", "zero.py", "folder.py", "a\0b.py", "x" * 300 + ".py"):
        assert shown(name, work).text == ""
