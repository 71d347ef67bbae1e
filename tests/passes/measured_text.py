"""What was measured, as text to read and to compare: all of it, but only what there is.

    device p0 gpu0: window 0..120 whole-run, compute 60, idle 60, bound 60
      idle 50..60 launch-bound kernel=s7:fwd@80 operation=s7:h2d@60 relation=stream
      idle 60..80 same-stream kernel=s7:fwd@80 operation=s7:h2d@60 relation=stream

Times are microseconds. An operation is told by its stream, its kernel's name, or its kind of work,
and its start.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

import numpy as np

from overlapcheck.collectives import CollectiveKind
from overlapcheck.columns import ABSENT, ABSENT_TIME, Columns
from overlapcheck.ledger import Reason
from overlapcheck.measurements import DeviceMeasurements, Measurements, StreamRole
from overlapcheck.order import Order, Relation, Work

_CODES = {"relation": Relation, "work": Work, "call_work": Work, "kind": CollectiveKind}
_OF_OPERATIONS = {
    "kernel": {"kernel_name_id": "name_id", "kernel_stream_id": "stream_id"},
    "operation": {
        "work": "work",
        "work_stream_id": "stream_id",
        "work_bytes": "bytes",
        "work_ns": "length",
        "work_name_id": "name_id",
        "tid": "tid",
    },
    "call_operation": {"call_work": "work", "call_bytes": "bytes", "call_stream_id": "stream_id"},
}
"""Columns of the ledger that say what an operation is: told only where they differ from it."""
_OF_PIECES = ("start_ns", "end_ns", "reason", *_OF_OPERATIONS)


def measured_text(measured: Measurements) -> str:
    """All that was measured."""
    return "\n".join(_lines(measured)) + "\n"


def totals_text(measured: Measurements) -> str:
    """The idle time of each device by all that explains it: for recordings of thousands of rows."""
    lines = []
    for device in measured.devices:
        lines.append(next(_device(device, _Text(measured, device.order))))
        ledger, text = device.ledger, measured.names.strings.text
        total = Counter[str]()
        for row, ns in enumerate((ledger.end_ns - ledger.start_ns).tolist()):
            call, site = int(ledger.call_name_id[row]), int(ledger.site[row])
            relation = Relation(max(int(ledger.relation[row]), 0)).name.lower()
            said = f"{Reason(int(ledger.reason[row])).cause}, {relation}"
            said += " (inferred)" * bool(ledger.inferred[row])
            said += f", {Work(int(ledger.work[row])).name.lower()}"
            said += f", {text(call)}" * (call != ABSENT) + ", site" * (site != ABSENT)
            total[said] += ns
        lines += [f"  {us(ns)} {said}" for said, ns in sorted(total.items())]
    return "\n".join(lines) + "\n"


def _lines(measured: Measurements) -> Iterator[str]:
    yield from (f"problem {one.fault}: {one.what}" for one in measured.problems)
    yield from (f"not known in {one.process}: {one.what}" for one in measured.not_known)
    told = set[int]()
    for device in measured.devices:
        text = _Text(measured, device.order)
        yield from _device(device, text)
        if device.process not in told:
            told.add(device.process)
            yield from (f"  order {line}" for line in text.edges())
    for meeting in measured.meetings:
        cost = [us(int(ns.sum())) for ns in (meeting.waiting_ns, meeting.transfer_ns)]
        yield (
            f"meeting of {meeting.members} in {meeting.row.shape[1]}, latest"
            f" {meeting.latest.tolist()}, waiting {cost[0]}, transfer {cost[1]}"
        )


def _device(device: DeviceMeasurements, text: _Text) -> Iterator[str]:
    window = device.window
    steps = f" {window.step_family} {window.first_step} to {window.last_step}" * bool(window.steps)
    yield (
        f"device p{device.process} gpu{device.key.device_id}: window"
        f" {us(window.start_ns)}..{us(window.end_ns)} {window.source}{steps},"
        f" compute {us(device.compute_ns)}, idle {us(device.idle_ns)}, bound {us(device.bound_ns)}"
    )
    opaque, stalled, faults = device.opaque.total_ns, device.stalled.total_ns, device.page_faults
    if opaque or stalled or faults or device.shares_gpu_with or device.migrations.count:
        yield (
            f"  opaque {us(opaque)}, stalled {us(stalled)}, page faults {faults},"
            f" migrations {device.migrations.count}, shared with {len(device.shares_gpu_with)}"
        )
    yield from (f"  note {note}" for note in device.notes)
    for copies in device.copies.values():
        yield (
            f"  {copies.direction} {copies.count} of {copies.bytes} B, {copies.pageable_count}"
            f" pageable: {us(copies.copy_ns)}, hidden {us(copies.hidden_ns)}"
        )
    yield from (f"  idle {line}" for line in text.pieces(device))
    for stream in device.streams:
        busy = (
            f"{stream.role} busy {us(stream.busy.total_ns)} compute {us(stream.compute.total_ns)}"
        )
        said = f"{stream.kind} {busy}" if stream.role is not StreamRole.COMPUTE else busy
        yield f"  stream s{stream.stream_id} {said}"
    several = device.stream_gaps if len(device.stream_gaps) > 1 else ()
    tables: list[tuple[str, Columns]] = [
        ("gap", device.gaps),
        *(("gap of a stream", gaps) for gaps in several),
        ("blocking", device.blocking),
        ("step", device.steps),
        ("contention", device.contention),
        ("collective", device.collectives),
    ]
    for title, table in tables:
        yield from (f"  {title} {line}" for line in text.rows(table))


class _Text:
    """Texts of rows, whose names and operations it knows."""

    def __init__(self, measured: Measurements, order: Order) -> None:
        self._names = measured.names
        self._order = order

    def pieces(self, device: DeviceMeasurements) -> Iterator[str]:
        ledger = device.ledger
        for row in range(len(ledger)):
            values = {name: int(getattr(ledger, name)[row]) for name in ledger.__dataclass_fields__}
            span = f"{us(values['start_ns'])}..{us(values['end_ns'])}"
            words = [f"{span} {Reason(values['reason']).cause}"]
            for name, columns in _OF_OPERATIONS.items():
                at = values[name]
                if at != ABSENT:
                    words.append(f"{name}={self.operation(at)}")
                    for column, own in columns.items():
                        if values[column] == self._own(at, own):
                            values[column] = ABSENT
            words += [
                self.word(name, value)
                for name, value in values.items()
                if name not in _OF_PIECES and not _is_nothing(name, value)
            ]
            yield " ".join(words)

    def _own(self, row: int, column: str) -> int:
        ops = self._order.operations
        if column == "length":
            return int(ops.end_ns[row] - ops.start_ns[row])
        return int(getattr(ops, column)[row])

    def rows(self, table: Columns) -> Iterator[str]:
        for row in range(len(table)):
            values = {name: getattr(table, name)[row] for name in table.__dataclass_fields__}
            yield " ".join(
                self.word(name, int(value))
                for name, value in values.items()
                if not _is_nothing(name, int(value))
            )

    def edges(self) -> Iterator[str]:
        edges = self._order.edges
        for row in range(len(edges)):
            proof = " (inferred)" if edges.inferred[row] else ""
            relation = Relation(int(edges.relation[row])).name.lower()
            before, after = int(edges.before[row]), int(edges.after[row])
            yield f"{self.operation(before)} → {self.operation(after)} {relation}{proof}"
        run = self._order.run_begin
        for row in np.flatnonzero(run != ABSENT).tolist():
            if run[row] != row:
                yield f"{self.operation(int(run[row]))} begins the run to {self.operation(row)}"

    def operation(self, row: int) -> str:
        ops = self._order.operations
        name = self._names.strings.text(int(ops.name_id[row])) if ops.name_id[row] >= 0 else ""
        word = name or Work(int(ops.work[row])).name.lower()
        return f"s{ops.stream_id[row]}:{word}@{us(int(ops.start_ns[row]))}"

    def word(self, name: str, value: int) -> str:
        if name in _CODES:
            return f"{name}={_CODES[name](value).name.lower()}"
        if name.endswith("_name_id") or name == "name_id":
            return f"{name.removesuffix('_id')}={self._names.strings.text(value)}"
        if name == "site":
            return f"site={self._names.sites[value].line}"
        if name.endswith("_ns"):
            return f"{name.removesuffix('_ns')}={us(value)}"
        return f"{name}={value}"


def _is_nothing(name: str, value: int) -> bool:
    """Whether a value says nothing: absent, or a flag that is not set."""
    return value in (ABSENT, ABSENT_TIME) or (
        value == 0 and not name.endswith(("_ns", "id", "step"))
    )


def us(ns: int) -> str:
    """Microseconds, as short as they can be written exactly."""
    return f"{ns / 1000:.3f}".rstrip("0").rstrip(".")
