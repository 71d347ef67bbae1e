"""What ran meanwhile, where the walk from predecessor to predecessor cannot tell."""

from __future__ import annotations

import numpy as np

from overlapcheck.intervals import Intervals
from overlapcheck.ledger import Reason, Work
from overlapcheck.measurements import CopyOverlap, Direction, Window
from overlapcheck.passes.idle_walk import Part, Parts
from overlapcheck.passes.ledger_input import (
    DIRECTION_OF_WORK,
    LINK_COPIES,
    START_LATENCY_NS,
    WITHIN_DEVICE,
    Draft,
    LedgerInput,
)
from overlapcheck.passes.operations import Operations
from overlapcheck.passes.process import NO_CALL
from overlapcheck.passes.splitting import NO_CUT, split

BOUND_SHARE = 0.9
"""A direction this busy is the bound itself: no order of operations could win its time back."""


def _is_bound(copies: CopyOverlap, window: Window) -> bool:
    free = copies.copy if copies.direction is Direction.P2P else copies.pinned
    return free.total_ns >= BOUND_SHARE * window.length_ns


def overlaid(draft: Draft, parts: Parts, given: LedgerInput) -> Draft:
    """Let what ran meanwhile speak where the walk cannot: in the order of its certainty."""
    not_filled = (Part.HOST, Part.LATENCY, Part.OPEN)
    draft = _overlay(draft, parts, given.migrations, Reason.UVM_MIGRATION, within=not_filled)
    for copies in given.copies.values():
        # No order of operations could win back what the bound itself fills.
        if copies.direction in DIRECTION_OF_WORK.values() and _is_bound(copies, given.window):
            settled = (Reason.DEVICE_COPY, Reason.EXPOSED_COLLECTIVE, Reason.PAGEABLE_COPY)
            draft = _overlay(draft, parts, copies.copy, Reason.COPY_BOUND, unless=settled)
    open_ = tuple(reason for reason in Reason if reason is not Reason.UNEXPLAINED)
    for busy, reason in (
        (_busy(given.ops, (Work.COMMUNICATION,)), Reason.EXPOSED_COLLECTIVE),
        (_busy(given.ops, WITHIN_DEVICE), Reason.DEVICE_COPY),
        (given.other_processes, Reason.TIME_SLICING),
        # A wait that no recorded dependency explains, and that ends with an unrelated operation.
        (_busy(given.ops, LINK_COPIES).bridged(START_LATENCY_NS), Reason.HARDWARE_QUEUE),
    ):
        draft = _overlay(draft, parts, busy, reason, unless=open_)
    return draft


def _overlay(
    draft: Draft,
    parts: Parts,
    busy: Intervals,
    reason: Reason,
    *,
    within: tuple[Part, ...] = tuple(Part),
    unless: tuple[Reason, ...] = (),
) -> Draft:
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
    return Draft(
        draft.part[row],
        pieces.start_ns,
        pieces.end_ns,
        np.where(chosen, reason, draft.reason[row]),
        np.where(chosen, NO_CALL, draft.call[row]),
    )


def _busy(ops: Operations, works: tuple[Work, ...]) -> Intervals:
    mine = np.isin(ops.work, works)
    return Intervals.of(ops.start_ns[mine], ops.end_ns[mine])
