"""What a cause is, and the kind that most causes are: a reason in the idle ledger."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from overlapcheck.columns import ABSENT, Ints, Whole
from overlapcheck.finding import Confidence, SourceLine
from overlapcheck.grouping import numbered, ordered
from overlapcheck.intervals import Intervals
from overlapcheck.ledger import LATE_HOST, IdleLedger, Reason
from overlapcheck.measurements import DeviceMeasurements, Framework, Measurements
from overlapcheck.quantities import duration
from overlapcheck.recorder import Content

MAX_PLACES = 5
MAX_DIRECTIVES = 2
AGAIN = "{again}"
"""In advice: what to do to record what the cause lacks, in the words of the recorder."""


@dataclass(frozen=True)
class Evidence:
    """Proof that a cause is at work on one device."""

    blamed: Intervals
    facts: tuple[str, ...]
    """Facts with their numbers, most telling first."""
    confidence: Confidence
    source: tuple[SourceLine, ...] = ()
    """Places in the user's program, costliest first."""
    placed: bool = True
    """Whether the time lies where `blamed` says; else only its length means something."""
    advice: str = ""
    """What to do where the evidence decides it; "" for the cause's own advice."""


class Cause(Protocol):
    """What each file of this folder offers as `CAUSE`; its module docstring is the manual page."""

    id: str
    title: str
    caveat: str
    """When the advice would be wrong."""
    lacks: Content | None
    """What a recording must hold to tell more; None where nothing is missing."""

    def detect(self, device: DeviceMeasurements, measured: Measurements, /) -> Evidence | None:
        """The evidence, or None where this cause costs nothing."""
        ...

    def advise(self, measured: Measurements, once: bool = False, /) -> str:
        """What to do, in the words of the program's framework and of the recorder.

        Args:
            measured: knows both.
            once: whether no steps recur in the program.
        """
        ...


@dataclass(frozen=True)
class Context:
    """What facts are made from: the blamed rows of one device, and names for their ids."""

    rows: IdleLedger
    device: DeviceMeasurements
    measured: Measurements


_SLOWED = frozenset(LATE_HOST) - {Reason.PROFILER_OVERHEAD}

Facts = Callable[[Context], list[str]]


@dataclass(frozen=True)
class IdleCause:
    """A cause that is one reason of the idle ledger."""

    reason: Reason
    title: str
    facts: tuple[Facts, ...]
    """Each adds its lines of evidence."""
    advice: str
    """For CUDA programs."""
    caveat: str
    advice_pytorch: str = ""
    """For PyTorch programs; "" where the words are the same."""
    advice_once: str = ""
    """For CUDA programs without steps; "" where the words are the same."""
    advice_directives: str = ""
    """For programs of OpenACC or OpenMP; "" where the words are the same."""
    confidence: Confidence = Confidence.SURE
    lacks: Content | None = None
    """What a recording must hold to tell more, where that may be missing."""

    @property
    def id(self) -> str:
        """Word that users know the cause by."""
        return self.reason.cause

    def detect(self, device: DeviceMeasurements, measured: Measurements, /) -> Evidence | None:
        """See `Cause.detect`."""
        blamed = device.ledger.reason == self.reason
        if not blamed.any():
            return None
        rows = device.ledger.rows(blamed)
        context = Context(rows, device, measured)
        facts = tuple(line for fact in self.facts for line in fact(context))
        facts += tuple(_directives(context))
        return Evidence(
            Intervals.of(rows.start_ns, rows.end_ns),
            facts,
            self._confidence(context),
            _source(context),
        )

    def advise(self, measured: Measurements, once: bool = False, /) -> str:
        """See `Cause.advise`."""
        advice = self.advice_once if once and self.advice_once else self.advice
        if measured.framework is Framework.PYTORCH and self.advice_pytorch:
            advice = self.advice_pytorch
        if measured.framework is Framework.DIRECTIVES and self.advice_directives:
            advice = self.advice_directives
        again = measured.recorder.record_again(self.lacks) if self.lacks else ""
        return advice.replace(AGAIN, again)

    def _confidence(self, context: Context) -> Confidence:
        if self.confidence is not Confidence.SURE:
            return self.confidence
        rows, share = context.rows, context.measured.thresholds.mostly_inferred_share
        length = rows.end_ns - rows.start_ns
        mostly_inferred = int(length[rows.inferred].sum()) > share * int(length.sum())
        pace = context.device.pace
        # How late a host is under recording, it need not be without.
        recorded = self.reason in _SLOWED and (pace is None or pace.own_ns is None)
        return Confidence.LIKELY if mostly_inferred or recorded else Confidence.SURE


def _source(context: Context) -> tuple[SourceLine, ...]:
    """Distinct lines behind the blamed rows; stacks that share the line count as one."""
    rows = context.rows.rows(context.rows.site != ABSENT)
    cost: dict[SourceLine, int] = {}
    for site, _, ns in by_cost(rows, rows.site):
        place = context.measured.names.sites[site]
        cost[place] = cost.get(place, 0) + ns
    ranked = sorted(cost, key=lambda place: (-cost[place], place.file, place.line))
    return tuple(ranked[:MAX_PLACES])


def _directives(context: Context) -> list[str]:
    """Directives behind the blamed rows: their author never wrote the calls inside."""
    names = context.measured.names
    if not names.directives:
        return []
    rows = context.rows.rows(np.isin(context.rows.site, sorted(names.directives)))
    lines = []
    for site, _, ns in by_cost(rows, rows.site, MAX_DIRECTIVES):
        place = names.sites[site]
        at = f" of {place.file}:{place.line}" if place.line else ""
        lines.append(f"in {place.function!r}{at}: {duration(ns)} of it")
    return lines


def totals(rows: IdleLedger, key: Whole) -> tuple[Ints, Ints, Ints]:
    """Distinct keys, ascending, and the row count and ns of each."""
    length = rows.end_ns - rows.start_ns
    if key.size and (key[1:] >= key[:-1]).all():
        # Rows lie in order of time, and so do most of what they are grouped by.
        first = np.flatnonzero(np.append(True, key[1:] != key[:-1]))
        count = np.diff(first, append=key.size)
        return key[first].astype(np.int64, copy=False), count, np.add.reduceat(length, first)
    found, position = numbered(key)
    count = np.bincount(position, minlength=found.size)
    # Sums of whole nanoseconds stay exact in a float up to 104 days.
    ns = np.bincount(position, weights=length, minlength=found.size).astype(np.int64)
    return found, count, ns


def by_cost(rows: IdleLedger, key: Whole, most: int | None = None) -> list[tuple[int, int, int]]:
    """(key, row count, ns) of each distinct key or of the `most` costliest, costliest first."""
    found, count, ns = totals(rows, key)
    order = ordered(-ns)[:most]
    return list(zip(found[order].tolist(), count[order].tolist(), ns[order].tolist(), strict=True))
