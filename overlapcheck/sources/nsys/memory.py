"""Whether an export fits into memory, asked before it is read: a machine that swaps is lost."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

from overlapcheck.errors import TooLarge
from overlapcheck.quantities import count_of, size
from overlapcheck.sources.nsys.schemas import device_work, host_calls

if TYPE_CHECKING:
    from overlapcheck.sources.nsys.database import Database
    from overlapcheck.sources.nsys.excerpt import Excerpt

_BYTES_PER_ROW = {
    device_work.KERNEL: 250,
    device_work.GRAPH: 250,
    device_work.MEMCPY: 250,
    device_work.MEMSET: 250,
    host_calls.RUNTIME: 200,
    host_calls.OSRT: 50,
}
"""At the peak of an analysis, measured on traces of two to eight million rows (see bench/)."""
_MEMINFO = Path("/proc/meminfo")
_CGROUPS = tuple(
    tuple(Path("/sys/fs/cgroup") / name for name in names)
    for names in (
        ("memory.max", "memory.current", "memory.stat"),
        (
            "memory/memory.limit_in_bytes",
            "memory/memory.usage_in_bytes",
            "memory/memory.stat",
        ),
    )
)
_CACHE = re.compile(r"^(?:total_)?(?:in)?active_file (\d+)$", re.MULTILINE)
"""Files that the kernel keeps as long as nobody needs the room."""


def require_room(db: Database, excerpt: Excerpt | None) -> None:
    """Refuse an export that needs more memory than there is.

    Args:
        db: the export.
        excerpt: the part that is read; None reads all.

    Raises:
        TooLarge: names the need, what is free, and the option that makes it fit.
    """
    free = free_bytes()
    tables = [name for name in _BYTES_PER_ROW if db.has(name, "start", "end")]
    rows = {name: db.rows_at_most(db.resolve(name) or name) for name in tables}
    need = sum(_BYTES_PER_ROW[name] * count for name, count in rows.items())
    if free is None or need <= free:
        return
    start, end = device_work.span_ns(db) or (0, 0)
    if excerpt is not None:
        part = excerpt.length_with_margins_ns / max(end - start, 1)
        need = int(need * min(part, 1.0))
        if need <= free:
            return
    total = count_of(sum(rows.values()), "row")
    raise TooLarge(
        f"{db.path}: {total} need about {size(need)} of memory, {size(free)} are free",
        "judge a part of it, in seconds of the trace, which runs from "
        f"{start / 1e9:.1f} to {end / 1e9:.1f}: --window {start / 1e9:.1f}..{start / 1e9 + 10:.1f}",
    )


def free_bytes() -> int | None:
    """Memory that can still be had, by the system, its container and the shell; None if unknown."""
    found = [_available(), *(_left(*files) for files in _CGROUPS), _limit()]
    known = [value for value in found if value is not None]
    return min(known) if known else None


def _available() -> int | None:
    try:
        lines = _MEMINFO.read_text().splitlines()
    except OSError:
        return None
    fields = dict(line.split(":", 1) for line in lines if ":" in line)
    value = fields.get("MemAvailable", "").split()
    return int(value[0]) * 1024 if value else None


def _left(limit: Path, used: Path, stat: Path) -> int | None:
    """What a container has left; files it has read count as used, but give way."""
    try:
        most, now = limit.read_text().strip(), used.read_text().strip()
        told = stat.read_text()
    except OSError:
        return None
    if not (most.isdigit() and now.isdigit()):
        return None
    # The old layout tells a group's own part first, and that of all below it as total_.
    totals = "\n".join(line for line in told.splitlines() if line.startswith("total_")) or told
    return max(int(most) - int(now) + sum(map(int, _CACHE.findall(totals))), 0)


def _limit() -> int | None:
    try:
        import resource
    except ImportError:  # no such limits on Windows
        return None
    limit, _ = resource.getrlimit(resource.RLIMIT_AS)
    return None if limit == resource.RLIM_INFINITY else limit
