"""How a piece of idle time gets its reason: the rules, all of them, in the order they are asked.

The walk (`idle_walk`) cuts idle time into parts: the host was late, an operation ran that compute
waited for, or nothing did. Each kind has rules of its own, of which the first that fits decides.
Then copies look at the copies before them, and at last what ran meanwhile may speak where nothing
else could. docs/how-a-reason-is-chosen.md is this table in print.

To add a rule: a function in the module of its stage, a row in `host_table` or `device_table` at the
place that its certainty gives it, a picture that it decides (a test leaves each rule out), and
`make golden` for the docs.
"""

from __future__ import annotations

from dataclasses import dataclass

from overlapcheck.passes.ledger import device_table, host_table
from overlapcheck.passes.ledger.call_rules import Calls, Locks
from overlapcheck.passes.ledger.fill_rules import Fills
from overlapcheck.passes.ledger.host_rules import HostTime, Tails
from overlapcheck.passes.ledger.ledger_input import LedgerInput
from overlapcheck.passes.ledger.meanwhile_rules import Layer
from overlapcheck.passes.ledger.queue_rules import Queue
from overlapcheck.passes.ledger.rule import Rule, Ruling
from overlapcheck.passes.ledger.wait_rules import Waits


@dataclass(frozen=True)
class Rules:
    """The rules of each stage."""

    held: tuple[Rule[Calls, Ruling], ...] = host_table.HELD
    lock: tuple[Rule[Locks, Ruling], ...] = host_table.LOCK
    host: tuple[Rule[HostTime, Ruling], ...] = host_table.HOST
    restart: tuple[Rule[HostTime, Tails], ...] = host_table.RESTART
    fill: tuple[Rule[Fills, Ruling], ...] = device_table.FILL
    queue: tuple[Rule[Queue, Ruling], ...] = device_table.QUEUE
    wait: tuple[Rule[Waits, Ruling], ...] = device_table.WAIT
    meanwhile: tuple[Rule[LedgerInput, list[Layer]], ...] = device_table.MEANWHILE


RULES = Rules()
