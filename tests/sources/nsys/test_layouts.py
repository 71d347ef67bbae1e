"""One real export, bent into the layouts of other nsys versions, must give the same numbers."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from overlapcheck.copies import Direction
from overlapcheck.kinds import CopyKind
from overlapcheck.sources.nsys.read import read_trace
from overlapcheck.trace import Missing
from overlapcheck.trace_tables import Contexts, EventRecords
from tests.export import RealExport, edit, query
from tests.pictures import measure_file, picture

Edit = Callable[[Path], None]
ACTIVITIES = ("KERNEL", "MEMCPY", "MEMSET", "RUNTIME", "SYNCHRONIZATION", "CUDA_EVENT")


def tables(path: Path, like: str = "%") -> list[str]:
    sql = f"SELECT name FROM sqlite_master WHERE type = 'table' AND name LIKE '{like}'"
    return [str(row[0]) for row in query(path, sql)]


def columns(path: Path, table: str) -> list[str]:
    return [str(row[1]) for row in query(path, f"PRAGMA table_info({table})")]


def drop_tables(path: Path, *patterns: str) -> None:
    for pattern in patterns:
        for table in tables(path, pattern):
            edit(path, f"DROP TABLE {table}")


def drop_columns(path: Path, *names: str) -> None:
    """Rebuild each activity table without some columns."""
    for table in [*(f"CUPTI_ACTIVITY_KIND_{a}" for a in ACTIVITIES), "NVTX_EVENTS", "OSRT_API"]:
        present = columns(path, table)
        kept = [f'"{name}"' for name in present if name not in names]
        if present and len(kept) < len(present):
            edit(
                path,
                f"CREATE TABLE rebuilt AS SELECT {', '.join(kept)} FROM {table}",
                f"DROP TABLE {table}",
                f"ALTER TABLE rebuilt RENAME TO {table}",
            )


def as_of_2021(path: Path) -> None:
    """No metadata, no enums, no processes; null stream and devices in tables of their own."""
    drop_tables(
        path,
        "META_DATA%",
        "ENUM%",
        "PROCESSES",
        "DIAGNOSTIC_EVENT",
        "ANALYSIS_DETAILS",
        "TARGET_INFO_CUDA_DEVICE",
        "CUPTI_ACTIVITY_KIND_CUDA_EVENT",
    )
    drop_columns(path, "greenContextId", "copyCount", "eventSyncId", "deprecatedSyncType")
    edit(
        path,
        "CREATE TABLE TARGET_INFO_CUDA_NULL_STREAM AS SELECT nullStreamId AS streamId, hwId, vmId,"
        " processId, deviceId, contextId FROM TARGET_INFO_CUDA_CONTEXT_INFO",
        "DROP TABLE TARGET_INFO_CUDA_CONTEXT_INFO",
        "CREATE TABLE TARGET_INFO_CUDA_GPU AS SELECT vmId, name, id AS deviceId,"
        " asyncEngines AS numMemcpyEngines FROM TARGET_INFO_GPU",
        "DROP TABLE TARGET_INFO_GPU",
    )


def as_of_2020(path: Path) -> None:
    """Moreover no event class, no graph nodes, no migration cause."""
    as_of_2021(path)
    drop_columns(path, "eventClass", "graphNodeId", "migrationCause", "nestingLevel", "mangledName")


def as_of_2022(path: Path) -> None:
    drop_tables(path, "META_DATA_CAPTURE", "DIAGNOSTIC_EVENT", "TARGET_INFO_CUDA_DEVICE")
    edit(
        path,
        "ALTER TABLE META_DATA_EXPORT RENAME TO EXPORT_META_DATA",
        "UPDATE EXPORT_META_DATA SET value = '3.0.0' WHERE name = 'EXPORT_SCHEMA_VERSION'",
        "UPDATE EXPORT_META_DATA SET value = '2022.4.2.1' WHERE name = 'EXPORT_PRODUCT_VERSION'",
    )
    drop_columns(path, "greenContextId", "copyCount", "eventSyncId")


def as_of_2026(path: Path) -> None:
    edit(
        path,
        "ALTER TABLE CUPTI_ACTIVITY_KIND_KERNEL ADD COLUMN clusterX INTEGER",
        "ALTER TABLE CUPTI_ACTIVITY_KIND_CUDA_EVENT ADD COLUMN timestamp INTEGER",
        "CREATE TABLE rebuilt AS SELECT start, end, globalTid, nameId, 0 AS overheadType"
        " FROM PROFILER_OVERHEAD",
        "DROP TABLE PROFILER_OVERHEAD",
        "ALTER TABLE rebuilt RENAME TO PROFILER_OVERHEAD",
        "CREATE TABLE CUPTI_ACTIVITY_KIND_OVERHEAD AS SELECT * FROM PROFILER_OVERHEAD LIMIT 0",
    )


def with_registered_names(path: Path) -> None:
    """NVTX names as registered strings: `text` is NULL and `textId` refers to StringIds."""
    edit(
        path,
        "INSERT INTO StringIds SELECT (SELECT max(id) FROM StringIds) + row_number() OVER (), text"
        " FROM (SELECT DISTINCT text FROM NVTX_EVENTS WHERE text IS NOT NULL)",
        "UPDATE NVTX_EVENTS SET textId = (SELECT max(id) FROM StringIds WHERE value = text)"
        " WHERE text IS NOT NULL",
        "UPDATE NVTX_EVENTS SET text = NULL",
    )


def with_half_registered_names(path: Path) -> None:
    with_registered_names(path)
    edit(
        path,
        "UPDATE NVTX_EVENTS SET text = (SELECT value FROM StringIds WHERE id = textId)"
        " WHERE rowid % 2",
        "UPDATE NVTX_EVENTS SET textId = NULL WHERE rowid % 2",
    )


def without_text_column(path: Path) -> None:
    with_registered_names(path)
    drop_columns(path, "text")


def with_an_id_beyond_counting(path: Path) -> None:
    """Names that stand in NVTX rows themselves get ids behind those of StringIds."""
    edit(path, f"INSERT INTO StringIds (id, value) VALUES ({2**63 - 1}, 'damaged')")


def without_text_ids(path: Path) -> None:
    drop_columns(path, "textId")


def with_versioned_tables(path: Path) -> None:
    for activity in ACTIVITIES:
        table = f"CUPTI_ACTIVITY_KIND_{activity}"
        if table in tables(path):
            edit(path, f"ALTER TABLE {table} RENAME TO {table}_V2")


def with_renumbered_enums(path: Path) -> None:
    """Labels count, not numbers: every number of the enums is moved by a hundred."""
    edit(
        path,
        "UPDATE ENUM_CUDA_MEMCPY_OPER SET id = id + 100",
        "UPDATE ENUM_CUDA_MEM_KIND SET id = id + 100",
        "UPDATE CUPTI_ACTIVITY_KIND_MEMCPY SET copyKind = copyKind + 100,"
        " srcKind = srcKind + 100, dstKind = dstKind + 100",
    )


def with_empty_enums(path: Path) -> None:
    for table in tables(path, "ENUM%"):
        edit(path, f"DELETE FROM {table}")


def not_lazy(path: Path) -> None:
    """`--lazy=false`: tables without rows exist."""
    for table in ("CUPTI_ACTIVITY_KIND_GRAPH_TRACE", "CUPTI_ACTIVITY_KIND_MEMSET"):
        edit(path, f"CREATE TABLE {table} AS SELECT * FROM CUPTI_ACTIVITY_KIND_MEMCPY LIMIT 0")


def trimmed(path: Path) -> None:
    """`--tables`: only what was named."""
    kept = {f"CUPTI_ACTIVITY_KIND_{a}" for a in ACTIVITIES} | {"NVTX_EVENTS", "StringIds"}
    for table in set(tables(path)) - kept - {"TARGET_INFO_CUDA_STREAM"}:
        edit(path, f"DROP TABLE {table}")


@pytest.fixture
def export(real_export: RealExport, tmp_path: Path) -> Path:
    """PyTorch-free, small, with events, memset-free: cu_double_buffer."""
    return Path(shutil.copy(real_export("cu_double_buffer"), tmp_path / "bent.sqlite"))


def numbers(path: Path) -> list[object]:
    """What EXPECTED.json holds, and what the layers above need beside it."""
    return [
        (
            device.key,
            device.window,
            device.compute_ns,
            {
                d: (c.count, c.bytes, c.copy_ns, c.hidden_ns, c.pageable_count, c.pinned.total_ns)
                for d, c in device.copies.items()
            },
            device.recoverable,
            sorted((s.stream_id, s.busy.total_ns) for s in device.streams),
            device.blocking.total_ns.tolist(),
        )
        for device in measure_file(path, skip=3).devices
    ]


@pytest.mark.parametrize(
    "bend",
    [
        as_of_2020,
        as_of_2021,
        as_of_2022,
        as_of_2026,
        with_registered_names,
        with_half_registered_names,
        without_text_column,
        without_text_ids,
        with_an_id_beyond_counting,
        with_versioned_tables,
        with_renumbered_enums,
        with_empty_enums,
        not_lazy,
        trimmed,
    ],
)
def test_the_layout_of_another_version_gives_the_same_numbers(bend: Edit, export: Path) -> None:
    before = numbers(export)
    bend(export)

    assert numbers(export) == before


@pytest.mark.parametrize("bend", [as_of_2020, as_of_2021, as_of_2022, as_of_2026, trimmed])
def test_the_recording_stays_complete_in_every_layout(bend: Edit, export: Path) -> None:
    bend(export)

    assert measure_file(export).problems == ()


@pytest.mark.parametrize("bend", [as_of_2020, as_of_2021, as_of_2022, as_of_2026, trimmed])
def test_the_null_stream_is_known_in_every_layout(
    bend: Edit, real_export: RealExport, tmp_path: Path
) -> None:
    path = Path(shutil.copy(real_export("cu_legacy_default"), tmp_path / "bent.sqlite"))
    bend(path)
    (device,) = measure_file(path).devices

    assert {s.stream_id: s.kind for s in device.streams} == {7: "null", 13: "blocking"}


def test_versions_are_read_from_either_metadata_table(export: Path) -> None:
    assert read_trace(export).info.schema_version == "3.20.3"
    as_of_2022(export)
    info = read_trace(export).info

    assert (info.schema_version, info.recorder_version) == ("3.0.0", "2022.4.2.1")


def test_without_metadata_nothing_is_claimed(export: Path) -> None:
    as_of_2021(export)
    info = read_trace(export).info

    assert (info.schema_version, info.recorder_version, info.program) == ("", "", "")
    assert info.traced == frozenset()
    assert info.environment == {}


def test_devices_and_copy_engines_are_named_in_every_layout(export: Path) -> None:
    for bend in (lambda _: None, as_of_2021):
        bend(export)
        trace = read_trace(export)
        (device,) = measure_file(export).devices

        assert device.gpu_name == "NVIDIA H200"
        assert trace.copy_engines(device.key) == 3


def test_old_exports_name_devices_by_number(export: Path) -> None:
    drop_tables(export, "TARGET_INFO_CUDA_DEVICE")
    edit(export, "ALTER TABLE TARGET_INFO_GPU RENAME COLUMN id TO deviceId")
    (device,) = measure_file(export).devices

    assert device.gpu_name == "NVIDIA H200"


def test_the_old_null_stream_table_is_read(export: Path) -> None:
    as_of_2021(export)
    contexts = read_trace(export).contexts

    assert isinstance(contexts, Contexts)
    assert contexts.null_stream_id.tolist() == [7]


def test_events_without_ids_are_read_without_ids(export: Path) -> None:
    drop_columns(export, "eventSyncId")
    records = read_trace(export).event_records

    assert isinstance(records, EventRecords)
    assert set(records.event_sync_id.tolist()) == {-1}

    drop_tables(export, "CUPTI_ACTIVITY_KIND_CUDA_EVENT")
    assert isinstance(read_trace(export).event_records, Missing)


def test_nsys_numbers_of_memory_kinds_are_not_cuptis(tmp_path: Path) -> None:
    """Without labels 1 is pinned; CUPTI calls 1 pageable."""
    path = picture("s7 kernel k |aaaa|\ns13 h2d pinned 1B |.bb.|").export(tmp_path / "kinds.sqlite")
    drop_tables(path, "ENUM%")
    (device,) = measure_file(path).devices
    h2d = device.copies[Direction.H2D]

    assert query(path, "SELECT srcKind FROM CUPTI_ACTIVITY_KIND_MEMCPY") == [(1,)]
    assert (h2d.pageable_count, h2d.pinned.total_ns) == (0, 2_000)


@pytest.mark.parametrize(
    ("kind", "meaning"),
    [
        (1, CopyKind.HOST_TO_DEVICE),
        (3, CopyKind.HOST_TO_DEVICE),
        (4, CopyKind.DEVICE_TO_HOST),
        (5, CopyKind.DEVICE_TO_DEVICE),
        (8, CopyKind.DEVICE_TO_DEVICE),
        (9, CopyKind.HOST_TO_HOST),
        (10, CopyKind.PEER_TO_PEER),
        (11, CopyKind.UNIFIED_HOST_TO_DEVICE),
        (99, CopyKind.UNKNOWN),
    ],
)
@pytest.mark.parametrize("labels", [True, False])
def test_copy_kinds_are_read_with_and_without_labels(
    kind: int, meaning: CopyKind, labels: bool, tmp_path: Path
) -> None:
    path = picture("s13 h2d pinned 1B |bb|").export(tmp_path / "kind.sqlite")
    edit(path, f"UPDATE CUPTI_ACTIVITY_KIND_MEMCPY SET copyKind = {kind}")
    if not labels:
        drop_tables(path, "ENUM%")
    copies = read_trace(path).copies

    assert not isinstance(copies, Missing)
    assert copies.kind.tolist() == [meaning]


def test_copies_without_memory_kinds_are_neither_pageable_nor_pinned(export: Path) -> None:
    drop_columns(export, "srcKind", "dstKind")
    (device,) = measure_file(export).devices
    h2d = device.copies[Direction.H2D]

    assert h2d.count > 0
    assert (h2d.pageable_count, h2d.pinned.total_ns) == (0, 0)


def test_rows_without_a_process_belong_to_the_only_one_that_called_cuda(export: Path) -> None:
    before = numbers(export)
    drop_columns(export, "globalPid")

    assert numbers(export) == before


def test_kernels_without_names_are_still_measured(export: Path) -> None:
    (before,) = measure_file(export).devices
    drop_columns(export, "shortName", "demangledName", "gridX", "blockX")
    (device,) = measure_file(export).devices

    assert device.compute_ns == before.compute_ns


def test_devices_that_the_program_renumbered_are_named_by_the_mapping(tmp_path: Path) -> None:
    """CUDA_VISIBLE_DEVICES=1: the program's device 0 is the machine's GPU 1."""
    path = picture("s7 kernel k |aa|").export(tmp_path / "visible.sqlite")
    edit(
        path,
        "UPDATE TARGET_INFO_GPU SET id = 1, name = 'the other GPU'",
        "UPDATE TARGET_INFO_CUDA_DEVICE SET gpuId = 1",
    )
    (device,) = measure_file(path).devices

    assert (device.key.device_id, device.gpu_name) == (0, "the other GPU")
