"""What a trimmed recording is, in lines for whoever hands it on."""

from __future__ import annotations

from collections.abc import Iterator

from overlapcheck.quantities import count_of, size
from overlapcheck.shared_part import Trimmed


def told(trimmed: Trimmed, name: str) -> Iterator[str]:
    """What was kept, what it still answers, and what names are in it.

    Args:
        trimmed: the recording.
        name: of its file.
    """
    kept, cause = trimmed.kept, trimmed.first_cause
    rows = f"{kept.rows} of {count_of(kept.rows_before, 'row')}"
    yield f"{name}: {size(len(trimmed.content))}, {rows}"
    yield f"kept: {trimmed.what}"
    first = f"first cause {cause}" if cause else "no cause"
    yield f"the same answer: {trimmed.outcome}, {first} (default limits)"
    yield (
        "left out: environment, arguments, paths, users, hosts, messages, stacks, payloads"
        f" and {count_of(kept.tables_left_out, 'table')} that nothing is judged by"
    )
    yield f"called by number: {_replaced(trimmed) or 'nothing'}"
    if not trimmed.rename:
        yield "kept by name: kernels and ranges; --rename calls them by number, too"
    if trimmed.too_large:
        yield "larger than 1 MB: no smaller part gives the same answer"


def _replaced(trimmed: Trimmed) -> str:
    return ", ".join(
        count_of(count, f"{kind} name") for kind, count in sorted(trimmed.kept.replaced.items())
    )
