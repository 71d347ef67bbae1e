"""A replay of unchanged steps gives the recorded times, to the nanosecond."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from overlapcheck.passes.replay.condensed import condensed
from overlapcheck.passes.replay.device_graph import device_graph
from overlapcheck.passes.replay.steps import explained
from overlapcheck.sources.nsys.read import read_trace
from overlapcheck.step_graph import Links, Why
from overlapcheck.whatif.replay import BeyondAllClocks, Circular, replay
from tests.export import RealExport
from tests.pictures import picture
from tests.whatif.graphs import MOST, SHARED, drawn, measured, unpacked

EXPORTS = ("cu_double_buffer", "cu_legacy_default", "ddp_bucketed", "fx_launch_blocking",
           "fx_p2p_serial", "pt_graph", "pt_pageable")  # fmt: skip
FOLDERS = ("traces", "pairs", "cases", "timelines", "public")
RECORDINGS = [path for folder in FOLDERS for path in sorted((SHARED / folder).glob("*.sqlite.xz"))]
LAUNCHES = """
s7   kernel fwd               |.aaa.bbb|
t1   cudaLaunchKernel         |a...b...|
t1   nvtx step                |00000000|
"""


def replays_exactly(export: Path, most: int = MOST) -> int:
    """How many devices of an export have steady steps; each is replayed."""
    trace = read_trace(export)
    found = [device_graph(trace, device, most) for device in measured(trace)]
    for graph in found:
        if graph is not None:
            assert np.array_equal(replay(graph).time_ns, graph.recorded_ns)
    return sum(graph is not None for graph in found)


@pytest.mark.parametrize("name", EXPORTS)
def test_a_real_export_is_replayed_exactly(name: str, real_export: RealExport) -> None:
    assert replays_exactly(real_export(name)) or name == "pt_graph"


@pytest.mark.skipif(not RECORDINGS, reason="../shared with its recordings is not here")
@pytest.mark.parametrize("path", RECORDINGS, ids=lambda p: f"{p.parent.name}/{p.name}")
def test_every_recording_is_replayed_exactly(path: Path, tmp_path: Path) -> None:
    replays_exactly(unpacked(path, tmp_path))


def test_so_is_a_part_of_the_steps(real_export: RealExport) -> None:
    trace = read_trace(real_export("pt_pageable"))
    (device,) = measured(trace)
    few = device_graph(trace, device, 200)

    assert few is not None
    assert 4 <= few.steps < few.recorded_steps == len(device.steps)
    assert np.array_equal(replay(few).time_ns, few.recorded_ns)


def test_steps_too_long_to_replay_a_few_are_left_alone(real_export: RealExport) -> None:
    trace = read_trace(real_export("pt_pageable"))
    (device,) = measured(trace)

    assert device_graph(trace, device, 20) is None


def test_calls_that_nothing_hangs_on_are_part_of_the_gap() -> None:
    graph = drawn(
        """
        s7   kernel fwd               |....aaaa..|
        t1   cudaLaunchKernel         |..aa......|
        t1   cudaGetDevice            |gg........|
        t1   nvtx step                |0000000000|
        """,
        column_us=1,
    )

    # The first event of a thread stays: nothing comes before it.
    assert len(graph.events) <= 8 + 1
    assert int(graph.events.gap_ns[-1]) == 8_000
    assert np.array_equal(replay(graph).time_ns, graph.recorded_ns)


def test_condensing_twice_changes_nothing() -> None:
    graph = drawn(LAUNCHES)
    again = condensed(graph)

    assert len(again.events) == len(graph.events)
    assert np.array_equal(again.links.after, graph.links.after)


def test_a_longer_kernel_moves_what_comes_behind_it() -> None:
    graph = drawn(
        """
        s7   kernel fwd               |aaaabbbb|
        t1   cudaLaunchKernel         |ab......|
        t1   nvtx step                |00000000|
        """
    )
    longer = graph.with_lengths(np.array([4]), np.array([500_000]))
    moved = replay(longer).time_ns - replay(graph).time_ns

    assert moved[2 * 4 + 1] == 100_000
    assert moved[2 * 5] == 100_000
    assert moved[2 * 3 + 1] == 0


def test_times_that_no_clock_can_show_are_refused() -> None:
    graph = drawn(LAUNCHES)
    late = Links.between(graph.end_of(np.array([5])), graph.start_of(np.array([6])), 1, Why.READY)
    beyond = replace(late, lag_ns=np.array([2**63 - 1]))

    with pytest.raises(BeyondAllClocks):
        replay(graph.with_links(beyond))


def test_nodes_that_wait_for_each_other_are_refused() -> None:
    graph = drawn(LAUNCHES)
    ends = graph.end_of(np.array([5, 6]))
    starts = graph.start_of(np.array([6, 5]))
    circle = graph.with_links(Links.between(ends, starts, 0, Why.READY))

    with pytest.raises(Circular):
        replay(circle)


def test_what_no_link_explains_stays_in_its_place() -> None:
    graph = drawn(LAUNCHES)
    loose = explained(replace(graph, links=Links.none()))

    assert np.array_equal(replay(loose).time_ns, graph.recorded_ns)


def test_no_steps_are_no_graph(real_export: RealExport) -> None:
    trace = read_trace(real_export("pt_pageable"))
    (device,) = measured(trace)
    without = replace(device, steps=device.steps.rows(np.arange(3)))

    assert device_graph(trace, without, MOST) is None


def test_collectives_alone_have_no_pace() -> None:
    text = LAUNCHES.replace("kernel fwd", "kernel ncclDevKernel_AllReduce_Sum_f32_RING_LL")
    trace = picture(text, repeat=8, column_us=100).trace()
    (device,) = measured(trace, skip=0)

    assert len(device.steps) == 8
    assert device_graph(trace, device, MOST) is None
