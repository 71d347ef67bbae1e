"""Which stream waits for which, as a team agrees on it: roles, edges between them, and the host.

h2d ──ready 0──▶ compute      compute reads what was copied in the same step
h2d ◀─reuse −2── compute      the copy waits until the step before last has read: two buffers
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import NamedTuple


class Role(StrEnum):
    """What a stream mostly carries."""

    COMPUTE = "compute"
    COLLECTIVE = "collective"
    H2D = "h2d"
    D2H = "d2h"
    P2P = "p2p"
    MIXED = "mixed"


class EdgeKind(StrEnum):
    """What a wait is for."""

    READY = "ready"
    """The one that waits reads what the other wrote."""
    REUSE = "reuse"
    """It overwrites what the other read."""
    JOIN = "join"
    """Streams of one role meet."""


class Proof(StrEnum):
    """How an edge is known."""

    EVENT = "event"
    NULL_STREAM = "null stream"
    """The legacy null stream and blocking streams exclude each other."""


class Often(StrEnum):
    """In how many of the steps something happens."""

    EVERY = "every"
    MOST = "most"
    SOME = "some"


class Place(NamedTuple):
    """Where a wait takes hold within a step."""

    behind: int
    """Operations of the awaited stream that the step hands over after the record: not covered."""
    ahead: int
    """Operations of the waiting stream that the step hands over before the wait: not held."""


@dataclass(frozen=True)
class StreamRule:
    """A stream, or several that take turns, by its role."""

    name: str
    """Role, with a number from the second of a role and a device from the second: "compute 2",
    "h2d@1"."""
    kind: str
    """"null", "blocking", "non-blocking" or "unknown"."""
    operations: int | None
    """Handed over per step; None where that varies."""
    carries: tuple[str, ...] = ()
    """Roles that make up a good part of its work, where they are several."""


@dataclass(frozen=True)
class EdgeRule:
    """Waits of one stream for another, in each step."""

    source: str
    """Stream that is waited for."""
    target: str
    """Stream that waits."""
    kind: EdgeKind
    distance: int
    """Step of what is waited for less step of what waits, both by hand-over: 0, -1, -2."""
    count: int = 1
    """Waits per step."""
    often: Often = Often.EVERY
    proof: Proof = Proof.EVENT
    places: tuple[Place, ...] = ()
    """Of each wait of a step, ascending; empty where they vary."""
    oldest: int | None = None
    """Where another thread hands over what is waited for, and how far it is ahead varies: the
    distance furthest back; `distance` is then the nearest."""

    @property
    def key(self) -> tuple[str, str, int, str]:
        """What tells it from others."""
        return self.source, self.target, self.distance, self.proof.value

    @property
    def text(self) -> str:
        """The edge in words: "ready edge h2d -> compute, distance 0"."""
        return self.counted("edge")

    def counted(self, noun: str) -> str:
        """The edge in words, with "edge" or "edges" for it."""
        back = "" if self.oldest is None else f" to {self.oldest}"
        return f"{self.kind} {noun} {self.source} -> {self.target}, distance {self.distance}{back}"


@dataclass(frozen=True)
class HostRule:
    """Waits of the host for the device."""

    call: str
    of: str | None = None
    """Stream; None for the whole device."""
    distance: int | None = None
    """For an event: step of what is waited for less step of the call."""
    count: int = 1
    often: Often = Often.EVERY
    copy: bool = False
    """Whether it is a copy that returns when it is done."""
    memory: bool = False
    """Whether it is behind a copy from or to the host, whose memory is read or written next."""
    timer: bool = False
    """Whether it reads the time between events, which no order depends on."""

    @property
    def key(self) -> tuple[str, str, int]:
        """What tells it from others."""
        return self.call, self.of or "", 1 if self.distance is None else self.distance

    @property
    def text(self) -> str:
        """The wait in words: "cudaEventSynchronize of d2h, distance -2"."""
        of = f" of {self.of}" if self.of else ""
        distance = "" if self.distance is None else f", distance {self.distance}"
        return f"{self.call}{of}{distance}"


@dataclass(frozen=True)
class Buffer:
    """Memory that one stream writes and another reads, as the team declares it."""

    writes: str
    reads: str
    slots: int | None = None
    """How many there are: the writer must wait for the reader of so many steps before."""
    fresh: bool = False
    """Whether each step has memory of its own, from a stream-ordered allocator."""

    @property
    def text(self) -> str:
        """The declaration in words."""
        how = "fresh memory" if self.fresh else f"slots = {self.slots}"
        return f"buffer that {self.writes} writes and {self.reads} reads, {how}"


@dataclass(frozen=True)
class Pipeline:
    """Streams and waits of one process."""

    streams: tuple[StreamRule, ...]
    edges: tuple[EdgeRule, ...]
    host: tuple[HostRule, ...]


@dataclass(frozen=True)
class StreamContract:
    """What is agreed on."""

    pipelines: tuple[Pipeline, ...]
    """Of the processes of a recording, each kind once."""
    ranges: bool = True
    """Whether ranges of the user mark the steps; else a step may begin anywhere."""
    family: str | None = None
    buffers: tuple[Buffer, ...] = ()
    place: str = field(default="", compare=False)
    """File that it was read from."""
