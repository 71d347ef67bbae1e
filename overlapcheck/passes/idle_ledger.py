"""The idle ledger of a device: the walk's parts, each with its reason.

A chain of fills inherits from its beginning: a copy that was queued behind a copy that the host
issued late was itself late for that reason.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from overlapcheck.columns import ABSENT, Ints, Mask
from overlapcheck.intervals import Intervals
from overlapcheck.ledger import IdleLedger, Reason, Relation, Work
from overlapcheck.measurements import CopyOverlap, Direction, Window
from overlapcheck.passes.dependencies import NO_OPERATION, Dependencies
from overlapcheck.passes.held_calls import SMALL_COPY_BYTES, HeldCalls
from overlapcheck.passes.host_lateness import DRAIN_SLACK_NS, HostTimeline, explain_lateness
from overlapcheck.passes.idle_walk import SUBMIT_SLACK_NS, Part, Parts
from overlapcheck.passes.operations import Operations
from overlapcheck.passes.process import NO_CALL
from overlapcheck.passes.splitting import NO_CUT, split
from overlapcheck.trace import ApiCalls, OsCalls

# A direction this busy is the bound itself: no order of operations could win its time back.
BOUND_SHARE = 0.9
# Starting a kernel whose predecessor is done takes a few microseconds.
START_LATENCY_NS = 20_000

_LINK_COPIES = (Work.H2D, Work.D2H, Work.P2P)
_WITHIN_DEVICE = (Work.D2D, Work.MEMSET)
_DIRECTION = {Work.H2D: Direction.H2D, Work.D2H: Direction.D2H, Work.P2P: Direction.P2P}
_REASON_OF_RELATION = {
    Relation.NONE: Reason.UNEXPLAINED,
    Relation.STREAM: Reason.SAME_STREAM,
    Relation.EVENT: Reason.EVENT_WAIT,
    Relation.NULL_STREAM: Reason.DEFAULT_STREAM,
    Relation.ENGINE: Reason.COPY_ENGINE,
}


@dataclass(frozen=True)
class LedgerInput:
    """All that the ledger is made from."""

    ops: Operations
    depends: Dependencies
    submit_ns: Ints
    host: HostTimeline
    calls: ApiCalls
    os_calls: OsCalls
    copies: dict[Direction, CopyOverlap]
    migrations: Intervals
    other_processes: Intervals
    """Kernels of other processes on the same GPU."""
    window: Window


@dataclass
class _Draft:
    """Rows under construction: part number, span, reason, call to blame."""

    part: Ints
    start_ns: Ints
    end_ns: Ints
    reason: Ints
    call: Ints


def idle_ledger(parts: Parts, given: LedgerInput) -> IdleLedger:
    """Give every part a reason.

    Args:
        parts: from `walk`.
        given: the tables behind it.

    Returns:
        Rows that tile the idle time exactly.
    """
    if len(parts) == 0:
        return IdleLedger.none()
    late = np.flatnonzero(parts.part == Part.HOST)
    pieces = explain_lateness(
        parts.start_ns[late], parts.end_ns[late], parts.operation[late], given.ops, given.host
    ) if late.size else None
    determinant = np.full(len(parts), -1, dtype=np.int64)
    blamed_call = np.full(len(parts), NO_CALL, dtype=np.int64)
    if pieces is not None:
        # The reason that lasted longest stands for the part where copies inherit it.
        determinant[late], blamed_call[late] = _longest(pieces, late.size)
    reason, call = _fill_reasons(parts, given, determinant, blamed_call)
    other = np.flatnonzero(parts.part != Part.HOST)
    draft = _Draft(other, parts.start_ns[other], parts.end_ns[other], reason[other], call[other])
    if pieces is not None:
        draft = _Draft(
            np.concatenate((draft.part, late[pieces.part])),
            np.concatenate((draft.start_ns, pieces.start_ns)),
            np.concatenate((draft.end_ns, pieces.end_ns)),
            np.concatenate((draft.reason, pieces.reason)),
            np.concatenate((draft.call, pieces.call)),
        )
    return _assembled(_overlaid(draft, parts, given), parts, given)


def _longest(pieces: object, count: int) -> tuple[Ints, Ints]:
    from overlapcheck.passes.host_lateness import LatePieces

    assert isinstance(pieces, LatePieces)
    length = pieces.end_ns - pieces.start_ns
    order = np.lexsort((length, pieces.part))
    last = np.searchsorted(pieces.part[order], np.arange(count), side="right") - 1
    row = order[last]
    return pieces.reason[row], pieces.call[row]


def _fill_reasons(
    parts: Parts, given: LedgerInput, determinant: Ints, blamed_call: Ints
) -> tuple[Ints, Ints]:
    """Reason of each FILL, LATENCY and OPEN part; parts are sorted by time, so by depth."""
    ops = given.ops
    reason = np.full(len(parts), int(Reason.UNEXPLAINED), dtype=np.int64)
    call = np.full(len(parts), NO_CALL, dtype=np.int64)
    fill = parts.part == Part.FILL
    work = np.where(parts.operation != NO_OPERATION, ops.work[parts.operation], Work.NONE)
    reason[fill & (work == Work.COMMUNICATION)] = Reason.EXPOSED_COLLECTIVE
    reason[fill & np.isin(work, _WITHIN_DEVICE)] = Reason.DEVICE_COPY
    copies = np.flatnonzero(fill & np.isin(work, _LINK_COPIES))
    if copies.size:
        reason[copies], call[copies] = _copy_reasons(
            copies, parts, given, determinant, blamed_call
        )
    _latency_reasons(parts, given, reason, work)
    return reason, call


def _copy_reasons(
    copies: Ints, parts: Parts, given: LedgerInput, determinant: Ints, blamed_call: Ints
) -> tuple[Ints, Ints]:
    ops, depends = given.ops, given.depends
    op = parts.operation[copies]
    reason = np.array(
        [_REASON_OF_RELATION[Relation(r)] for r in depends.relation[op].tolist()], dtype=np.int64
    )
    call = np.full(copies.size, NO_CALL, dtype=np.int64)
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
    _by_nature(op, given, reason, call)
    return _behind_copies(copies, parts, given, reason, call, inherits)


def _not_held_up(op: Ints, given: LedgerInput) -> Mask:
    """Copies that started as soon as they were issued, or behind another copy."""
    depends, ops = given.depends, given.ops
    before = depends.predecessor[op]
    behind_copy = (before != NO_OPERATION) & np.isin(ops.work[before], _LINK_COPIES)
    ended = np.where(before != NO_OPERATION, ops.end_ns[before], np.iinfo(np.int64).min)
    issued_late = given.submit_ns[op] > ended + SUBMIT_SLACK_NS
    return behind_copy | issued_late | (before == NO_OPERATION)


def _spanning(op: Ints, given: LedgerInput) -> Ints:
    """A copy that outlasts the compute it ran under: issued too late, or simply too much data."""
    reason = np.full(op.size, int(Reason.LATE_ISSUE), dtype=np.int64)
    for work, direction in _DIRECTION.items():
        copies = given.copies.get(direction)
        if copies is not None and copies.copy_ns >= copies.compute_ns:
            reason[given.ops.work[op] == work] = Reason.COPY_BOUND
    return reason


def _drained_before(op: Ints, given: LedgerInput) -> tuple[Mask, Ints, Ints]:
    """Copies that were issued right after a call that held the issuing thread."""
    held: HeldCalls = given.host.held
    drained = np.zeros(op.size, dtype=bool)
    call = np.full(op.size, NO_CALL, dtype=np.int64)
    reason = np.full(op.size, int(Reason.UNEXPLAINED), dtype=np.int64)
    issue = given.ops.launch_start_ns[op]
    before = given.depends.predecessor[op]
    ended = np.where(before != NO_OPERATION, given.ops.end_ns[before], np.iinfo(np.int64).min)
    late = given.submit_ns[op] > ended + SUBMIT_SLACK_NS
    for tid in np.unique(given.ops.tid[op]).tolist():
        thread = held.of_thread(tid)
        mine = np.flatnonzero((given.ops.tid[op] == tid) & late)
        if len(thread) == 0 or mine.size == 0:
            continue
        at = np.searchsorted(thread.end_ns, issue[mine], side="right") - 1
        close = (at >= 0) & (issue[mine] - thread.end_ns[np.maximum(at, 0)] <= DRAIN_SLACK_NS)
        close &= thread.reason[np.maximum(at, 0)] != Reason.GRAPH_LAUNCH
        drained[mine[close]] = True
        call[mine[close]] = thread.call[at[close]]
        reason[mine[close]] = thread.reason[at[close]]
    return drained, call, reason


def _last_host_part(parts: Parts, determinant: Ints) -> Ints:
    """For each part, the nearest earlier host-late part of the same piece; -1 for none."""
    own = np.where(determinant >= 0, np.arange(len(parts)), -1)
    latest = np.maximum.accumulate(own)
    same = (latest >= 0) & (parts.piece[np.maximum(latest, 0)] == parts.piece)
    return np.where(same, latest, -1)


def _by_nature(op: Ints, given: LedgerInput, reason: Ints, call: Ints) -> None:
    """What a copy is outweighs when it came: pageable, or synchronous."""
    ops = given.ops
    kind_of_call = given.host.held
    synchronous = np.isin(
        ops.call[op], kind_of_call.call[kind_of_call.reason == Reason.SYNC_COPY]
    )
    own_call = ops.call[op]
    reason[synchronous] = Reason.SYNC_COPY
    call[synchronous] = own_call[synchronous]
    pageable = ops.pageable[op]
    small_back = (ops.work[op] == Work.D2H) & (ops.bytes[op] <= SMALL_COPY_BYTES)
    reason[pageable & ~small_back] = Reason.PAGEABLE_COPY
    reason[pageable & small_back] = Reason.HOST_SYNC
    call[pageable] = own_call[pageable]


def _behind_copies(
    copies: Ints, parts: Parts, given: LedgerInput, reason: Ints, call: Ints, inherits: Mask
) -> tuple[Ints, Ints]:
    """A copy queued behind a copy of the same piece is late for that one's reason."""
    ops, depends = given.ops, given.depends
    op = parts.operation[copies]
    before = depends.predecessor[op]
    same_piece = np.concatenate(([False], parts.piece[copies][1:] == parts.piece[copies][:-1]))
    queued = same_piece & (before == np.concatenate(([NO_OPERATION], op[:-1]))) & ~inherits
    settled = np.isin(reason, (Reason.PAGEABLE_COPY, Reason.SYNC_COPY))
    source = np.where(queued & ~settled, -1, np.arange(copies.size))
    source = np.maximum.accumulate(source)
    return reason[source], call[source]


def _latency_reasons(parts: Parts, given: LedgerInput, reason: Ints, work: Ints) -> None:
    """Waiting between operations belongs to the copy or collective beside it, if there is one."""
    waits = np.isin(parts.part, (Part.LATENCY, Part.OPEN))
    count = len(parts)
    index = np.arange(count)
    length = parts.end_ns - parts.start_ns
    transfers = (parts.part == Part.FILL) & ~np.isin(work, _WITHIN_DEVICE)
    previous, following = np.maximum(index - 1, 0), np.minimum(index + 1, count - 1)
    after_fill = transfers[previous] & (parts.piece[previous] == parts.piece) & (index > 0)
    before_fill = (
        transfers[following] & (parts.piece[following] == parts.piece) & (index < count - 1)
    )
    short = length <= START_LATENCY_NS
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


def _is_bound(copies: CopyOverlap, window: Window) -> bool:
    free = copies.copy if copies.direction is Direction.P2P else copies.pinned
    return free.total_ns >= BOUND_SHARE * window.length_ns


def _overlaid(draft: _Draft, parts: Parts, given: LedgerInput) -> _Draft:
    """Let what ran meanwhile speak where the walk cannot: in the order of its certainty."""
    not_filled = (Part.HOST, Part.LATENCY, Part.OPEN)
    draft = _overlay(draft, parts, given.migrations, Reason.UVM_MIGRATION, within=not_filled)
    for copies in given.copies.values():
        # No order of operations could win back what the bound itself fills.
        if copies.direction in _DIRECTION.values() and _is_bound(copies, given.window):
            settled = (Reason.DEVICE_COPY, Reason.EXPOSED_COLLECTIVE, Reason.PAGEABLE_COPY)
            draft = _overlay(draft, parts, copies.copy, Reason.COPY_BOUND, unless=settled)
    open_ = tuple(reason for reason in Reason if reason is not Reason.UNEXPLAINED)
    for busy, reason in (
        (_busy(given.ops, (Work.COMMUNICATION,)), Reason.EXPOSED_COLLECTIVE),
        (_busy(given.ops, _WITHIN_DEVICE), Reason.DEVICE_COPY),
        (given.other_processes, Reason.TIME_SLICING),
        # A wait that no recorded dependency explains, and that ends with an unrelated operation.
        (_busy(given.ops, _LINK_COPIES).bridged(START_LATENCY_NS), Reason.HARDWARE_QUEUE),
    ):
        draft = _overlay(draft, parts, busy, reason, unless=open_)
    return draft


def _overlay(
    draft: _Draft,
    parts: Parts,
    busy: Intervals,
    reason: Reason,
    *,
    within: tuple[Part, ...] = tuple(Part),
    unless: tuple[Reason, ...] = (),
) -> _Draft:
    """Give rows of these parts, cut to the time that `busy` covers, another reason."""
    if not busy:
        return draft
    pieces = split(draft.start_ns, draft.end_ns, busy.start_ns, busy.end_ns)
    row = pieces.span
    chosen = (
        (pieces.cut != NO_CUT)
        & np.isin(parts.part[draft.part[row]], within)
        & ~np.isin(draft.reason[row], unless)
    )
    return _Draft(
        draft.part[row],
        pieces.start_ns,
        pieces.end_ns,
        np.where(chosen, reason, draft.reason[row]),
        np.where(chosen, NO_CALL, draft.call[row]),
    )


def _busy(ops: Operations, works: tuple[Work, ...]) -> Intervals:
    mine = np.isin(ops.work, works)
    return Intervals.of(ops.start_ns[mine], ops.end_ns[mine])


def _assembled(draft: _Draft, parts: Parts, given: LedgerInput) -> IdleLedger:
    order = np.argsort(draft.start_ns, kind="stable")
    draft = _Draft(*(getattr(draft, name)[order] for name in _Draft.__dataclass_fields__))
    ops, depends, calls = given.ops, given.depends, given.calls
    op, kernel = parts.operation[draft.part], parts.kernel[draft.part]
    has_op, has_kernel, has_call = (
        op != NO_OPERATION,
        kernel != NO_OPERATION,
        draft.call != NO_CALL,
    )

    def of(column: Ints, row: Ints, known: Mask) -> Ints:
        if column.size == 0:
            return np.full(row.shape, ABSENT, dtype=np.int64)
        return np.where(known, column[np.maximum(row, 0)], ABSENT)

    submitted = _submitted_by(draft.call, ops)
    submits = submitted != NO_OPERATION
    ledger = IdleLedger(
        start_ns=draft.start_ns,
        end_ns=draft.end_ns,
        reason=draft.reason,
        kernel_name_id=of(ops.name_id, kernel, has_kernel),
        kernel_stream_id=of(ops.stream_id, kernel, has_kernel),
        step=of(ops.step, kernel, has_kernel),
        operation=np.where(has_op, op, ABSENT),
        work=of(ops.work, op, has_op),
        work_stream_id=of(ops.stream_id, op, has_op),
        work_bytes=of(ops.bytes, op, has_op),
        work_ns=of(ops.end_ns - ops.start_ns, op, has_op),
        work_name_id=of(ops.name_id, op, has_op),
        relation=of(depends.relation, op, has_op),
        inferred=of(depends.inferred.astype(np.int64), op, has_op) == 1,
        call_name_id=of(calls.name_id, draft.call, has_call),
        call_start_ns=of(calls.start_ns, draft.call, has_call),
        call_ns=of(calls.end_ns - calls.start_ns, draft.call, has_call),
        call_work=of(ops.work, submitted, submits),
        call_bytes=of(ops.bytes, submitted, submits),
        call_stream_id=of(ops.stream_id, submitted, submits),
        tid=of(ops.tid, op, has_op),
        os_name_id=np.full(op.shape, ABSENT, dtype=np.int64),
    )
    return replace(ledger, os_name_id=_os_calls(ledger, given.os_calls))


def _submitted_by(call: Ints, ops: Operations) -> Ints:
    """The operation that each call submitted, the first of several; NO_OPERATION for none."""
    order = np.argsort(ops.call, kind="stable")
    calls = ops.call[order]
    at = np.minimum(np.searchsorted(calls, call), max(calls.size - 1, 0))
    hit = (call != NO_CALL) & (calls[at] == call)
    return np.where(hit, order[at], NO_OPERATION)


def _os_calls(ledger: IdleLedger, os_calls: OsCalls) -> Ints:
    """The OS call that the launching thread was in at the middle of each starved piece."""
    name = np.full(len(ledger), ABSENT, dtype=np.int64)
    starved = np.flatnonzero(ledger.reason == Reason.HOST_STARVED)
    middle = (ledger.start_ns[starved] + ledger.end_ns[starved]) // 2
    for tid in np.unique(ledger.tid[starved]).tolist():
        own = os_calls.rows(os_calls.tid == tid)
        mine = ledger.tid[starved] == tid
        if len(own) == 0:
            continue
        # Calls are sorted by start; of nested ones the last that started is the innermost.
        at = np.searchsorted(own.start_ns, middle[mine], side="right") - 1
        inside = (at >= 0) & (own.end_ns[np.maximum(at, 0)] > middle[mine])
        name[starved[mine]] = np.where(inside, own.name_id[np.maximum(at, 0)], ABSENT)
    return name
