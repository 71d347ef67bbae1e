"""The idle ledger of a device: the walk's parts, each with its reason and its evidence."""

from __future__ import annotations

from dataclasses import replace
from typing import TypeVar

import numpy as np
import numpy.typing as npt

from overlapcheck.columns import (
    ABSENT,
    Column,
    Ints,
    Mask,
    Rows,
    blocks,
    chosen,
    compact,
    constant,
    is_constant,
    joined,
    narrow,
)
from overlapcheck.grouping import distinct, ordered
from overlapcheck.intervals import Intervals
from overlapcheck.ledger import IdleLedger, Reason
from overlapcheck.order import Operations
from overlapcheck.passes.ledger.device_reasons import device_reasons
from overlapcheck.passes.ledger.host_lateness import explain_lateness
from overlapcheck.passes.ledger.idle_parts import Part, Parts
from overlapcheck.passes.ledger.idle_walk import Ground, walk
from overlapcheck.passes.ledger.ledger_input import Draft, LedgerInput
from overlapcheck.passes.ledger.overlay import overlaid
from overlapcheck.passes.ledger.side_by_side import side_by_side
from overlapcheck.searches import covering, last_at_or_before, taken
from overlapcheck.trace_tables import MpiCalls, OsCalls

_Value = TypeVar("_Value", bound=np.generic)


def idle_ledger(idle: Intervals, given: LedgerInput) -> IdleLedger:
    """Give every idle nanosecond a reason.

    Args:
        idle: the device's idle time in the window.
        given: the tables behind it.

    Returns:
        Rows that tile the idle time exactly.
    """
    limits = given.limits
    slack_ns, latency_ns = limits.submit_slack_ns, limits.start_latency_ns
    parts = walk(Ground(given.ops, given.depends, given.submit_ns, slack_ns, latency_ns), idle)
    if len(parts) == 0:
        return IdleLedger.none()
    draft = overlaid(_drafted(parts, given), parts, given)
    operation, kernel = parts.operation, parts.kernel
    del parts  # a large trace needs the room
    return _assembled(draft, operation, kernel, given)


def _drafted(parts: Parts, given: LedgerInput) -> Draft:
    late = np.flatnonzero(parts.part == Part.HOST)
    lateness = explain_lateness(
        chosen(parts.start_ns, late),
        chosen(parts.end_ns, late),
        given.ops.tid[chosen(parts.operation, late)],
        given.host,
    )
    pieces = lateness.pieces
    other = np.flatnonzero(parts.part != Part.HOST)
    if other.size == 0:
        return Draft(pieces.part, pieces.start_ns, pieces.end_ns, pieces.reason, pieces.call)
    host_reason = np.full(len(parts), ABSENT, dtype=np.int8)
    host_call = np.full(len(parts), ABSENT, dtype=np.int32)
    host_reason[late], host_call[late] = lateness.reason, lateness.call
    reason, call = device_reasons(parts, given, host_reason, host_call)
    return Draft(
        np.concatenate((narrow(other), narrow(late)[pieces.part])),
        np.concatenate((parts.start_ns[other], pieces.start_ns)),
        np.concatenate((parts.end_ns[other], pieces.end_ns)),
        np.concatenate((reason[other], pieces.reason)),
        np.concatenate((call[other], pieces.call)),
    )


def _assembled(draft: Draft, operation: Rows, kernel: Rows, given: LedgerInput) -> IdleLedger:
    """The ledger of a draft, with the operation and kernel of each part."""
    order = ordered(draft.start_ns)
    submitted_by = _first_of_each_call(given.ops, len(given.calls))

    def rows(block: slice) -> tuple[Column, ...]:
        some = draft.rows(order[block])
        at, before = operation[some.part], kernel[some.part]
        return _ledger_rows(some, at, before, submitted_by, given).columns

    return IdleLedger(*joined(side_by_side(rows, blocks(order.size))))


def _ledger_rows(
    draft: Draft, op: Rows, kernel: Rows, submitted_by: Rows, given: LedgerInput
) -> IdleLedger:
    ops, depends, calls = given.ops, given.depends, given.calls
    has_op, has_kernel, has_call = (
        op != ABSENT,
        kernel != ABSENT,
        draft.call != ABSENT,
    )
    # Without a call to blame, the late operation's own launch is the place to look at.
    made_by = np.where(has_call, draft.call, _of(ops.call, op, has_op))
    submitted = _of(submitted_by, draft.call, has_call)
    submits = submitted != ABSENT
    work_end, call_end = _of(ops.end_ns, op, has_op), _of(calls.end_ns, draft.call, has_call)
    call_start = _of(calls.start_ns, draft.call, has_call)
    ledger = IdleLedger(
        start_ns=draft.start_ns,
        end_ns=draft.end_ns,
        reason=draft.reason,
        kernel_name_id=_of(ops.name_id, kernel, has_kernel),
        kernel_stream_id=_of(ops.stream_id, kernel, has_kernel),
        step=_of(given.step, kernel, has_kernel),
        kernel=given.device.in_process(kernel),
        operation=given.device.in_process(op),
        work=_of(ops.work, op, has_op),
        work_stream_id=_of(ops.stream_id, op, has_op),
        work_bytes=_of(ops.bytes, op, has_op),
        work_ns=np.where(has_op, work_end - _of(ops.start_ns, op, has_op), ABSENT),
        work_name_id=_of(ops.name_id, op, has_op),
        relation=_of(depends.relation, op, has_op),
        inferred=has_op & depends.inferred[op],
        call_name_id=_of(calls.name_id, draft.call, has_call),
        call_start_ns=call_start,
        call_ns=np.where(has_call, call_end - call_start, ABSENT),
        call_tid=_of(calls.tid, draft.call, has_call),
        call_operation=given.device.in_process(submitted),
        call_work=_of(ops.work, submitted, submits),
        call_bytes=_of(ops.bytes, submitted, submits),
        call_stream_id=_of(ops.stream_id, submitted, submits),
        tid=_of(ops.tid, op, has_op),
        site=_of(given.site_of_call, made_by, made_by != ABSENT),
        os_name_id=constant(ABSENT, op.size),
    )
    outside = ((Reason.HOST_STARVED, given.os_calls), (Reason.MPI_WAIT, given.mpi_calls))
    for reason, table in outside:
        ledger = replace(ledger, os_name_id=_calls_outside(ledger, reason, table))
    return ledger


def _of(column: npt.NDArray[_Value], row: Rows, known: Mask) -> npt.NDArray[_Value]:
    """A column's values at some rows, ABSENT where the row is not known."""
    if column.size == 0 or not known.any():
        return np.broadcast_to(column.dtype.type(ABSENT), row.shape)
    if is_constant(column) and known.all():
        return np.broadcast_to(column[0], row.shape)
    # Row -1 exists, too, so rows that are not known need no care.
    values = column[row]
    return compact(values if known.all() else np.where(known, values, ABSENT))


def _first_of_each_call(ops: Operations, calls: int) -> Rows:
    """The first operation that each call submitted; ABSENT for none."""
    known = np.flatnonzero(ops.call != ABSENT)[::-1]
    found = np.full(calls, ABSENT, dtype=np.int32)
    found[ops.call[known]] = known
    return found


def _calls_outside(ledger: IdleLedger, reason: Reason, table: OsCalls | MpiCalls) -> Ints:
    """The call of a table that the launching thread was in, or asked by, amid each such piece."""
    rows = np.flatnonzero(ledger.reason == reason)
    if rows.size == 0:
        return ledger.os_name_id
    name = ledger.os_name_id.copy()
    middle = (ledger.start_ns[rows] + ledger.end_ns[rows]) // 2
    for tid in distinct(ledger.tid[rows]).tolist():
        own = table.rows(table.tid == tid)
        mine = ledger.tid[rows] == tid
        if reason is Reason.MPI_WAIT:  # may lie between two of the calls that asked
            at = last_at_or_before(own.start_ns, middle[mine])
        else:
            at = covering(own.start_ns, own.end_ns, middle[mine])
        name[rows[mine]] = taken(own.name_id, at, ABSENT)
    return name
