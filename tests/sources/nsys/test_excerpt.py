"""A window is judged alike whether all rows were read or only those that it needs."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from overlapcheck.errors import PolicyInvalid
from overlapcheck.ledger import Reason
from overlapcheck.measurements import DeviceMeasurements, Measurements
from overlapcheck.passes.measure import measure
from overlapcheck.selection import Selection
from overlapcheck.sources.nsys import excerpt
from overlapcheck.sources.nsys.excerpt import Launched
from overlapcheck.sources.nsys.processes import ANY_PROCESS
from overlapcheck.sources.nsys.read import read_trace
from overlapcheck.trace import rows_or_none
from overlapcheck.trace_tables import ApiCalls, Kernels, Ranges
from tests.export import RealExport

EXPORTS = ("pt_pageable", "cu_double_buffer", "cu_legacy_default", "ddp_bucketed", "pt_graph")
SHORT_NS = 50_000_000
"""Instead of a second, which is longer than these traces."""


def middle(path: Path) -> tuple[int, int]:
    """The second third of the window that is judged by itself."""
    window = measure(read_trace(path), Selection()).devices[0].window
    third = window.length_ns // 3
    return window.start_ns + third, window.start_ns + 2 * third


def numbers(device: DeviceMeasurements) -> dict[str, object]:
    length = device.ledger.end_ns - device.ledger.start_ns
    by_reason = np.bincount(device.ledger.reason, weights=length, minlength=len(Reason))
    return {
        "compute": device.compute_ns,
        "communication": device.communication.total_ns,
        "recoverable": device.recoverable,
        "copies": {d.value: (c.count, c.copy_ns, c.hidden_ns) for d, c in device.copies.items()},
        "ledger": by_reason.tolist(),
        "blocking": device.blocking.idle_ns.tolist(),
        "steps": device.steps.number.tolist(),
        "gaps": len(device.gaps),
    }


def told(measured: Measurements) -> list[object]:
    return [
        [numbers(device) for device in measured.devices],
        [problem.what for problem in measured.problems],
    ]


@pytest.mark.parametrize("name", EXPORTS)
@pytest.mark.parametrize("margin_ns", [excerpt.MARGIN_NS, SHORT_NS])
def test_a_window_of_an_excerpt_is_that_of_the_whole(
    name: str, margin_ns: int, real_export: RealExport, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = real_export(name)
    window = middle(path)
    monkeypatch.setattr(excerpt, "MARGIN_NS", margin_ns)

    whole = measure(read_trace(path), Selection(window_ns=window))
    part = measure(read_trace(path, window), Selection(window_ns=window))

    assert told(part) == told(whole)
    assert part.devices


def test_an_excerpt_holds_what_the_window_needs_and_little_else(
    real_export: RealExport, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = real_export("pt_pageable")
    monkeypatch.setattr(excerpt, "MARGIN_NS", 1_000_000)
    start, end = middle(path)
    whole, part = read_trace(path), read_trace(path, (start, end))
    kernels = rows_or_none(part.kernels, Kernels)
    calls = rows_or_none(part.api_calls, ApiCalls)

    assert 0 < len(kernels) < len(rows_or_none(whole.kernels, Kernels)) / 2
    assert 0 < len(calls) < len(rows_or_none(whole.api_calls, ApiCalls)) / 2
    assert kernels.end_ns.min() > start - 2_000_000
    assert kernels.start_ns.max() < end + 1_000_000
    # No kernel without its launch, however early that was.
    assert np.isin(kernels.correlation_id, calls.correlation_id).all()
    # Steps keep their numbers.
    assert (
        rows_or_none(part.ranges, Ranges).frame().equals(rows_or_none(whole.ranges, Ranges).frame())
    )


def test_a_window_without_kernels_is_told_where_they_are(real_export: RealExport) -> None:
    with pytest.raises(PolicyInvalid) as wrong:
        read_trace(real_export("pt_pageable"), (1_000_000_000, 2_000_000_000))

    assert wrong.value.message == "window 1..2: no kernel runs there"
    assert "kernels run from 16." in wrong.value.hint


def columns(pid: int, *correlation_ids: int) -> dict[str, np.ndarray]:
    ids = np.array(correlation_ids, dtype=np.int64)
    return {
        "start": np.zeros_like(ids),
        "correlationId": ids,
        "globalTid": np.full_like(ids, (pid << 24) | 7),
    }


def test_launches_are_told_apart_by_process() -> None:
    launched = Launched(np.array([5, 5, 9]), np.array([1, 2, 3]))

    assert launched.by(columns(5, 1, 2, 3)).tolist() == [True, True, False]
    assert launched.by(columns(9, 1, 2, 3)).tolist() == [False, False, True]
    assert launched.by(columns(7, 1, 2, 3)).tolist() == [False, False, False]


def test_work_of_an_unknown_process_may_be_any_processs() -> None:
    launched = Launched(np.array([ANY_PROCESS, ANY_PROCESS]), np.array([1, 3]))

    assert launched.by(columns(5, 1, 2, 3)).tolist() == [True, False, True]


def test_no_work_has_no_launches() -> None:
    nothing = np.empty(0, dtype=np.int64)

    assert not Launched(nothing, nothing).by(columns(5, 1, 2)).any()
