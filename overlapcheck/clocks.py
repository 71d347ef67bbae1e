"""What the host did, at the times that a device's clock showed.

Recorders align the clocks of host and device to about a microsecond. Where these contradict each
other by more (`passes/clock_skew.py` says by how much), times of the two are compared, drawn and
looked up only after the host's have been moved.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TypeVar

from overlapcheck.trace_tables import ApiCalls, MpiCalls, OsCalls, Overheads, Ranges

OfHost = TypeVar("OfHost", ApiCalls, MpiCalls, OsCalls, Overheads, Ranges)


def on_device_clock(table: OfHost, skew_ns: int) -> OfHost:
    """A table of the host, moved to a device's clock; the same object where the clocks agree.

    Args:
        table: rows with start and end.
        skew_ns: by how much the device's clock is ahead of the host's.
    """
    if not skew_ns:
        return table
    return replace(table, start_ns=table.start_ns + skew_ns, end_ns=table.end_ns + skew_ns)
