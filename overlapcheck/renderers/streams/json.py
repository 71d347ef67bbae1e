"""Streams as JSON, schema number first."""

from __future__ import annotations

import json
from typing import Any

from overlapcheck.clean import clean
from overlapcheck.stream_audit import StreamAudit, sentence
from overlapcheck.stream_changes import Change, ChangeKind, StreamCheck
from overlapcheck.stream_contract import EdgeRule, HostRule
from overlapcheck.stream_graph import Example, OperationSeen, StreamGraph, StreamSeen
from overlapcheck.stream_report import SCHEMA, StreamReport
from overlapcheck.verdict import Outcome


class StreamJson:
    """See `StreamRenderer`."""

    name = "json"
    suffix = ".json"

    def render(self, report: StreamReport, /) -> str:
        """See `StreamRenderer.render`."""
        return json.dumps(_cleaned(document(report)), indent=2, ensure_ascii=False) + "\n"


def document(report: StreamReport) -> dict[str, Any]:
    """The report as dictionaries and lists."""
    audits = {one.number: one for one in report.audits}
    checks = {one.number: one for one in report.checks}
    outcome = report.outcome
    return {
        "schema": SCHEMA,
        "tool": {"name": "overlapcheck", "version": report.tool_version},
        "report": report.report,
        "contract": report.contract.place if report.contract else None,
        "outcome": outcome.value if outcome else None,
        "changed": _changed(outcome),
        "exit_code": int(report.exit_code),
        "processes": [
            {
                **_graph(graph),
                "audit": _audit(audits[graph.number]) if graph.number in audits else None,
                "check": _check(checks[graph.number]) if graph.number in checks else None,
            }
            for graph in report.graphs
        ],
    }


def _changed(outcome: Outcome | None) -> bool | None:
    """None where nothing was asked, or nothing can be told."""
    return {Outcome.PASS: False, Outcome.FAIL: True}.get(outcome) if outcome else None


def _cleaned(node: Any) -> Any:
    if isinstance(node, dict):
        return {key: _cleaned(value) for key, value in node.items()}
    if isinstance(node, list):
        return [_cleaned(value) for value in node]
    return clean(node) if isinstance(node, str) else node


def _graph(graph: StreamGraph) -> dict[str, Any]:
    return {
        "process": graph.process,
        "steps": {
            "count": graph.steps,
            "first": graph.first_step,
            "last": graph.last_step,
            "family": graph.family,
            "ranges": graph.ranges,
        },
        "streams": [_stream(seen) for seen in graph.streams],
        "edges": [
            edge(seen.rule)
            | {
                "steps": seen.steps,
                "of_steps": seen.of_steps,
                "missing_in": list(seen.missing),
                "through": seen.through or None,
                "example": _example(seen.example),
            }
            for seen in graph.edges
        ],
        "host": [
            host(seen.rule)
            | {"steps": seen.steps, "of_steps": seen.of_steps, "held_ns": round(seen.held_ns)}
            for seen in graph.host
        ],
        "never_recorded": [one.target for one in graph.never_recorded],
        "unknown_records": [one.target for one in graph.unknown],
        "unawaited_events_per_step": round(graph.unawaited_events, 2),
        "seen_once": graph.once,
        "idle_streams": graph.idle_streams,
        "events_recorded": not graph.no_records,
        "unseen": list(graph.unseen),
    }


def _stream(seen: StreamSeen) -> dict[str, Any]:
    return {
        "name": seen.name,
        "role": seen.role.value,
        "device": seen.device,
        "stream_ids": list(seen.stream_ids),
        "kind": seen.rule.kind,
        "priority": seen.priority,
        "operations_per_step": round(seen.operations, 2),
        "work_ns_per_step": {role: round(ns) for role, ns in seen.work_ns.items()},
    }


def edge(rule: EdgeRule) -> dict[str, Any]:
    """An edge by the names of the contract file."""
    return {
        "from": rule.source,
        "to": rule.target,
        "kind": rule.kind.value,
        "distance": rule.distance,
        "oldest": rule.oldest,
        "count": rule.count,
        "often": rule.often.value,
        "proof": rule.proof.value,
        "behind": [place.behind for place in rule.places],
        "ahead": [place.ahead for place in rule.places],
    }


def host(rule: HostRule) -> dict[str, Any]:
    """A wait of the host, likewise."""
    return {
        "call": rule.call,
        "of": rule.of,
        "distance": rule.distance,
        "count": rule.count,
        "often": rule.often.value,
        "copy": rule.copy,
        "memory": rule.memory,
        "timer": rule.timer,
    }


def _operation(seen: OperationSeen | None) -> dict[str, Any] | None:
    if seen is None:
        return None
    return {
        "text": seen.text,
        "stream_id": seen.stream_id,
        "start_ns": seen.start_ns,
        "end_ns": seen.end_ns,
    }


def _example(example: Example | None) -> dict[str, Any] | None:
    if example is None:
        return None
    return {
        "step": example.step,
        "call": example.call or None,
        "before": _operation(example.before),
        "after": _operation(example.after),
        "between_ns": example.between_ns,
    }


def _audit(audit: StreamAudit) -> dict[str, Any]:
    return {
        "buffers": [
            {
                "writes": one.buffer.writes,
                "reads": one.buffer.reads,
                "slots": one.buffer.slots,
                "need": one.need.value,
                "from": one.source,
                "to": one.target,
                "distance": one.distance,
                "ordered_steps": one.ordered,
                "of_steps": one.of_steps,
                "by_host_steps": one.by_host,
                "text": sentence(one),
                "chain": list(one.chain),
                "example": _example(one.example),
            }
            for one in audit.orderings
        ],
        "hints": [{"stream": hint.stream, "text": hint.text} for hint in audit.hints],
        "unseen": list(audit.unseen),
    }


def _check(check: StreamCheck) -> dict[str, Any]:
    edges = [change for change in check.changes if change.edge is not None]
    hosts = [change for change in check.changes if change.host is not None]
    lost = (ChangeKind.LOST, ChangeKind.BY_HOST, ChangeKind.DISTANCE)
    moved = [c.now for c in edges if c.kind is ChangeKind.DISTANCE and c.now is not None]
    return {
        "outcome": check.outcome.value,
        "changed": _changed(check.outcome),
        "reason": check.reason,
        "settle_with": check.settle_with or None,
        "changes": [_change(change) for change in check.changes],
        "doubts": [_change(change) for change in check.doubts],
        "notes": list(check.notes),
        "lost": [edge(c.edge) for c in edges if c.kind in lost and c.edge],
        "gained": [edge(c.edge) for c in edges if c.kind is ChangeKind.GAINED and c.edge]
        + [edge(rule) for rule in moved],
        "covers_less": [
            edge(c.edge) | {"text": c.text}
            for c in edges
            if c.kind is ChangeKind.COVERS_LESS and c.edge
        ],
        "rarer": [edge(c.edge) for c in edges if c.kind is ChangeKind.RARER and c.edge],
        "host_lost": [host(c.host) for c in hosts if c.kind is ChangeKind.LOST and c.host],
        "host_gained": [host(c.host) for c in hosts if c.kind is ChangeKind.GAINED and c.host],
        "never_recorded": list(check.never_recorded),
    }


def _change(change: Change) -> dict[str, Any]:
    return {
        "kind": change.kind.value,
        "text": change.text,
        "edge": edge(change.edge) if change.edge else None,
        "now": edge(change.now) if change.now else None,
        "host": host(change.host) if change.host else None,
        "buffer": change.buffer.text if change.buffer else None,
        "example": _example(change.example),
    }


RENDERER = StreamJson()
