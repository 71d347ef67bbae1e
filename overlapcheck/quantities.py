"""Numbers as people read them: the only place that turns nanoseconds and ratios into text."""

from __future__ import annotations

import re

MOST_NS = 10**15
"""Longer than any step: eleven days."""
_TIME_UNITS = ((1_000_000_000, "s"), (1_000_000, "ms"), (1_000, "us"))
_BYTE_UNITS = ((1 << 40, "TiB"), (1 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB"))


def duration(ns: float) -> str:
    """A time with its unit: 17 ns, 4.2 us, 262.2 ms, 12.3 s."""
    for size, unit in _TIME_UNITS:
        # 999.96 us is 1.0 ms, not 1000.0 us.
        if abs(ns) >= size * 0.99995:
            return f"{ns / size:.1f} {unit}"
    return f"{ns:.0f} ns"


def nanoseconds(text: str) -> float:
    """A time as people write it: "20.6ms", "850 us", "1.2s".

    Raises:
        ValueError: it is none, or none that passes; says so as a clause.
    """
    units = {unit: size for size, unit in _TIME_UNITS} | {"ns": 1, "\u00b5s": 1_000}
    found = re.fullmatch(r"\s*(\d+(?:\.\d*)?|\.\d+)\s*(\w+)\s*", text)
    if found is None or found[2] not in units:
        raise ValueError("not a number with its unit: s, ms, us or ns")
    ns = float(found[1]) * units[found[2]]
    if not 0 < ns < MOST_NS:
        raise ValueError("no step takes so long" if ns else "no step takes no time")
    return ns


def milliseconds(ns: float) -> str:
    """A time in ms, for columns that share the unit."""
    return f"{ns / 1e6:.1f}"


def seconds(ns: float) -> str:
    """A place in the trace, exact to the microsecond, as `--window` takes it: 16.930729 s."""
    return f"{ns / 1e9:.6f} s"


def percent(ratio: float | None, digits: int = 1) -> str:
    """A share of one: 78.8 %; "-" for None.

    Never rounds to a value that the number has not reached: 0.99996 is 99.9 %, not 100.0 %.
    """
    if ratio is None:
        return "-"
    rounded = round(ratio * 100, digits)
    if rounded >= 100 > ratio * 100:
        rounded = 100 - 10.0**-digits
    return f"{rounded:.{digits}f} %"


def percent_beside(ratio: float | None, limit: float | None) -> str:
    """A share that misses a limit, in as many digits as it takes to see that it does."""
    digits = 1
    if ratio is not None and limit is not None and ratio != limit:
        while digits < 4 and percent(ratio, digits) == percent(limit, digits):
            digits += 1
    return percent(ratio, digits)


def figure(value: float) -> str:
    """A number as it may be written in a policy file: 20000, 1000000, 0.005."""
    return f"{value:.15g}"


def size(count: float) -> str:
    """Bytes with their unit: 4 B, 128.0 MiB."""
    for unit_bytes, unit in _BYTE_UNITS:
        if abs(count) >= unit_bytes:
            return f"{count / unit_bytes:.1f} {unit}"
    return f"{count:.0f} B"


def bandwidth(count: float, ns: float) -> str:
    """Bytes per time in GB/s (powers of ten, as links are rated)."""
    return f"{count / ns:.1f} GB/s" if ns > 0 else "-"


def count_of(count: int, noun: str, plural: str = "") -> str:
    """A count with its noun: 1 copy, 12 copies."""
    return f"{count} {noun if count == 1 else plural or noun + 's'}"
