"""The idle ledger of a device: the walk's parts, each with its reason and its evidence."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from overlapcheck.columns import ABSENT, Ints, Mask, chosen, compact, constant, distinct, ordered
from overlapcheck.ledger import IdleLedger, Reason
from overlapcheck.passes.dependencies import NO_OPERATION
from overlapcheck.passes.fill_reasons import fill_reasons
from overlapcheck.passes.host_lateness import explain_lateness
from overlapcheck.passes.idle_walk import Part, Parts
from overlapcheck.passes.ledger_input import Draft, LedgerInput
from overlapcheck.passes.operations import Operations
from overlapcheck.passes.overlays import overlaid
from overlapcheck.passes.process import NO_CALL
from overlapcheck.trace import OsCalls


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
    return _assembled(overlaid(_drafted(parts, given), parts, given), parts, given)


def _drafted(parts: Parts, given: LedgerInput) -> Draft:
    late = np.flatnonzero(parts.part == Part.HOST)
    lateness = explain_lateness(
        chosen(parts.start_ns, late),
        chosen(parts.end_ns, late),
        chosen(parts.operation, late),
        given.ops,
        given.host,
    )
    pieces = lateness.pieces
    other = np.flatnonzero(parts.part != Part.HOST)
    if other.size == 0:
        return Draft(pieces.part, pieces.start_ns, pieces.end_ns, pieces.reason, pieces.call)
    determinant = np.full(len(parts), -1, dtype=np.int64)
    blamed_call = np.full(len(parts), NO_CALL, dtype=np.int64)
    determinant[late], blamed_call[late] = lateness.reason, lateness.call
    reason, call = fill_reasons(parts, given, determinant, blamed_call)
    return Draft(
        np.concatenate((other, late[pieces.part])),
        np.concatenate((parts.start_ns[other], pieces.start_ns)),
        np.concatenate((parts.end_ns[other], pieces.end_ns)),
        np.concatenate((reason[other], pieces.reason)),
        np.concatenate((call[other], pieces.call)),
    )


def _assembled(draft: Draft, parts: Parts, given: LedgerInput) -> IdleLedger:
    order = ordered(draft.start_ns)
    draft = Draft(*(column[order] for column in draft.columns))
    ops, depends, calls = given.ops, given.depends, given.calls
    op, kernel = parts.operation[draft.part], parts.kernel[draft.part]
    has_op, has_kernel, has_call = (
        op != NO_OPERATION,
        kernel != NO_OPERATION,
        draft.call != NO_CALL,
    )

    def of(column: Ints, row: Ints, known: Mask) -> Ints:
        if column.size == 0:
            return constant(ABSENT, row.size)
        if column.strides == (0,) and known.all():
            return constant(int(column[0]), row.size)
        # Row -1 exists, too, so rows that are not known need no care.
        values = column[row]
        return compact(values if known.all() else np.where(known, values, ABSENT))

    # Without a call to blame, the late operation's own launch is the place to look at.
    made_by = np.where(has_call, draft.call, of(ops.call, op, has_op))
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
        site=of(given.site_of_call, made_by, made_by != NO_CALL),
        os_name_id=constant(ABSENT, op.size),
    )
    return replace(ledger, os_name_id=_os_calls(ledger, given.os_calls))


def _submitted_by(call: Ints, ops: Operations) -> Ints:
    """The operation that each call submitted, the first of several; NO_OPERATION for none."""
    order = ordered(ops.call)
    calls = ops.call[order]
    at = np.minimum(np.searchsorted(calls, call), max(calls.size - 1, 0))
    hit = (call != NO_CALL) & (calls[at] == call)
    return np.where(hit, order[at], NO_OPERATION)


def _os_calls(ledger: IdleLedger, os_calls: OsCalls) -> Ints:
    """The OS call that the launching thread was in at the middle of each starved piece."""
    name = np.full(len(ledger), ABSENT, dtype=np.int64)
    starved = np.flatnonzero(ledger.reason == Reason.HOST_STARVED)
    middle = (ledger.start_ns[starved] + ledger.end_ns[starved]) // 2
    for tid in distinct(ledger.tid[starved]).tolist():
        own = os_calls.rows(os_calls.tid == tid)
        mine = ledger.tid[starved] == tid
        if len(own) == 0:
            continue
        # Calls are sorted by start; of nested ones the last that started is the innermost.
        at = np.searchsorted(own.start_ns, middle[mine], side="right") - 1
        inside = (at >= 0) & (own.end_ns[np.maximum(at, 0)] > middle[mine])
        name[starved[mine]] = np.where(inside, own.name_id[np.maximum(at, 0)], ABSENT)
    return name
