"""Facts about the recording: versions, command, what was traced, messages of nsys.

META_DATA_CAPTURE holds the program's whole environment, tokens included. Only the variables named
here are ever read out of the database.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from typing import TYPE_CHECKING

from overlapcheck.capture_info import CaptureInfo, Diagnostic, GraphGranularity
from overlapcheck.columns import ABSENT
from overlapcheck.redaction import command_text, message_text
from overlapcheck.sources.nsys.processes import process_key
from overlapcheck.sources.nsys.schemas.device_work import GRAPH
from overlapcheck.sources.nsys.schemas.ranks import read_rank_hints
from overlapcheck.sources.nsys.schemas.select import column, integers, text, texts

if TYPE_CHECKING:
    from overlapcheck.sources.nsys.database import Database

# nsys's milder warnings accompany sound recordings.
LOSS_MESSAGES = (
    "some cupti events may be missing",
    "couldn't allocate cupti buf",
    "reached the size limit on recording trace events",
    "cuda profiling might have not been started correctly",
)
_SIMPLE = r"[\w,:;^+-]{0,80}"
_KEPT_VARIABLES = {
    "CUDA_LAUNCH_BLOCKING": r"\d{1,3}",
    "CUDA_DEVICE_MAX_CONNECTIONS": r"\d{1,5}",
    "CUDA_MODULE_LOADING": _SIMPLE,
    "CUDA_VISIBLE_DEVICES": r"[\w,/-]{0,1000}",
    "CUDA_MODULE_DATA_LOADING": _SIMPLE,
    "PYTORCH_CUDA_ALLOC_CONF": r"[\w,:.>\[\]-]{0,200}",
    "PYTORCH_ALLOC_CONF": r"[\w,:.>\[\]-]{0,200}",
    "PYTORCH_NO_CUDA_MEMORY_CACHING": _SIMPLE,
} | dict.fromkeys(
    (f"NCCL_{name}" for name in (
        "ALGO", "BUFFSIZE", "CGA_CLUSTER_SIZE", "COLLNET_ENABLE", "CROSS_NIC", "CUMEM_ENABLE",
        "DEBUG", "DMABUF_ENABLE", "GRAPH_MIXING_SUPPORT", "GRAPH_REGISTER", "IB_ADAPTIVE_ROUTING",
        "IB_DISABLE", "IB_GID_INDEX", "IB_QPS_PER_CONNECTION", "IB_SL", "IB_SPLIT_DATA_ON_QPS",
        "IB_TC", "IB_TIMEOUT", "LAUNCH_MODE", "LAUNCH_ORDER_IMPLICIT", "LL128_BUFFSIZE",
        "LL_BUFFSIZE", "LOCAL_REGISTER", "MAX_CTAS", "MAX_NCHANNELS", "MAX_P2P_NCHANNELS",
        "MIN_CTAS", "MIN_NCHANNELS", "MIN_P2P_NCHANNELS", "NCHANNELS_PER_NET_PEER",
        "NET_GDR_LEVEL", "NET_GDR_READ", "NET_SHARED_BUFFERS", "NSOCKS_PERTHREAD", "NTHREADS",
        "NVB_DISABLE", "NVLS_ENABLE", "P2P_DIRECT_DISABLE", "P2P_DISABLE", "P2P_LEVEL",
        "P2P_NET_CHUNKSIZE", "P2P_PXN_LEVEL", "P2P_USE_CUDA_MEMCPY", "PROTO", "PXN_DISABLE",
        "RUNTIME_CONNECT", "SHM_DISABLE", "SHM_USE_CUDA_MEMCPY", "SOCKET_NTHREADS",
        "TREE_THRESHOLD", "WORK_FIFO_DEPTH",
    )),
    _SIMPLE,
)  # fmt: skip
"""Variables that change how a program runs, with the form of a value that names nobody."""
_NAMING_VARIABLES = ("USER", "LOGNAME", "USERNAME", "HOSTNAME", "HOST", "SLURMD_NODENAME")
"""Their values are looked for in what a report shows, to be cut."""
# `overlapcheck run` starts the program through this, and the program's words follow a "--".
_OWN_TRAMPOLINE = "capture/program_start.py"
_VARIABLE = re.compile(r'([A-Z0-9_]+)="?(.*?)"?', re.DOTALL)


def read_capture_info(db: Database, untimed: int, backward: int = 0) -> CaptureInfo:
    """Everything about the recording that a report may show.

    Args:
        db: the export.
        untimed: GPU rows that were left out for want of a time.
        backward: GPU rows that were left out because they end before they start.
    """
    export = _export_metadata(db)
    capture, names = _capture_metadata(db), people_and_machines(db)
    traced = frozenset(value for name, value in capture if name == "CAPTURE_EVENT_TYPE")
    return CaptureInfo(
        recorder_version=export.get("EXPORT_PRODUCT_VERSION", ""),
        schema_version=export.get("EXPORT_SCHEMA_VERSION", ""),
        program=_program(capture, names),
        traced=traced,
        asked_for_gpu_work="Cuda" in traced,
        graph_granularity=_graph_granularity(db, capture),
        driver_version=read_driver_version(db),
        environment=variables_that_matter(db),
        diagnostics=_diagnostics(db, names),
        utc_start_ns=_utc_start(db),
        dropped_untimed=untimed,
        dropped_backward=backward,
        ranks=read_rank_hints(db),
    )


def pairs(db: Database, table: str, where: str = "1") -> list[tuple[str, str]]:
    """Names and values of a table of facts; none where the export lacks it."""
    if not db.has(table, "name", "value"):
        return []
    rows = db.query(
        f"SELECT {text('name')} AS name, {text('value')} AS value"
        f' FROM "{db.resolve(table)}" WHERE {where}'
    )
    return list(zip(texts(rows, "name"), texts(rows, "value"), strict=True))


def _export_metadata(db: Database) -> dict[str, str]:
    return dict(pairs(db, "EXPORT_META_DATA") + pairs(db, "META_DATA_EXPORT"))


def _capture_metadata(db: Database) -> list[tuple[str, str]]:
    # The environment never leaves the database through here.
    return pairs(db, "META_DATA_CAPTURE", "name NOT LIKE '%ENVIRONMENT%'")


def variables_that_matter(db: Database) -> dict[str, str]:
    """Variables that change how a program runs, those whose value names nobody."""
    return {
        name: value
        for name, value in _variables(db, _KEPT_VARIABLES)
        if re.fullmatch(_KEPT_VARIABLES[name], value)
    }


def _variables(db: Database, names: Collection[str]) -> list[tuple[str, str]]:
    """Variables of the program's environment; no other one leaves the database."""
    # An underscore of LIKE is any letter; GLOB knows none.
    kept = " OR ".join(f"value GLOB '{name}=*'" for name in names)
    where = f"name LIKE '%ENVIRONMENT_VARIABLE%' AND ({kept})"
    found = (_VARIABLE.fullmatch(value) for _, value in pairs(db, "META_DATA_CAPTURE", where))
    return [(match[1], match[2]) for match in found if match and match[1] in names]


def people_and_machines(db: Database) -> frozenset[str]:
    """Names of the user and the host, as the recording itself tells them."""
    told = {value for _, value in _variables(db, _NAMING_VARIABLES)}
    told |= {value for _, value in pairs(db, "TARGET_INFO_SYSTEM_ENV", "name = 'Hostname'")}
    where = "name LIKE 'PROCESS_%:USER_NAME' OR name = 'DEVICE_DISPLAY_NAME'"
    told |= {value for _, value in pairs(db, "META_DATA_CAPTURE", where)}
    named = ("EXPORT_HOST", "EXPORT_USER")
    told |= {value for name, value in _export_metadata(db).items() if name in named}
    return frozenset(told | {name.partition(".")[0] for name in told})


def _program(capture: list[tuple[str, str]], names: Collection[str]) -> str:
    command = next((v for n, v in capture if re.fullmatch(r"PROCESS_\d+:COMMAND", n)), "")
    numbered = [
        (int(match[1]), value)
        for name, value in capture
        if (match := re.fullmatch(r"PROCESS_0:ARGUMENT_(\d{1,9})", name))
    ]
    words = [command, *(value for _, value in sorted(numbered))]
    if "--" in words and any(word.endswith(_OWN_TRAMPOLINE) for word in words):
        words = words[words.index("--") + 1 :]
    return command_text(words, names)


def _graph_granularity(db: Database, capture: list[tuple[str, str]]) -> GraphGranularity:
    mode = next((v for n, v in capture if n.endswith("CUDA_GRAPH_TRACE_OPTIONS:MODE")), "")
    if mode:
        return GraphGranularity.NODE if mode.lower() == "node" else GraphGranularity.GRAPH
    return GraphGranularity.GRAPH if db.has(GRAPH) else GraphGranularity.UNKNOWN


def read_driver_version(db: Database) -> str:
    """Version of the driver as its page calls it; "" where it is not known."""
    found = dict(pairs(db, "TARGET_INFO_SYSTEM_ENV", "name = 'NvDriverVersion'"))
    version = found.get("NvDriverVersion", "")
    # Some exporters wrote a packed number here, which no driver page lists.
    return version if "." in version else ""


def _utc_start(db: Database) -> int | None:
    table = "TARGET_INFO_SESSION_START_TIME"
    if not db.has(table, "utcEpochNs"):
        return None
    found = integers(db.query(f"SELECT ifnull(max(utcEpochNs), 0) AS utc FROM {table}"), "utc")
    return int(found[0]) or None


def _diagnostics(db: Database, names: Collection[str]) -> tuple[Diagnostic, ...]:
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
        Diagnostic(
            severity,
            message_text(said, names),
            None if shifted < 0 else process_key(shifted),
            any(loss in said.lower() for loss in LOSS_MESSAGES),
        )
        for severity, said, shifted in found
    )
