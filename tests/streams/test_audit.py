"""The audit says what is proven, and of the rest only that nothing recorded orders it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from overlapcheck.renderers.streams import stream_renderers
from overlapcheck.stream_audit import sentence
from overlapcheck.stream_contract import Buffer, EdgeKind, StreamContract
from overlapcheck.stream_report import StreamReport
from overlapcheck.verdict import Outcome
from tests.export import RealExport
from tests.pictures import picture
from tests.streams.programs import DOUBLE_BUFFER, agreed, measured_export, report_of

TWO = Buffer("h2d", "compute", 2)
READY = {"call": "w", "stream": 7, "record": "r"}
REUSE = {"call": "u", "stream": 13, "record": "d", "back": 2}


def audited(buffer: Buffer, waits: list[dict[str, Any]]) -> StreamReport:
    """The double buffer by a contract of its own edges and a declared buffer."""
    measured = picture(
        DOUBLE_BUFFER,
        column_us=10,
        repeat=8,
        streams={"7": "non-blocking", "13": "non-blocking"},
        records=[{"call": "r", "stream": 13}, {"call": "d", "stream": 7}],
        waits=waits,
    ).measure(skip=None, stream_waits=True)
    own = agreed(report_of(measured))
    return report_of(measured, replace(own, buffers=(buffer,)))


def test_both_orders_of_a_declared_buffer_are_proven_by_their_chain() -> None:
    report = audited(TWO, [REUSE, READY])
    ready, reuse = report.audits[0].orderings

    assert (ready.need, ready.distance, reuse.need, reuse.distance) == (
        EdgeKind.READY, 0, EdgeKind.REUSE, -2,
    )  # fmt: skip
    assert ready.holds and reuse.holds
    assert sentence(ready).startswith("ordered by this chain (step ")
    assert "an event recorded on stream 13, awaited by cudaStreamWaitEvent" in sentence(ready)
    assert report.exit_code == 0


@pytest.mark.parametrize(
    ("buffer", "waits", "open_"),
    [
        (TWO, [READY], ["reuse"]),
        (TWO, [REUSE], ["ready"]),
        (TWO, [REUSE | {"back": 3}, READY], ["reuse"]),
        (TWO, [REUSE | {"back": 1}, READY], []),  # more than enough
        (Buffer("h2d", "compute", 3), [REUSE, READY], []),
        (Buffer("h2d", "compute", 1), [REUSE, READY], ["reuse"]),
        (Buffer("h2d", "compute", fresh=True), [READY], []),
        (Buffer("h2d", "compute", fresh=True), [REUSE], ["ready"]),
    ],
)
def test_an_order_that_nothing_makes_fails(
    buffer: Buffer, waits: list[dict[str, Any]], open_: list[str]
) -> None:
    report = audited(buffer, waits)
    orderings = report.audits[0].orderings

    assert [one.need.value for one in orderings if not one.holds] == open_
    assert report.exit_code == (1 if open_ else 0)
    for one in orderings:
        if not one.holds:
            assert sentence(one).startswith("nothing recorded orders ")


def test_a_prefetch_one_step_ahead_needs_one_step_less_on_the_way_back() -> None:
    """Copies of step i are for step i + 1: with two slots they wait for step i - 1."""
    text = """
    s7  kernel k            |....kkkk...........|
    s13 h2d pinned 64MiB    |.........cccc......|
    t1  cudaStreamWaitEvent |.w...u.............|
    t1  cudaLaunchKernel    |..k................|
    t1  cudaEventRecord     |...d....r..........|
    t1  cudaMemcpyAsync     |.......c...........|
    t1  nvtx step           |0000000000000000000|
    """
    for back, holds in ((1, True), (2, False)):
        measured = picture(
            text,
            column_us=10,
            repeat=8,
            streams={"7": "non-blocking", "13": "non-blocking"},
            records=[{"call": "r", "stream": 13}, {"call": "d", "stream": 7}],
            waits=[
                {"call": "w", "stream": 7, "record": "r", "back": 1},
                {"call": "u", "stream": 13, "record": "d", "back": back},
            ],
        ).measure(skip=None, stream_waits=True)
        own = agreed(report_of(measured))
        report = report_of(measured, replace(own, buffers=(TWO,)))
        ready, reuse = report.audits[0].orderings

        assert (ready.distance, ready.holds) == (-1, True)
        assert (reuse.distance, reuse.holds) == (-1, holds)


def test_what_the_host_orders_is_said_to_be_ordered_by_the_host(real_export: RealExport) -> None:
    """A synchronous copy on the null stream: behind nothing, and the host lets kernels wait."""
    measured = measured_export(real_export("cu_sync_memcpy"))
    contract = StreamContract(agreed(report_of(measured)).pipelines, buffers=(TWO,))
    report = report_of(measured, contract)
    ready, reuse = report.audits[0].orderings

    assert ready.holds and ready.by_host == ready.of_steps
    assert "the host waited for stream 7 (cudaMemcpy)" in sentence(ready)
    assert reuse.ordered == 0
    assert sentence(reuse).startswith("nothing recorded orders kernel process and h2d copy of 64.0")
    assert report.checks[0].outcome is Outcome.FAIL


def test_copies_that_no_edge_joins_are_a_hint_and_no_failure() -> None:
    measured = picture(
        """
        s7  kernel k            |....kkkkkkkkk......|
        s13 h2d pinned 64MiB    |....cccc...........|
        t1  cudaMemcpyAsync     |..c................|
        t1  cudaLaunchKernel    |...k...............|
        t1  nvtx step           |0000000000000000000|
        """,
        column_us=10,
        repeat=6,
        streams={"7": "non-blocking", "13": "non-blocking"},
    ).measure(skip=None, stream_waits=True)
    report = report_of(measured)

    (hint,) = report.audits[0].hints
    assert hint.stream == "h2d"
    assert hint.text.startswith("nothing recorded orders the copies of h2d")
    assert report.exit_code == 0


def test_no_format_calls_anything_a_race() -> None:
    report = audited(TWO, [READY])

    for renderer in stream_renderers().values():
        assert "race" not in renderer.render(report).lower().replace("trace", "")
