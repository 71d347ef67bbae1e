"""The shape of DESIGN section 2, enforced on the syntax tree of every module."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest
from _pytest.mark import ParameterSet

PACKAGE = Path(__file__).parents[1] / "overlapcheck"
STAGES = {
    "policy",
    "compare",
    "capture",
    "sources",
    "passes",
    "checks",
    "causes",
    "reporting",
    "renderers",
    "ranks",
    "whatif",
    "sharing",
    "streams",
}
MODULES = sorted(PACKAGE.rglob("*.py"))
NOUNS = {path.stem for path in PACKAGE.glob("*.py")} - {
    "__init__",
    "__main__",
    "pipeline",
    "predicting",
    "proving",
    "pytest_plugin",
    "recording",
    "showing",
}
MAX_LINES = 300
"""Of code: blank lines, comments and docstrings explain and do not count."""
MAX_COMMAND_LINES = 60
NOT_COMMANDS = {
    "allowed_folders",
    "assistant",
    "baseline_files",
    "comparing",
    "comparison_output",
    "exits",
    "heap",
    "__init__",
    "files",
    "messages",
    "option_values",
    "options",
    "output",
    "progress",
    "rank_options",
    "rank_tables",
    "recording_options",
    "standard_streams",
    "stopping",
    "stream_output",
    "tables",
    "terminal_page",
}


def modules(*stages: str) -> list[ParameterSet]:
    """Parameters: every module, or those of some stages ("" is the top level)."""
    chosen = [path for path in MODULES if not stages or stage_of(path) in stages]
    return [pytest.param(path, id=str(path.relative_to(PACKAGE))) for path in chosen]


def stage_of(path: Path) -> str:
    """First folder below the package; "" for top-level modules."""
    parts = path.relative_to(PACKAGE).parts
    return parts[0] if len(parts) > 1 else ""


@cache
def tree_of(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


@cache
def imports_of(path: Path) -> frozenset[str]:
    """Every module imported anywhere in a file, in functions and for type checking too."""
    found: set[str] = set()
    for node in ast.walk(tree_of(path)):
        if isinstance(node, ast.Import):
            found.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: relative import"
            found.add(node.module or "")
            found.update(f"{node.module}.{alias.name}" for alias in node.names)
    return frozenset(found)


def own_imports(path: Path) -> set[str]:
    """First component below `overlapcheck` of each import of our own."""
    prefix = "overlapcheck."
    return {
        name.removeprefix(prefix).split(".")[0]
        for name in imports_of(path)
        if name.startswith(prefix)
        and name.removeprefix(prefix).split(".")[0] in STAGES | NOUNS | {"cli", "pipeline"}
    }


def trace_imports(path: Path) -> set[str]:
    """Names taken from the Trace's module, and from that of its tables."""
    return {n for n in imports_of(path) if re.match(r"overlapcheck\.trace(_tables)?\.", n)}


def documented(tree: ast.Module) -> Iterator[ast.Module | ast.ClassDef | ast.FunctionDef]:
    """A module and what of it is public: functions, classes and their methods."""
    yield tree
    for node in tree.body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef) and not node.name.startswith("_"):
            yield node
        if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
            yield from (
                member
                for member in node.body
                if isinstance(member, ast.FunctionDef) and not member.name.startswith("_")
            )


def code_lines(path: Path) -> int:
    """Lines that are neither blank nor comment nor docstring."""
    text = path.read_text(encoding="utf-8")
    prose: set[int] = set()
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            prose.update(range(node.lineno, (node.end_lineno or node.lineno) + 1))
    lines = enumerate(text.splitlines(), start=1)
    return sum(1 for n, line in lines if n not in prose and re.match(r"\s*[^\s#]", line))


def test_the_package_has_the_stages_that_the_design_names() -> None:
    folders = {path.name for path in PACKAGE.iterdir() if (path / "__init__.py").exists()}

    assert folders == STAGES | {"cli"}


@pytest.mark.parametrize("path", [p for p in MODULES if stage_of(p) == "" and p.stem in NOUNS])
def test_nouns_import_only_nouns(path: Path) -> None:
    assert own_imports(path) <= NOUNS


@pytest.mark.parametrize("path", modules(*STAGES))
def test_a_stage_imports_nouns_and_itself(path: Path) -> None:
    assert own_imports(path) <= NOUNS | {stage_of(path)}


@pytest.mark.parametrize("path", modules("causes"))
def test_causes_never_see_the_trace_the_policy_or_a_file(path: Path) -> None:
    assert not own_imports(path) & {"verdict", "selection", "report", "pipeline"}
    assert not imports_of(path) & {"pathlib", "os", "io", "sqlite3"}


@pytest.mark.parametrize("path", modules("checks"))
def test_checks_never_see_the_trace_behind_the_measurements(path: Path) -> None:
    assert trace_imports(path) == set()


@pytest.mark.parametrize("path", modules("renderers"))
def test_renderers_read_the_report_and_not_what_is_behind_it(path: Path) -> None:
    assert not own_imports(path) & {"intervals", "columns", "grouping", "searches", "selection"}
    assert trace_imports(path) == set()
    assert not any(name.split(".")[0] in {"numpy", "pandas"} for name in imports_of(path))


ROOMS = {
    "window": set[str](),
    "order": set[str](),
    "ledger": {"window", "order"},
    "collectives": {"window"},
    "replay": set[str](),
    "pace": {"window", "ledger"},
}
"""Rooms of the passes, and the rooms that each may look into."""


@pytest.mark.parametrize("room", ROOMS)
def test_rooms_of_the_passes_look_one_way(room: str) -> None:
    found = {
        match[1]
        for path in (PACKAGE / "passes" / room).glob("*.py")
        for name in imports_of(path)
        if (match := re.match(r"overlapcheck\.passes\.(\w+)\.", name)) and match[1] in ROOMS
    }

    assert found - {room} <= ROOMS[room]


def test_the_passes_have_the_rooms_that_their_page_names() -> None:
    folders = {path.name for path in (PACKAGE / "passes").iterdir() if path.is_dir()}

    assert folders - {"__pycache__"} == set(ROOMS)


def test_nobody_looks_into_a_room_for_the_ground_floor() -> None:
    ground = {path.stem for path in (PACKAGE / "passes").glob("*.py")} - {"measure", "completeness"}
    for name in ground:
        rooms = {
            match[1]
            for imported in imports_of(PACKAGE / "passes" / f"{name}.py")
            if (match := re.match(r"overlapcheck\.passes\.(\w+)\.", imported))
        }
        assert not rooms & set(ROOMS), name


def test_only_the_pipeline_and_the_command_line_know_several_stages() -> None:
    several = {
        str(path.relative_to(PACKAGE)) for path in MODULES if len(own_imports(path) & STAGES) > 1
    }

    assert {name for name in several if not name.startswith("cli/")} == {
        "pipeline.py",
        "predicting.py",  # what goes on where the pipeline has measured
        "proving.py",  # where it has judged
        "recording.py",  # and what comes before it
        # Like the command line: where users come in.
        "pytest_plugin.py",
        "showing.py",
    }


@pytest.mark.parametrize("path", modules())
def test_nobody_imports_what_another_package_keeps_to_itself(path: Path) -> None:
    own = ".".join(("overlapcheck", *path.relative_to(PACKAGE).parent.parts, ""))
    private = {
        match[0]
        for name in imports_of(path)
        if (match := re.match(r"(overlapcheck\.(?:[a-z]\w*\.)*)_[a-z]\w*", name))
        # A package and its rooms see what either keeps; a room, nothing of the one next door.
        and not (own.startswith(match[1]) or match[1].startswith(own))
    }

    assert private == set()


def outside(*folders: str) -> list[ParameterSet]:
    """Parameters: every module that lies below none of these folders of the package."""
    chosen = [p for p in MODULES if not any(p.is_relative_to(PACKAGE / f) for f in folders)]
    return [pytest.param(path, id=str(path.relative_to(PACKAGE))) for path in chosen]


NOUNS_OF_ANY_SOURCE = (
    *("trace", "trace_tables", "kinds", "columns", "grouping", "searches", "capture_info"),
    *("recorder", "order", "ledger"),
    *("measurements", "capture_problem", "nccl_calls", "rank_hints", "finding", "verdict"),
)


@pytest.mark.parametrize(
    "path",
    [
        *modules("passes", "checks", "causes"),
        *(pytest.param(PACKAGE / f"{noun}.py", id=noun) for noun in NOUNS_OF_ANY_SOURCE),
    ],
)
def test_what_is_made_of_a_recording_speaks_of_no_profiler(path: Path) -> None:
    words = r"nsys|--(?:trace|cuda|gpuctxsw|sample|python-sampling)\b|globalPid|\bCUPTI_"

    assert re.findall(words, path.read_text(encoding="utf-8")) == []


def test_nothing_outside_reaches_into_a_source() -> None:
    reaching = {
        str(path.relative_to(PACKAGE))
        for path in MODULES
        if not path.is_relative_to(PACKAGE / "sources" / "nsys")
        and any(name.startswith("overlapcheck.sources.nsys") for name in imports_of(path))
    }

    assert reaching == set()


@pytest.mark.parametrize("path", outside("sources/nsys"))
def test_sql_and_table_names_stay_in_the_source_of_nsys(path: Path) -> None:
    tree = tree_of(path)
    docstrings = {
        id(node.value)
        for node in ast.walk(tree)
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
    }
    texts = [
        node.value
        for node in ast.walk(tree)
        if isinstance(node, ast.Constant)
        and isinstance(node.value, str)
        and id(node) not in docstrings
    ]
    pattern = re.compile(
        r"CUPTI_ACTIVITY|TARGET_INFO_|NVTX_EVENTS|OSRT_API|META_DATA_|StringIds|\bSELECT\b|PRAGMA"
    )

    assert [text for text in texts if pattern.search(text)] == []
    readers = {"sqlite3", "adbc_driver_sqlite", "adbc_driver_manager", "pyarrow"}
    if path == PACKAGE / "cli" / "tables.py":
        # Writes tables of many ranks one after the other, which pandas alone cannot.
        readers.remove("pyarrow")
    assert not {name.split(".")[0] for name in imports_of(path)} & readers


@pytest.mark.parametrize("path", modules("", "cli", *(STAGES - {"capture"})))
def test_programs_are_started_only_by_capture(path: Path) -> None:
    called = {
        ast.unparse(node.func) for node in ast.walk(tree_of(path)) if isinstance(node, ast.Call)
    }

    assert "subprocess" not in imports_of(path)
    assert not {name for name in called if re.match(r"os\.(system|popen|exec|spawn|fork)", name)}


@pytest.mark.parametrize("path", modules("", *STAGES))
def test_printing_and_exiting_stay_in_the_command_line(path: Path) -> None:
    forbidden = re.compile(r"print|exit|quit|input|click\.\w+|sys\.(exit|std\w+\.write)")
    called = {
        ast.unparse(node.func) for node in ast.walk(tree_of(path)) if isinstance(node, ast.Call)
    }

    assert {name for name in called if forbidden.fullmatch(name)} == set()
    assert "click" not in imports_of(path)


@pytest.mark.parametrize("path", modules())
def test_a_module_stays_short_enough_to_read(path: Path) -> None:
    assert code_lines(path) <= MAX_LINES


@pytest.mark.parametrize(
    "path", [p for p in MODULES if stage_of(p) == "cli" and p.stem not in NOT_COMMANDS]
)
def test_a_command_is_one_short_file(path: Path) -> None:
    assert len(path.read_text(encoding="utf-8").splitlines()) <= MAX_COMMAND_LINES


@pytest.mark.parametrize("path", modules())
def test_everything_public_says_what_it_is(path: Path) -> None:
    silent = [
        getattr(node, "name", path.name)
        for node in documented(tree_of(path))
        if not ast.get_docstring(node)
    ]

    assert silent == []


def test_there_is_no_drawer_for_odds_and_ends() -> None:
    assert not {path.stem for path in MODULES} & {"utils", "util", "helpers", "common", "misc"}
