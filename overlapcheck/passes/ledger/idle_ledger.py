"""The idle ledger of a device: the walk's parts, each with its reason and its evidence."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TypeVar

import numpy as np
import numpy.typing as npt

from overlapcheck.columns import (
    ABSENT,
    Ints,
    Mask,
    Rows,
    blocks,
    chosen,
    compact,
    constant,
    is_constant,
    narrow,
)
from overlapcheck.grouping import distinct, ordered
from overlapcheck.ledger import IdleLedger, Reason
from overlapcheck.order import Operations
from overlapcheck.passes.ledger.block_columns import BlockColumns
from overlapcheck.passes.ledger.device_reasons import device_reasons
from overlapcheck.passes.ledger.host_lateness import explain_lateness
from overlapcheck.passes.ledger.idle_parts import Part, Parts
from overlapcheck.passes.ledger.ledger_input import Draft, LedgerInput
from overlapcheck.passes.ledger.overlay import overlaid
from overlapcheck.passes.ledger.side_by_side import side_by_side
from overlapcheck.searches import covering, last_at_or_before, taken
from overlapcheck.trace_tables import MpiCalls, OsCalls

_Value = TypeVar("_Value", bound=np.generic)


def idle_ledger(parts: Parts, given: LedgerInput) -> IdleLedger:
    """Give every idle nanosecond a reason.

    Args:
        parts: the device's idle time in the window, each piece with the operation behind it.
        given: the tables behind it.

    Returns:
        Rows that tile the idle time exactly.
    """
    if len(parts) == 0:
        return IdleLedger.none()
    draft = overlaid(_drafted(parts, given), parts, given)
    return _assembled(draft, parts, given)


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


def _assembled(draft: Draft, parts: Parts, given: LedgerInput) -> IdleLedger:
    """The ledger of a draft, with the operation and kernel of each part."""
    order = ordered(draft.start_ns)
    submitted_by = _first_of_each_call(given.ops, len(given.calls))

    columns = BlockColumns(order.size)

    def put(block: slice) -> None:
        some = draft.rows(order[block])
        at, before = parts.operation[some.part], parts.kernel[some.part]
        columns.put(block, _ledger_rows(some, at, before, submitted_by, given).columns)

    side_by_side(put, blocks(order.size))
    return IdleLedger(*columns.all())


def _ledger_rows(
    draft: Draft, op: Rows, kernel: Rows, submitted_by: Rows, given: LedgerInput
) -> IdleLedger:
    ops, depends, calls = given.ops, given.depends, given.calls
    at_op, at_kernel, at_call = _At.of(op), _At.of(kernel), _At.of(draft.call)
    # Without a call to blame, the late operation's own launch is the place to look at.
    made_by = _At.of(np.where(at_call.known, draft.call, at_op.value(ops.call)))
    at_submitted = _At.of(at_call.value(submitted_by))
    work_end, call_end = at_op.value(ops.end_ns), at_call.value(calls.end_ns)
    call_start = at_call.value(calls.start_ns)
    ledger = IdleLedger(
        start_ns=draft.start_ns,
        end_ns=draft.end_ns,
        reason=draft.reason,
        kernel_name_id=at_kernel.value(ops.name_id),
        kernel_stream_id=at_kernel.value(ops.stream_id),
        step=at_kernel.value(given.step),
        kernel=given.device.in_process(kernel),
        operation=given.device.in_process(op),
        work=at_op.value(ops.work),
        work_stream_id=at_op.value(ops.stream_id),
        work_bytes=at_op.value(ops.bytes),
        work_ns=np.where(at_op.known, work_end - at_op.value(ops.start_ns), ABSENT),
        work_name_id=at_op.value(ops.name_id),
        relation=at_op.value(depends.relation),
        inferred=at_op.known & depends.inferred[op],
        call_name_id=at_call.value(calls.name_id),
        call_start_ns=call_start,
        call_ns=np.where(at_call.known, call_end - call_start, ABSENT),
        call_tid=at_call.value(calls.tid),
        call_operation=given.device.in_process(at_submitted.row),
        call_work=at_submitted.value(ops.work),
        call_bytes=at_submitted.value(ops.bytes),
        call_stream_id=at_submitted.value(ops.stream_id),
        tid=at_op.value(ops.tid),
        site=made_by.value(given.site_of_call),
        os_name_id=constant(ABSENT, op.size),
    )
    outside = ((Reason.HOST_STARVED, given.os_calls), (Reason.MPI_WAIT, given.mpi_calls))
    for reason, table in outside:
        ledger = replace(ledger, os_name_id=_calls_outside(ledger, reason, table))
    return ledger


@dataclass(frozen=True)
class _At:
    """Rows of a table whose columns are looked up; many are, of the same rows."""

    row: Rows
    known: Mask
    """Which are not ABSENT."""
    absent: Mask | None
    """Which are; None where none is."""
    any_known: bool

    @classmethod
    def of(cls, row: Rows) -> _At:
        known = row != ABSENT
        return cls(row, known, None if known.all() else ~known, bool(known.any()))

    def value(self, column: npt.NDArray[_Value]) -> npt.NDArray[_Value]:
        """A column's values at the rows, ABSENT where a row is."""
        if column.size == 0 or not self.any_known:
            return np.broadcast_to(column.dtype.type(ABSENT), self.row.shape)
        if is_constant(column) and self.absent is None:
            return np.broadcast_to(column[0], self.row.shape)
        # Row -1 exists, too, so rows that are absent need no care.
        values = column[self.row]
        if self.absent is not None:
            np.putmask(values, self.absent, ABSENT)
        return compact(values)


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
