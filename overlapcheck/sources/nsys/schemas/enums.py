"""Kinds of copies, memory and streams: by the labels in the file, else by nsys's own numbers.

NOTE: nsys's memory kinds are CUPTI's shifted by one. Reading an export with CUPTI's numbers calls
every pinned copy pageable, a mistake that other tools made.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from overlapcheck.columns import ABSENT, Ints
from overlapcheck.kinds import CopyKind, MemoryKind, StreamKind
from overlapcheck.sources.nsys.schemas.select import integers, text, texts

if TYPE_CHECKING:
    from collections.abc import Mapping

    from overlapcheck.sources.nsys.database import Database

MEMORY_LABELS = {
    "pageable": MemoryKind.PAGEABLE,
    "pinned": MemoryKind.PINNED,
    "device": MemoryKind.DEVICE,
    "array": MemoryKind.ARRAY,
    "managed": MemoryKind.MANAGED,
    "device static": MemoryKind.DEVICE_STATIC,
    "managed static": MemoryKind.MANAGED_STATIC,
    "unknown": MemoryKind.UNKNOWN,
}
# An array lies in device memory, so copies to and from it use the link like any other.
COPY_LABELS = {
    "host-to-device": CopyKind.HOST_TO_DEVICE,
    "device-to-host": CopyKind.DEVICE_TO_HOST,
    "host-to-array": CopyKind.HOST_TO_DEVICE,
    "array-to-host": CopyKind.DEVICE_TO_HOST,
    "array-to-array": CopyKind.DEVICE_TO_DEVICE,
    "array-to-device": CopyKind.DEVICE_TO_DEVICE,
    "device-to-array": CopyKind.DEVICE_TO_DEVICE,
    "device-to-device": CopyKind.DEVICE_TO_DEVICE,
    "host-to-host": CopyKind.HOST_TO_HOST,
    "peer-to-peer": CopyKind.PEER_TO_PEER,
    "unified host-to-device": CopyKind.UNIFIED_HOST_TO_DEVICE,
    "unified device-to-host": CopyKind.UNIFIED_DEVICE_TO_HOST,
    "unified device-to-device": CopyKind.UNIFIED_DEVICE_TO_DEVICE,
}
_COPY_NUMBERS = {
    1: CopyKind.HOST_TO_DEVICE,
    2: CopyKind.DEVICE_TO_HOST,
    3: CopyKind.HOST_TO_DEVICE,
    4: CopyKind.DEVICE_TO_HOST,
    5: CopyKind.DEVICE_TO_DEVICE,
    6: CopyKind.DEVICE_TO_DEVICE,
    7: CopyKind.DEVICE_TO_DEVICE,
    8: CopyKind.DEVICE_TO_DEVICE,
    9: CopyKind.HOST_TO_HOST,
    10: CopyKind.PEER_TO_PEER,
    11: CopyKind.UNIFIED_HOST_TO_DEVICE,
    12: CopyKind.UNIFIED_DEVICE_TO_HOST,
    13: CopyKind.UNIFIED_DEVICE_TO_DEVICE,
}
_MEMORY_NUMBERS = {
    0: MemoryKind.PAGEABLE,
    1: MemoryKind.PINNED,
    2: MemoryKind.DEVICE,
    3: MemoryKind.ARRAY,
    4: MemoryKind.MANAGED,
    5: MemoryKind.DEVICE_STATIC,
    6: MemoryKind.MANAGED_STATIC,
}
# Of a stream's `flag`; one of a version to come says nothing that we know.
_STREAM_NUMBERS = {1: StreamKind.BLOCKING, 2: StreamKind.NON_BLOCKING, 3: StreamKind.NULL}


def copy_kinds(db: Database, numbers: Ints) -> Ints:
    """CopyKind of each row."""
    labelled = _labels(db, "ENUM_CUDA_MEMCPY_OPER", COPY_LABELS)
    return _translate(numbers, _COPY_NUMBERS | labelled, CopyKind.UNKNOWN)


def memory_kinds(db: Database, numbers: Ints) -> Ints:
    """MemoryKind of each row; UNKNOWN where not recorded."""
    labelled = _labels(db, "ENUM_CUDA_MEM_KIND", MEMORY_LABELS)
    return _translate(numbers, _MEMORY_NUMBERS | labelled, MemoryKind.UNKNOWN)


def stream_kinds(flags: Ints) -> Ints:
    """StreamKind of each row."""
    return _translate(flags, _STREAM_NUMBERS, StreamKind.UNKNOWN)


def _labels(db: Database, table: str, meaning: Mapping[str, int]) -> dict[int, int]:
    if not db.has(table, "id", "label"):
        return {}
    rows = db.query(f"SELECT id, {text('label')} AS label FROM {table}")
    pairs = zip(integers(rows, "id").tolist(), texts(rows, "label"), strict=True)
    return {n: meaning[label.lower()] for n, label in pairs if label.lower() in meaning}


def _translate(numbers: Ints, meaning: Mapping[int, int], otherwise: int) -> Ints:
    translated = np.full(numbers.shape, otherwise, dtype=np.int64)
    for number in np.unique(numbers).tolist():
        if number != ABSENT:
            translated[numbers == number] = meaning.get(number, otherwise)
    return translated
