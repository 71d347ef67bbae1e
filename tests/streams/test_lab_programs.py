"""Real recordings of our own programs, against what their sources do."""

from __future__ import annotations

import pytest

from overlapcheck.stream_contract import Proof
from tests.export import RealExport
from tests.streams.programs import edges_of, hosts_of, measured_export, report_of

READY, REUSE = ("h2d", "compute", "ready"), ("compute", "h2d", "reuse")
TIMER = ("cudaEventSynchronize", "compute")
BUCKETS = 3


@pytest.mark.parametrize(
    ("name", "streams", "edges", "hosts"),
    [
        # pipeline.cu: copy_s waits for done[b], comp_s for ready[b], b = chunk % 2.
        (
            "cu_double_buffer",
            {13: "h2d", 14: "compute"},
            {(*READY, 0, 1), (*REUSE, -2, 1)},
            set(),
        ),
        # The same, with compute on the null stream.
        (
            "cu_legacy_default",
            {13: "h2d", 7: "compute"},
            {(*READY, 0, 1), (*REUSE, -2, 1)},
            set(),
        ),
        # The events pass through copy_s, which runs nothing: cudaMemcpy runs on the null stream.
        ("cu_sync_memcpy", {7: "h2d", 14: "compute"}, set(), set()),
        # train.py: main.wait_stream(side) at the begin of a step, for the copy of the step before.
        ("pt_capture_range", {7: "compute", 13: "h2d"}, {(*READY, -1, 1)}, set()),
        ("pt_graph", {7: "compute", 13: "h2d"}, {(*READY, -1, 1)}, set()),
        # ddp.py: a prefetch one step ahead, an all-reduce for each bucket, and DDP's timers.
        (
            "ddp_bucketed",
            {7: "compute", 17: "collective", 21: "h2d"},
            {
                (*READY, -1, 1),
                ("compute", "collective", "ready", 0, BUCKETS),
                ("collective", "compute", "ready", 0, BUCKETS),
            },
            {(*TIMER, -1, 7), (*TIMER, -2, 1)},
        ),
    ],
)  # fmt: skip
def test_the_waits_are_those_of_the_source(
    name: str,
    streams: dict[int, str],
    edges: set[tuple[str, str, str, int, int]],
    hosts: set[tuple[str, str | None, int | None, int]],
    real_export: RealExport,
) -> None:
    graphs = report_of(measured_export(real_export(name))).graphs

    assert graphs
    for graph in graphs:
        assert {n: seen.name for seen in graph.streams for n in seen.stream_ids} == streams
        assert edges_of(graph) == edges
        assert hosts_of(graph) == hosts


def test_the_null_stream_orders_what_no_call_does(real_export: RealExport) -> None:
    (graph,) = report_of(measured_export(real_export("cu_legacy_default"))).graphs
    rules = [edge.rule for edge in graph.edges if edge.rule.proof is Proof.NULL_STREAM]

    assert {(rule.source, rule.target, rule.distance) for rule in rules} == {
        ("h2d", "compute", 0),
        ("compute", "h2d", -1),
    }


def test_a_synchronous_copy_is_a_wait_of_the_host(real_export: RealExport) -> None:
    (graph,) = report_of(measured_export(real_export("cu_sync_memcpy"))).graphs
    (host,) = graph.host

    assert (host.rule.call, host.rule.of, host.rule.copy, host.rule.memory) == (
        "cudaMemcpy", "h2d", True, True,
    )  # fmt: skip


def test_timers_of_ddp_are_seen_as_such(real_export: RealExport) -> None:
    for graph in report_of(measured_export(real_export("ddp_bucketed"))).graphs:
        assert graph.host and all(host.rule.timer for host in graph.host)
