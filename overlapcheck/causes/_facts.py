"""Lines of evidence that several causes share; every number comes from ledger rows."""

from __future__ import annotations

import numpy as np

from overlapcheck.causes._base import Context, by_cost
from overlapcheck.columns import ABSENT, Ints
from overlapcheck.ledger import Relation, Work
from overlapcheck.quantities import bandwidth, count_of, duration, size

MAX_LINES = 2
"""Of one kind of fact; the costliest are told."""

_WORK_NAMES = {
    Work.H2D: "h2d copy",
    Work.D2H: "d2h copy",
    Work.P2P: "p2p copy",
    Work.D2D: "copy within the device",
    Work.MEMSET: "memset",
    Work.MIGRATION: "migration",
    Work.COMMUNICATION: "collective",
    Work.COMPUTE: "kernel",
}
_PLURALS = {
    Work.H2D: "h2d copies",
    Work.D2H: "d2h copies",
    Work.P2P: "p2p copies",
    Work.D2D: "copies within the device",
}


def waits(context: Context) -> list[str]:
    """How many waits, in how many steps, and the longest with the kernel that it kept waiting."""
    rows, device = context.rows, context.device
    length = rows.end_ns - rows.start_ns
    longest = int(np.argmax(length))
    steps = np.unique(rows.step[rows.step >= 0])
    where = f" in {steps.size} of {device.window.steps} steps" if device.window.steps else ""
    pieces = int(np.unique(_piece_ends(rows.start_ns, rows.end_ns)).size)
    text = f"{count_of(pieces, 'wait')}{where}, {duration(int(length.sum()))} together"
    step = int(rows.step[longest])
    at = f"step {step}" if step >= 0 and device.window.steps else _clock(rows.start_ns[longest])
    name = context.measured.names.strings.text(int(rows.kernel_name_id[longest]))
    before = f", before kernel {name}" if name else ""
    return [text, f"longest {duration(int(length[longest]))} at {at}{before}"]


def calls(context: Context) -> list[str]:
    """Which calls held which thread, how often and how long each."""
    rows = context.rows
    known = rows.call_name_id != ABSENT
    rows = rows.rows(known)
    if len(rows) == 0:
        return []
    names, pid = context.measured.names, context.device.key.pid
    lines = []
    for name_id, _, _ in by_cost(rows, rows.call_name_id)[:MAX_LINES]:
        mine = rows.rows(rows.call_name_id == name_id)
        _, first = np.unique(mine.call_start_ns, return_index=True)
        each = mine.rows(first)
        held = int(np.median(each.call_ns))
        times = count_of(len(each), "time")
        lines.append(
            f"{names.strings.text(name_id)} held {names.thread(pid, int(each.tid[0]))}"
            f" {times}, {duration(held)} each"
        )
    return lines


def called_copies(context: Context) -> list[str]:
    """The copies that the blamed calls made: number, size, memory, stream."""
    rows = context.rows
    copying = np.isin(rows.call_work, (Work.H2D, Work.D2H, Work.P2P))
    rows = rows.rows(copying)
    if len(rows) == 0:
        return []
    _, first = np.unique(rows.call_start_ns, return_index=True)
    each = rows.rows(first)
    return _copies(each.call_work, each.call_bytes, each.call_stream_id, each.call_ns)


def waited_copies(context: Context) -> list[str]:
    """The copies that compute waited for: number, size, stream, speed."""
    rows = context.rows
    rows = rows.rows(np.isin(rows.work, (Work.H2D, Work.D2H, Work.P2P)))
    if len(rows) == 0:
        return []
    _, first = np.unique(rows.operation, return_index=True)
    each = rows.rows(first)
    return _copies(each.work, each.work_bytes, each.work_stream_id, each.work_ns)


def _copies(work: Ints, count_bytes: Ints, stream: Ints, ns: Ints) -> list[str]:
    lines = []
    keys = np.stack((work, stream), axis=1)
    groups, group, counts = np.unique(keys, axis=0, return_inverse=True, return_counts=True)
    totals = np.bincount(group, weights=count_bytes, minlength=len(groups))
    for number in np.argsort(-totals, kind="stable")[:MAX_LINES]:
        kind, stream_id = groups[number].tolist()
        mine = group == number
        typical, typical_ns = float(np.median(count_bytes[mine])), float(np.median(ns[mine]))
        noun = count_of(int(counts[number]), _WORK_NAMES[Work(kind)], _PLURALS[Work(kind)])
        lines.append(
            f"{noun} of {size(typical)} on stream {stream_id},"
            f" {duration(typical_ns)} each ({bandwidth(typical, typical_ns)})"
        )
    return lines


def relations(context: Context) -> list[str]:
    """What made the copies wait for compute, and whether that is proven."""
    rows = context.rows
    fills = rows.rows(np.isin(rows.work, (Work.H2D, Work.D2H, Work.P2P)))
    if len(fills) == 0:
        return []
    kernel, copy = _common(fills.kernel_stream_id), _common(fills.work_stream_id)
    relation = Relation(_common(fills.relation))
    line = {
        Relation.STREAM: f"copies and kernels share stream {copy}, which runs them in order",
        Relation.EVENT: f"stream {copy} waits for an event recorded behind kernels, and stream"
        f" {kernel} for the copy",
        Relation.NULL_STREAM: f"one of streams {copy} and {kernel} is the legacy null stream, the"
        " other a blocking one: neither runs beside the other",
        Relation.ENGINE: f"copies of stream {copy} queue behind another stream's copies",
        Relation.NONE: "",
    }[relation]
    lines = [line] if line else []
    if relation is Relation.EVENT and 2 * int(fills.inferred.sum()) > len(fills):
        lines.append("inferred from adjacent times: no event rows prove the wait")
    return lines


def collectives(context: Context) -> list[str]:
    """Which collectives compute waited for."""
    rows = context.rows.rows(context.rows.work == Work.COMMUNICATION)
    if len(rows) == 0:
        return []
    lines = []
    for name_id, _, ns in by_cost(rows, rows.work_name_id)[:MAX_LINES]:
        mine = rows.rows(rows.work_name_id == name_id)
        _, first = np.unique(mine.operation, return_index=True)
        each = mine.rows(first)
        name = context.measured.names.strings.text(name_id)
        lines.append(
            f"{len(each)} x {name} on stream {_common(each.work_stream_id)},"
            f" {duration(float(np.median(each.work_ns)))} each, {duration(ns)} exposed"
        )
    return lines


def device_work(context: Context) -> list[str]:
    """Copies within the device and memsets between kernels."""
    rows = context.rows.rows(np.isin(context.rows.work, (Work.D2D, Work.MEMSET)))
    lines = []
    for work, _, ns in by_cost(rows, rows.work)[:MAX_LINES]:
        count = int(np.unique(rows.operation[rows.work == work]).size)
        noun = count_of(count, _WORK_NAMES[Work(work)], _PLURALS.get(Work(work), ""))
        lines.append(f"{noun}, {duration(ns)} between kernels")
    return lines


def host_whereabouts(context: Context) -> list[str]:
    """Where the launching thread was outside CUDA: in which OS call, or running."""
    rows = context.rows
    names, pid = context.measured.names, context.device.key.pid
    lines = []
    for os_name, _, ns in by_cost(rows, rows.os_name_id)[:MAX_LINES]:
        text = names.strings.text(os_name)
        where = f"in {text}" if text else "running its own code, in no traced OS call"
        mine = rows.tid[rows.os_name_id == os_name]
        lines.append(f"{names.thread(pid, _common(mine))} {where} for {duration(ns)}")
    return lines


def launches(context: Context) -> list[str]:
    """How many late launches, and how far apart."""
    rows = context.rows
    length = rows.end_ns - rows.start_ns
    count = int(np.unique(rows.operation).size)
    steps = context.device.window.steps
    per_step = f", {count / steps:.0f} per step" if steps else ""
    return [
        f"{count_of(count, 'launch', 'launches')} came after the device had run dry{per_step};"
        f" {duration(float(np.median(length)))} of idle time each (median)"
    ]


def environment(*names: str) -> object:
    """Facts about environment variables of the program."""

    def facts(context: Context) -> list[str]:
        found = context.measured.environment
        return [f"the program ran with {name}={found[name]}" for name in names if name in found]

    return facts


def _common(values: Ints) -> int:
    distinct, count = np.unique(values, return_counts=True)
    return int(distinct[np.argmax(count)])


def _piece_ends(start: Ints, end: Ints) -> Ints:
    """End of the contiguous run that each row lies in; rows are sorted."""
    last = np.append(start[1:] > end[:-1], True)
    ends = np.where(last, end, np.iinfo(np.int64).max)
    return np.minimum.accumulate(ends[::-1])[::-1]


def _clock(ns: int) -> str:
    return f"{ns / 1e9:.6f} s"
