"""The file of a contract: few sorted lines, with a comment for whoever reviews a change of them."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, TypeVar

from overlapcheck.clean import clean
from overlapcheck.errors import PolicyInvalid
from overlapcheck.stream_contract import (
    Buffer,
    EdgeKind,
    EdgeRule,
    HostRule,
    Often,
    Pipeline,
    Place,
    Proof,
    StreamContract,
    StreamRule,
)

VERSION = 1
_HEAD = """\
# Which stream waits for which in each step: written by `overlapcheck streams REPORT --write FILE`,
# held by `overlapcheck streams REPORT --check FILE`. Streams go by what they carry, not by number.
#   ready  reads what the other wrote        reuse  overwrites what the other read
#   join   streams of one role meet
# distance: step of what is waited for, less step of what waits; reuse at -2 means two buffers.
# behind, ahead: operations of the step that a wait does not cover, or not hold, if there are any.
"""
_REPEATS = "repeating kernels"
_Value = TypeVar("_Value")


def written(contract: StreamContract) -> str:
    """The text of the file."""
    lines = [_HEAD + f"version = {VERSION}"]
    steps = (contract.family or "step #") if contract.ranges else _REPEATS
    lines.append(f"steps = {_toml(steps)}")
    several = len(contract.pipelines) > 1
    for pipeline in contract.pipelines:
        if several:
            lines += ["", "[[process]]"]
        lines += _pipeline_lines(pipeline)
    for buffer in contract.buffers:
        how = "fresh = true" if buffer.fresh else f"slots = {buffer.slots}"
        lines += ["", "[[buffer]]", f'writes = "{buffer.writes}"', f'reads = "{buffer.reads}"', how]
    return "\n".join(lines) + "\n"


def _pipeline_lines(pipeline: Pipeline) -> Iterator[str]:
    operations = {stream.name: stream.operations for stream in pipeline.streams}
    yield from _array("streams", [(_table(_stream_items(s)), "") for s in pipeline.streams])
    edges = sorted(pipeline.edges, key=lambda edge: (edge.key[0], edge.key[1], -edge.distance,
                                                     edge.proof))  # fmt: skip
    yield from _array(
        "edges", [(_table(_edge_items(e)), _edge_comment(e, operations)) for e in edges]
    )
    hosts = sorted(pipeline.host, key=lambda host: host.key)
    yield from _array("host", [(_table(_host_items(h)), _host_comment(h)) for h in hosts])


def _array(name: str, rows: Sequence[tuple[str, str]]) -> Iterator[str]:
    if not rows:
        yield f"{name} = []"
        return
    yield f"{name} = ["
    for text, comment in rows:
        if comment:
            yield f"  # {comment}"
        yield f"  {text},"
    yield "]"


def _table(items: Sequence[tuple[str, Any]]) -> str:
    return "{ " + ", ".join(f"{key} = {_toml(value)}" for key, value in items) + " }"


def _toml(value: Any) -> str:
    # What a name may hold is not always a text of TOML.
    return json.dumps(clean(value) if isinstance(value, str) else value, ensure_ascii=False)


def _stream_items(stream: StreamRule) -> list[tuple[str, Any]]:
    items: list[tuple[str, Any]] = [("name", stream.name), ("kind", stream.kind)]
    if stream.operations is not None:
        items.append(("operations", stream.operations))
    if stream.carries:
        items.append(("carries", list(stream.carries)))
    return items


def _edge_items(edge: EdgeRule) -> list[tuple[str, Any]]:
    items: list[tuple[str, Any]] = [
        ("from", edge.source),
        ("to", edge.target),
        ("kind", edge.kind.value),
        ("distance", edge.distance),
    ]
    if edge.oldest is not None:
        items.append(("oldest", edge.oldest))
    if edge.count != 1:
        items.append(("per_step", edge.count))
    if edge.often is not Often.EVERY:
        items.append(("often", edge.often.value))
    if edge.proof is not Proof.EVENT:
        items.append(("proof", edge.proof.value))
    for name in Place._fields:
        values = [getattr(place, name) for place in edge.places]
        if any(values):
            items.append((name, values[0] if len(values) == 1 else values))
    if not edge.places:
        items.append(("places", "vary"))
    return items


def _host_items(host: HostRule) -> list[tuple[str, Any]]:
    items: list[tuple[str, Any]] = [("call", host.call)]
    if host.of is not None:
        items.append(("of", host.of))
    if host.distance is not None:
        items.append(("distance", host.distance))
    if host.count != 1:
        items.append(("per_step", host.count))
    if host.often is not Often.EVERY:
        items.append(("often", host.often.value))
    items += [(name, True) for name in ("copy", "memory", "timer") if getattr(host, name)]
    return items


_WHEN = {0: "of the same step", -1: "of the step before"}


def _edge_comment(edge: EdgeRule, operations: Mapping[str, int | None]) -> str:
    when = _WHEN.get(edge.distance, f"of {-edge.distance} steps before")
    if edge.distance > 0:
        when = f"of {edge.distance} steps later"
    source, target = edge.source, edge.target
    text = {
        EdgeKind.READY: f"{target} waits until {source} {when} is done: it reads what that wrote",
        EdgeKind.REUSE: f"{target} waits until {source} {when} is done: it overwrites what that"
        " read",
        EdgeKind.JOIN: f"{target} waits for {source} {when}",
    }[edge.kind]
    if edge.kind is EdgeKind.REUSE and edge.distance < -1:
        text += f" ({-edge.distance} buffers)"
    if edge.oldest is not None:
        text += f"; another thread hands it over, up to {-edge.oldest} steps ahead"
    if edge.proof is Proof.NULL_STREAM:
        text += "; by the null stream's rule, no call says so"
    total = operations.get(source)
    if total and len(edge.places) == 1 and edge.places[0].behind:
        text += f"; covers {total - edge.places[0].behind} of its {total} operations"
    return text


def _host_comment(host: HostRule) -> str:
    of = host.of or "the whole device"
    if host.timer:
        return "reads the time between events; no order depends on it"
    if host.memory:
        return f"the host waits for {of} before it uses the memory that was copied"
    return f"the host waits for {of}"


def read_contract(text: str, place: str) -> StreamContract:
    """The contract of a file.

    Args:
        text: of the file.
        place: its name, for errors and reports.

    Raises:
        PolicyInvalid: it is no such file; names the line or key.
    """
    try:
        table = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise PolicyInvalid(f"{place}: not TOML: {error}", _REWRITE) from error
    read = _Reader(place)
    version = read.of(table, "version", int, "")
    if version != VERSION:
        raise PolicyInvalid(f"{place}: version = {version} is not known here", _REWRITE)
    steps = read.of(table, "steps", str, "")
    processes = read.tables(table, "process")
    read.only(table, ("version", "steps", "process", "buffer", *(() if processes else _PIPELINE)))
    pipelines = [_pipeline(read, one) for one in processes or [table]]
    buffers = tuple(_buffer(read, one) for one in read.tables(table, "buffer"))
    ranges = steps != _REPEATS
    return StreamContract(tuple(pipelines), ranges, steps if ranges else None, buffers, place)


_REWRITE = "write it anew: overlapcheck streams REPORT --write FILE"
_PIPELINE = ("streams", "edges", "host")


class _Reader:
    """Takes values out of tables, or says what is wrong with them."""

    def __init__(self, place: str) -> None:
        self._place = place

    def wrong(self, what: str) -> PolicyInvalid:
        return PolicyInvalid(f"{self._place}: {what}", _REWRITE)

    def of(self, table: Mapping[str, Any], key: str, kind: type[_Value], where: str) -> _Value:
        value = table.get(key)
        if not isinstance(value, kind) or (kind is int and isinstance(value, bool)):
            named = f"{where}: {key}" if where else key
            raise self.wrong(f"{named} is missing or no {_KINDS[kind]}")
        return value

    def maybe(
        self, table: Mapping[str, Any], key: str, kind: type[_Value], where: str
    ) -> _Value | None:
        return self.of(table, key, kind, where) if key in table else None

    def one_of(
        self, table: Mapping[str, Any], key: str, values: Any, where: str, usual: str
    ) -> Any:
        value = table.get(key, usual)
        try:
            return values(value)
        except ValueError as error:
            known = ", ".join(one.value for one in values)
            raise self.wrong(f"{where}: {key} = {value!r} is none of {known}") from error

    def tables(self, table: Mapping[str, Any], key: str) -> list[Mapping[str, Any]]:
        found = table.get(key, [])
        if not isinstance(found, list) or not all(isinstance(one, Mapping) for one in found):
            raise self.wrong(f"{key} is no list of tables")
        return found

    def only(self, table: Mapping[str, Any], keys: Sequence[str]) -> None:
        for key in table.keys() - set(keys):
            raise self.wrong(f"{key} is nothing that a contract has")


_KINDS: Mapping[type, str] = {int: "whole number", str: "text", bool: "true or false", list: "list"}


def _pipeline(read: _Reader, table: Mapping[str, Any]) -> Pipeline:
    streams = tuple(_stream(read, one) for one in read.tables(table, "streams"))
    edges = tuple(_edge(read, one) for one in read.tables(table, "edges"))
    host = tuple(_host(read, one) for one in read.tables(table, "host"))
    names = {stream.name for stream in streams}
    for edge in edges:
        for name in (edge.source, edge.target):
            if name not in names:
                raise read.wrong(f'edges: there is no stream "{name}"')
    return Pipeline(streams, edges, host)


def _stream(read: _Reader, table: Mapping[str, Any]) -> StreamRule:
    read.only(table, ("name", "kind", "operations", "carries"))
    carries = read.maybe(table, "carries", list, "streams") or []
    return StreamRule(
        read.of(table, "name", str, "streams"),
        read.of(table, "kind", str, "streams"),
        read.maybe(table, "operations", int, "streams"),
        tuple(map(str, carries)),
    )


def _edge(read: _Reader, table: Mapping[str, Any]) -> EdgeRule:
    read.only(
        table,
        (
            "from",
            "to",
            "kind",
            "distance",
            "oldest",
            "per_step",
            "often",
            "proof",
            "places",
            *Place._fields,
        ),
    )
    count = read.maybe(table, "per_step", int, "edges") or 1
    return EdgeRule(
        read.of(table, "from", str, "edges"),
        read.of(table, "to", str, "edges"),
        read.one_of(table, "kind", EdgeKind, "edges", ""),
        read.of(table, "distance", int, "edges"),
        count,
        read.one_of(table, "often", Often, "edges", Often.EVERY),
        read.one_of(table, "proof", Proof, "edges", Proof.EVENT),
        () if "places" in table else _places(read, table, count),
        read.maybe(table, "oldest", int, "edges"),
    )


def _places(read: _Reader, table: Mapping[str, Any], count: int) -> tuple[Place, ...]:
    columns = []
    for name in Place._fields:
        value = table.get(name, 0)
        column = value if isinstance(value, list) else [value] * count
        if len(column) != count or not all(type(one) is int for one in column):
            raise read.wrong(f"edges: {name} is not a number for each of {count} waits")
        columns.append(column)
    return tuple(Place(*pair) for pair in zip(*columns, strict=True))


def _host(read: _Reader, table: Mapping[str, Any]) -> HostRule:
    flags = ("copy", "memory", "timer")
    read.only(table, ("call", "of", "distance", "per_step", "often", *flags))
    copy, memory, timer = (bool(read.maybe(table, flag, bool, "host")) for flag in flags)
    return HostRule(
        read.of(table, "call", str, "host"),
        read.maybe(table, "of", str, "host"),
        read.maybe(table, "distance", int, "host"),
        read.maybe(table, "per_step", int, "host") or 1,
        read.one_of(table, "often", Often, "host", Often.EVERY),
        copy,
        memory,
        timer,
    )


def _buffer(read: _Reader, table: Mapping[str, Any]) -> Buffer:
    read.only(table, ("writes", "reads", "slots", "fresh"))
    slots = read.maybe(table, "slots", int, "buffer")
    fresh = bool(read.maybe(table, "fresh", bool, "buffer"))
    if (slots is None) != fresh or (slots is not None and slots < 1):
        raise read.wrong("buffer: give slots = 2, how many there are, or fresh = true")
    return Buffer(
        read.of(table, "writes", str, "buffer"),
        read.of(table, "reads", str, "buffer"),
        slots,
        fresh,
    )
