"""Facts about the recording: versions, command, what was traced, messages of nsys.

META_DATA_CAPTURE holds the program's whole environment, tokens included. Only the variables named
here are ever read out of the database.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from overlapcheck.capture_info import CaptureInfo, Diagnostic, GraphGranularity
from overlapcheck.columns import ABSENT
from overlapcheck.ingest.schemas._select import column, integers, text, texts
from overlapcheck.ingest.schemas.device_work import GRAPH
from overlapcheck.ingest.schemas.ranks import read_rank_hints

if TYPE_CHECKING:
    from overlapcheck.ingest.database import Database

_KEPT_VARIABLES = (
    "CUDA_LAUNCH_BLOCKING",
    "CUDA_DEVICE_MAX_CONNECTIONS",
    "CUDA_MODULE_LOADING",
    "CUDA_VISIBLE_DEVICES",
    "CUDA_MODULE_DATA_LOADING",
    "PYTORCH_CUDA_ALLOC_CONF",
    "PYTORCH_ALLOC_CONF",
    "PYTORCH_NO_CUDA_MEMORY_CACHING",
)
# `overlapcheck run` starts the program through this, and the program's words follow a "--".
_OWN_TRAMPOLINE = "capture/program_start.py"
_KEPT_PREFIX = "NCCL_"
_DROPPED = ("NCCL_VERSION",)
_HOME = re.compile(r"/(home|Users)/[^/\s]+/|/root/")
_ABSOLUTE_PATH = re.compile(r"(?<![\w/.])/(?:[^\s/'\"]+/)+([^\s/'\"]*)")
_VARIABLE = re.compile(r'([A-Z0-9_]+)="?(.*?)"?', re.DOTALL)


def read_capture_info(db: Database, untimed: int, backward: int = 0) -> CaptureInfo:
    """Everything about the recording that a report may show.

    Args:
        db: the export.
        untimed: GPU rows that were left out for want of a time.
        backward: GPU rows that were left out because they end before they start.
    """
    export = _export_metadata(db)
    capture = _capture_metadata(db)
    return CaptureInfo(
        nsys_version=export.get("EXPORT_PRODUCT_VERSION", ""),
        schema_version=export.get("EXPORT_SCHEMA_VERSION", ""),
        program=_program(capture),
        traced=frozenset(value for name, value in capture if name == "CAPTURE_EVENT_TYPE"),
        graph_granularity=_graph_granularity(db, capture),
        driver_version=_driver_version(db),
        environment=_environment(db),
        diagnostics=_diagnostics(db),
        utc_start_ns=_utc_start(db),
        dropped_untimed=untimed,
        dropped_backward=backward,
        ranks=read_rank_hints(db),
    )


def _pairs(db: Database, table: str, where: str = "1") -> list[tuple[str, str]]:
    if not db.has(table, "name", "value"):
        return []
    rows = db.query(
        f"SELECT {text('name')} AS name, {text('value')} AS value"
        f' FROM "{db.resolve(table)}" WHERE {where}'
    )
    return list(zip(texts(rows, "name"), texts(rows, "value"), strict=True))


def _export_metadata(db: Database) -> dict[str, str]:
    return dict(_pairs(db, "EXPORT_META_DATA") + _pairs(db, "META_DATA_EXPORT"))


def _capture_metadata(db: Database) -> list[tuple[str, str]]:
    # The environment never leaves the database through here.
    return _pairs(db, "META_DATA_CAPTURE", "name NOT LIKE '%ENVIRONMENT%'")


def _environment(db: Database) -> dict[str, str]:
    kept = " OR ".join(f"""value LIKE '{name}=%'""" for name in _KEPT_VARIABLES)
    where = f"name LIKE '%ENVIRONMENT_VARIABLE%' AND ({kept} OR value LIKE '{_KEPT_PREFIX}%')"
    found = (_VARIABLE.fullmatch(value) for _, value in _pairs(db, "META_DATA_CAPTURE", where))
    return {
        match[1]: match[2]
        for match in found
        if match
        and (match[1] in _KEPT_VARIABLES or match[1].startswith(_KEPT_PREFIX))
        and match[1] not in _DROPPED
    }


def _program(capture: list[tuple[str, str]]) -> str:
    command = next((v for n, v in capture if re.fullmatch(r"PROCESS_\d+:COMMAND", n)), "")
    numbered = [
        (int(match[1]), value)
        for name, value in capture
        if (match := re.fullmatch(r"PROCESS_0:ARGUMENT_(\d+)", name))
    ]
    words = [command, *(value for _, value in sorted(numbered))]
    if "--" in words and any(word.endswith(_OWN_TRAMPOLINE) for word in words):
        words = words[words.index("--") + 1 :]
    return _without_folders(" ".join(words).strip())


def _without_folders(said: str) -> str:
    """A text with absolute paths cut to their last part: folders hold user and host names."""
    return _ABSOLUTE_PATH.sub(r"\1", said)


def _graph_granularity(db: Database, capture: list[tuple[str, str]]) -> GraphGranularity:
    mode = next((v for n, v in capture if n.endswith("CUDA_GRAPH_TRACE_OPTIONS:MODE")), "")
    if mode:
        return GraphGranularity.NODE if mode.lower() == "node" else GraphGranularity.GRAPH
    return GraphGranularity.GRAPH if db.has(GRAPH) else GraphGranularity.UNKNOWN


def _driver_version(db: Database) -> str:
    found = dict(_pairs(db, "TARGET_INFO_SYSTEM_ENV", "name = 'NvDriverVersion'"))
    version = found.get("NvDriverVersion", "")
    # Some exporters wrote a packed number here, which no driver page lists.
    return version if "." in version else ""


def _utc_start(db: Database) -> int | None:
    table = "TARGET_INFO_SESSION_START_TIME"
    if not db.has(table, "utcEpochNs"):
        return None
    found = integers(db.query(f"SELECT ifnull(max(utcEpochNs), 0) AS utc FROM {table}"), "utc")
    return int(found[0]) or None


def _diagnostics(db: Database) -> tuple[Diagnostic, ...]:
    table = "DIAGNOSTIC_EVENT"
    if not db.has(table, "severity", "text"):
        return ()
    process = f"ifnull(globalPid >> 24, {ABSENT})" if db.has(table, "globalPid") else str(ABSENT)
    message = text("text")
    rows = db.query(
        f"SELECT {column(db, table, 'severity', 1)} AS severity, {message} AS text,"
        f" {process} AS pid FROM {table} WHERE severity IN (2, 3)"
    )
    found = zip(
        integers(rows, "severity").tolist(),
        texts(rows, "text"),
        integers(rows, "pid").tolist(),
        strict=True,
    )
    return tuple(
        Diagnostic(severity, _HOME.sub("", said), max(pid, ABSENT)) for severity, said, pid in found
    )
