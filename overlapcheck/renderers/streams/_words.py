"""Clauses that all formats of streams share."""

from __future__ import annotations

from overlapcheck.quantities import count_of, duration
from overlapcheck.stream_contract import EdgeKind, EdgeRule, Often, Proof
from overlapcheck.stream_graph import EdgeSeen, Example, HostSeen, OperationSeen, StreamGraph


def distance(value: int) -> str:
    """A distance with a minus that is as wide as a plus."""
    return f"−{-value}" if value < 0 else str(value)


def edge_label(rule: EdgeRule) -> str:
    """What stands at an arrow: "ready 0", "3× reuse −2"."""
    times = f"{rule.count}× " if rule.count > 1 else ""
    back = "" if rule.oldest is None else f"…{distance(rule.oldest)}"
    return f"{times}{rule.kind} {distance(rule.distance)}{back}"


def how_often(seen: EdgeSeen | HostSeen) -> str:
    """In which steps: "every step", "14 of 16 steps"."""
    if seen.rule.often is Often.EVERY:
        return "every step"
    return f"{seen.steps} of {seen.of_steps} steps"


def edge_note(seen: EdgeSeen) -> str:
    """What an edge means, beside its arrow."""
    rule = seen.rule
    parts = [how_often(seen)] if rule.often is not Often.EVERY else []
    if rule.kind is EdgeKind.REUSE and rule.distance < -1:
        parts.append(count_of(-rule.distance, "buffer"))
    if rule.proof is Proof.NULL_STREAM:
        parts.append("null stream")
    if seen.through:
        parts.append(f"via {seen.through}")
    return ", ".join(parts)


def steps_text(graph: StreamGraph) -> str:
    """The steps that were looked at."""
    if not graph.steps:
        return "no steps: mark them with NVTX ranges ('step 3') to see edges"
    family = f" of '{graph.family}'" if graph.family else ", by repeating kernels"
    if graph.steps == 1:
        return f"step {graph.first_step}{family}"
    return f"steps {graph.first_step} to {graph.last_step}{family}"


def operation(seen: OperationSeen) -> str:
    """One operation and where it ran."""
    return f"{seen.text} (s{seen.stream_id})"


def example_text(example: Example) -> str:
    """The step, the operations, and the time between them."""
    seen = [operation(one) for one in (example.before, example.after) if one is not None]
    text = f"step {example.step}: {' → '.join(seen)}" if seen else f"step {example.step}"
    between = example.between_ns
    if between is None:
        return text
    if between < 0:
        return f"{text}, which starts {duration(-between)} before the other has ended"
    return f"{text}, {duration(between)} after it"
