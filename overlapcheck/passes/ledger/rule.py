"""What a rule is: one way in which a piece of idle time gets its reason."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

import numpy as np

from overlapcheck.columns import ABSENT, Codes, Index, Mask, Rows
from overlapcheck.ledger import Reason

_Case = TypeVar("_Case")
_Answer = TypeVar("_Answer")


OF_THE_CALL = "the call's: host-sync, allocation, module-load, sync-copy ..."
"""What a rule gives that takes over the reason of a call."""


@dataclass(frozen=True)
class Rule(Generic[_Case, _Answer]):
    """One row of the table, see `rules.py`."""

    name: str
    when: str
    """What must be so, for people."""
    gives: str
    """The cause that it names, or whose it takes over."""
    picture: str
    """Drawing that it decides: "file/section" of fixtures/causes, or of fixtures/rules.toml."""
    decide: Callable[[_Case], _Answer]


@dataclass(frozen=True)
class Ruling:
    """Which rows of a case a rule speaks for, and what it says of them."""

    rows: Mask
    """Shape (n,)."""
    reason: Codes | Reason
    """Reason of each row, shape (n,), or of all."""
    call: Rows | int = ABSENT
    """Row of the call to blame, shape (n,); ABSENT for none."""


def first_that_fits(
    rules: Sequence[Rule[_Case, Ruling]],
    case: _Case,
    count: int,
    otherwise: int = Reason.UNEXPLAINED,
) -> tuple[Codes, Rows]:
    """Reason of each row, and the call to blame: what the first rule that speaks for it says.

    Args:
        rules: in order; those behind one that spoke for a row are not heard.
        case: what they look at.
        count: its rows.
        otherwise: reason of those that no rule speaks for.
    """
    reason = np.full(count, otherwise, dtype=np.int8)
    call = np.full(count, ABSENT, dtype=np.int32)
    undecided = np.ones(count, dtype=np.bool_)
    for rule in rules:
        ruling = rule.decide(case)
        rows = np.flatnonzero(undecided & ruling.rows)
        if rows.size:
            undecided[rows] = False
            told(ruling, rows, reason, call)
    return reason, call


def told(ruling: Ruling, rows: Index, reason: Codes, call: Rows) -> None:
    """Write down what a ruling says of some rows."""
    said, blamed = ruling.reason, ruling.call
    reason[rows] = said[rows] if isinstance(said, np.ndarray) else said
    call[rows] = blamed[rows] if isinstance(blamed, np.ndarray) else blamed
