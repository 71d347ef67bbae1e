"""Why the host was late: its time is cut along what the launching thread did, and judged."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

import numpy as np

from overlapcheck.columns import (
    ABSENT,
    ABSENT_TIME,
    Codes,
    Column,
    Columns,
    Floats,
    Ints,
    Rows,
    blocks,
    joined,
    one_of,
)
from overlapcheck.grouping import distinct, sorted_by
from overlapcheck.intervals import Intervals
from overlapcheck.ledger import Reason
from overlapcheck.passes.ledger.host_rules import HostTime, Tails
from overlapcheck.passes.ledger.host_timeline import HostTimeline
from overlapcheck.passes.ledger.restarts import own_shares
from overlapcheck.passes.ledger.rule import first_that_fits
from overlapcheck.passes.ledger.rules import RULES
from overlapcheck.passes.ledger.side_by_side import side_by_side
from overlapcheck.passes.ledger.splitting import split
from overlapcheck.searches import last_before, taken


@dataclass(frozen=True)
class LatePieces(Columns):
    """Pieces of host-late time with their reason, in order of part and time."""

    part: Rows
    """Number of the host-late part a piece came from."""
    start_ns: Ints
    end_ns: Ints
    reason: Codes
    """Reason."""
    call: Rows
    """The call to blame: the one that held the thread, or that drained the device; ABSENT."""


# Behind these the host starts at once with what it has: no later launch is late because of them.
_DRAINS_NOTHING = (Reason.GRAPH_LAUNCH, Reason.DRIVER_LOCK, Reason.MPI_WAIT)

_Rows = tuple[Rows, Ints, Ints, Codes, Rows]
"""Columns of `LatePieces`."""


@dataclass(frozen=True)
class Lateness:
    """Why the host was late, piece by piece and part by part."""

    pieces: LatePieces
    """They tile the parts."""
    reason: Codes
    """Of each part as a whole, for operations that were late in its wake: the reason of the call
    that drained the device, else of the longest piece."""
    call: Rows
    """The call to blame for each part; ABSENT."""


@dataclass(frozen=True)
class _Late:
    """Host-late parts, and what drained the device before each."""

    start_ns: Ints
    end_ns: Ints
    drain: Ints
    """Row of `host.held`; ABSENT for none."""
    own_share: Floats
    """Share of the restart that the device would have waited for anyway."""
    host: HostTimeline


def explain_lateness(start_ns: Ints, end_ns: Ints, tid: Ints, host: HostTimeline) -> Lateness:
    """Give every host-late part to reasons.

    Args:
        start_ns: begin of each part, ascending, shape (n,).
        end_ns: its end.
        tid: the thread that submitted an operation too late.
        host: the launching threads.

    Returns:
        Pieces that tile the parts, and the reason of each part as a whole.
    """
    if start_ns.size == 0:
        return Lateness(LatePieces.none(), LatePieces.none().reason, LatePieces.none().call)
    drain = _drains(start_ns, tid, host)
    late = _Late(start_ns, end_ns, drain, own_shares(start_ns, end_ns, drain, host), host)
    rows: list[tuple[Column, ...]] = []
    for thread in distinct(tid).tolist():
        own = np.flatnonzero(tid == thread)
        cut = partial(_cut, late=late, thread=thread)
        rows += side_by_side(cut, [own[block] for block in blocks(own.size)])
    pieces = LatePieces(*joined(rows))
    pieces = sorted_by(pieces, pieces.part, pieces.start_ns)
    reason, call = _longest(pieces, start_ns.size)
    drained = drain != ABSENT
    reason[drained] = host.held.reason[drain[drained]]
    call[drained] = host.held.call[drain[drained]]
    return Lateness(pieces, reason, call)


def _longest(pieces: LatePieces, count: int) -> tuple[Codes, Rows]:
    """Reason and call of each part's longest piece."""
    if len(pieces) == count:
        return pieces.reason.copy(), pieces.call.copy()
    row = np.flatnonzero(np.append(True, pieces.part[1:] != pieces.part[:-1]))
    pieces_of = np.diff(np.append(row, len(pieces)))
    several = np.flatnonzero(np.repeat(pieces_of > 1, pieces_of))
    part = pieces.part[several]
    length = pieces.end_ns[several] - pieces.start_ns[several]
    opens = np.flatnonzero(np.append(True, part[1:] != part[:-1]))
    longest = np.maximum.reduceat(length, opens)
    rows = np.flatnonzero(length == np.repeat(longest, np.diff(np.append(opens, part.size))))
    row[part[rows]] = several[rows]  # of equally long ones the last
    return pieces.reason[row], pieces.call[row]


def _drains(start_ns: Ints, tid: Ints, host: HostTimeline) -> Ints:
    """Row of `held` that drained the device before each part; ABSENT for none.

    A call that was open when the device ran dry drained it, and goes on being the reason for the
    late launches that follow until a launch is well ahead of its kernel again.
    """
    drain = np.full(start_ns.size, ABSENT, dtype=np.int64)
    held, slack_ns = host.held, host.limits.drain_slack_ns
    can_drain = ~one_of(held.reason, _DRAINS_NOTHING)
    for thread in distinct(tid).tolist():
        rows = np.flatnonzero(can_drain & (held.tid == thread))
        mine = np.flatnonzero(tid == thread)
        at = last_before(held.start_ns[rows], start_ns[mine])
        open_ = taken(held.end_ns[rows], at, ABSENT_TIME) > start_ns[mine] - slack_ns
        drain[mine[open_]] = rows[at[open_]]
    return _inherited(drain, start_ns, host.ahead_ns)


def _inherited(drain: Ints, start_ns: Ints, ahead_ns: Ints) -> Ints:
    own = np.where(drain != ABSENT, np.arange(drain.size), ABSENT)
    latest = np.maximum.accumulate(own)
    caught_up = last_before(ahead_ns, start_ns)
    same_run = (latest != ABSENT) & (caught_up == caught_up[latest])
    return np.where(same_run, drain[latest], ABSENT)


def _cut(parts: Rows, late: _Late, thread: int) -> _Rows:
    """Some parts of one thread, cut along what it did, each piece with its reason."""
    time = _cut_up(parts, late, thread)
    reason, call = first_that_fits(RULES.host, time, time.part.size)
    pieces = (time.part, time.start_ns, time.end_ns, reason, call)
    for rule in RULES.restart:
        pieces = _without_tails(pieces, rule.decide(time))
    return pieces


def _cut_up(parts: Rows, late: _Late, thread: int) -> HostTime:
    """Cut along profiler overhead, held calls and absence, in the order of their certainty."""
    host, held = late.host, late.host.held.of_thread(thread)
    own = host.overheads.tid == thread
    overhead = Intervals.of(host.overheads.start_ns[own], host.overheads.end_ns[own])
    first = split(late.start_ns[parts], late.end_ns[parts], overhead.start_ns, overhead.end_ns)
    second = split(first.start_ns, first.end_ns, held.start_ns, held.end_ns)
    third = split(second.start_ns, second.end_ns, host.away.start_ns, host.away.end_ns)
    first_of = second.span[third.span]
    part = parts[first.span[first_of]]
    return HostTime(
        part=part,
        start_ns=third.start_ns,
        end_ns=third.end_ns,
        overhead=first.cut[first_of] != ABSENT,
        held_row=second.cut[third.span],
        away=third.cut != ABSENT,
        drain=late.drain[part],
        own_share=late.own_share[part],
        thread=host.of_thread[thread],
        held=held,
        host=host,
    )


def _without_tails(pieces: _Rows, tails: Tails) -> _Rows:
    """Each piece, followed by what is cut off its end."""
    part, start, end, reason, call = pieces
    cut = np.flatnonzero(tails.own_ns > 0)
    if cut.size == 0:
        return pieces
    middle = end[cut] - tails.own_ns[cut]
    divided = middle > start[cut]
    rest, begin = cut[divided], middle[divided]
    reason, call, end_before = reason.copy(), call.copy(), end.copy()
    whole = cut[~divided]
    reason[whole], call[whole] = tails.reason[whole], ABSENT
    end_before[rest] = begin
    return (
        np.insert(part, rest + 1, part[rest]),
        np.insert(start, rest + 1, begin),
        np.insert(end_before, rest + 1, end[rest]),
        np.insert(reason, rest + 1, tails.reason[rest]),
        np.insert(call, rest + 1, ABSENT),
    )
