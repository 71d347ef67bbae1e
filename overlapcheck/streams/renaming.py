"""Which stream of a recording is which of a contract.

Names say roles. Of several streams of one role nothing but their waits tells which is which, so all
assignments are tried; and a role that hangs in the balance may come out differently.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import islice, permutations, product

from overlapcheck.stream_contract import Pipeline, StreamRule
from overlapcheck.stream_graph import StreamGraph, StreamSeen

_NAME = re.compile(r"(?P<role>[\w-]+)(?: (?P<ordinal>\d+))?(?:@(?P<device>\d+))?")
MOST_OF_A_ROLE = 4
MOST_TRIED = 96


def assignments(pipeline: Pipeline, graph: StreamGraph) -> Iterator[StreamGraph]:
    """The graph with the names that its streams may have in the contract, likeliest first."""
    return islice(_assignments(pipeline, graph), MOST_TRIED)


def _assignments(pipeline: Pipeline, graph: StreamGraph) -> Iterator[StreamGraph]:
    agreed = {stream.name: stream for stream in pipeline.streams}
    alike: dict[tuple[str, str], list[str]] = {}
    for name in [*agreed, *(seen.name for seen in graph.streams)]:
        group = alike.setdefault(_group(name), [])
        if name not in group:
            group.append(name)
    choices = []
    for names in alike.values():
        mine = [seen.name for seen in graph.streams if seen.name in names]
        orders = (
            permutations(names, len(mine)) if len(names) <= MOST_OF_A_ROLE else iter([tuple(mine)])
        )
        # As they are comes first.
        every = sorted(orders, key=lambda order, mine=mine: order != tuple(mine))  # type: ignore[misc]
        choices.append([dict(zip(mine, order, strict=True)) for order in every])
    for chosen in product(*choices):
        names_now = {old: new for part in chosen for old, new in part.items()}
        yield renamed(graph, names_now | _balanced(agreed, graph.streams, names_now))


def _group(name: str) -> tuple[str, str]:
    found = _NAME.fullmatch(name)
    return (found["role"], found["device"] or "") if found else (name, "")


def _balanced(
    agreed: Mapping[str, StreamRule], streams: Sequence[StreamSeen], names: Mapping[str, str]
) -> dict[str, str]:
    """Streams whose role the contract does not have, by what they carry."""
    free = {name: rule for name, rule in agreed.items() if name not in names.values()}
    found = {}
    for seen in streams:
        if names[seen.name] in agreed:
            continue
        for name, rule in free.items():
            same_device = _group(name)[1] == _group(seen.name)[1]
            if same_device and rule.carries and rule.carries == seen.rule.carries:
                found[seen.name] = name
                del free[name]
                break
    return found


def renamed(graph: StreamGraph, names: Mapping[str, str]) -> StreamGraph:
    """The graph with other names of its streams."""
    if all(old == new for old, new in names.items()):
        return graph
    return replace(
        graph,
        streams=tuple(
            replace(seen, rule=replace(seen.rule, name=names[seen.name])) for seen in graph.streams
        ),
        edges=tuple(
            replace(
                seen,
                rule=replace(
                    seen.rule, source=names[seen.rule.source], target=names[seen.rule.target]
                ),
            )
            for seen in graph.edges
        ),
        host=tuple(
            replace(seen, rule=replace(seen.rule, of=names.get(seen.rule.of or "", seen.rule.of)))
            for seen in graph.host
        ),
        never_recorded=tuple(
            replace(one, target=names[one.target]) for one in graph.never_recorded
        ),
        unknown=tuple(replace(one, target=names[one.target]) for one in graph.unknown),
    )
