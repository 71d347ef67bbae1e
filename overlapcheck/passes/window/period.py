"""Steps without NVTX: the repeating period in the sequence of kernel names.

names    w w x y | a b b c | a b b c | a b b c | z
period             4         4         4          → 3 steps, warm-up and teardown fall out
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from overlapcheck.columns import Floats, Index, Ints, Mask, numbered

MIN_REPEATS = 3
# A period must explain most of the sequence; a short coincidence explains little.
MIN_COVERED = 0.5
# Names are projected to random signs, so chance agreement is far below this.
_MIN_AGREEMENT = 0.9
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
    def starts(self) -> Index:
        """Position of each repeat's first kernel, shape (repeats,)."""
        return self.first + self.length * np.arange(self.repeats)


def find_period(name_id: Ints, gap_before_ns: Ints) -> Period | None:
    """The shortest period that covers at least half of the sequence, three times or more.

    Args:
        name_id: kernel names in launch order, shape (n,).
        gap_before_ns: idle time before each kernel, shape (n,); a step begins after the longest.

    Returns:
        None where nothing repeats.
    """
    count = name_id.size
    if count < MIN_REPEATS:
        return None
    for lag in _candidate_lags(name_id):
        same = name_id[lag:] == name_id[:-lag]
        first, length = _longest_run(same)
        covered = length + lag if length else 0
        if covered >= max(MIN_REPEATS * lag, MIN_COVERED * count):
            return _aligned(Period(first, lag, covered // lag), covered, gap_before_ns)
    return None


def _candidate_lags(name_id: Ints) -> list[int]:
    """Lags at which the sequence agrees with itself, ascending."""
    _, codes = numbered(name_id[-_MAX_KERNELS:])
    count = codes.size
    signs = np.random.default_rng(0).choice((-1.0, 1.0), size=(_PROJECTIONS, codes.max() + 1))
    agreement = np.zeros(count)
    for sign in signs:
        spectrum = np.fft.rfft(sign[codes], 2 * count)
        agreement += np.fft.irfft(np.abs(spectrum) ** 2)[:count]
    agreement /= _PROJECTIONS * np.arange(count, 0, -1)
    lags = np.arange(count)
    usable = (lags >= 1) & (lags <= count // MIN_REPEATS)
    # A warm-up of up to half the sequence agrees with nothing.
    floor = _MIN_AGREEMENT * MIN_COVERED
    found = np.flatnonzero(usable & (agreement > floor))
    return _peaks(found, agreement)


def _peaks(lags: Index, agreement: Floats) -> list[int]:
    """Candidates worth an exact test: the best ones, shortest first."""
    # Rounded, for the transform's noise must not let long lags crowd out the shortest of equals.
    best = lags[np.argsort(-agreement[lags].round(6), kind="stable")][:64]
    return sorted(int(lag) for lag in best)


def _longest_run(same: Mask) -> tuple[int, int]:
    padded = np.concatenate(([False], same, [False])).astype(np.int8)
    edges = np.flatnonzero(np.diff(padded))
    if edges.size == 0:
        return 0, 0
    lengths = edges[1::2] - edges[::2]
    best = int(np.argmax(lengths))
    return int(edges[2 * best]), int(lengths[best])


def _aligned(period: Period, covered: int, gap_before_ns: Ints) -> Period:
    """Let repeats begin at the kernel that usually follows the longest gap."""
    whole = gap_before_ns[period.first : period.first + period.repeats * period.length]
    typical = np.median(whole.reshape(period.repeats, period.length), axis=0)
    shift = int(np.argmax(typical))
    repeats = (covered - shift) // period.length
    if repeats < MIN_REPEATS:
        return period
    return Period(period.first + shift, period.length, repeats)
