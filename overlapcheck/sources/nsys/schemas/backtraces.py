"""Where in the program CUDA calls were made.

Python: with --python-backtrace=cuda every CUDA call is preceded, on its thread, by an NVTX mark of
the domain "Python Backtrace on CUDA", whose JSON payload (exported with --include-json) names
function and file by string id. Other languages: CUDA_CALLCHAINS, symbols without lines.
"""

from __future__ import annotations

import json
from html import unescape
from typing import TYPE_CHECKING, Any

import numpy as np

from overlapcheck.columns import ABSENT, Index, Ints
from overlapcheck.recorder import Content
from overlapcheck.sources.nsys.schemas.select import (
    by_start,
    column,
    decoded,
    factorized,
    integers,
    process,
    select,
    text,
    texts,
    thread,
)
from overlapcheck.trace import Frame, Missing
from overlapcheck.trace_tables import Backtraces

if TYPE_CHECKING:
    from overlapcheck.sources.nsys.database import Database

NVTX = "NVTX_EVENTS"
CHAINS = "CUDA_CALLCHAINS"
_MARK = 34
_LARGEST = np.iinfo(np.int64).max
_PAYLOAD = "Python Backtrace on CUDA"
# Frames of the driver, the runtime, frameworks and the language itself are not the user's.
_FOREIGN_MODULES = (
    "libcuda", "libcudart", "libcupti", "libtorch", "libc10", "libcublas", "libcudnn", "libnccl",
    "libc.so", "libpthread", "libstdc++", "ld-linux", "libToolsInjection", "libnvToolsExt",
    "libpython", "/python3", "[vdso]", "libnvrtc", "libcufft", "libcusparse", "libcusolver",
)  # fmt: skip


def read_python_backtraces(
    db: Database,
) -> tuple[Backtraces | Missing, dict[int, tuple[Frame, ...]]]:
    """Marks with a stack each, and the frames of every distinct stack, innermost first."""
    missing = Missing(Content.BACKTRACES, "the report holds no Python backtraces")
    if not db.has(NVTX, "start", "eventType", "jsonText"):
        return missing, {}
    expressions = {
        "start_ns": "start",
        "process": process(db, NVTX, thread=True),
        "tid": thread(db, NVTX),
    }
    chosen = ", ".join(f"{sql} AS {name}" for name, sql in expressions.items())
    rows = db.query(
        f'SELECT {chosen}, {text("jsonText")} AS payload FROM "{db.resolve(NVTX)}"'
        f" WHERE eventType = {_MARK} AND jsonText LIKE '%{_PAYLOAD}%'"
    )
    if len(rows) == 0:
        return missing, {}
    codes, distinct = factorized(rows, "payload")
    columns = {name: integers(rows, name) for name in expressions}
    columns |= {"end_ns": columns["start_ns"], "stack_id": codes}
    columns = by_start(columns)
    del columns["end_ns"]
    payloads = [_frames(decoded(payload)) for payload in distinct]
    names = _names(db, payloads)
    stacks = {
        number: tuple(
            Frame(names.get(file, ""), line, names.get(function, ""))
            for function, file, line in raw
        )
        for number, raw in enumerate(payloads)
    }
    return Backtraces(**columns), stacks


def _frames(payload: str) -> list[tuple[int, int, int]]:
    """(function id, file id, line) of each frame, innermost first."""
    try:
        frames: list[dict[str, Any]] = json.loads(payload)[_PAYLOAD]["Frames"]
        found = [(int(f["Function"]), int(f["File"]), int(f["Line"])) for f in frames]
    except (ValueError, KeyError, TypeError, OverflowError, RecursionError):
        # The program may write into it what it likes.
        return []
    return found if all(0 <= n <= _LARGEST for frame in found for n in frame) else []


def _names(db: Database, stacks: list[list[tuple[int, int, int]]]) -> dict[int, str]:
    wanted = sorted(
        {i for stack in stacks for function, file, _ in stack for i in (function, file)}
    )
    if not wanted:
        return {}
    rows = db.query(
        f"SELECT id, {text('value')} AS value FROM StringIds"
        f" WHERE id IN ({', '.join(map(str, wanted))})"
    )
    values = (unescape(value) for value in texts(rows, "value"))
    return dict(zip(integers(rows, "id").tolist(), values, strict=True))


def read_call_sites(db: Database) -> dict[int, Frame]:
    """The user's innermost frame of each call chain, for programs without Python backtraces."""
    if not db.has(CHAINS, "id", "symbol", "module", "stackDepth"):
        return {}
    rows = select(
        db,
        CHAINS,
        {
            "id": "id",
            "symbol": column(db, CHAINS, "symbol"),
            "module": column(db, CHAINS, "module"),
            "depth": "stackDepth",
            "unresolved": column(db, CHAINS, "unresolved", 0),
        },
    )
    modules = _texts_of(db, rows["module"])
    own = {i for i, name in modules.items() if not any(part in name for part in _FOREIGN_MODULES)}
    mine = np.isin(rows["module"], np.array(sorted(own), dtype=np.int64)) & (
        rows["unresolved"] == 0
    )
    order: Index = np.flatnonzero(mine)[np.lexsort((rows["depth"][mine], rows["id"][mine]))]
    _, first = np.unique(rows["id"][order], return_index=True)
    chosen = order[first]
    symbols = _texts_of(db, rows["symbol"][chosen])
    return {
        int(rows["id"][i]): Frame(
            modules[int(rows["module"][i])], 0, symbols.get(int(rows["symbol"][i]), "")
        )
        for i in chosen
    }


def _texts_of(db: Database, ids: Ints) -> dict[int, str]:
    wanted = [i for i in np.unique(ids).tolist() if i != ABSENT]
    found: dict[int, str] = {}
    for begin in range(0, len(wanted), 500):
        part = ", ".join(map(str, wanted[begin : begin + 500]))
        rows = db.query(f"SELECT id, {text('value')} AS value FROM StringIds WHERE id IN ({part})")
        found |= dict(zip(integers(rows, "id").tolist(), texts(rows, "value"), strict=True))
    return found
