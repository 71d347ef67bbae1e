"""Directives of OpenACC and OpenMP as places of the program: what wrote the calls inside them.

directives   [ Compute construct fv.F90:27        ]
                  [ Enter data ]      [ Wait ]
calls          c    c         c        c            each call takes the innermost around it
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from overlapcheck.columns import ABSENT, Ints, Whole, narrow
from overlapcheck.finding import SourceLine
from overlapcheck.grouping import distinct, groups
from overlapcheck.searches import last_at_or_before
from overlapcheck.trace import Trace, rows_or_none
from overlapcheck.trace_tables import ApiCalls, Directives

# Numbers of places by stack are those of the trace, and end below.
_FIRST_SITE = 1 << 40


@dataclass(frozen=True)
class Places:
    """The directives of a trace that say where they stand."""

    directives: Directives
    site: Ints
    """Place of each, shape (n,)."""
    lines: Mapping[int, SourceLine]
    """By site."""

    @classmethod
    def of(cls, trace: Trace) -> Places:
        """Those of a trace."""
        rows = rows_or_none(trace.directives, Directives)
        if len(rows) == 0:
            return cls(rows, rows.line, {})
        first, group = groups(rows.file_id, rows.line, rows.name_id)
        text = trace.strings.text
        lines = {
            _FIRST_SITE + number: SourceLine(
                text(int(rows.file_id[row])), int(rows.line[row]), text(int(rows.name_id[row]))
            )
            for number, row in enumerate(first.tolist())
        }
        return cls(rows, group + _FIRST_SITE, lines)

    def around(self, calls: ApiCalls) -> Ints | None:
        """Place of the innermost directive around each call, shape (n,); None without any."""
        if len(self.directives) == 0 or len(calls) == 0:
            return None
        mine = np.flatnonzero(self.directives.process == calls.process[0])
        found = np.full(len(calls), ABSENT, dtype=np.int64)
        for tid in distinct(self.directives.tid[mine]).tolist():
            own = mine[self.directives.tid[mine] == tid]
            rows = np.flatnonzero(calls.tid == tid)
            at = self._innermost(own, calls.start_ns[rows])
            found[rows] = np.where(at == ABSENT, ABSENT, self.site[own[at]])
        return found

    def _innermost(self, rows: Whole, at_ns: Ints) -> Whole:
        """The last that is open at each time, of nested directives sorted by start, outer first."""
        start, end = self.directives.start_ns[rows], self.directives.end_ns[rows]
        parent, open_ = [], list[int]()
        for number, begin in enumerate(start.tolist()):
            while open_ and end[open_[-1]] <= begin:
                open_.pop()
            parent.append(open_[-1] if open_ else ABSENT)
            open_.append(number)
        outer = narrow(np.array(parent))
        found = last_at_or_before(start, at_ns)
        while (closed := (found != ABSENT) & (end[found] <= at_ns)).any():
            found[closed] = outer[found[closed]]
        return found
