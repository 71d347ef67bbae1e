"""No format of a report, a comparison or a job of ranks says a name as the trace has it."""

from __future__ import annotations

import json
import re
from dataclasses import fields, is_dataclass, replace
from enum import Enum
from pathlib import Path
from typing import Any

import pytest

from overlapcheck import pipeline
from overlapcheck.fleet import FleetReport
from overlapcheck.reading import Reading
from overlapcheck.renderers import renderers
from overlapcheck.renderers.comparison import comparison_renderers
from overlapcheck.renderers.fleet import fleet_renderers
from overlapcheck.report import Report
from overlapcheck.saved import restored
from tests.export import edit
from tests.pictures import picture
from tests.renderers.comparison.comparisons import hostile_comparison
from tests.renderers.reports import at_lines
from tests.renderers.test_terminal import hostile_report
from tests.test_clean import FORBIDDEN, HOSTILE

OWN = str.maketrans("", "", "\n\u2060\ufe0f")
"""Line breaks, and in Markdown what keeps a mention from being one."""
COMMAND = re.compile(r"##\w*\[")


def require_clean(text: str, form: str) -> None:
    if form == "html":
        body = text[text.index("<body>") : text.rindex("<script>")]
        text = re.sub(r"<style>.*?</style>", "", body, flags=re.DOTALL)
    found = set(text.translate(OWN)) & FORBIDDEN
    assert not found
    assert not COMMAND.search(text)
    if form != "github":
        assert not any(line.lstrip().startswith("::") for line in text.splitlines())
    if "json" in form or form in ("sarif", "perfetto"):
        # A message of SARIF has lines of its own.
        assert not set("".join(strings(json.loads(text)))) & (FORBIDDEN - {"\n"})


def strings(node: Any) -> list[str]:
    if isinstance(node, dict):
        return [*node, *(text for value in node.values() for text in strings(value))]
    if isinstance(node, list):
        return [text for value in node for text in strings(value)]
    return [node] if isinstance(node, str) else []


def renamed(value: Any, name: str) -> Any:
    """A struct with its texts replaced."""
    if isinstance(value, str) and not isinstance(value, Enum):
        return name
    if type(value) is tuple:
        return tuple(renamed(item, name) for item in value)
    if isinstance(value, dict):
        return {key: renamed(item, name) for key, item in value.items()}
    if is_dataclass(value) and not isinstance(value, type):
        new = {f.name: renamed(getattr(value, f.name), name) for f in fields(value)}
        # Not of a trace.
        for name_of_ours in ("tool_version", "kinds"):
            new.pop(name_of_ours, None)
        return replace(value, **new)
    return value


@pytest.mark.parametrize("name", HOSTILE)
@pytest.mark.parametrize("form", sorted(set(renderers()) - {"perfetto"}))
def test_a_report(form: str, name: str) -> None:
    text = f"::error::{HOSTILE[name]}"

    require_clean(renderers()[form].render(hostile_report(text)), form)


@pytest.mark.parametrize("name", HOSTILE)
@pytest.mark.parametrize("form", sorted(comparison_renderers()))
def test_a_comparison(form: str, name: str) -> None:
    text = f"::error::{HOSTILE[name]}"

    require_clean(comparison_renderers()[form].render(hostile_comparison(text)), form)


@pytest.fixture(scope="module")
def export(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return picture(
        """
        s7  kernel k          |.aaaa....cccc....eeee....gggg|
        s13 h2d pinned 64MiB  |.....bbbb....dddd....ffff....|
        t1  cudaLaunchKernel  |a...c.......e.......g........|
        t1  cudaMemcpyAsync   |..b.........d.......f........|
        t1  nvtx phase        |00001111111122222222333333333|
        """,
        column_us=100,
    ).export(tmp_path_factory.mktemp("export") / "trace.sqlite")


@pytest.fixture(scope="module")
def answer(export: Path, tmp_path_factory: pytest.TempPathFactory) -> FleetReport:
    folder = tmp_path_factory.mktemp("ranks")
    (folder / "rank1.sqlite").write_bytes(export.read_bytes())
    (folder / "rank2.sqlite").write_text("lost")
    return pipeline.analyze_ranks([folder, export], reading=Reading(jobs=1))


@pytest.mark.parametrize("name", HOSTILE)
@pytest.mark.parametrize("form", sorted(fleet_renderers()))
def test_many_ranks(form: str, name: str, answer: FleetReport) -> None:
    hostile = renamed(answer, f"::error::{HOSTILE[name]}")

    require_clean(fleet_renderers()[form].render(hostile), form)


def named(export: Path, folder: Path, name: str) -> Path:
    """A copy of an export whose kernels, calls, steps, threads, program and GPU have a name."""
    path = folder / "named.sqlite"
    path.write_bytes(export.read_bytes())
    quoted = name.replace("'", "''")
    return edit(
        path,
        f"UPDATE StringIds SET value = value || '{quoted}' WHERE value LIKE 'k%'",
        f"UPDATE NVTX_EVENTS SET text = '{quoted}' || text",
        f"UPDATE TARGET_INFO_GPU SET name = '{quoted}'",
        f"UPDATE PROCESSES SET name = '/usr/{quoted.replace('/', '')}'",
        f"UPDATE META_DATA_CAPTURE SET value = '{quoted}' WHERE name LIKE '%ARGUMENT%'",
    )


@pytest.mark.parametrize("form", sorted(renderers()))
def test_a_trace(form: str, export: Path, tmp_path: Path) -> None:
    name = "".join(HOSTILE.values()).encode("utf-8", "replace").decode()
    report = pipeline.analyze(named(export, tmp_path, name))

    require_clean(renderers()[form].render(report), form)
    if form != "perfetto":
        again = restored(renderers()["json"].render(report))
        require_clean(renderers()[form].render(again), form)


@pytest.fixture(scope="module")
def long_names(export: Path, tmp_path_factory: pytest.TempPathFactory) -> Report:
    """Of a trace whose names have ten megabytes each, which take seconds to read."""
    return pipeline.analyze(named(export, tmp_path_factory.mktemp("long"), "k" * 10_000_000))


@pytest.mark.parametrize("form", sorted(renderers()))
def test_a_name_of_ten_megabytes_is_cut(form: str, long_names: Report) -> None:
    text = renderers()[form].render(long_names)

    assert len(text) < 400_000
    if form == "json":
        assert "(10000001 characters)" in text


def test_a_saved_result_of_hostile_names_is_cleaned_when_it_is_read() -> None:
    text = renderers()["json"].render(hostile_report("k"))
    document = json.loads(text)
    document["capture"]["program"] = HOSTILE["clipboard"] * 100_000
    document["capture"]["environment"] = {HOSTILE["line"]: HOSTILE["bidi"]}
    capture = restored(json.dumps(document)).capture

    assert len(capture.program) <= 1000
    for said in (capture.program, *capture.environment, *capture.environment.values()):
        assert not set(said) & FORBIDDEN


def one_cause(file: str) -> Report:
    report = at_lines((file, 7))
    return replace(report, findings=report.findings[:1])


@pytest.mark.parametrize(
    "file",
    [
        "/etc/passwd",
        "../../etc/passwd",
        "a/../../b.py",
        "//host/share/x.py",
        "/repo/../etc/passwd",
        "..\\x.py",
        "..",
        ".",
        "",
    ],
)
@pytest.mark.parametrize("root", ["", "/repo"])
def test_no_place_outside_the_root_is_an_address(file: str, root: str) -> None:
    report = one_cause(file)
    for form in ("sarif", "github"):
        renderer: Any = type(renderers()[form])
        text = renderer(root=root).render(report)

        assert '"uri"' not in text and "file=" not in text


@pytest.mark.parametrize(
    ("file", "uri"),
    [
        ("/repo/a b.py", "a%20b.py"),
        ("a/./b/../c.py", "a/c.py"),
        ("file:///etc/passwd", "file%3A/etc/passwd"),
        ("javascript:x", "javascript%3Ax"),
        ("\u202ea%2e%2e/x#?.py", "a%252e%252e/x%23%3F.py"),
    ],
)
def test_a_place_below_the_root_is_a_relative_uri(file: str, uri: str) -> None:
    renderer: Any = type(renderers()["sarif"])
    text = renderer(root="/repo").render(one_cause(file))

    assert set(re.findall(r'"uri": "([^"]*)"', text)) == {uri}
