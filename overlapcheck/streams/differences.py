"""How the edges and host waits of a graph differ from those agreed on, name by name."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace

from overlapcheck.stream_changes import Change, ChangeKind
from overlapcheck.stream_contract import EdgeRule, HostRule, Often, Pipeline, Place, Proof
from overlapcheck.stream_graph import EdgeSeen, HostSeen, StreamGraph

_RANK = {Often.SOME: 0, Often.MOST: 1, Often.EVERY: 2}
OFTEN_ENOUGH = 0.2
"""What a short recording may have missed is no change: less often than this share of the steps."""
TIMES_ENOUGH = 3


@dataclass(frozen=True)
class Differences:
    """Changes, before it is asked whether the order stands all the same."""

    changes: tuple[Change, ...]
    notes: tuple[str, ...] = ()


def differences(pipeline: Pipeline, graph: StreamGraph, *, marked: bool = True) -> Differences:
    """Compare one process with what was agreed on.

    Args:
        pipeline: what was agreed on.
        graph: what a recording shows.
        marked: whether ranges mark the steps of both. Else only the way round a loop has a length
            in steps: what leads one way may be handed over earlier or later in a step.
    """
    edges, edge_notes = _edges(pipeline, graph, marked=marked)
    hosts, host_notes = _hosts(pipeline, graph, marked=marked)
    notes = [*edge_notes, *host_notes]
    agreed = {stream.name: stream for stream in pipeline.streams}
    for seen in graph.streams:
        if seen.name not in agreed:
            notes.append(f"stream {seen.name} is not in the contract")
        elif (
            "unknown" not in (kinds := {seen.rule.kind, agreed[seen.name].kind}) and len(kinds) > 1
        ):
            notes.append(f"{seen.name} was {agreed[seen.name].kind}, is {seen.rule.kind}")
    there = {seen.name for seen in graph.streams}
    notes += [f"stream {name} is not in the recording" for name in agreed if name not in there]
    return Differences((*edges, *hosts), tuple(notes))


def _edges(
    pipeline: Pipeline, graph: StreamGraph, *, marked: bool
) -> tuple[list[Change], list[str]]:
    agreed = {edge.key: edge for edge in pipeline.edges}
    seen = {edge.rule.key: edge for edge in graph.edges}
    operations = {stream.name: stream.operations for stream in pipeline.streams}
    now = {stream.name: stream.rule.operations for stream in graph.streams}
    alike = {name for name, count in operations.items() if count is not None and
             now.get(name) == count}  # fmt: skip
    lost = [
        edge for key, edge in agreed.items() if key not in seen and edge.often is not Often.SOME
    ]
    new = [edge for key, edge in seen.items() if key not in agreed and _counts(edge)]
    changes: list[Change] = []
    notes: list[str] = []
    for edge in list(lost):
        moved = next((one for one in new if one.rule.key[:2] == edge.key[:2]
                      and one.rule.proof is edge.proof), None)  # fmt: skip
        if moved is not None:
            lost.remove(edge)
            new.remove(moved)
            change = _moved(edge, moved)
            loose = moved.other_thread or edge.oldest is not None
            loose = loose or not (marked or _in_loop(edge, pipeline.edges))
            if not loose or _apart(edge, moved.rule) > 1:
                changes.append(change)
            else:
                notes.append(change.text)
    changes += [Change(ChangeKind.LOST, _gone(edge), edge=edge) for edge in lost]
    for one in new:
        text = f"new {one.rule.text}, {_share(one.steps, one.of_steps)}"
        if one.rule.proof is Proof.NULL_STREAM:
            text += ", by the null stream's rule"
        changes.append(Change(ChangeKind.GAINED, text, edge=one.rule, example=one.example))
    for key, edge in agreed.items():
        if key in seen:
            changes += _same_key(edge, seen[key], alike)
    return changes, notes


def _apart(one: EdgeRule, other: EdgeRule) -> int:
    """Steps between the distances of two edges, each of which may have several."""
    first = one.distance if one.oldest is None else one.oldest
    second = other.distance if other.oldest is None else other.oldest
    return max(0, first - other.distance, second - one.distance)


def _in_loop(edge: EdgeRule, edges: Sequence[EdgeRule]) -> bool:
    """Whether a way leads back from where an edge leads to."""
    reached, open_ = {edge.target}, [edge.target]
    while open_:
        here = open_.pop()
        for other in edges:
            if other.source == here and other.target not in reached:
                reached.add(other.target)
                open_.append(other.target)
    return edge.source in reached


def _gone(edge: EdgeRule) -> str:
    if edge.count == 1:
        return f"{edge.text} has gone"
    return f"all {edge.count} {edge.counted('edges')}, have gone"


def _share(steps: int, of_steps: int) -> str:
    return "in every step" if steps == of_steps else f"in {steps} of {of_steps} steps"


def _counts(edge: EdgeSeen | HostSeen) -> bool:
    """Whether something new is there often enough that the other recording would have had it."""
    if edge.rule.often is not Often.SOME:
        return True
    return edge.steps >= TIMES_ENOUGH and edge.steps >= OFTEN_ENOUGH * edge.of_steps


def _moved(was: EdgeRule, now: EdgeSeen) -> Change:
    text = (
        f"{was.kind} edge {was.source} -> {was.target} went from distance {was.distance} to"
        f" {now.rule.distance}"
    )
    return Change(ChangeKind.DISTANCE, text, edge=was, now=now.rule, example=now.example)


def _same_key(edge: EdgeRule, seen: EdgeSeen, alike: set[str]) -> list[Change]:
    found = []
    if _RANK[seen.rule.often] < _RANK[edge.often]:
        text = f"{edge.text}, stands {_share(seen.steps, seen.of_steps)}"
        if seen.missing:
            text += f", not in step {', '.join(map(str, seen.missing))}"
        found.append(Change(ChangeKind.RARER, text, edge=edge, now=seen.rule))
    if edge.proof is Proof.NULL_STREAM:
        return found
    apart = seen.rule.count - edge.count
    if apart < 0:
        missing = _missing(edge.places, seen.rule.places)
        lost = replace(edge, count=-apart, places=missing[:-apart])
        gone = "has gone" if apart == -1 else "have gone"
        text = f"{-apart} of {edge.count} {edge.counted('edges')}, {gone}"
        found.append(Change(ChangeKind.LOST, text, edge=lost))
    elif apart > 0 and edge.often is not Often.SOME:
        more = replace(seen.rule, count=apart)
        text = f"{seen.rule.count} instead of {edge.count} {edge.counted('edges')}"
        found.append(Change(ChangeKind.GAINED, text, edge=more, example=seen.example))
    elif apart == 0:
        less = _covers_less(edge, seen, alike)
        if less is not None:
            text = f"{edge.text}, covers less than before"
            found.append(
                Change(ChangeKind.COVERS_LESS, text, edge=edge, now=less, example=seen.example)
            )
    return found


def _missing(before: tuple[Place, ...], now: tuple[Place, ...]) -> tuple[Place, ...]:
    """Places that have gone; where one went, the operations around all others stay."""
    behind = Counter(place.behind for place in before)
    behind.subtract(place.behind for place in now)
    gone = tuple(place for place in before if behind[place.behind] > 0)
    return gone or before[-1:]


def _covers_less(edge: EdgeRule, seen: EdgeSeen, alike: set[str]) -> EdgeRule | None:
    """The edge as it is now, where it leaves out what it used to cover or hold.

    How many operations a step has may differ from run to run; then only that all of them were
    covered, or held, can be held against it.
    """
    now = seen.rule
    if edge.places and not now.places:
        behind = seen.uncovered >= OFTEN_ENOUGH and not any(p.behind for p in edge.places)
        ahead = seen.unheld >= OFTEN_ENOUGH and not any(p.ahead for p in edge.places)
        return now if behind or ahead else None
    if not edge.places:
        return None
    for name, stream in (("behind", edge.source), ("ahead", edge.target)):
        was = sorted(getattr(place, name) for place in edge.places)
        is_ = sorted(getattr(place, name) for place in now.places)
        comparable = stream in alike or not any(was)
        if comparable and any(more > less for more, less in zip(is_, was, strict=True)):
            return now
    return None


def _hosts(
    pipeline: Pipeline, graph: StreamGraph, *, marked: bool
) -> tuple[list[Change], list[str]]:
    agreed = {host.key: host for host in pipeline.host if not host.timer}
    waits = [host for host in graph.host if not host.rule.timer]
    if not marked:
        waits = [_at_the_step_of(host, pipeline.host) for host in waits]
    seen = {host.rule.key: host for host in waits}
    timers = {host.key for host in pipeline.host if host.timer}
    changes, notes = [], []
    for key, one in seen.items():
        was = agreed.get(key)
        if key in timers or not _counts(one):
            continue
        if was is None:
            text = f"new {one.rule.text}, {_share(one.steps, one.of_steps)}"
            changes.append(Change(ChangeKind.GAINED, text, host=one.rule, example=one.example))
        elif was.often is Often.SOME and one.rule.often is not Often.SOME:
            text = f"{one.rule.text}, now {_share(one.steps, one.of_steps)}"
            changes.append(Change(ChangeKind.GAINED, text, host=one.rule, example=one.example))
        elif one.rule.count > was.count and was.often is not Often.SOME:
            more = replace(one.rule, count=one.rule.count - was.count)
            text = f"{one.rule.count} instead of {was.count} {was.text}"
            changes.append(Change(ChangeKind.GAINED, text, host=more, example=one.example))
    for key, was in agreed.items():
        if was.often is Often.SOME or key in seen or key in {h.rule.key for h in graph.host}:
            continue
        if _needed(was):
            changes.append(Change(ChangeKind.LOST, f"{was.text} has gone", host=was))
        else:
            notes.append(f"{was.text} has gone")
    return changes, notes


def _at_the_step_of(host: HostSeen, agreed: Sequence[HostRule]) -> HostSeen:
    """A wait by the distance that was agreed on, where a step may begin on either side of it."""
    if host.rule.distance is None or host.rule.key in {one.key for one in agreed}:
        return host
    beside = {host.rule.distance - 1, host.rule.distance + 1}
    for one in agreed:
        if (one.call, one.of) == (host.rule.call, host.rule.of) and one.distance in beside:
            return replace(host, rule=replace(host.rule, distance=one.distance))
    return host


def _needed(host: HostRule) -> bool:
    """Whether a wait of the host is more than a throttle.

    Memory of the host hangs on it, or it is for all that a stream was given.
    """
    return host.memory or host.distance is None
