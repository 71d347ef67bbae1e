"""Waiting between operations, with nothing running that compute waited for.

s7    q ####····#### k      k had been submitted, and its predecessor was done
s13      [copy]↗            a few microseconds lie between the copy's end and k
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from overlapcheck.columns import ABSENT_TIME, Codes, Index, Mask
from overlapcheck.ledger import Reason
from overlapcheck.passes.ledger.hardware_queues import stood_behind
from overlapcheck.passes.ledger.idle_parts import Part, Parts
from overlapcheck.passes.ledger.ledger_input import LedgerInput
from overlapcheck.passes.ledger.rule import Ruling
from overlapcheck.searches import taken


@dataclass(frozen=True)
class Waits:
    """Parts of idle pieces in which nothing ran that compute waited for, by time."""

    rows: Index
    """Of `parts`."""
    parts: Parts
    transfers: Mask
    """Parts in which a copy over the link or a collective ran, shape (parts,)."""
    reason: Codes
    """Reasons so far, shape (parts,)."""
    given: LedgerInput

    @cached_property
    def short(self) -> Mask:
        """No longer than what nothing holds takes to start."""
        parts, most_ns = self.parts, self.given.limits.start_latency_ns
        mask: Mask = parts.end_ns[self.rows] - parts.start_ns[self.rows] <= most_ns
        return mask

    @cached_property
    def previous(self) -> Index:
        """The part before each."""
        return np.maximum(self.rows - 1, 0)

    @cached_property
    def following(self) -> Index:
        """The part after each."""
        return np.minimum(self.rows + 1, len(self.parts) - 1)

    @cached_property
    def after_transfer(self) -> Mask:
        """Behind a transfer of the same piece."""
        return self._beside(self.previous)

    @cached_property
    def before_transfer(self) -> Mask:
        """Before a transfer of the same piece."""
        return self._beside(self.following)

    def _beside(self, neighbour: Index) -> Mask:
        piece = self.parts.piece
        same = (piece[neighbour] == piece[self.rows]) & (neighbour != self.rows)
        mask: Mask = self.transfers[neighbour] & same
        return mask


def another_device(waits: Waits) -> Ruling:
    """An event of another device's stream had not come yet, and that device was at work."""
    rows = waits.parts.part[waits.rows] == Part.ELSEWHERE
    return Ruling(rows, Reason.EVENT_WAIT)


def just_after(waits: Waits) -> Ruling:
    """A few microseconds behind a copy or collective belong to it."""
    return Ruling(waits.short & waits.after_transfer, waits.reason[waits.previous])


def just_before(waits: Waits) -> Ruling:
    """A few microseconds before a copy or collective belong to it."""
    return Ruling(waits.short & waits.before_transfer, waits.reason[waits.following])


def staged(waits: Waits) -> Ruling:
    """The call of the copy that follows was open: it is staged on the host before it runs."""
    ops, parts = waits.given.ops, waits.parts
    operation = parts.operation[waits.rows]
    rows = waits.before_transfer & (ops.launch_start_ns[operation] <= parts.start_ns[waits.rows])
    rows &= ops.launch_end_ns[operation] >= parts.end_ns[waits.rows]
    return Ruling(rows, waits.reason[waits.following])


def starting(waits: Waits) -> Ruling:
    """The few microseconds that starting takes."""
    return Ruling(waits.short, Reason.LAUNCH_LATENCY)


def late_start(waits: Waits) -> Ruling:
    """It was handed over to an empty device, which did not begin with it.

    device    ####·············####
    thread        [L]                what the thread does later delays nothing
    """
    parts, rows, before = waits.parts, waits.rows, waits.previous
    same = parts.operation[before] == parts.operation[rows]
    same &= (parts.piece[before] == parts.piece[rows]) & (parts.part[before] == Part.HOST)
    return Ruling(same, Reason.LATE_START)


def behind_unrelated_work(waits: Waits) -> Ruling:
    """Nothing known held it, and it began when unrelated work of another stream had ended."""
    given, operation = waits.given, waits.parts.operation[waits.rows]
    rows = np.flatnonzero(waits.parts.part[waits.rows] == Part.LATENCY)
    behind = stood_behind(operation[rows], given.ops, given.depends, given.queues, given.limits)
    shown = np.zeros(waits.rows.size, dtype=np.bool_)
    shown[rows] = (
        taken(given.ops.end_ns, behind, ABSENT_TIME) > waits.parts.start_ns[waits.rows[rows]]
    )
    return Ruling(shown, Reason.HARDWARE_QUEUE)
