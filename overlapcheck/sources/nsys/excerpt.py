"""Reading a part of an export: the rows that the numbers of a window are made from.

                 margins        window     margin
    device work  ------------[==========)------      what touches any of it
    calls              ------[==========)            and those that launched the device work

What explains the edges of a window lies near them: the operation before its first gap, the call
that drained the device. A launch after the window explains nothing in it, unless its work began;
a launch before it may have taken so long that its work was over long before the call.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

from overlapcheck.columns import Index, Ints, Mask
from overlapcheck.grouping import distinct
from overlapcheck.sources.nsys.processes import ANY_PROCESS

MARGIN_NS = 1_000_000_000
"""Longer than launches are ahead of their kernels: a queue holds about a thousand."""

Keep = Callable[[Mapping[str, Ints]], Mask]
"""Which rows to read, by the export's columns."""


@dataclass(frozen=True)
class Excerpt:
    """The part of a trace that is read."""

    start_ns: int
    end_ns: int

    @property
    def length_with_margins_ns(self) -> int:
        """Length of what is read of the device work."""
        return self.end_ns - self.start_ns + 3 * MARGIN_NS

    def device_work(self, columns: Mapping[str, Ints]) -> Mask:
        """Operations that touch the window or its margins, and those without a usable time."""
        start, end = columns["start"], columns["end"]
        untimed = (end < start) | ((start == 0) & (end == 0))
        mask: Mask = untimed | _touch(
            columns, self.start_ns - 2 * MARGIN_NS, self.end_ns + MARGIN_NS
        )
        return mask

    def host_time(self, columns: Mapping[str, Ints]) -> Mask:
        """Calls that touch the window or the margin before it."""
        return _touch(columns, self.start_ns - MARGIN_NS, self.end_ns)

    def calls(self, launched: Launched) -> Keep:
        """Those, and the launch calls of the device work that was read."""

        def keep(columns: Mapping[str, Ints]) -> Mask:
            mask: Mask = self.host_time(columns) | launched.by(columns)
            return mask

        return keep


class Launched:
    """Finds the launch calls of some device work.

    Args:
        pid: process of each operation, shape (n,); ANY_PROCESS where the export does not say.
        correlation_id: of each, shape (n,).
    """

    def __init__(self, pid: Ints, correlation_id: Ints) -> None:
        self._pids = distinct(pid)
        self._any = bool((self._pids == ANY_PROCESS).any())
        codes = 0 if self._any else np.searchsorted(self._pids, pid)
        self._keys = distinct(_key(codes, correlation_id))

    def by(self, columns: Mapping[str, Ints]) -> Mask:
        """The calls that launched any of it, by the export's columns."""
        if "correlationId" not in columns or self._keys.size == 0:
            return np.zeros(columns["start"].shape, dtype=bool)
        wanted = columns["correlationId"]
        if self._any or "globalTid" not in columns:
            return self._found(wanted)
        pid = columns["globalTid"] >> 24
        codes = np.minimum(np.searchsorted(self._pids, pid), self._pids.size - 1)
        mask: Mask = self._found(_key(codes, wanted)) & (self._pids[codes] == pid)
        return mask

    def _found(self, keys: Ints) -> Mask:
        at = np.minimum(np.searchsorted(self._keys, keys), self._keys.size - 1)
        mask: Mask = self._keys[at] == keys
        return mask


def _key(process: Index | int, correlation_id: Ints) -> Ints:
    """Process and call in one number: correlation ids have 32 bits."""
    key: Ints = correlation_id + (process << 34)
    return key


def _touch(columns: Mapping[str, Ints], start_ns: int, end_ns: int) -> Mask:
    mask: Mask = (columns["start"] < end_ns) & (columns["end"] > start_ns)
    return mask
