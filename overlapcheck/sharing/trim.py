"""The smallest part of a recording whose answer is that of the whole: tried, not believed."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from overlapcheck.errors import NotTrimmed, TooLarge
from overlapcheck.measurements import Measurements
from overlapcheck.report import Report
from overlapcheck.shared_part import Kept, Part, Trimmed
from overlapcheck.sharing.spans import Span, smaller_spans, spans, whole_spans
from overlapcheck.trace import Trace
from overlapcheck.verdict import Outcome

MOST_BYTES = 1_000_000
"""What every issue tracker takes."""
MOST_ROWS = 300_000
"""Some 10 MB: of larger parts not even the size is tried."""

Write = Callable[[Part], tuple[bytes, Kept]]
Judge = Callable[[bytes], Report]


@dataclass(frozen=True)
class Answer:
    """What two recordings must agree in."""

    outcome: Outcome
    first_cause: str | None
    open_checks: frozenset[str]
    """Checks that do not pass; the loose answer leaves them out."""

    @classmethod
    def of(cls, report: Report) -> Answer:
        """What a report answers."""
        return cls(
            report.verdict.outcome,
            report.findings[0].cause if report.findings else None,
            frozenset(c.name for c in report.verdict.checks if c.outcome is not Outcome.PASS),
        )

    @property
    def loose(self) -> tuple[Outcome, str | None]:
        """Verdict and first cause alone."""
        return self.outcome, self.first_cause


@dataclass(frozen=True)
class _Try:
    span: Span
    content: bytes
    kept: Kept
    answer: Answer


def trim(name: str, whole: tuple[Trace, Report], write: Write, judge: Judge, *,
         rename: bool = False) -> Trimmed:  # fmt: skip
    """The first part, of growing ones, that gives the same answer in a small file.

    Args:
        name: of the recording, for the error.
        whole: the recording, and what was found in it.
        write: makes the content of a file of a part.
        judge: what is found in such a file.
        rename: whether the program's own kernels and ranges are called by number.

    Raises:
        NotTrimmed: nothing that was tried gives the answer.
    """
    trace, report = whole
    wanted = Answer.of(report)
    search = _Search()
    for span in _candidates(trace, report.measurements, search):
        search.was_large = True
        try:
            content, kept = write(Part(span.time_ns, rename, span.shortest_os_call_ns, MOST_ROWS))
        except TooLarge:
            continue
        search.was_large = len(content) > MOST_BYTES
        found = _Try(span, content, kept, Answer.of(judge(content)))
        if found.answer.loose == wanted.loose:
            search.alike.append(found)
            if found.answer == wanted and not search.was_large:
                return _trimmed(found, rename=rename)
    if not search.alike:
        raise NotTrimmed(
            f"{name}: what could be shared of it gives another answer than"
            f" {wanted.outcome.value}, {wanted.first_cause or 'no cause'}",
            "try without --rename" if rename else "please report it: nothing was written",
        )
    return _trimmed(search.small or min(search.alike, key=_size), rename=rename)


@dataclass
class _Search:
    """What was found so far."""

    alike: list[_Try] = field(default_factory=list)
    was_large: bool = False
    """Whether the last part was too large."""

    @property
    def small(self) -> _Try | None:
        """The first that is small enough."""
        return next((one for one in self.alike if _size(one) <= MOST_BYTES), None)


def _candidates(trace: Trace, measured: Measurements | None, search: _Search) -> Iterator[Span]:
    """What to try next, as long as nothing small enough is like the whole."""
    for span in spans(trace, measured) if measured else ():
        yield span
        if search.was_large:
            break  # more steps are larger
    for way in (whole_spans(), smaller_spans(trace)):
        if search.small is None:
            yield from way


def _size(one: _Try) -> int:
    return len(one.content)


def _trimmed(found: _Try, *, rename: bool) -> Trimmed:
    return Trimmed(
        content=found.content,
        kept=found.kept,
        what=found.span.what,
        outcome=found.answer.outcome.value,
        first_cause=found.answer.first_cause,
        rename=rename,
        too_large=_size(found) > MOST_BYTES,
    )
