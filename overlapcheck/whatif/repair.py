"""What a repair is: steady steps without a cause, and the order that keeps them right."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from overlapcheck.api_kinds import ApiKind
from overlapcheck.columns import ABSENT, Index, Mask, one_of
from overlapcheck.ledger import Reason
from overlapcheck.order import LINK_COPIES, Work
from overlapcheck.step_graph import StepGraph, Why
from overlapcheck.whatif_thresholds import WHAT_IF


@dataclass(frozen=True)
class Repaired:
    """A graph without the cause."""

    graph: StepGraph
    edges_added: tuple[str, ...] = ()
    """Orders that the repaired program needs and the recorded one got by accident or by waiting."""


class Repair(ABC):
    """One way to take a cause away."""

    reason: ClassVar[Reason]
    """The cause."""
    what: ClassVar[str]
    """What is changed in the program, in a few words: "pin the host memory"."""

    @property
    def id(self) -> str:
        """What users ask for it by: the cause, of which most have one repair."""
        return self.reason.cause

    @abstractmethod
    def apply(self, graph: StepGraph) -> Repaired | None:
        """The graph repaired; None where it has nothing of the kind."""


def copies(graph: StepGraph) -> Mask:
    """Operations that use the link to the host or to another device."""
    return one_of(graph.operations.work, LINK_COPIES)


def hands_over_ns(graph: StepGraph) -> int:
    """What an asynchronous copy call costs here."""
    events, ops = graph.events, graph.operations
    calls = np.flatnonzero(events.kind == ApiKind.COPY)
    held = graph.links.after[graph.links.of(Why.WAIT)]
    used = np.unique(ops.event[(ops.event != ABSENT) & copies(graph) & ~ops.pageable])
    free = calls[np.isin(calls, used) & ~np.isin(graph.call_end(calls), held)]
    if free.size == 0:
        return WHAT_IF.hands_over_ns
    length = events.end_ns[free] - events.start_ns[free]
    return min(int(np.median(length)), 2 * WHAT_IF.starts_within_ns)


def into(graph: StepGraph, nodes: Index, *sorts: Why) -> Mask:
    """Links of some sorts that end at some nodes."""
    found: Mask = np.isin(graph.links.after, nodes)
    return found & graph.links.of(*sorts) if sorts else found


def in_streams(graph: StepGraph) -> list[list[int]]:
    """The operations of each stream in their order."""
    ops = graph.operations
    order = np.lexsort((ops.end_ns, ops.start_ns, ops.stream))
    bounds = np.flatnonzero(np.diff(ops.stream[order])) + 1
    return [part.tolist() for part in np.split(order, bounds)]


def is_kernel(graph: StepGraph) -> Mask:
    """Operations that are compute."""
    mask: Mask = graph.operations.work == Work.COMPUTE
    return mask
