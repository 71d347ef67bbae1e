"""Reasons of the parts of an idle piece in which the device, not the host, was waited for.

A chain of fills inherits from its beginning: a copy that was queued behind a copy that the host
issued late was itself late for that reason.
"""

from __future__ import annotations

import numpy as np

from overlapcheck.columns import ABSENT, Codes, Ints, Mask, Rows, distinct, one_of
from overlapcheck.ledger import Reason
from overlapcheck.order import LINK_COPIES, WITHIN_DEVICE, Relation, Work
from overlapcheck.passes.ledger.idle_walk import Part, Parts
from overlapcheck.passes.ledger.ledger_input import (
    DIRECTION_OF_WORK,
    LedgerInput,
)

# Reasons of calls that return when the device is done.
_DEVICE_WAITS = (Reason.HOST_SYNC, Reason.SYNC_COPY, Reason.ALLOCATION, Reason.LAUNCH_BLOCKING)
_REASON_OF_RELATION = {
    Relation.NONE: Reason.UNEXPLAINED,
    Relation.STREAM: Reason.SAME_STREAM,
    Relation.EVENT: Reason.EVENT_WAIT,
    Relation.NULL_STREAM: Reason.DEFAULT_STREAM,
    Relation.ENGINE: Reason.COPY_ENGINE,
    Relation.HOST: Reason.UNEXPLAINED,
}
_REASON_BY_NUMBER = np.array(
    [_REASON_OF_RELATION[relation] for relation in sorted(Relation)], dtype=np.int8
)


def fill_reasons(
    parts: Parts, given: LedgerInput, determinant: Codes, blamed_call: Rows
) -> tuple[Codes, Rows]:
    """Reason of each FILL, LATENCY and OPEN part; parts are sorted by time, so by depth."""
    ops = given.ops
    reason = np.full(len(parts), int(Reason.UNEXPLAINED), dtype=np.int8)
    call = np.full(len(parts), ABSENT, dtype=np.int32)
    fill = parts.part == Part.FILL
    work = np.where(parts.operation != ABSENT, ops.work[parts.operation], Work.NONE)
    reason[fill & (work == Work.COMMUNICATION)] = Reason.EXPOSED_COLLECTIVE
    reason[fill & one_of(work, WITHIN_DEVICE)] = Reason.DEVICE_COPY
    copies = np.flatnonzero(fill & one_of(work, LINK_COPIES))
    if copies.size:
        reason[copies], call[copies] = _copy_reasons(copies, parts, given, determinant, blamed_call)
    _latency_reasons(parts, given, reason, work)
    return reason, call


def _copy_reasons(
    copies: Ints, parts: Parts, given: LedgerInput, determinant: Codes, blamed_call: Rows
) -> tuple[Codes, Rows]:
    ops, depends = given.ops, given.depends
    op = parts.operation[copies]
    reason = _REASON_BY_NUMBER[depends.relation[op]]
    call = np.full(copies.size, ABSENT, dtype=np.int32)
    # Running since before the piece began: too late or too long, see `_spanning`.
    began_before = ops.start_ns[op] < parts.start_ns[copies]
    spanning = began_before & _not_held_up(op, given)
    reason[spanning] = _spanning(op[spanning], given)
    # Issued too late by the host, or queued behind an operation that was.
    source = _last_host_part(parts, determinant)[copies]
    inherits = (source >= 0) & ~began_before
    reason[inherits] = determinant[source[inherits]]
    call[inherits] = blamed_call[source[inherits]]
    drained, drain_call, drain_reason = _drained_before(op, given)
    held = began_before & drained
    reason[held], call[held] = drain_reason[held], drain_call[held]
    _waited_for_by_host(copies, parts, given, reason, call)
    _by_nature(op, given, reason, call)
    return _behind_copies(copies, parts, given, reason, call, inherits)


def _not_held_up(op: Rows, given: LedgerInput) -> Mask:
    """Copies that started as soon as they were issued, or behind another copy."""
    depends, ops = given.depends, given.ops
    before = depends.predecessor[op]
    behind_copy = (before != ABSENT) & one_of(ops.work[before], LINK_COPIES)
    ended = np.where(before != ABSENT, ops.end_ns[before], np.iinfo(np.int64).min)
    issued_late = given.submit_ns[op] > ended + given.limits.submit_slack_ns
    mask: Mask = behind_copy | issued_late | (before == ABSENT)
    return mask


def _spanning(op: Rows, given: LedgerInput) -> Codes:
    """A copy that outlasts the compute it ran under: issued too late, or simply too much data."""
    reason = np.full(op.size, int(Reason.LATE_ISSUE), dtype=np.int8)
    for work, direction in DIRECTION_OF_WORK.items():
        copies = given.copies.get(direction)
        if copies is not None and copies.copy_ns >= copies.compute_ns:
            reason[given.ops.work[op] == work] = Reason.COPY_BOUND
    return reason


def _drained_before(op: Rows, given: LedgerInput) -> tuple[Mask, Rows, Codes]:
    """Copies that were issued right after a call that held the issuing thread."""
    held = given.host.held
    drained = np.zeros(op.size, dtype=bool)
    call = np.full(op.size, ABSENT, dtype=np.int32)
    reason = np.full(op.size, int(Reason.UNEXPLAINED), dtype=np.int8)
    issue = given.ops.launch_start_ns[op]
    before = given.depends.predecessor[op]
    ended = np.where(before != ABSENT, given.ops.end_ns[before], np.iinfo(np.int64).min)
    late = given.submit_ns[op] > ended + given.limits.submit_slack_ns
    for tid in distinct(given.ops.tid[op]).tolist():
        thread = held.of_thread(tid)
        mine = np.flatnonzero((given.ops.tid[op] == tid) & late)
        if len(thread) == 0 or mine.size == 0:
            continue
        at = np.searchsorted(thread.end_ns, issue[mine], side="right") - 1
        close = (at >= 0) & (
            issue[mine] - thread.end_ns[np.maximum(at, 0)] <= given.limits.drain_slack_ns
        )
        close &= thread.reason[np.maximum(at, 0)] != Reason.GRAPH_LAUNCH
        drained[mine[close]] = True
        call[mine[close]] = thread.call[at[close]]
        reason[mine[close]] = thread.reason[at[close]]
    return drained, call, reason


def _last_host_part(parts: Parts, determinant: Codes) -> Ints:
    """For each part, the nearest earlier host-late part of the same piece; -1 for none."""
    own = np.where(determinant >= 0, np.arange(len(parts)), -1)
    latest = np.maximum.accumulate(own)
    same = (latest >= 0) & (parts.piece[np.maximum(latest, 0)] == parts.piece)
    return np.where(same, latest, -1)


def _by_nature(op: Rows, given: LedgerInput, reason: Codes, call: Rows) -> None:
    """What a copy is outweighs when it came: pageable, or synchronous."""
    ops = given.ops
    kind_of_call = given.host.held
    synchronous = np.isin(ops.call[op], kind_of_call.call[kind_of_call.reason == Reason.SYNC_COPY])
    own_call = ops.call[op]
    reason[synchronous] = Reason.SYNC_COPY
    call[synchronous] = own_call[synchronous]
    pageable = ops.pageable[op]
    small_back = (ops.work[op] == Work.D2H) & (ops.bytes[op] <= given.limits.small_copy_bytes)
    reason[pageable & ~small_back] = Reason.PAGEABLE_COPY
    # A read-back of a few bytes serves whoever waits for it, from whatever memory.
    reason[small_back] = Reason.HOST_SYNC
    call[pageable | small_back] = own_call[pageable | small_back]


def _behind_copies(
    copies: Ints, parts: Parts, given: LedgerInput, reason: Codes, call: Rows, inherits: Mask
) -> tuple[Codes, Rows]:
    """A copy queued behind a copy of the same piece is late for that one's reason.

    Unless only the engine ties them: then the earlier copy is what the later one waited for.
    """
    op = parts.operation[copies]
    before = given.depends.predecessor[op]
    same_piece = np.concatenate(([False], parts.piece[copies][1:] == parts.piece[copies][:-1]))
    queued = same_piece & (before == np.concatenate(([ABSENT], op[:-1]))) & ~inherits
    settled = one_of(reason, (Reason.PAGEABLE_COPY, Reason.SYNC_COPY))
    by_engine = queued & ~settled & (given.depends.relation[op] == Relation.ENGINE)
    holding = np.concatenate((by_engine[1:], [False])) & ~settled & ~inherits
    reason[by_engine | holding] = Reason.COPY_ENGINE
    call[by_engine | holding] = ABSENT
    source = np.where(queued & ~settled & ~by_engine, -1, np.arange(copies.size))
    source = np.maximum.accumulate(source)
    return reason[source], call[source]


def _waited_for_by_host(
    copies: Ints, parts: Parts, given: LedgerInput, reason: Codes, call: Rows
) -> None:
    """Copies that nothing on the device waited for, but the host, before it launched the next.

    device    ####[ d2h ]      ####
    thread        [ sync ]  [L]          what follows was launched only after the sync
    """
    following = np.minimum(copies + 1, len(parts) - 1)
    awaited = (parts.part[following] == Part.HOST) & (parts.piece[following] == parts.piece[copies])
    rows = np.flatnonzero(awaited & (following > copies))
    held = given.host.held
    tid = given.ops.tid[parts.operation[following[rows]]]
    start, end = parts.start_ns[copies[rows]], parts.end_ns[copies[rows]]
    for thread in distinct(tid).tolist():
        calls = held.of_thread(thread)
        mine = rows[tid == thread]
        if len(calls) == 0:
            continue
        middle = (start[tid == thread] + end[tid == thread]) // 2
        at = np.searchsorted(calls.start_ns, middle, side="right") - 1
        inside = (at >= 0) & (calls.end_ns[np.maximum(at, 0)] > middle)
        inside &= one_of(calls.reason[np.maximum(at, 0)], _DEVICE_WAITS)
        reason[mine[inside]] = calls.reason[at[inside]]
        call[mine[inside]] = calls.call[at[inside]]


def _latency_reasons(parts: Parts, given: LedgerInput, reason: Codes, work: Codes) -> None:
    """Waiting between operations belongs to the copy or collective beside it, if there is one."""
    waits = one_of(parts.part, (Part.LATENCY, Part.OPEN))
    count = len(parts)
    index = np.arange(count)
    length = parts.end_ns - parts.start_ns
    transfers = (parts.part == Part.FILL) & ~one_of(work, WITHIN_DEVICE)
    previous, following = np.maximum(index - 1, 0), np.minimum(index + 1, count - 1)
    after_fill = transfers[previous] & (parts.piece[previous] == parts.piece) & (index > 0)
    before_fill = (
        transfers[following] & (parts.piece[following] == parts.piece) & (index < count - 1)
    )
    short = length <= given.limits.start_latency_ns
    # A pageable copy is staged on the host, inside its call, before it runs.
    operation = np.maximum(parts.operation, 0)
    staged = before_fill & (given.ops.launch_start_ns[operation] <= parts.start_ns)
    staged &= given.ops.launch_end_ns[operation] >= parts.end_ns
    reason[waits & staged] = reason[following[waits & staged]]
    chosen = waits & short & after_fill
    reason[chosen] = reason[previous[chosen]]
    chosen = waits & short & before_fill & ~after_fill
    reason[chosen] = reason[following[chosen]]
    reason[waits & short & ~after_fill & ~before_fill] = Reason.LAUNCH_LATENCY
