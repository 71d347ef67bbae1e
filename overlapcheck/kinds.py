"""Kinds of copies, memory and streams, and the keys that streams and devices go by."""

from __future__ import annotations

from enum import IntEnum
from typing import NamedTuple


class CopyKind(IntEnum):
    """Direction of a copy, numbered as nsys does."""

    UNKNOWN = 0
    HOST_TO_DEVICE = 1
    DEVICE_TO_HOST = 2
    DEVICE_TO_DEVICE = 8
    HOST_TO_HOST = 9
    PEER_TO_PEER = 10
    UNIFIED_HOST_TO_DEVICE = 11
    UNIFIED_DEVICE_TO_HOST = 12
    UNIFIED_DEVICE_TO_DEVICE = 13


UNIFIED_KINDS = (
    CopyKind.UNIFIED_HOST_TO_DEVICE,
    CopyKind.UNIFIED_DEVICE_TO_HOST,
    CopyKind.UNIFIED_DEVICE_TO_DEVICE,
)
"""Migrations of unified memory: work of the driver, not copies of the program."""


class MemoryKind(IntEnum):
    """Where a copy's source or destination lies, numbered as nsys does (not as CUPTI does)."""

    PAGEABLE = 0
    PINNED = 1
    DEVICE = 2
    ARRAY = 3
    MANAGED = 4
    DEVICE_STATIC = 5
    MANAGED_STATIC = 6
    UNKNOWN = 7


class StreamKind(IntEnum):
    """How a stream relates to the legacy null stream."""

    UNKNOWN = 0
    BLOCKING = 1
    NON_BLOCKING = 2
    NULL = 3


ANY_PROCESS = 0
"""Process of rows in exports that do not record one."""


class StreamKey(NamedTuple):
    """Identity of a stream within one process and device."""

    context_id: int
    stream_id: int


class DeviceKey(NamedTuple):
    """What every number belongs to: one device as one process used it."""

    pid: int
    device_id: int
