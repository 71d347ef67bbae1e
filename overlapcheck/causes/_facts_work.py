"""Lines of evidence about the operations that compute waited for."""

from __future__ import annotations

import numpy as np

from overlapcheck.causes._base import Context, by_cost
from overlapcheck.causes._facts import MAX_LINES, common, kernel, spread
from overlapcheck.columns import ABSENT, Codes, Ints, Mask, one_of
from overlapcheck.grouping import first_rows, groups
from overlapcheck.ledger import IdleLedger
from overlapcheck.order import LINK_COPIES, Relation, Work
from overlapcheck.quantities import bandwidth, count_of, duration, size

_NOUNS = {
    Work.H2D: ("h2d copy", "h2d copies"),
    Work.D2H: ("d2h copy", "d2h copies"),
    Work.P2P: ("p2p copy", "p2p copies"),
    Work.D2D: ("d2d copy", "d2d copies"),
    Work.MEMSET: ("memset", "memsets"),
}


def called_copies(context: Context) -> list[str]:
    """The copies that the blamed calls made: number, size, stream."""
    return _called(context, {})


def pageable_copies(context: Context) -> list[str]:
    """The same, where the blamed calls copied pageable memory."""
    return _called(context, {Work.H2D: " from pageable memory", Work.D2H: " to pageable memory"})


def _called(context: Context, memory: dict[Work, str]) -> list[str]:
    least = context.measured.thresholds.speed_min_bytes
    rows = context.rows.rows(one_of(context.rows.call_work, LINK_COPIES))
    each = rows.rows(first_rows(rows.call_start_ns))
    ops = context.device.order.operations
    copy_ns = ops.end_ns[each.call_operation] - ops.start_ns[each.call_operation]
    lines = []
    for work, stream, mine in _groups(each.call_work, each.call_stream_id, each.call_bytes):
        sizes, lengths = each.call_bytes[mine], copy_ns[mine]
        # The copy's own length: the call may have waited for kernels before it.
        told = sizes.max() >= least
        speed = f", {bandwidth(float(sizes.sum()), float(lengths.sum()))}" if told else ""
        noun = count_of(len(sizes), *_NOUNS[work])
        lines.append(
            f"{noun} of {spread(sizes, size)}{memory.get(work, '')} on stream {stream}{speed}"
        )
    return lines


def waited_copies(context: Context) -> list[str]:
    """The copies that compute waited for: number, size, stream, speed."""
    least = context.measured.thresholds.speed_min_bytes
    rows = _waited(context)
    each = rows.rows(first_rows(rows.operation))
    lines = []
    for work, stream, mine in _groups(each.work, each.work_stream_id, each.work_bytes):
        sizes, lengths = each.work_bytes[mine], each.work_ns[mine]
        speed = bandwidth(float(sizes.sum()), float(lengths.sum()))
        told = f" ({speed})" if sizes.max() >= least else ""
        lines.append(
            f"{count_of(len(sizes), *_NOUNS[work])} of {spread(sizes, size)} on stream {stream},"
            f" {spread(lengths, duration)} each{told}"
        )
    return lines


def _waited(context: Context) -> IdleLedger:
    return context.rows.rows(one_of(context.rows.work, LINK_COPIES))


def _groups(work: Codes, stream: Ints, count_bytes: Ints) -> list[tuple[Work, int, Mask]]:
    """Copies of one direction and stream, most bytes first."""
    if work.size == 0:
        return []
    first, group = groups(work, stream)
    total = np.bincount(group, weights=count_bytes, minlength=first.size)
    order = np.argsort(-total, kind="stable")[:MAX_LINES]
    return [(Work(work[first[i]]), int(stream[first[i]]), group == i) for i in order.tolist()]


def relations(context: Context) -> list[str]:
    """What made the copies wait for compute, and whether that is proven."""
    fills = _waited(context)
    if len(fills) == 0:
        return []
    kernels, copies = common(fills.kernel_stream_id), common(fills.work_stream_id)
    relation = Relation(common(fills.relation))
    shared = f"copies and kernels share stream {copies}, which runs them in order"
    own = f"stream {copies} runs its copies in order: these queued behind others of it"
    line = {
        Relation.STREAM: shared if kernels == copies else own,
        Relation.EVENT: f"stream {copies} waits for an event recorded behind kernels, and stream"
        f" {kernels} for the copy",
        Relation.NULL_STREAM: f"one of streams {copies} and {kernels} is the legacy null stream,"
        " the other a blocking one: neither runs beside the other",
        Relation.GRAPH: f"stream {copies} waits for kernels, and stream {kernels} for the copy, by"
        " the order of its graph",
        Relation.ENGINE: f"copies of stream {copies} queue behind another stream's copies",
        Relation.HOST: "",
        Relation.NONE: "",
    }[relation]
    lines = [line] if line else []
    share = context.measured.thresholds.mostly_inferred_share
    unproven = {Relation.EVENT: "event rows prove the wait", Relation.GRAPH: "rows hold its edges"}
    if relation in unproven and int(fills.inferred.sum()) > share * len(fills):
        lines.append(f"inferred from adjacent times: no {unproven[relation]}")
    return lines


def other_devices(context: Context) -> list[str]:
    """The devices of the process whose work was waited for."""
    ops, edges = context.device.order.operations, context.device.order.edges
    waited = context.rows.operation[context.rows.operation != ABSENT]
    own = context.device.key.device_id
    if (ops.device_id == own).all():
        return []
    rows = np.isin(edges.after, waited) & (edges.relation != Relation.HOST)
    before = edges.before[rows & (ops.device_id[edges.before] != own)]
    lines = []
    for device in np.unique(ops.device_id[before]).tolist():
        streams = ops.stream_id[before[ops.device_id[before] == device]]
        lines.append(f"device {own} waits for work of device {device} (stream {common(streams)})")
    return lines


def collectives(context: Context) -> list[str]:
    """Which collectives compute waited for."""
    rows = context.rows.rows(context.rows.work == Work.COMMUNICATION)
    lines = []
    for name_id, _, ns in by_cost(rows, rows.work_name_id, MAX_LINES):
        mine = rows.rows(rows.work_name_id == name_id)
        each = mine.rows(first_rows(mine.operation))
        lines.append(
            f"{len(each)} x {kernel(context, name_id)} on stream {common(each.work_stream_id)},"
            f" {spread(each.work_ns, duration)} each, {duration(ns)} exposed"
        )
    return lines


def device_work(context: Context) -> list[str]:
    """Copies within the device and memsets between kernels."""
    rows = context.rows.rows(one_of(context.rows.work, (Work.D2D, Work.MEMSET)))
    lines = []
    for work, _, ns in by_cost(rows, rows.work, MAX_LINES):
        each = rows.rows(rows.work == work)
        each = each.rows(first_rows(each.operation))
        lines.append(
            f"{count_of(len(each), *_NOUNS[Work(work)])} of {spread(each.work_bytes, size)} on"
            f" stream {common(each.work_stream_id)}, {duration(ns)} between kernels"
        )
    return lines
