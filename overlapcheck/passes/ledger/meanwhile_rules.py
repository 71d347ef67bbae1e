"""What ran meanwhile, where the walk from predecessor to predecessor cannot tell."""

from __future__ import annotations

from dataclasses import dataclass

from overlapcheck.columns import one_of
from overlapcheck.copies import CopyOverlap, Direction
from overlapcheck.intervals import Intervals
from overlapcheck.ledger import Reason
from overlapcheck.order import WITHIN_DEVICE, Work
from overlapcheck.passes.ledger.idle_parts import Part
from overlapcheck.passes.ledger.issue_bound import issue_bound
from overlapcheck.passes.ledger.ledger_input import DIRECTION_OF_WORK, LedgerInput

_NOTHING_KNOWN = (Reason.UNEXPLAINED, Reason.LATE_START)
_OF_ORDER = (
    *_NOTHING_KNOWN,
    Reason.SAME_STREAM,
    Reason.DEFAULT_STREAM,
    Reason.EVENT_WAIT,
    Reason.LATE_ISSUE,
    Reason.COPY_ENGINE,
    Reason.HARDWARE_QUEUE,
)
_NOT_OF_ORDER = tuple(reason for reason in Reason if reason not in _OF_ORDER)
_EXPLAINED = tuple(reason for reason in Reason if reason not in _NOTHING_KNOWN)


@dataclass(frozen=True)
class Layer:
    """Time that gives pieces another reason."""

    busy: Intervals
    reason: Reason
    within: tuple[Part, ...] = tuple(Part)
    """Parts that it may change."""
    unless: tuple[Reason, ...] = ()
    """Reasons that it may not."""


def migrating(given: LedgerInput) -> list[Layer]:
    """Pages of unified memory moved."""
    # Filled is what another device fills, too: it would have gone on without the pages.
    not_filled = (Part.HOST, Part.LATENCY, Part.OPEN)
    return [Layer(given.migrations, Reason.UVM_MIGRATION, within=not_filled)]


def link_is_bound(given: LedgerInput) -> list[Layer]:
    """No order of operations could win back what the bound itself fills."""
    settled = (Reason.DEVICE_COPY, Reason.EXPOSED_COLLECTIVE, Reason.PAGEABLE_COPY)
    return [
        Layer(copies.copy, Reason.COPY_BOUND, unless=settled)
        for copies in given.copies.values()
        if copies.direction in DIRECTION_OF_WORK.values() and _is_bound(copies, given)
    ]


def _is_bound(copies: CopyOverlap, given: LedgerInput) -> bool:
    free = copies.copy if copies.direction is Direction.P2P else copies.pinned
    if given.one_copy_engine and copies.direction is not Direction.P2P:
        # Copies in and out take turns: together they fill the engine.
        for direction in (Direction.H2D, Direction.D2H):
            if direction in given.copies:
                free |= given.copies[direction].pinned
    return free.total_ns >= given.limits.link_bound_share * given.window.length_ns


def issuing_is_bound(given: LedgerInput) -> list[Layer]:
    """No order of operations could win back what the host needs for issuing them."""
    bound = issue_bound(given.ops, given.submit_ns, given.host.held, given.host.away, given.limits)
    return [Layer(bound, Reason.LAUNCH_BOUND, unless=_NOT_OF_ORDER)]


def beside_a_collective(given: LedgerInput) -> list[Layer]:
    """A collective ran, though nothing is known to wait for it."""
    busy = _busy(given, (Work.COMMUNICATION,))
    return [Layer(busy, Reason.EXPOSED_COLLECTIVE, unless=_EXPLAINED)]


def beside_device_work(given: LedgerInput) -> list[Layer]:
    """A copy within the device or a memset ran, though nothing is known to wait for it."""
    return [Layer(_busy(given, WITHIN_DEVICE), Reason.DEVICE_COPY, unless=_EXPLAINED)]


def another_process(given: LedgerInput) -> list[Layer]:
    """Another process computed on the GPU."""
    return [Layer(given.other_processes, Reason.TIME_SLICING, unless=_EXPLAINED)]


def _busy(given: LedgerInput, works: tuple[Work, ...]) -> Intervals:
    mine = one_of(given.ops.work, works)
    return Intervals.of(given.ops.start_ns[mine], given.ops.end_ns[mine])
