"""Lines of evidence about collectives: which stream, which bucket, waiting or moving data."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from overlapcheck.causes._base import Context
from overlapcheck.causes._facts import MAX_LINES, spread
from overlapcheck.collective_order import crossings
from overlapcheck.collective_speed import CollectiveSpeed, device_speeds, meeting_speeds
from overlapcheck.collectives import CollectiveKind, Collectives
from overlapcheck.columns import Mask
from overlapcheck.measurements import DeviceMeasurements
from overlapcheck.quantities import count_of, duration, percent, size
from overlapcheck.rendezvous import Meeting


def placement(context: Context) -> list[str]:
    """Collectives on a stream that also computes: nothing there can run beside them."""
    rows = context.device.collectives
    mine = rows.on_compute_stream
    if not tells(context, mine):
        return []
    stream = int(np.bincount(rows.stream_id[mine], weights=rows.exposed_ns[mine]).argmax())
    return [
        f"on the compute stream: {kinds(rows, mine)} and kernels share stream {stream}, which runs"
        f" them in order ({duration(int(rows.exposed_ns[mine].sum()))} exposed)"
    ]


def last_of_steps(context: Context) -> list[str]:
    """The last collective of each step, which only the next step could hide."""
    rows = context.device.collectives
    mine = rows.last & ~rows.on_compute_stream
    if not tells(context, mine):
        return []
    exposed = int(rows.exposed_ns.sum())
    tail = int(rows.exposed_ns[mine].sum())
    return [
        f"the last bucket: the last {kinds(rows, mine)} of each step is {duration(tail)}"
        f" ({percent(tail / exposed)}) of the exposed time"
    ]


def waiting(context: Context) -> list[str]:
    """Waiting for a late rank, or moving data: known where several ranks are in the report."""
    devices = context.measured.devices
    me = next(i for i, d in enumerate(devices) if d.key == context.device.key)
    lines: list[str] = []
    for meeting in context.measured.meetings:
        if me in meeting.members:
            lines += _waiting_in(context, meeting, me)
    return lines


def _waiting_in(context: Context, meeting: Meeting, me: int) -> list[str]:
    devices = context.measured.devices
    row = meeting.members.index(me)
    speeds = [one for one in telling(meeting_speeds(meeting), context) if not one.waits_included]
    speed = "".join(f": {told(one)}" for one in speeds[:1])
    waited = int(meeting.exposed_waiting_ns[row].sum())
    moved = int(meeting.exposed_transfer_ns[row].sum())
    if waited + moved == 0:
        return []
    if waited == 0:
        mine = int((meeting.latest == row).sum())
        return [
            f"none of it waits for another rank: this one comes last in {mine} of"
            f" {meeting.occasions} collectives, and the others wait for it{speed}"
        ]
    lines = [
        f"of {duration(waited + moved)} exposed in {meeting.occasions} collectives met by"
        f" {count_of(len(meeting.members), 'rank')}, {duration(waited)} wait for a rank that comes"
        f" later and {duration(moved)} move data{speed}"
    ]
    cost = np.zeros(len(meeting.members), dtype=np.int64)
    np.add.at(cost, meeting.latest, meeting.exposed_waiting_ns[row])
    latest = int(np.argmax(cost))
    if cost[latest]:
        times = int((meeting.latest == latest).sum())
        lines.append(
            f"{_name(meeting.members[latest], devices)} comes last in {times} of"
            f" {meeting.occasions}: {duration(int(cost[latest]))} of the waiting"
        )
    return lines


def speed(context: Context) -> list[str]:
    """Sizes and bandwidth where not all ranks were compared, so that waiting cannot be told."""
    alone = [one for one in device_speeds(context.device.collectives) if one.waits_included]
    return [
        f"{told(one)}, waiting for other ranks included"
        for one in telling(alone, context)[:MAX_LINES]
    ]


def telling(speeds: Sequence[CollectiveSpeed], context: Context) -> list[CollectiveSpeed]:
    """Those whose messages are large enough to say something about the links."""
    least = context.measured.thresholds.speed_min_bytes
    return [one for one in speeds if one.most_bytes >= least and one.algorithm_gbs]


def told(one: CollectiveSpeed) -> str:
    """Number, size and bandwidth: "24 x all-reduce of 144.0 MiB at 165.1 GB/s bus bandwidth"."""
    sizes = spread(np.array([one.least_bytes, one.most_bytes]), size)
    kind = "algorithm" if one.bus_gbs is None else "bus"
    gbs = one.algorithm_gbs if one.bus_gbs is None else one.bus_gbs
    return f"{one.count} x {one.kind} of {sizes} at {gbs:.1f} GB/s {kind} bandwidth"


def order(context: Context) -> list[str]:
    """Collectives of two communicators that the ranks begin in different order."""
    devices = context.measured.devices
    me = next(i for i, d in enumerate(devices) if d.key == context.device.key)
    met = context.measured.meetings
    lines = []
    owners = [meeting.members for meeting in met]
    for one in crossings(met, owners, context.measured.thresholds):
        if me not in one.ranks:
            continue
        mine = one.ranks.index(me)
        if not one.waiting_ns[mine]:
            continue
        first = one.begins_with_one[mine]
        others = [
            r for r, ahead in zip(one.ranks, one.begins_with_one, strict=True) if ahead != first
        ]
        both = (one.one, one.other) if first else (one.other, one.one)
        begun, then = (_kind(met[number]) for number in both)
        lines.append(
            f"the order differs: this rank begins the {begun} before the {then} of another"
            f" communicator, {_name(others[0], devices)} after it, in {one.crossed} of {one.pairs};"
            f" {duration(one.waiting_ns[mine])} of the waiting is in these"
        )
    return lines


def _kind(meeting: Meeting) -> str:
    return CollectiveKind(int(np.bincount(meeting.kind).argmax())).word


def _name(number: int, devices: tuple[DeviceMeasurements, ...]) -> str:
    key = devices[number].key
    alone = sum(device.key.device_id == key.device_id for device in devices) == 1
    return f"device {key.device_id}" if alone else f"process {key.pid}"


def tells(context: Context, mine: Mask) -> bool:
    """Whether some collectives make up enough of the exposed time to speak for it."""
    rows, share = context.device.collectives, context.measured.thresholds.telling_share
    exposed = int(rows.exposed_ns.sum())
    return exposed > 0 and int(rows.exposed_ns[mine].sum()) >= share * exposed


def kinds(rows: Collectives, mine: Mask) -> str:
    """Words for the kinds of some collectives, in order of their first."""
    found, first = np.unique(rows.kind[mine], return_index=True)
    words = [CollectiveKind(found[i]).word for i in np.argsort(first)]
    return " and ".join(words)
