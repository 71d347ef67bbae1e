"""Kinds of copies, memory and streams, and the keys that streams and devices go by."""

from __future__ import annotations

from typing import NamedTuple

from overlapcheck.codes import Code


class CopyKind(Code):
    """Direction of a copy."""

    UNKNOWN = 0
    HOST_TO_DEVICE = 1
    DEVICE_TO_HOST = 2
    DEVICE_TO_DEVICE = 3
    HOST_TO_HOST = 4
    PEER_TO_PEER = 5
    UNIFIED_HOST_TO_DEVICE = 6
    UNIFIED_DEVICE_TO_HOST = 7
    UNIFIED_DEVICE_TO_DEVICE = 8


UNIFIED_KINDS = (
    CopyKind.UNIFIED_HOST_TO_DEVICE,
    CopyKind.UNIFIED_DEVICE_TO_HOST,
    CopyKind.UNIFIED_DEVICE_TO_DEVICE,
)
"""Migrations of unified memory: work of the driver, not copies of the program."""


class MemoryKind(Code):
    """Where a copy's source or destination lies."""

    UNKNOWN = 0
    PAGEABLE = 1
    PINNED = 2
    DEVICE = 3
    ARRAY = 4
    MANAGED = 5
    DEVICE_STATIC = 6
    MANAGED_STATIC = 7


class StreamKind(Code):
    """How a stream relates to the legacy null stream."""

    UNKNOWN = 0
    BLOCKING = 1
    NON_BLOCKING = 2
    NULL = 3


class StreamKey(NamedTuple):
    """Identity of a stream within one process and device."""

    context_id: int
    stream_id: int


class ProcessKey(NamedTuple):
    """Identity of a process within one recording."""

    pid: int
    """The operating system's; ABSENT where the recording does not tell."""
    host: int = 0
    """Number that the recording has for the machine."""


class DeviceKey(NamedTuple):
    """What every number belongs to: one device as one process used it."""

    pid: int
    """The operating system's; ABSENT where the recording does not tell."""
    device_id: int
    host: int = 0
    """Number that the recording has for the machine."""

    @property
    def process(self) -> ProcessKey:
        """The process."""
        return ProcessKey(self.pid, self.host)
