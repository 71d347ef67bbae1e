"""Facts about a recording that are shared: what the verdict needs of them, word for word or not.

Of the environment, of metadata and of messages only what is listed here, and only in a form that
names nobody.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from typing import TYPE_CHECKING

from overlapcheck.sources.nsys.processes import process_key
from overlapcheck.sources.nsys.schemas import metadata, target
from overlapcheck.sources.nsys.schemas.enums import COPY_LABELS, MEMORY_LABELS
from overlapcheck.sources.nsys.schemas.ranks import rank_variables
from overlapcheck.sources.nsys.schemas.select import column, integers, text, texts
from overlapcheck.sources.nsys.sharing.names import with_rank

if TYPE_CHECKING:
    from overlapcheck.sources.nsys.database import Database

Cell = int | str | None
Table = tuple[str, tuple[str, ...], list[tuple[Cell, ...]]]
"""Its name, its columns, its rows."""

_VERSION = re.compile(r"\d{1,5}(\.\d{1,10}){0,4}(-[0-9a-z]{1,20})?")
_PLAIN = re.compile(
    r"[\d,.:+-]{1,40}|EAGER|LAZY|DEFAULT|INFO|WARN|(?i:true|false|ring|tree|nvls|simple|ll|ll128)"
)
"""Values of variables: numbers, and a few words."""
_CAPTURE = {
    r"CAPTURE_EVENT_TYPE": re.compile(r"[A-Za-z]{1,30}"),
    r"(?:.*:)?CUDA_GRAPH_TRACE_OPTIONS:MODE": re.compile(r"(?i:node|graph)"),
}
_PRODUCT = re.compile(r"[\w .()/+-]{1,80}")


def shared_facts(db: Database, processes: Collection[int]) -> Iterator[Table]:
    """Tables of facts, those that the export has.

    Args:
        db: the export.
        processes: `globalPid >> 24` of those that have rows: nsys lists every one of the machine.
    """
    for table in ("EXPORT_META_DATA", "META_DATA_EXPORT"):
        if db.has(table, "name", "value"):
            yield table, ("name", "value"), _versions(db, table)
    if db.has("META_DATA_CAPTURE", "name", "value"):
        yield "META_DATA_CAPTURE", ("name", "value"), _capture(db)
    if db.has("TARGET_INFO_SYSTEM_ENV", "name", "value"):
        driver = metadata.read_driver_version(db)
        known = [("NvDriverVersion", driver)] if _VERSION.fullmatch(driver) else []
        yield "TARGET_INFO_SYSTEM_ENV", ("name", "value"), list(known)
    if db.has("DIAGNOSTIC_EVENT", "severity", "text"):
        yield "DIAGNOSTIC_EVENT", ("severity", "text", "globalPid"), _messages(db)
    for table, meanings in (
        ("ENUM_CUDA_MEMCPY_OPER", frozenset(COPY_LABELS)),
        ("ENUM_CUDA_MEM_KIND", frozenset(MEMORY_LABELS)),
    ):
        if db.has(table, "id", "label"):
            yield table, ("id", "label"), _labels(db, table, meanings)
    yield from _devices(db)
    if db.has("PROCESSES", "globalPid", "name"):
        yield "PROCESSES", ("globalPid", "name"), _processes(db, processes)


def _versions(db: Database, table: str) -> list[tuple[Cell, ...]]:
    wanted = ("EXPORT_PRODUCT_VERSION", "EXPORT_SCHEMA_VERSION")
    return [
        (name, value)
        for name, value in metadata.pairs(db, table)
        if name in wanted and _VERSION.fullmatch(value)
    ]


def _capture(db: Database) -> list[tuple[Cell, ...]]:
    found: list[tuple[Cell, ...]] = [
        (name, value)
        for name, value in metadata.pairs(db, "META_DATA_CAPTURE", "name NOT LIKE '%ENVIRONMENT%'")
        if any(re.fullmatch(key, name) and form.fullmatch(value) for key, form in _CAPTURE.items())
    ]
    variables: dict[str, object] = {**metadata.variables_that_matter(db), **rank_variables(db)}
    return [
        *found,
        *(
            ("PROCESS_0:ENVIRONMENT_VARIABLE", f"{name}={value}")
            for name, value in sorted(variables.items())
            if _PLAIN.fullmatch(str(value))
        ),
    ]


def _messages(db: Database) -> list[tuple[Cell, ...]]:
    """Of each message that tells of a loss only that: the words of nsys which say so."""
    table = "DIAGNOSTIC_EVENT"
    rows = db.query(
        f"SELECT {column(db, table, 'severity', 1)} AS severity, {text('text')} AS text,"
        f" {column(db, table, 'globalPid', 0)} AS pid FROM {table} WHERE severity IN (2, 3)"
    )
    told = zip(
        integers(rows, "severity").tolist(),
        texts(rows, "text"),
        integers(rows, "pid").tolist(),
        strict=True,
    )
    return [
        (severity, loss, pid or None)
        for severity, said, pid in told
        for loss in metadata.LOSS_MESSAGES
        if loss in said.lower()
    ]


def _labels(db: Database, table: str, known: frozenset[str]) -> list[tuple[Cell, ...]]:
    rows = db.query(f"SELECT id, {text('label')} AS label FROM {table}")
    pairs = zip(integers(rows, "id").tolist(), texts(rows, "label"), strict=True)
    return [(number, label) for number, label in pairs if label.lower() in known]


def _devices(db: Database) -> Iterator[Table]:
    for table, engines in ((target.GPU, "asyncEngines"), (target.OLD_GPU, "numMemcpyEngines")):
        numbers = [name for name in ("id", "deviceId", engines) if db.has(table, name)]
        if not numbers:
            continue
        named = text("name" if db.has(table, "name") else "NULL")
        chosen = ", ".join(f'ifnull("{name}", 0) AS "{name}"' for name in numbers)
        rows = db.query(f'SELECT {chosen}, {named} AS product FROM "{db.resolve(table)}"')
        columns = [integers(rows, name).tolist() for name in numbers]
        products = [n if _PRODUCT.fullmatch(n) else "GPU" for n in texts(rows, "product")]
        yield table, (*numbers, "name"), list(zip(*columns, products, strict=True))


def _processes(db: Database, processes: Collection[int]) -> list[tuple[Cell, ...]]:
    rows = db.query(
        f"SELECT ifnull(globalPid, 0) AS pid, {text('name')} AS name FROM PROCESSES"
        " ORDER BY globalPid"
    )
    pairs = zip(integers(rows, "pid").tolist(), texts(rows, "name"), strict=True)
    return [
        # A folder is named by whoever made it, and says no rank.
        (pid, with_rank(f"process_{process_key(pid >> 24).pid}", name.rsplit("/", 1)[-1]))
        for pid, name in pairs
        if pid >> 24 in processes
    ]
