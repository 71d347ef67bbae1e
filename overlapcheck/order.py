"""What a process did on its devices, and every order between two operations that is known.

    s7    [ kernel A ]········[ kernel B ]      STREAM   A → B
    s13               [ copy ]↗                 EVENT    A → copy, copy → B
    host  [ sync.............]  [launch C]      HOST     copy → C, by the call that waited

An edge says that one operation could not start before another had ended, and how that is known.
All edges are kept, also those that held nothing up: which one did is a matter of times, and a pass
of its own. Devices of one process are in one table, for events order them too.
"""

from __future__ import annotations

from dataclasses import dataclass

from overlapcheck.codes import Code
from overlapcheck.columns import ABSENT, Bools, Codes, Columns, Ints, Mask, Rows


class Work(Code):
    """Kinds of device operations."""

    NONE = ABSENT
    COMPUTE = 0
    COMMUNICATION = 1
    H2D = 2
    D2H = 3
    P2P = 4
    D2D = 5
    MEMSET = 6
    MIGRATION = 7


LINK_COPIES = (Work.H2D, Work.D2H, Work.P2P)
"""Copies that use the link to the host or to another device."""
WITHIN_DEVICE = (Work.D2D, Work.MEMSET)
"""Work of the device on its own memory."""


class Relation(Code):
    """Why an operation could not start before another had ended."""

    NONE = 0
    STREAM = 1
    """The same stream runs in order."""
    EVENT = 2
    """The stream waited for an event recorded behind the other."""
    NULL_STREAM = 3
    """The legacy null stream and a blocking stream exclude each other."""
    ENGINE = 4
    """One copy engine per direction."""
    HOST = 5
    """The submitting thread had waited for the other in a call."""
    GRAPH = 6
    """A graph's own order: its branches are not recorded, so it follows from adjacent times."""


@dataclass(frozen=True)
class Operations(Columns):
    """Operations of one process on all its devices, sorted by (start_ns, end_ns)."""

    start_ns: Ints
    end_ns: Ints
    work: Codes
    """Work."""
    device_id: Ints
    """The process's number of the device that the row was recorded on."""
    peer_source_id: Ints
    """Peer copies: the device copied from; ABSENT where not recorded and for all others."""
    peer_destination_id: Ints
    """Peer copies: the device copied to; ABSENT likewise."""
    stream: Ints
    """Dense number of the (context, stream) in the process."""
    context_id: Ints
    stream_id: Ints
    name_id: Ints
    """Kernel name; ABSENT for copies and memsets."""
    bytes: Ints
    pageable: Bools
    call: Rows
    """Row of the launch call among the process's; ABSENT where not recorded."""
    launch_start_ns: Ints
    """ABSENT_TIME where not recorded."""
    launch_end_ns: Ints
    tid: Ints
    """Launching thread; ABSENT where not recorded."""

    def on_device(self, device_id: int) -> Mask:
        """Operations that occupy a device: its own, and peer copies from or to it."""
        mask: Mask = (
            (self.device_id == device_id)
            | (self.peer_source_id == device_id)
            | (self.peer_destination_id == device_id)
        )
        return mask


@dataclass(frozen=True)
class Edges(Columns):
    """Orders between operations: row `after` could not start before row `before` had ended.

    In runs of one relation and proof, best proof first. There are at most a few per operation,
    never one per pair: what follows from two edges is not repeated.
    """

    before: Rows
    """Row of the operation that had to end."""
    after: Rows
    """Row of the operation that waited."""
    relation: Codes
    """Relation: how the order is known."""
    inferred: Bools
    """It follows from adjacency in time; no row proves it."""
    call: Rows
    """Row of the process's call that made the order: for EVENT the wait, for HOST the call in which
    the thread waited; ABSENT for others.

    A HOST edge names the first operation that the thread submitted afterwards. All that the thread
    submitted later comes after it as well.
    """

    def of(self, *relations: Relation) -> Edges:
        """Edges of some relations."""
        mask = self.relation == relations[0]
        for relation in relations[1:]:
            mask |= self.relation == relation
        return self.rows(mask)


@dataclass(frozen=True)
class Order:
    """The operations of a process and the edges between them."""

    operations: Operations
    edges: Edges
    run_begin: Rows
    """Where edges cross devices: row of the operation with which an unbroken run began, of which
    each starts as soon as another ends, that led to each operation; ABSENT where none do."""

    @classmethod
    def none(cls) -> Order:
        """No operations."""
        operations = Operations.none()
        return cls(operations, Edges.none(), operations.call)
