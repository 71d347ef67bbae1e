"""Reasons of the parts of an idle piece in which the device, not the host, was waited for."""

from __future__ import annotations

import numpy as np

from overlapcheck.columns import ABSENT, Codes, Rows, one_of
from overlapcheck.ledger import Reason
from overlapcheck.order import WITHIN_DEVICE
from overlapcheck.passes.ledger.fill_rules import Fills
from overlapcheck.passes.ledger.idle_parts import Part, Parts
from overlapcheck.passes.ledger.ledger_input import LedgerInput
from overlapcheck.passes.ledger.queue_rules import Queue
from overlapcheck.passes.ledger.rule import first_that_fits, told
from overlapcheck.passes.ledger.rules import RULES
from overlapcheck.passes.ledger.wait_rules import Waits


def device_reasons(
    parts: Parts, given: LedgerInput, host_reason: Codes, host_call: Rows
) -> tuple[Codes, Rows]:
    """Reason of each part but HOST ones, and the call to blame.

    Args:
        parts: sorted by time, so by depth.
        given: the tables behind them.
        host_reason: of each HOST part, why the host was late; ABSENT for others.
        host_call: the call to blame for that.
    """
    reason = np.full(len(parts), Reason.UNEXPLAINED, dtype=np.int8)
    call = np.full(len(parts), ABSENT, dtype=np.int32)
    transfers = np.zeros(len(parts), dtype=np.bool_)
    rows = np.flatnonzero(parts.part == Part.FILL)
    if rows.size:
        fills = Fills(rows, parts, host_reason, host_call, given)
        reason[rows], call[rows] = _queued(fills, *first_that_fits(RULES.fill, fills, rows.size))
        transfers[rows] = ~one_of(fills.work, WITHIN_DEVICE)
    waiting = np.flatnonzero(one_of(parts.part, (Part.LATENCY, Part.OPEN, Part.ELSEWHERE)))
    if waiting.size:
        waits = Waits(waiting, parts, transfers, reason.copy(), given)
        reason[waiting], call[waiting] = first_that_fits(RULES.wait, waits, waiting.size)
    return reason, call


def _queued(fills: Fills, reason: Codes, call: Rows) -> tuple[Codes, Rows]:
    """The same, after copies have looked at the copies before them."""
    rows = np.flatnonzero(fills.is_copy)
    for rule in RULES.queue:
        ruling = rule.decide(Queue(fills, rows, reason[rows], call[rows]))
        said, blamed = reason[rows], call[rows]
        told(ruling, np.flatnonzero(ruling.rows), said, blamed)
        reason[rows], call[rows] = said, blamed
    return reason, call
