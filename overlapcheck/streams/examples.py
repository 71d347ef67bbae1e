"""Operations and calls to point at."""

from __future__ import annotations

from overlapcheck.columns import ABSENT
from overlapcheck.measurements import Names
from overlapcheck.order import Work
from overlapcheck.quantities import size
from overlapcheck.redaction import names_no_one
from overlapcheck.stream_graph import OperationSeen
from overlapcheck.stream_waits import StreamWaits

_WORDS = {
    Work.COMPUTE: "kernel",
    Work.COMMUNICATION: "collective",
    Work.H2D: "h2d copy",
    Work.D2H: "d2h copy",
    Work.P2P: "p2p copy",
    Work.D2D: "d2d copy",
    Work.MEMSET: "memset",
}
_LONGEST_NAME = 60


class Examples:
    """Names operations, calls and streams of one process."""

    def __init__(self, waits: StreamWaits, names: Names) -> None:
        self._waits, self._names = waits, names
        joins, table = waits.joins, waits.waits
        self._call_name = dict(
            zip(
                [*table.call.tolist(), *joins.call.tolist()],
                [*table.name_id.tolist(), *joins.name_id.tolist()],
                strict=True,
            )
        )

    def operation(self, row: int) -> OperationSeen | None:
        """An operation; None for ABSENT."""
        if row == ABSENT:
            return None
        ops = self._waits.operations
        work = Work(int(ops.work[row]))
        word = _WORDS.get(work, work.name.lower())
        name = names_no_one(self._names.strings.text(int(ops.name_id[row])))[:_LONGEST_NAME]
        text = f"{word} {name}" if name else f"{word} of {size(int(ops.bytes[row]))}"
        return OperationSeen(
            text, int(ops.start_ns[row]), int(ops.end_ns[row]), int(ops.stream_id[row]), row
        )

    def call(self, row: int) -> str:
        """Name of a call that waited; "" for ABSENT."""
        return self._names.strings.text(self._call_name.get(row, ABSENT))

    def stream(self, number: int) -> str:
        """A stream by its id in the recording."""
        return f"stream {int(self._waits.streams.stream_id[number])}"
