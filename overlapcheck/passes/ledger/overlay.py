"""Giving pieces another reason where something ran meanwhile."""

from __future__ import annotations

import numpy as np

from overlapcheck.columns import ABSENT, Column, blocks, joined, one_of
from overlapcheck.passes.ledger.idle_parts import Parts
from overlapcheck.passes.ledger.ledger_input import Draft, LedgerInput
from overlapcheck.passes.ledger.meanwhile_rules import Layer
from overlapcheck.passes.ledger.rules import RULES
from overlapcheck.passes.ledger.side_by_side import side_by_side
from overlapcheck.passes.ledger.splitting import split


def overlaid(draft: Draft, parts: Parts, given: LedgerInput) -> Draft:
    """Let what ran meanwhile speak where the walk cannot: in the order of its certainty."""
    layers = [layer for rule in RULES.meanwhile for layer in rule.decide(given) if layer.busy]

    def changed(block: slice) -> tuple[Column, ...]:
        rows = draft.rows(block)
        for layer in layers:
            rows = _overlay(rows, parts, layer)
        return rows.columns

    return Draft(*joined(side_by_side(changed, blocks(draft.start_ns.size))))


def _overlay(draft: Draft, parts: Parts, layer: Layer) -> Draft:
    """Give rows that a layer may change, cut to its time, its reason."""
    busy = layer.busy
    pieces = split(draft.start_ns, draft.end_ns, busy.start_ns, busy.end_ns)
    is_cut = pieces.cut != ABSENT
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
