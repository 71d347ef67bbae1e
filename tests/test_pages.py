"""The pages for users: links lead somewhere, commands and messages exist, samples run."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import xml.etree.ElementTree as ET
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from bench import screenshot
from overlapcheck.capture.discovery import INSTALL_PATTERNS
from overlapcheck.causes import causes, manual
from overlapcheck.errors import ExitCode
from overlapcheck.judged import Judged
from overlapcheck.renderers import renderers
from tests import doc_pages
from tests.conftest import ROOT
from tests.doc_pages import ANYTHING, PAGES
from tests.export import RealExport
from tests.test_docs import PLACES

COMING = frozenset(f"docs/{name}.md" for name in ("agents", "whatif"))
"""Pages that are written beside this one: a link to them may lead nowhere yet."""
README = ROOT / "README.md"
TROUBLESHOOTING = ROOT / "docs" / "troubleshooting.md"
CAUSES = ROOT / "docs" / "causes.md"
COUNTED = {"README.md": 5, "docs/ci.md": 8, "docs/formats.md": 6, "docs/troubleshooting.md": 10}
"""Commands that these pages have at least: a test that finds none would prove nothing."""
TABLE = re.compile(r"(?<=\| cause \| \|\n\|---\|---\|\n)(?:\|.*\n)+")

every_page = pytest.mark.parametrize(
    "path", PAGES, ids=lambda path: str(path.relative_to(ROOT)).replace("/", "-")
)


def text(path: Path) -> str:
    return path.read_text(encoding="utf-8")


# ---- what pages point to


@every_page
def test_links_lead_to_a_file_and_a_heading(path: Path) -> None:
    lost = []
    for link in doc_pages.links(path):
        name, _, anchor = link.partition("#")
        target = (path.parent / name).resolve() if name else path
        if str(target.relative_to(ROOT)) in COMING and not target.exists():
            continue
        if not target.exists() or (anchor and anchor not in doc_pages.anchors(target)):
            lost.append(link)

    assert lost == []


@every_page
def test_paths_it_names_exist(path: Path) -> None:
    named = {
        word.rstrip(":")
        for span in re.findall(r"`([^`\n]+)`", text(path))
        for word in span.split()
        if word.startswith(PLACES)
    }

    assert {name for name in named if not list(ROOT.glob(name))} == set()


def test_the_list_of_pages_has_them_all() -> None:
    listed = {link for link in doc_pages.links(ROOT / "docs" / "README.md") if "/" not in link}
    there = {path.name for path in (ROOT / "docs").glob("*.md")} - {"README.md"}

    assert listed >= there


# ---- commands


@every_page
def test_commands_and_their_options_exist(path: Path) -> None:
    wrong = {" ".join(words): doc_pages.unknown(words) for words in doc_pages.commands(path)}

    assert {line: what for line, what in wrong.items() if what} == {}


@pytest.mark.parametrize(("name", "least"), COUNTED.items())
def test_commands_are_found(name: str, least: int) -> None:
    assert len(doc_pages.commands(ROOT / name)) >= least


@pytest.mark.parametrize(
    ("line", "what"),
    [
        ("analyze x.sqlite --min-overlap 90 -o a.json", ""),
        ("analyze x.sqlite --min-overlapp 90", "--min-overlapp"),
        ("analise x.sqlite", "analise"),
        ("baseline keep main x.json", "keep"),
        ("run -o x.json python train.py --max-steps 30", ""),
        ("run --bogus python train.py", "--bogus"),
        ("--version", ""),
    ],
)
def test_a_wrong_command_is_noticed(line: str, what: str) -> None:
    assert doc_pages.unknown(line.split()) == what


def test_the_readmes_own_commands_are_targets() -> None:
    called = set(re.findall(r"^make ([a-z]+)", text(README), flags=re.MULTILINE))

    assert called == {"demo", "test"}
    assert all(f"\n{target}: " in text(ROOT / "Makefile") for target in called)


# ---- messages


def test_quoted_messages_are_in_the_code() -> None:
    quoted = doc_pages.quoted_messages(TROUBLESHOOTING)
    code = doc_pages.texts_of_the_package()

    assert len(quoted) > 100
    assert [one for one in quoted if not any(one in said for said in code)] == []


def test_a_message_is_more_than_what_differs() -> None:
    quoted = doc_pages.quoted_messages(TROUBLESHOOTING)

    assert [one for one in quoted if len(one.replace(ANYTHING, "").strip(" :;'(,)")) < 6] == []


def test_every_message_says_what_it_means_or_what_to_do() -> None:
    rows = re.findall(r"^\| `[^|]+ \|([^|]*)\|([^|]*)\|$", text(TROUBLESHOOTING), flags=re.M)

    assert len(rows) > 100
    assert all(meaning.strip() or advice.strip() for meaning, advice in rows)


# ---- samples


@pytest.fixture
def folder_of_samples(
    tmp_path: Path, real_export: RealExport, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Reports under the names that samples give them; what a file is shows in its content."""
    shutil.copy(real_export("pt_pageable"), tmp_path / "train.nsys-rep")
    shutil.copy(real_export("cu_double_buffer"), tmp_path / "step.nsys-rep")
    (tmp_path / "walk.toy").write_text('{"toy": [[1, 0, 10, 20, 7], [1, 1, 30, 40, 7]]}')
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize("path", [*filter(doc_pages.samples, PAGES)], ids=lambda path: path.name)
@pytest.mark.usefixtures("folder_of_samples")
def test_samples_run(path: Path, overlapcheck_analyze: Callable[..., Judged]) -> None:
    for sample in doc_pages.samples(path):
        names: dict[str, Any] = {}
        exec(compile(sample, str(path), "exec"), names)
        for test in [made for name, made in names.items() if name.startswith("test_")]:
            test(overlapcheck_analyze)


# ---- tables


@pytest.mark.parametrize("name", sorted(renderers()))
def test_every_format_is_listed_with_its_suffix(name: str) -> None:
    suffix = re.escape(renderers()[name].suffix)

    assert re.search(rf"`{name}` \([^)]*{suffix}", text(ROOT / "docs" / "formats.md"))


@pytest.mark.parametrize("code", list(ExitCode))
def test_every_exit_code_is_listed(code: ExitCode) -> None:
    assert f"| {int(code)} |" in text(ROOT / "docs" / "ci.md")


def test_the_table_of_causes_is_the_manuals() -> None:
    rows = [f"| `{cause}` | {manual(cause).splitlines()[2].rstrip('.')} |\n"
            for cause in sorted(causes())]  # fmt: skip
    fresh = TABLE.sub(lambda _: "".join(rows), text(CAUSES))
    if os.environ.get("UPDATE_GOLDEN"):
        CAUSES.write_text(fresh, encoding="utf-8")

    assert len(TABLE.findall(fresh)) == 1
    assert text(CAUSES) == fresh, "make golden writes it anew"


def test_places_of_nsys_are_those_searched() -> None:
    page = text(ROOT / "docs" / "installing-nsys.md")
    (listed,) = re.findall(r"<!-- places -->\n```text\n(.*?)```", page, flags=re.DOTALL)

    assert tuple(listed.splitlines()) == INSTALL_PATTERNS


# ---- the picture


def test_the_picture_shows_what_is_printed() -> None:
    if os.environ.get("UPDATE_GOLDEN"):
        screenshot.main()
    printed = [line.split() for line in screenshot.shown().plain.splitlines()]

    assert drawn_lines(screenshot.PICTURE) == ["".join(words) for words in printed if words]


def test_the_picture_is_how_the_demo_begins() -> None:
    program = [sys.executable, "-m", "overlapcheck", *screenshot.COMMAND.split()[1:]]
    demo = subprocess.run(program, cwd=ROOT, capture_output=True, text=True, check=False)
    shown = [line.rstrip() for line in screenshot.shown().plain.splitlines()]

    assert f"\nDEMO := {screenshot.COMMAND.split()[-1]}\n" in text(ROOT / "Makefile")
    assert demo.stdout.splitlines()[: len(shown)] == shown


def test_the_picture_names_the_command_and_loads_nothing() -> None:
    drawn = text(screenshot.PICTURE)

    assert screenshot.COMMAND in drawn.replace("\u00a0", " ").replace("&#160;", " ")
    assert re.findall(r"url\((?!#)|href|@import|<script", drawn) == []


def drawn_lines(picture: Path) -> list[str]:
    """Texts of the picture by line from the top, without blanks."""
    lines: dict[float, str] = {}
    for element in ET.parse(picture).iter():
        if element.tag.endswith("}text") and "title" not in element.get("class", ""):
            height = float(element.get("y", "0"))
            lines[height] = lines.get(height, "") + "".join((element.text or "").split())
    return [lines[height] for height in sorted(lines) if lines[height]]
