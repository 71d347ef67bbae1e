"""Copies that queued behind a copy of the same piece: rules that look at their neighbours.

A chain of copies inherits from its beginning: one that was queued behind a copy that the host
issued late was itself late for that reason.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from overlapcheck.columns import ABSENT, Codes, Index, Mask, Rows, one_of
from overlapcheck.ledger import Reason
from overlapcheck.order import Relation
from overlapcheck.passes.ledger.fill_rules import Fills
from overlapcheck.passes.ledger.rule import Ruling


@dataclass(frozen=True)
class Queue:
    """Copies over the link that compute waited for, by time, with their reasons so far."""

    fills: Fills
    rows: Index
    """Of `fills`."""
    reason: Codes
    call: Rows

    @cached_property
    def settled(self) -> Mask:
        """What the copy is outweighs its place in the queue."""
        return one_of(self.reason, (Reason.PAGEABLE_COPY, Reason.SYNC_COPY))

    @cached_property
    def queued(self) -> Mask:
        """It waited for the copy before it in its piece."""
        op, before = self.fills.op[self.rows], self.fills.before[self.rows]
        piece = self.fills.parts.piece[self.fills.rows[self.rows]]
        mask = np.zeros(op.size, dtype=np.bool_)
        mask[1:] = (piece[1:] == piece[:-1]) & (before[1:] == op[:-1])
        return mask & ~self.follows_host & ~self.settled

    @property
    def follows_host(self) -> Mask:
        """The host was late before it in its piece."""
        return self.fills.follows_host[self.rows]

    @cached_property
    def by_engine(self) -> Mask:
        """Only the engine ties it to the copy before."""
        relation = self.fills.given.depends.relation[self.fills.op[self.rows]]
        mask: Mask = self.queued & (relation == Relation.ENGINE)
        return mask


def behind_the_engine(queue: Queue) -> Ruling:
    """Only the engine ties two copies: the earlier one is what the later one waited for."""
    holding = np.append(queue.by_engine[1:], False) & ~queue.settled
    return Ruling(queue.by_engine | holding, Reason.COPY_ENGINE)


def behind_a_copy(queue: Queue) -> Ruling:
    """It queued behind a copy, and is late for that one's reason."""
    queued = queue.queued & ~queue.by_engine
    source = np.maximum.accumulate(np.where(queued, ABSENT, np.arange(queued.size)))
    return Ruling(queued, queue.reason[source], queue.call[source])
