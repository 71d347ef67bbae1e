"""A few steps of a device as they are drawn, few enough events for a result to keep.

Whoever compares results, or ranks, draws these excerpts under each other on one axis; the whole
timeline of a device (`timeline.py`) needs its trace.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from overlapcheck.ledger import Reason
from overlapcheck.timeline import EventKind, RowRole, Timeline, TimelineEvents, TimelineRow
from overlapcheck.timeline import TimelineSteps as Steps

MOST_COUNTED = 1 << 62
_WORDS = {int(kind): kind.name.lower().replace("_", "-") for kind in EventKind}
_WORDS |= {EventKind.IDLE + reason: f"idle: {reason.cause}" for reason in Reason}
_CODES = {word: code for code, word in _WORDS.items()}
_MOVE = frozenset(
    _WORDS[kind]
    for kind in (
        EventKind.H2D,
        EventKind.D2H,
        EventKind.P2P,
        EventKind.D2D,
        EventKind.MEMSET,
        EventKind.MIGRATION,
    )
)


@dataclass(frozen=True)
class ExcerptBounds:
    """How much of a device an excerpt may hold."""

    events: int = 1_000
    """Events and blocks of events."""
    threads: bool = True
    """Whether the calls of host threads are in it."""


USUAL_BOUNDS = ExcerptBounds()
RANK_BOUNDS = ExcerptBounds(events=400, threads=False)
"""Of one rank of many: what it ran and where it waited."""


@dataclass(frozen=True)
class ExcerptRow:
    """One row of events and blocks of events, in order of their starts."""

    role: RowRole
    label: str
    note: str
    start_ns: tuple[int, ...]
    """From the excerpt's start."""
    length_ns: tuple[int, ...]
    kind: tuple[int, ...]
    """Index into `Excerpt.kinds`."""
    name: tuple[int, ...]
    """Index into `Excerpt.names`; of a block, the longest event's."""
    count: tuple[int, ...]
    """Events that a block stands for; 1 for an event."""
    busy_ns: tuple[int, ...] = ()
    """Of the blocks, in order: lengths of their events added up."""
    bytes: tuple[int, ...] = ()
    """Of the copies and memsets, in order."""


@dataclass(frozen=True)
class Excerpt:
    """The typical step of a device with those after it; without steps, the whole window."""

    start_ns: int
    """On the report's clock."""
    length_ns: int
    step_name: str
    """Name of a step with # for its number."""
    step_number: tuple[int, ...]
    step_start_ns: tuple[int, ...]
    """From the excerpt's start; a step lasts from the end of the one before to its own."""
    step_end_ns: tuple[int, ...]
    typical: int
    """Position of the typical step among them; 0 without steps."""
    kinds: tuple[str, ...]
    """What events are: "compute", "h2d" ..., and "idle: " with its cause."""
    names: tuple[str, ...]
    rows: tuple[ExcerptRow, ...]
    recorded: int
    """Events behind those kept."""
    resolution_ns: int
    """Blocks cover at most about this much; 0 where every event is kept."""

    def __post_init__(self) -> None:
        steps = len(self.step_number)
        if not len(self.step_start_ns) == len(self.step_end_ns) == steps:
            raise ValueError("`step_start_ns` and `step_end_ns` must be as long as `step_number`")
        if not 0 <= self.typical < max(steps, 1) or self.length_ns < 0:
            raise ValueError("`typical` and `length_ns` must lie in the excerpt")
        for row in self.rows:
            self._check(row)

    def _check(self, row: ExcerptRow) -> None:
        columns = (row.length_ns, row.kind, row.name, row.count)
        blocks = sum(count > 1 for count in row.count)
        if any(len(column) != len(row.start_ns) for column in columns) or blocks != len(
            row.busy_ns
        ):
            raise ValueError("columns of a row must be equally long")
        _require_indices(row.kind, len(self.kinds))
        _require_indices(row.name, len(self.names))
        times = (*row.start_ns, *row.length_ns, *row.count, *row.busy_ns, *row.bytes)
        if not all(0 <= number < MOST_COUNTED for number in times):
            raise ValueError("times and counts of a row must not be negative")
        if any(a > b for a, b in zip(row.start_ns, row.start_ns[1:], strict=False)):
            raise ValueError("`start_ns` of a row must ascend")
        if len(row.bytes) != sum(self.kinds[kind] in _MOVE for kind in row.kind):
            raise ValueError("`bytes` must be as long as there are copies and memsets")

    @property
    def step_text(self) -> str:
        """The typical step as its user calls it; "" without steps."""
        return self.step_texts[self.typical] if self.step_number else ""

    @property
    def step_texts(self) -> tuple[str, ...]:
        """All its steps, as their user calls them."""
        return tuple(self.step_name.replace("#", str(number)) for number in self.step_number)

    @property
    def step_span_ns(self) -> tuple[int, int]:
        """Start and end of the typical step, from the excerpt's start; all of it without steps."""
        if not self.step_number:
            return 0, self.length_ns
        return self.step_start_ns[self.typical], self.step_end_ns[self.typical]

    @property
    def busy_ns(self) -> dict[int, int]:
        """Lengths of the events added up, by EventKind, and for idle time by cause."""
        events = self.timeline.events
        codes, kind = np.unique(events.kind, return_inverse=True)
        total = np.zeros(codes.size, dtype=np.int64)
        np.add.at(total, kind, events.busy_ns)
        return dict(zip(codes.tolist(), total.tolist(), strict=True))

    @property
    def timeline(self) -> Timeline:
        """The excerpt as what is drawn; kinds that this version does not know are left out."""
        start, end = self.step_span_ns
        return Timeline(
            start_ns=self.start_ns,
            end_ns=self.start_ns + self.length_ns,
            typical_start_ns=self.start_ns + start,
            typical_end_ns=self.start_ns + end,
            rows=tuple(TimelineRow(row.role, row.label, row.note) for row in self.rows),
            rows_left_out=0,
            events=self._events(),
            names=self.names,
            steps=Steps(
                *(
                    np.array(column, dtype=np.int64) + shift
                    for column, shift in (
                        (self.step_number, 0),
                        (self.step_start_ns, self.start_ns),
                        (self.step_end_ns, self.start_ns),
                    )
                )
            ),
            step_name=self.step_name,
            instances=(),
            recorded=self.recorded,
            resolution_ns=self.resolution_ns,
        )

    def _events(self) -> TimelineEvents:
        codes = np.array([_CODES.get(word, -1) for word in self.kinds] or [-1], dtype=np.int64)
        moves = np.array([word in _MOVE for word in self.kinds] or [False])
        parts = []
        for number, row in enumerate(self.rows):
            kind, count = _column(row.kind), _column(row.count)
            start, busy = _column(row.start_ns) + self.start_ns, _column(row.length_ns)
            end, moved = start + busy, np.zeros_like(busy)
            busy[count > 1] = row.busy_ns
            moved[moves[kind]] = row.bytes
            rows = np.full_like(kind, number)
            part = TimelineEvents(
                rows, start, end, codes[kind], _column(row.name), count, busy, moved
            )
            parts.append(part.rows(codes[kind] >= 0))
        columns = zip(*(part.columns for part in parts), strict=True)
        return TimelineEvents(*map(np.concatenate, columns)) if parts else TimelineEvents.none()


def excerpt_rows(
    rows: Sequence[TimelineRow], events: TimelineEvents, start_ns: int
) -> tuple[tuple[str, ...], tuple[ExcerptRow, ...]]:
    """Words for the kinds of events, and the rows as a result keeps them.

    Args:
        rows: all of them.
        events: sorted by (row, start_ns); names are indices already.
        start_ns: of the excerpt; what began before it begins there.
    """
    codes, kind = np.unique(events.kind, return_inverse=True)
    words = tuple(_WORDS[code] for code in codes.tolist())
    moves = np.array([word in _MOVE for word in words] or [False])
    start = np.maximum(events.start_ns - start_ns, 0)
    length = events.end_ns - start_ns - start
    bounds = np.searchsorted(events.row, np.arange(len(rows) + 1))
    made = []
    for row, first, stop in zip(rows, bounds[:-1], bounds[1:], strict=True):
        mine = slice(int(first), int(stop))
        block = events.count[mine] > 1
        made.append(
            ExcerptRow(
                role=row.role,
                label=row.label,
                note=row.note,
                start_ns=tuple(start[mine].tolist()),
                length_ns=tuple(length[mine].tolist()),
                kind=tuple(kind[mine].tolist()),
                name=tuple(events.name[mine].tolist()),
                count=tuple(events.count[mine].tolist()),
                busy_ns=tuple(events.busy_ns[mine][block].tolist()),
                bytes=tuple(events.bytes[mine][moves[kind[mine]]].tolist()),
            )
        )
    return words, tuple(made)


def _require_indices(column: tuple[int, ...], size: int) -> None:
    if not all(0 <= index < size for index in column):
        raise ValueError("a row names a kind or name that is not there")


def _column(values: tuple[int, ...]) -> np.ndarray:
    return np.array(values, dtype=np.int64)
