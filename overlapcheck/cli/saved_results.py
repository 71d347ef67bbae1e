"""Telling a saved result from a recording."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from overlapcheck.errors import NotAReport


def refuse_results(names: Iterable[str]) -> None:
    """Refuse what is no recording to analyse but a result that we have saved.

    Raises:
        NotAReport: naming the first one, and what can be done with it.
    """
    for name in names:
        if _is_result(Path(name)):
            raise NotAReport(
                f"{name}: a saved result, not a recording",
                f"show it: overlapcheck render {name},"
                f" or compare: overlapcheck compare OTHER {name}",
            )


def _is_result(path: Path) -> bool:
    try:
        # A pipe would lose what is read from it.
        if not path.is_file():
            return False
        with path.open("rb") as file:
            head = file.read(512).lstrip()
    except (OSError, ValueError):
        return False
    return head.startswith(b"{") and b'"overlapcheck"' in head
