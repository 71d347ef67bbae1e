"""Exports of Nsight Systems: the only place that knows SQL, nsys's tables, numbers and words."""

from __future__ import annotations

from overlapcheck.sources.nsys.source import NsysSource

SOURCE = NsysSource()
