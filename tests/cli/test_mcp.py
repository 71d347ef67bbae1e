"""`overlapcheck mcp` as an assistant meets it: the client of the protocol's package, over stdio."""

from __future__ import annotations

import asyncio
import json
import shutil
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator
from mcp import Client, StdioServerParameters, stdio_client
from mcp.types import TextContent

import overlapcheck
from overlapcheck.brief import MOST_BYTES
from overlapcheck.cli.allowed_folders import AllowedFolders
from overlapcheck.cli.assistant import MOST_CHARACTERS, Tools, server
from overlapcheck.errors import InputUnreadable, PolicyInvalid
from overlapcheck.renderers import renderers
from overlapcheck.renderers.fleet import fleet_renderers
from tests.conftest import ROOT
from tests.export import RealExport
from tests.json_schemas import published
from tests.renderers.fleet.jobs import JOBS

Call = tuple[str, dict[str, Any]]


def session(root: Path, calls: Sequence[Call]) -> tuple[list[Any], list[tuple[bool, str]]]:
    """A whole session: the tools, and of each call whether it failed and what it said."""

    async def run() -> tuple[list[Any], list[tuple[bool, str]]]:
        started = StdioServerParameters(
            command=sys.executable,
            args=["-m", "overlapcheck", "mcp"],
            env={"PYTHONPATH": str(ROOT), "XDG_CACHE_HOME": str(root / "cache")},
            cwd=root,
        )
        async with Client(stdio_client(started)) as client:
            tools = (await client.list_tools()).tools
            answers = []
            for name, arguments in calls:
                result = await client.call_tool(name, arguments)
                (content,) = result.content
                assert isinstance(content, TextContent)
                answers.append((bool(result.is_error), content.text))
            return list(tools), answers

    return asyncio.run(run())


def test_a_session(real_export: RealExport, tmp_path: Path) -> None:
    """One start of the server for all: it takes longer than any call."""
    root = tmp_path / "runs"
    (root / "ranks").mkdir(parents=True)
    for name in ("pt_pageable", "cu_double_buffer"):
        shutil.copyfile(real_export(name), root / f"{name}.sqlite")
    for rank in range(2):
        shutil.copyfile(real_export("pt_pageable"), root / "ranks" / f"rank_{rank}.sqlite")
    saved = overlapcheck.analyze(root / "pt_pageable.sqlite")
    (root / "result.json").write_text(renderers()["json"].render(saved))
    (root / "fleet.json").write_text(fleet_renderers()["json"].render(JOBS["fail"]))
    (tmp_path / "outside.sqlite").write_bytes((root / "pt_pageable.sqlite").read_bytes())
    tools, answers = session(
        root,
        [
            ("analyze", {"report": "pt_pageable.sqlite"}),
            ("analyze", {"report": "result.json"}),
            ("analyze", {"report": "cu_double_buffer.sqlite", "min_overlap": 99, "skip": 2}),
            ("analyze", {"report": "ranks"}),
            ("analyze", {"report": "fleet.json"}),
            ("compare", {"base": "result.json", "new": "pt_pageable.sqlite"}),
            ("streams", {"report": "pt_pageable.sqlite"}),
            ("explain", {}),
            ("explain", {"cause": "pageable-copy"}),
            ("analyze", {"report": "../outside.sqlite"}),
            ("analyze", {"report": "pt_pageable.sqlite", "min_overlap": 400}),
            ("explain", {"cause": "no-such-cause"}),
            ("compare", {"base": "ranks", "new": "ranks"}),
        ],
    )
    documents = [json.loads(text) for _, text in answers[:7]]
    validator = Draft202012Validator(published("brief"))

    assert [tool.name for tool in tools] == ["analyze", "compare", "explain", "streams"]
    assert all(tool.annotations.read_only_hint and tool.description for tool in tools)
    assert [failed for failed, _ in answers] == [False] * 9 + [True] * 3 + [False]
    for document in documents[:6]:
        validator.validate(document)
    assert documents[0]["causes"][0]["cause"] == "pageable-copy"
    assert documents[1] == documents[0]
    assert documents[2]["judged"].startswith("22 steps") or "chunk" in documents[2]["judged"]
    assert [document["kind"] for document in documents[3:]] == [
        *("ranks", "ranks", "comparison", "streams")
    ]
    assert documents[5]["verdict"] == "NO CHANGE"
    (process,) = documents[6]["processes"]
    assert process["streams"][0].startswith("compute: stream 7, null")
    assert all(len(text.encode()) < MOST_BYTES for _, text in answers[:7])
    assert "pageable-copy" in answers[7][1]
    assert answers[8][1].startswith("pageable-copy\n")
    assert all(len(text.splitlines()) == 1 for _, text in answers[9:])
    assert "not found below the folders that may be read" in answers[9][1]
    assert "min_overlap = 400 is no percentage" in answers[10][1]
    assert json.loads(answers[12][1])["summary"].startswith("step of the job 22.")
    assert str(tmp_path) not in "".join(text for _, text in answers)


@pytest.mark.parametrize("name", ["../out.txt", "{outside}/out.txt", "link", "loop", "a\0b", "no",
                                  "in/../../out.txt", "../in-side/x"])  # fmt: skip
def test_nothing_outside_is_read_nor_told_to_exist(name: str, tmp_path: Path) -> None:
    inside = tmp_path / "in"
    inside.mkdir()
    (tmp_path / "out.txt").write_text("x")
    (tmp_path / "in-side").mkdir()
    (tmp_path / "in-side" / "x").write_text("x")
    (inside / "link").symlink_to(tmp_path / "out.txt")
    (inside / "loop").symlink_to(inside / "loop")

    with pytest.raises(InputUnreadable, match="not found below the folders that may be read"):
        AllowedFolders([inside]).path(name.format(outside=tmp_path))


def test_what_lies_inside_is_read_by_any_of_its_names(tmp_path: Path) -> None:
    folder, other = tmp_path / "a", tmp_path / "b"
    for one in (folder, other):
        one.mkdir()
        (one / "x").write_text("x")
    folders = AllowedFolders([folder, other])

    assert folders.path("x") == folder / "x"
    assert folders.path("./../a/x") == folder / "x"
    assert folders.path(str(other / "x")) == other / "x"


def test_a_folder_of_ranks_may_not_lead_outside(real_export: RealExport, tmp_path: Path) -> None:
    ranks = tmp_path / "in" / "ranks"
    ranks.mkdir(parents=True)
    shutil.copyfile(real_export("cu_double_buffer"), tmp_path / "rank_1.sqlite")
    (ranks / "rank_1.sqlite").symlink_to(tmp_path / "rank_1.sqlite")

    with pytest.raises(InputUnreadable, match=r"rank_1\.sqlite: not found below"):
        Tools(AllowedFolders([tmp_path / "in"])).analyze("ranks")


def test_without_the_extra_it_says_how_to_get_it(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setitem(sys.modules, "mcp.server.mcpserver", None)

    with pytest.raises(PolicyInvalid, match=r"is not installed; pip install 'overlapcheck\[mcp\]'"):
        server(AllowedFolders([tmp_path]))


def test_no_page_of_the_manual_is_cut(tmp_path: Path) -> None:
    from overlapcheck.causes import causes

    pages = [Tools(AllowedFolders([tmp_path])).explain(cause) for cause in ("", *causes())]

    assert max(map(len, pages)) < MOST_CHARACTERS
