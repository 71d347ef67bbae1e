"""Steps without NVTX: the repeating period in the sequence of kernel names.

names    w w x y | a b b c | a b b c | a b b c | z
period             4         4         4          → 3 steps, warm-up and teardown fall out
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from overlapcheck.columns import Floats, Index, Ints, Mask
from overlapcheck.grouping import numbered
from overlapcheck.thresholds import Thresholds

# Names are projected to random signs so many times: chance agreement averages out.
_PROJECTIONS = 4
# The period shows in any long enough part; the transform of a longer one only costs time.
_MAX_KERNELS = 1 << 18


@dataclass(frozen=True)
class Period:
    """A repeating part of a kernel sequence."""

    first: int
    """Position of the first kernel of the first whole repeat."""
    length: int
    """Kernels per repeat."""
    repeats: int

    @property
    def end(self) -> int:
        """Position behind the last kernel of the last whole repeat."""
        return self.first + self.length * self.repeats

    @property
    def starts(self) -> Index:
        """Position of each repeat's first kernel, shape (repeats,)."""
        return self.first + self.length * np.arange(self.repeats)


def find_period(
    name_id: Ints, gap_before_ns: Ints, kernel_ns: Ints, least_ns: float, limits: Thresholds
) -> Period | None:
    """The shortest period whose repeats, three or more, hold enough of the kernel time.

    How many kernels they are does not matter: many short ones explain little.

    Args:
        name_id: kernel names in launch order, shape (n,).
        gap_before_ns: idle time before each kernel, shape (n,); a step begins after the longest.
        kernel_ns: length of each kernel, shape (n,).
        least_ns: kernel time that the repeats must hold.
        limits: how much repeats agree.

    Returns:
        None where nothing repeats.
    """
    if name_id.size < Thresholds.steps_least:
        return None
    until = np.concatenate(([0], np.cumsum(kernel_ns)))
    for lag in _candidate_lags(name_id, kernel_ns, limits.period_agreement_share):
        first, covered = _costliest_run(name_id[lag:] == name_id[:-lag], lag, until)
        if covered:
            period = _aligned(Period(first, lag, covered // lag), covered, gap_before_ns)
            if until[period.end] - until[period.first] >= least_ns:
                return period
    return None


def _candidate_lags(name_id: Ints, kernel_ns: Ints, least: float) -> Iterator[int]:
    """Lags at which the sequence agrees with itself, ascending.

    First where most kernels agree, then, for steps of few long kernels among many short ones,
    where most of their time does.
    """
    _, codes = numbered(name_id[-_MAX_KERNELS:])
    by_count = _agreeing(codes, np.ones(codes.size), least)
    yield from by_count
    # A product of two roots is a length where both kernels are about equally long.
    by_time = _agreeing(codes, np.sqrt(kernel_ns[-_MAX_KERNELS:]), least)
    yield from (lag for lag in by_time if lag not in by_count)


def _agreeing(codes: Index, weight: Floats, least: float) -> list[int]:
    count = codes.size
    signs = np.random.default_rng(0).choice((-1.0, 1.0), size=(_PROJECTIONS, codes.max() + 1))
    agreement = np.zeros(count)
    for sign in signs:
        spectrum = np.fft.rfft(sign[codes] * weight, 2 * count)
        agreement += np.fft.irfft(np.abs(spectrum) ** 2)[:count]
    mean = float(weight @ weight) / count
    agreement /= max(mean, 1e-9) * _PROJECTIONS * np.arange(count, 0, -1)
    lags = np.arange(count)
    usable = (lags >= 1) & (lags <= count // Thresholds.steps_least)
    return _peaks(np.flatnonzero(usable & (agreement > least)), agreement)


def _peaks(lags: Index, agreement: Floats) -> list[int]:
    """Candidates worth an exact test: the best ones, shortest first."""
    # Rounded, for the transform's noise must not let long lags crowd out the shortest of equals.
    best = lags[np.argsort(-agreement[lags].round(6), kind="stable")][:64]
    return sorted(int(lag) for lag in best)


def _costliest_run(same: Mask, lag: int, until: Ints) -> tuple[int, int]:
    """First kernel and number of kernels of the run that holds the most time; (0, 0) for none."""
    padded = np.concatenate(([False], same, [False])).astype(np.int8)
    edges = np.flatnonzero(np.diff(padded))
    first, covered = edges[::2], edges[1::2] - edges[::2] + lag
    enough = covered >= Thresholds.steps_least * lag
    first, covered = first[enough], covered[enough]
    if first.size == 0:
        return 0, 0
    best = int(np.argmax(until[first + covered] - until[first]))
    return int(first[best]), int(covered[best])


def _aligned(period: Period, covered: int, gap_before_ns: Ints) -> Period:
    """Let repeats begin at the kernel that usually follows the longest gap."""
    whole = gap_before_ns[period.first : period.first + period.repeats * period.length]
    typical = np.median(whole.reshape(period.repeats, period.length), axis=0)
    shift = int(np.argmax(typical))
    repeats = (covered - shift) // period.length
    if repeats < Thresholds.steps_least:
        return period
    return Period(period.first + shift, period.length, repeats)
