"""How a recording differs from the contract of its streams."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from overlapcheck.stream_contract import Buffer, EdgeRule, HostRule
from overlapcheck.stream_graph import Example
from overlapcheck.verdict import Outcome


class ChangeKind(StrEnum):
    """What happened to an edge or a wait of the host."""

    LOST = "lost"
    """It has gone, or some of its waits per step have."""
    GAINED = "gained"
    DISTANCE = "distance"
    """It leads to another step."""
    RARER = "rarer"
    """Steps lack it."""
    COVERS_LESS = "covers less"
    """The record is made earlier, or the wait later, than before."""
    BY_HOST = "by the host"
    """What the edge held is now held by a wait of the host."""
    NOT_ORDERED = "not ordered"
    """A declared buffer is used in an order that nothing recorded makes."""


@dataclass(frozen=True)
class Change:
    """One difference."""

    kind: ChangeKind
    text: str
    """One clause, in the names of the contract."""
    edge: EdgeRule | None = None
    """The edge it is about, as the contract has it, or as it came; `count`: waits per step that
    went or came."""
    now: EdgeRule | None = None
    """For DISTANCE: as it stands now."""
    host: HostRule | None = None
    buffer: Buffer | None = None
    example: Example | None = None
    """The step, the two operations and the time between them."""


@dataclass(frozen=True)
class StreamCheck:
    """Whether one process keeps the contract."""

    process: str
    number: int
    outcome: Outcome
    reason: str
    """One clause."""
    changes: tuple[Change, ...] = ()
    doubts: tuple[Change, ...] = ()
    """What looks lost, but may only not have been recorded."""
    notes: tuple[str, ...] = ()
    """What is different and breaks nothing."""
    settle_with: str = ""
    """What would settle it, in the words of the recorder."""
    never_recorded: tuple[str, ...] = ()
    """Streams that wait for events which are never recorded."""
