"""What is proven to be in order, and what nothing recorded orders: never more than that."""

from __future__ import annotations

from dataclasses import dataclass

from overlapcheck.quantities import duration
from overlapcheck.stream_contract import Buffer, EdgeKind
from overlapcheck.stream_graph import Example


@dataclass(frozen=True)
class Ordering:
    """One order that a declared buffer needs, asked for in each step."""

    buffer: Buffer
    need: EdgeKind
    """READY: written before it is read; REUSE: read before it is overwritten."""
    source: str
    target: str
    distance: int
    ordered: int
    """Steps in which it is proven."""
    of_steps: int
    by_host: int
    """Of those, steps in which only a wait of the host makes it."""
    chain: tuple[str, ...]
    """The waits that make it in one step, from one operation to the other."""
    example: Example | None
    """A step with that chain, or one that nothing recorded orders, if there is one."""

    @property
    def holds(self) -> bool:
        """Whether it is proven in every step that was asked."""
        return self.ordered == self.of_steps > 0


@dataclass(frozen=True)
class Hint:
    """A stream of copies that no edge joins to other work."""

    stream: str
    text: str


@dataclass(frozen=True)
class StreamAudit:
    """What a recording proves of one process."""

    process: str
    number: int
    orderings: tuple[Ordering, ...]
    hints: tuple[Hint, ...]
    unseen: tuple[str, ...]
    """What a recording cannot tell at all."""


def sentence(ordering: Ordering) -> str:
    """What is known of an order, in the words that a recording allows."""
    seen = ordering.example
    if seen is None or seen.before is None or seen.after is None:
        return f"{ordering.source} and {ordering.target} do not both work in one step"
    first, second = seen.before.text, seen.after.text
    where = f"step {seen.step}: {first} of {ordering.source}, {second} of {ordering.target}"
    if ordering.holds:
        return f"ordered by this chain ({where}): {'; '.join(ordering.chain)}"
    apart = seen.between_ns or 0
    told = f"{duration(apart)} apart" if apart >= 0 else f"{duration(-apart)} before its end"
    return f"nothing recorded orders {first} and {second} ({where}, {told})"
