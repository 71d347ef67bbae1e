"""The steady steps of one device as a `StepGraph`."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from overlapcheck.columns import ABSENT, ABSENT_TIME, Index, Ints, Mask
from overlapcheck.grouping import ordered
from overlapcheck.measurements import DeviceMeasurements, StepTimes
from overlapcheck.order import Operations, Order, Relation, Work
from overlapcheck.passes.process import ProcessTables
from overlapcheck.passes.replay.condensed import condensed
from overlapcheck.passes.replay.hand_offs import with_hand_offs
from overlapcheck.passes.replay.host_events import host_events
from overlapcheck.passes.replay.waited import waited_ns
from overlapcheck.passes.replay.waits import waits
from overlapcheck.replay_thresholds import LINK_BYTES_PER_NS, REPLAY
from overlapcheck.searches import taken
from overlapcheck.step_graph import GraphOperations, HostEvents, Links, StepGraph, Why
from overlapcheck.trace import Gpu

_TIMES_AS_MUCH = 3
_DEVICE = (
    Relation.STREAM, Relation.EVENT, Relation.NULL_STREAM, Relation.ENGINE, Relation.GRAPH
)  # fmt: skip


def step_graph(
    process: ProcessTables,
    device: DeviceMeasurements,
    gpu: Gpu | None,
    most_operations: int,
) -> StepGraph | None:
    """The last steady steps of a device and what of the process they hang together with.

    Args:
        process: its tables.
        device: measured, with the order of its process and the ranks that its collectives met.
        gpu: the device, where known.
        most_operations: of as many steps as hold no more, the last ones stand for all.

    Returns:
        None where there are too few steps to tell their pace, or a few hold many times as much.
    """
    order, steps = device.order, device.steps
    if len(steps) < REPLAY.fewest_steps:
        return None
    first = _first_replayed(order, steps, most_operations)
    if first is None:
        return None
    begin, end = int(steps.start_ns[first]), int(steps.end_ns[-1])
    all_ops = order.operations
    origin = _handed_over_since(all_ops, begin, int(steps.end_ns[first]), most_operations)
    events, event_of_call = host_events(process, origin, end)
    rows = np.flatnonzero((all_ops.end_ns > origin) & (all_ops.start_ns < end))
    ops = all_ops.rows(rows)
    step = np.searchsorted(steps.end_ns[first:], ops.end_ns)
    counted = (ops.end_ns > begin) & (step < len(steps) - first)
    blocks = _blocks(process, all_ops, rows)
    operations = GraphOperations(
        row=rows.astype(np.int32),
        start_ns=ops.start_ns,
        end_ns=ops.end_ns,
        length_ns=ops.end_ns - ops.start_ns,
        work=ops.work,
        stream=ops.stream,
        bytes=ops.bytes,
        pageable=ops.pageable,
        step=np.where(counted, step, ABSENT).astype(np.int32),
        event=taken(event_of_call, ops.call, ABSENT).astype(np.int32),
        blocks=blocks,
        waited_ns=waited_ns(ops, blocks, device.collectives),
    )
    # A device may have nothing but collectives: their pace is no step's.
    if np.unique(operations.step[counted & (ops.work == Work.COMPUTE)]).size < REPLAY.fewest_steps:
        return None
    number = np.full(len(all_ops), ABSENT, dtype=np.intp)
    number[rows] = np.arange(rows.size)
    graph = StepGraph(
        operations,
        events,
        Links.none(),
        np.zeros(2 * (rows.size + len(events)), dtype=np.int64),
        origin,
        len(steps) - first,
        len(steps),
        gpu.multiprocessors if gpu else None,
        link_bytes_per_ns=_link_rate(gpu),
    )
    event, operation = waits(operations, events, order.edges, event_of_call, number)
    graph = _with_waits(graph, event, operation)
    graph = _with_full_queues(graph)
    graph = replace(graph, links=Links.joined([graph.links, *_to_starts(graph, order, number)]))
    return explained(condensed(with_hand_offs(graph, process.strings)))


def _link_rate(gpu: Gpu | None) -> float:
    if gpu is None or gpu.compute_capability is None:
        return REPLAY.unknown_link_bytes_per_ns
    return next(rate for least, rate in LINK_BYTES_PER_NS if gpu.compute_capability >= least)


def _blocks(process: ProcessTables, ops: Operations, rows: Index) -> Ints:
    """Thread blocks of the kernels among some rows; kernels are in both tables in one order."""
    kernel = np.isin(ops.work, (Work.COMPUTE, Work.COMMUNICATION))
    number = np.cumsum(kernel)[rows] - 1
    return np.where(kernel[rows], taken(process.kernels.grid_count, number, 0), 0)


def _handed_over_since(ops: Operations, begin: int, end: int, most: int) -> int:
    """When the host began to hand over what ran in a step; it may have been far ahead."""
    first, last = np.searchsorted(ops.start_ns, (begin, end)).tolist()
    launched = ops.launch_start_ns[first:last]
    launched = launched[launched != ABSENT_TIME]
    room = max(0, first - most)
    earliest = int(launched.min()) if launched.size else begin
    return max(min(earliest, begin), int(ops.start_ns[room]))


def explained(graph: StepGraph) -> StepGraph:
    """The graph with residuals that make a replay give the recorded times."""
    times = graph.recorded_ns
    latest = np.full(graph.nodes, np.iinfo(np.int64).min)
    links = graph.links
    outside = links.before == ABSENT
    arrival = np.where(outside, links.lag_ns, times[links.before] + links.lag_ns)
    np.maximum.at(latest, links.after, arrival)
    ops, events = graph.operations, graph.events
    half = 2 * len(ops)
    latest[1:half:2] = np.maximum(latest[1:half:2], ops.start_ns + ops.length_ns)
    latest[half + 1 :: 2] = np.maximum(latest[half + 1 :: 2], events.start_ns + events.own_ns)
    follows = np.flatnonzero(events.previous != ABSENT)
    node = graph.call_start(follows)
    arrival = events.end_ns[events.previous[follows]] + events.gap_ns[follows]
    latest[node] = np.maximum(latest[node], arrival)
    free = latest != np.iinfo(np.int64).min
    return replace(graph, residual_ns=np.where(free, times - np.where(free, latest, 0), 0))


def _first_replayed(order: Order, steps: StepTimes, most: int) -> int | None:
    starts = np.searchsorted(order.operations.start_ns, steps.start_ns)
    last = np.searchsorted(order.operations.start_ns, steps.end_ns[-1])
    few = np.flatnonzero(last - starts <= most)
    fitting = int(few[0]) if few.size else len(steps)
    first = min(fitting, len(steps) - REPLAY.fewest_steps)
    return first if last - starts[first] <= _TIMES_AS_MUCH * most else None


def _with_waits(graph: StepGraph, event: Index, operation: Index) -> StepGraph:
    """Calls that returned when operations had ended: what is left is their own time."""
    ops, events = graph.operations, graph.events
    last = np.full(len(events), np.iinfo(np.int64).min)
    np.maximum.at(last, event, ops.end_ns[operation])
    binds = last > events.start_ns
    own = np.where(binds, np.minimum(events.own_ns, REPLAY.returns_ns), events.own_ns)
    # A pageable copy may return while its last part is still under way: the lag is negative then.
    spare = events.end_ns[event] - ops.end_ns[operation]
    # What a call that frees does, it does when all has ended.
    rest = np.where(events.frees, events.own_ns, REPLAY.returns_ns)[event]
    lag = np.where(binds[event], events.end_ns[event] - last[event], rest)
    held = Links.between(
        graph.end_of(operation), graph.call_end(event), np.minimum(lag, spare), Why.WAIT
    )
    return replace(
        graph, events=replace(events, own_ns=own), links=Links.joined([graph.links, held])
    )


def _with_full_queues(graph: StepGraph) -> StepGraph:
    """Launches wait until the stream's queue has room, where the recording does not deny it."""
    ops, events = graph.operations, graph.events
    handed = np.flatnonzero(ops.event != ABSENT)
    order = handed[ordered(ops.stream[handed], events.start_ns[ops.event[handed]])]
    early, late = order[: -REPLAY.queue_length], order[REPLAY.queue_length :]
    event = ops.event[late].astype(np.intp)
    fits = (ops.stream[early] == ops.stream[late]) & (ops.end_ns[early] <= events.end_ns[event])
    early, event = early[fits], event[fits]
    lag = np.minimum(events.end_ns[event] - ops.end_ns[early], 2 * REPLAY.returns_ns)
    held = event[ops.end_ns[early] > events.start_ns[event]]
    own = events.own_ns.copy()
    own[held] = np.minimum(own[held], _typical_own(events, held))
    full = Links.between(graph.end_of(early), graph.call_end(event), lag, Why.QUEUE)
    return replace(
        graph, events=replace(events, own_ns=own), links=Links.joined([graph.links, full])
    )


def _typical_own(events: HostEvents, rows: Index) -> Ints:
    """Median length of the calls of each one's name."""
    found = np.empty(rows.size, dtype=np.int64)
    for name in np.unique(events.name_id[rows]).tolist():
        length = (events.end_ns - events.start_ns)[events.name_id == name]
        found[events.name_id[rows] == name] = int(np.median(length))
    return found


def _to_starts(graph: StepGraph, order: Order, number: Index) -> list[Links]:
    """What operations started after: their call, and other operations.

    The lag of the link that came last is what was recorded; of the others, what is usual.
    """
    ops = graph.operations
    handed = np.flatnonzero(ops.event != ABSENT)
    parts = [(graph.call_start(ops.event[handed]), handed, Why.LAUNCH)]
    known = order.edges
    before, after = number[known.before], number[known.after]
    inside = (before != ABSENT) & (after != ABSENT)
    for relation in _DEVICE:
        mine = inside & (known.relation == relation)
        one, other = before[mine], after[mine]
        agrees = ops.end_ns[one] <= ops.start_ns[other] + REPLAY.follows_ns
        parts.append((graph.end_of(one[agrees]), other[agrees], Why(relation)))
    node = np.concatenate([part[0] for part in parts])
    to = np.concatenate([part[1] for part in parts])
    why = np.repeat([int(part[2]) for part in parts], [part[0].size for part in parts])
    times = graph.recorded_ns
    spare = ops.start_ns[to] - times[node]
    last = _latest_of_each(to, times[node], len(ops))
    kernel = ops.work[to] == Work.COMPUTE
    usual, share = np.empty(spare.size, dtype=np.int64), REPLAY.usual_lag_share
    for sort in np.unique(why).tolist():
        for among in (kernel, ~kernel):
            mine = (why == sort) & among
            seen = spare[mine & last]
            plain = REPLAY.launches_ns if sort == Why.LAUNCH else REPLAY.follows_ns
            usual[mine] = max(0, int(np.quantile(seen, share))) if seen.size else plain
    lag = np.minimum(usual, spare)
    arrival = times[node] + lag
    binding = _latest_of_each(to, arrival, len(ops))
    lag += np.where(binding, np.minimum(ops.start_ns[to] - arrival, REPLAY.explained_ns), 0)
    return [
        Links.between(
            node[why == sort], graph.start_of(to[why == sort]), lag[why == sort], Why(sort)
        )
        for sort in np.unique(why).tolist()
    ]


def _latest_of_each(group: Index, time_ns: Ints, groups: int) -> Mask:
    """Of the rows of each group the one with the latest time."""
    order = np.lexsort((time_ns, group))
    last = np.append(group[order][1:] != group[order][:-1], True) if order.size else order
    mask = np.zeros(group.size, dtype=bool)
    mask[order[np.asarray(last, dtype=bool)]] = True
    return mask
