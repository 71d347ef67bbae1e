"""What NCCL tells NVTX: fields by their names, whatever the layout, or Missing."""

from __future__ import annotations

import struct
from pathlib import Path

import pytest

from overlapcheck.columns import ABSENT
from overlapcheck.nccl_calls import NcclCall, NcclCalls
from overlapcheck.sources.nsys.read import read_trace
from overlapcheck.trace import Missing
from tests.export import RealExport, edit, query
from tests.nccl_payloads import (
    COMM,
    COMMUNICATOR,
    INT,
    MESSAGE,
    RANKS,
    SIZE,
    SIZE_T,
    UINT64,
    Message,
    attach,
    blob,
    describe,
    with_payloads,
)
from tests.pictures import picture
from tests.table_folder import Write, write_parquet, write_stream, write_tables

SIGNED = COMMUNICATOR - (1 << 64)
DRAWN = """
s20  kernel ncclDevKernel_AllReduce  |..rr...|
t1   cuLaunchKernelEx                |..r....|
t1   nvtx ncclAllReduce              |.aaa.b.|
t1   nvtx ncclGroupStart             |g......|
"""
BUCKET = 2 * 6144 * 6144 * 2
"""Two layers of 6144 x 6144 in bfloat16."""


def drawn(folder: Path) -> Path:
    return picture(DRAWN, column_us=10).export(folder / "drawn.sqlite")


def calls_of(path: Path) -> NcclCalls:
    found = read_trace(path).nccl_calls
    assert isinstance(found, NcclCalls)
    return found


def is_missing(path: Path) -> bool:
    return isinstance(read_trace(path).nccl_calls, Missing)


def test_a_real_recording_tells_buckets_and_communicator(real_export: RealExport) -> None:
    calls = calls_of(real_export("ddp_payload"))

    messages = calls.rows(calls.call == NcclCall.ALL_REDUCE)
    # Six layers in buckets of 75 MB: three of two layers, in four steps of two processes.
    assert messages.bytes.tolist() == [BUCKET] * 3 * 4 * 2
    assert set(calls.communicator.tolist()) == {SIGNED}
    assert set(calls.ranks[calls.ranks != ABSENT].tolist()) == {2}
    assert len(set(messages.process.tolist())) == 2
    assert (messages.end_ns > messages.start_ns).all()


@pytest.mark.parametrize("write", [write_parquet, write_stream])
def test_a_folder_of_tables_tells_the_same(
    real_export: RealExport, tmp_path: Path, write: Write
) -> None:
    source = real_export("ddp_payload")

    folder = write_tables(source, tmp_path / "tables", write)

    assert calls_of(folder).frame().equals(calls_of(source).frame())


def test_calls_are_told_by_their_names(tmp_path: Path) -> None:
    path = with_payloads(drawn(tmp_path), {"ncclAllReduce": [Message(1000), Message(2000)]})

    calls = calls_of(path)

    assert calls.call.tolist() == [NcclCall.GROUP_START, *[NcclCall.ALL_REDUCE] * 2]
    assert calls.bytes.tolist() == [ABSENT, 1000, 2000]
    assert calls.communicator.tolist() == [ABSENT, SIGNED, SIGNED]


@pytest.mark.parametrize(
    ("name", "call"),
    [
        ("ncclAllGather", NcclCall.ALL_GATHER),
        ("ncclReduceScatter", NcclCall.REDUCE_SCATTER),
        ("ncclAlltoAll", NcclCall.ALL_TO_ALL),
        ("ncclAllToAll", NcclCall.ALL_TO_ALL),
        ("ncclAllReduceConfig", NcclCall.ALL_REDUCE),
        ("ncclBroadcast", NcclCall.BROADCAST),
        ("ncclBcast", NcclCall.BROADCAST),
        ("ncclReduce", NcclCall.REDUCE),
        ("ncclSend", NcclCall.SEND),
        ("ncclRecv", NcclCall.RECV),
        ("ncclGroupEnd", NcclCall.GROUP_END),
        ("ncclCommInitRank", NcclCall.OTHER),
        ("ncclAllReduce of mine", NcclCall.OTHER),
    ],
)
def test_every_exchange_has_its_call(tmp_path: Path, name: str, call: NcclCall) -> None:
    path = with_payloads(drawn(tmp_path), {"ncclAllReduce": [Message(1000)]})
    edit(path, f"UPDATE NVTX_EVENTS SET text = '{name}' WHERE text = 'ncclAllReduce'")

    assert set(calls_of(path).call.tolist()) == {call, NcclCall.GROUP_START}


def test_fields_are_found_wherever_they_stand(tmp_path: Path) -> None:
    path = drawn(tmp_path)
    # Aligned to itself after four bytes; a payload of another schema comes first.
    describe(path, 77, (("Rank", INT, None), (SIZE.upper(), SIZE_T, None), (COMM, UINT64, None)))
    describe(path, 78, (("NCCL parent communicator ID", UINT64, None),))
    other = (78, struct.pack("<Q", 5))
    attach(
        path,
        "ncclAllReduce",
        [blob(other, (77, struct.pack("<iiQQ", 3, 0, 4096, 9))), blob((77, b"\x01" * 24))],
    )

    calls = calls_of(path)

    assert calls.bytes.tolist() == [ABSENT, 4096, 0x0101010101010101]
    assert calls.communicator.tolist() == [ABSENT, 9, 0x0101010101010101]


def test_an_enumeration_in_between_has_the_length_that_the_export_says(tmp_path: Path) -> None:
    path = drawn(tmp_path)
    describe(path, 77, (("Reduction operation", 900, None), (RANKS, INT, None)))
    edit(path, "INSERT INTO NVTX_PAYLOAD_ENUMS VALUES (0, 900, '', 5, 4)")
    attach(path, "ncclAllReduce", [blob((77, struct.pack("<ii", 1, 8)))])

    assert calls_of(path).ranks.tolist() == [ABSENT, 8, 8]


def test_old_payloads_without_a_communicator_still_tell_sizes(tmp_path: Path) -> None:
    path = drawn(tmp_path)
    describe(path, MESSAGE, ((SIZE, SIZE_T, None),))
    attach(path, "ncclAllReduce", [blob((MESSAGE, struct.pack("<Q", 4096)))])

    calls = calls_of(path)

    assert calls.bytes.tolist() == [ABSENT, 4096, 4096]
    assert calls.communicator.tolist() == [ABSENT] * 3


@pytest.mark.parametrize(
    "spoil",
    [
        "DROP TABLE NVTX_PAYLOAD_SCHEMA_ENTRIES",
        "ALTER TABLE NVTX_PAYLOAD_SCHEMA_ENTRIES DROP COLUMN name",
        "UPDATE NVTX_PAYLOAD_SCHEMA_ENTRIES SET name = 'something else'",
        "UPDATE NVTX_PAYLOAD_SCHEMA_ENTRIES SET flags = 2",
        "UPDATE NVTX_PAYLOAD_SCHEMA_ENTRIES SET domainId = 4",
        "UPDATE NVTX_PAYLOAD_SCHEMA_ENTRIES SET type = 19",
        "ALTER TABLE NVTX_EVENTS DROP COLUMN binaryData",
        "UPDATE NVTX_EVENTS SET binaryData = NULL",
        "UPDATE NVTX_EVENTS SET binaryData = ''",
        "UPDATE NVTX_EVENTS SET binaryData = substr(binaryData, 1, 39)",
        "UPDATE NVTX_EVENTS SET binaryData = zeroblob(56)",
        "UPDATE NVTX_EVENTS SET binaryData = x'" + "ff" * 56 + "'",
        # Two processes with different NCCLs: the export does not say which is whose.
        "INSERT INTO NVTX_PAYLOAD_SCHEMA_ENTRIES"
        " SELECT domainId, schemaId, idx, flags, 6, name, NULL, NULL, offset"
        " FROM NVTX_PAYLOAD_SCHEMA_ENTRIES",
    ],
)
def test_what_cannot_be_read_is_missing(tmp_path: Path, spoil: str) -> None:
    path = with_payloads(drawn(tmp_path), {"ncclAllReduce": [Message(1000)]})
    assert not is_missing(path)

    assert is_missing(edit(path, spoil))


def test_a_column_that_is_not_there_costs_only_itself(tmp_path: Path) -> None:
    path = with_payloads(drawn(tmp_path), {"ncclAllReduce": [Message(1000)]})
    edit(
        path,
        "ALTER TABLE NVTX_PAYLOAD_SCHEMA_ENTRIES DROP COLUMN flags",
        "DROP TABLE NVTX_PAYLOAD_ENUMS",
        "ALTER TABLE NVTX_EVENTS DROP COLUMN textId",
    )

    assert calls_of(path).bytes.tolist() == [ABSENT, 1000, 1000]


def test_an_export_without_blobs_reads_as_before(real_export: RealExport) -> None:
    path = real_export("ddp_bucketed")
    assert query(path, "SELECT count(*) FROM NVTX_EVENTS WHERE textId IS NOT NULL")[0][0]

    assert is_missing(path)
