"""Streams for people: roles, a small drawing of who waits for whom, and what changed."""

from __future__ import annotations

from collections.abc import Iterator

from rich.text import Text

from overlapcheck.quantities import count_of, duration
from overlapcheck.renderers._terminal_text import BOLD, paragraph, styled, table, text_of
from overlapcheck.renderers.formats.terminal import TerminalFormat
from overlapcheck.renderers.streams._drawing import drawing, unplaced
from overlapcheck.renderers.streams._words import example_text, how_often, steps_text
from overlapcheck.stream_audit import StreamAudit, sentence
from overlapcheck.stream_changes import StreamCheck
from overlapcheck.stream_graph import HostSeen, StreamGraph, StreamSeen
from overlapcheck.stream_report import StreamReport
from overlapcheck.verdict import Outcome

_STYLE = {
    Outcome.PASS: "bold green",
    Outcome.FAIL: "bold red",
    Outcome.INCONCLUSIVE: "bold yellow",
}
_MOST_IDS = 4


class TerminalStreams(TerminalFormat):
    """See `StreamRenderer`."""

    def render(self, report: StreamReport, /) -> str:
        """See `StreamRenderer.render`."""
        return self.printed(lambda: _lines(report))


RENDERER = TerminalStreams()


def _lines(report: StreamReport) -> list[Text]:
    checks = {check.number: check for check in report.checks}
    audits = {audit.number: audit for audit in report.audits}
    lines: list[Text] = []
    for graph in report.graphs:
        if lines:
            lines.append(text_of(""))
        if graph.number in checks:
            lines += [*_verdict(checks[graph.number]), text_of("")]
        lines += _graph(graph, report.settle_with)
        if graph.number in audits:
            lines += _audit(audits[graph.number])
    if not report.graphs:
        lines.append(text_of("no process ran kernels: there are no streams to show"))
    return lines


def _verdict(check: StreamCheck) -> Iterator[Text]:
    yield text_of(styled(check.outcome.value, _STYLE[check.outcome]), "  ", check.process)
    if check.outcome is not Outcome.FAIL:
        yield from paragraph("", check.reason)
    for change in (*check.changes, *check.doubts):
        yield text_of("")
        yield from paragraph(styled(change.kind.value, BOLD), change.text, hang=13)
        if change.example is not None:
            yield from paragraph("", example_text(change.example), indent=15)
    if check.settle_with:
        yield from paragraph("settle with", check.settle_with, hang=13)
    for note in check.notes:
        yield from paragraph("note", note, hang=13)


def _graph(graph: StreamGraph, settle_with: str) -> Iterator[Text]:
    yield text_of(styled(f"streams of {graph.process}", BOLD), f"   {steps_text(graph)}")
    yield text_of("")
    head = ("stream", "id", "kind", "priority", "per step", "busy")
    yield from table([head, *map(_stream, graph.streams)], "lllrrr", flexible=(1,))
    yield text_of("")
    if graph.no_records:
        why = "streams wait for events, and the recording does not say which record"
        yield from paragraph("no edges", f"{why}: {settle_with}")
    rows = drawing(graph)
    if rows:
        yield from rows
    else:
        for line in unplaced(graph):
            yield from paragraph("", line)
    if not graph.edges and not graph.no_records and graph.steps:
        yield from paragraph("", "no stream waits for another in the steady steps")
    if graph.host:
        yield text_of("")
        yield from table([("the host waits", "for", "", "held"), *map(_host, graph.host)], "lllr")
    yield text_of("")
    yield from _rest(graph)


def _stream(seen: StreamSeen) -> tuple[str, ...]:
    ids = [f"s{one}" for one in seen.stream_ids[:_MOST_IDS]]
    if len(seen.stream_ids) > _MOST_IDS:
        ids.append(f"and {len(seen.stream_ids) - _MOST_IDS} in turn")
    operations = seen.rule.operations
    return (
        seen.name,
        " ".join(ids),
        seen.rule.kind,
        "" if seen.priority is None else str(seen.priority),
        str(operations) if operations is not None else f"~{seen.operations:.0f}",
        duration(sum(seen.work_ns.values())),
    )


def _host(seen: HostSeen) -> tuple[str, ...]:
    rule = seen.rule
    times = f"{rule.count}x " if rule.count > 1 else ""
    where = "" if rule.distance is None else f" {rule.distance}"
    notes = [how_often(seen)] + (["reads timers"] if rule.timer else [])
    return (
        times + rule.call,
        (rule.of or "all") + where,
        ", ".join(notes),
        duration(seen.held_ns),
    )


def _rest(graph: StreamGraph) -> Iterator[Text]:
    counted = []
    if graph.unawaited_events >= 0.05:  # as it is printed
        counted.append(f"{graph.unawaited_events:.1f} events a step that nobody waits for")
    if graph.once:
        counted.append(f"{count_of(graph.once, 'wait')} in a single step")
    if graph.idle_streams:
        counted.append(f"{count_of(graph.idle_streams, 'stream')} that run nothing in these steps")
    counted += [
        f"{one.target} waits for events that are never recorded"
        for one in graph.never_recorded
        if one.steps > 1
    ]
    if counted:
        yield from paragraph("not drawn", "; ".join(counted), hang=12)
    yield from paragraph("cannot see", "; ".join(graph.unseen), hang=12)


def _audit(audit: StreamAudit) -> Iterator[Text]:
    for ordering in audit.orderings:
        yield text_of("")
        head = f"{ordering.need} {ordering.distance}"
        proven = f"{ordering.ordered} of {count_of(ordering.of_steps, 'step')}"
        host = ", by the host alone" if ordering.by_host else ""
        yield from paragraph(
            styled(head, BOLD), f"{ordering.buffer.text}: ordered in {proven}{host}", hang=12
        )
        yield from paragraph("", sentence(ordering), indent=14)
    for hint in audit.hints:
        yield from paragraph("hint", hint.text, hang=12)
