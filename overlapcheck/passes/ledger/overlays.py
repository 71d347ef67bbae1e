"""What ran meanwhile, where the walk from predecessor to predecessor cannot tell."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from overlapcheck.columns import ABSENT, Column, blocks, joined, one_of
from overlapcheck.copies import CopyOverlap, Direction
from overlapcheck.intervals import Intervals
from overlapcheck.ledger import Reason
from overlapcheck.measurements import Window
from overlapcheck.order import LINK_COPIES, WITHIN_DEVICE, Operations, Work
from overlapcheck.passes.ledger.idle_walk import Part, Parts
from overlapcheck.passes.ledger.ledger_input import (
    DIRECTION_OF_WORK,
    Draft,
    LedgerInput,
)
from overlapcheck.passes.ledger.side_by_side import side_by_side
from overlapcheck.passes.ledger.splitting import NO_CUT, split


def _is_bound(copies: CopyOverlap, window: Window, share: float) -> bool:
    free = copies.copy if copies.direction is Direction.P2P else copies.pinned
    return free.total_ns >= share * window.length_ns


@dataclass(frozen=True)
class _Layer:
    """Time that gives rows another reason."""

    busy: Intervals
    reason: Reason
    within: tuple[Part, ...] = tuple(Part)
    """Parts that it may change."""
    unless: tuple[Reason, ...] = ()
    """Reasons that it may not."""


def overlaid(draft: Draft, parts: Parts, given: LedgerInput) -> Draft:
    """Let what ran meanwhile speak where the walk cannot: in the order of its certainty."""
    layers = [layer for layer in _layers(given) if layer.busy]

    def changed(block: slice) -> tuple[Column, ...]:
        rows = draft.rows(block)
        for layer in layers:
            rows = _overlay(rows, parts, layer)
        return rows.columns

    return Draft(*joined(side_by_side(changed, blocks(draft.start_ns.size))))


def _layers(given: LedgerInput) -> Iterator[_Layer]:
    not_filled = (Part.HOST, Part.LATENCY, Part.OPEN)
    yield _Layer(given.migrations, Reason.UVM_MIGRATION, within=not_filled)
    for copies in given.copies.values():
        # No order of operations could win back what the bound itself fills.
        if copies.direction in DIRECTION_OF_WORK.values() and _is_bound(
            copies, given.window, given.limits.link_bound_share
        ):
            settled = (Reason.DEVICE_COPY, Reason.EXPOSED_COLLECTIVE, Reason.PAGEABLE_COPY)
            yield _Layer(copies.copy, Reason.COPY_BOUND, unless=settled)
    explained = tuple(reason for reason in Reason if reason is not Reason.UNEXPLAINED)
    for busy, reason in (
        (_busy(given.ops, (Work.COMMUNICATION,)), Reason.EXPOSED_COLLECTIVE),
        (_busy(given.ops, WITHIN_DEVICE), Reason.DEVICE_COPY),
        (given.other_processes, Reason.TIME_SLICING),
        # A wait that no recorded dependency explains, and that ends with an unrelated operation.
        (
            _busy(given.ops, LINK_COPIES).bridged(given.limits.start_latency_ns),
            Reason.HARDWARE_QUEUE,
        ),
    ):
        yield _Layer(busy, reason, unless=explained)


def _overlay(draft: Draft, parts: Parts, layer: _Layer) -> Draft:
    """Give rows that a layer may change, cut to its time, its reason."""
    busy = layer.busy
    pieces = split(draft.start_ns, draft.end_ns, busy.start_ns, busy.end_ns)
    is_cut = pieces.cut != NO_CUT
    if not is_cut.any():
        return draft
    open_ = one_of(parts.part[draft.part], layer.within) & ~one_of(draft.reason, layer.unless)
    row = pieces.span
    chosen = is_cut & open_[row]
    return Draft(
        draft.part[row],
        pieces.start_ns,
        pieces.end_ns,
        np.where(chosen, np.int8(layer.reason), draft.reason[row]),
        np.where(chosen, ABSENT, draft.call[row]),
    )


def _busy(ops: Operations, works: tuple[Work, ...]) -> Intervals:
    mine = one_of(ops.work, works)
    return Intervals.of(ops.start_ns[mine], ops.end_ns[mine])
