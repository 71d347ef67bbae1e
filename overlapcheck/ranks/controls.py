"""Which control recording belongs to which of several reports."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from overlapcheck.errors import PolicyInvalid
from overlapcheck.quantities import count_of
from overlapcheck.ranks.inputs import natural


def controls_by_report(
    reports: Sequence[Path], controls: Sequence[Path]
) -> Mapping[Path, tuple[Path, ...]]:
    """One control for all ranks, or one for each, both in order of the numbers in their names.

    A single report may have several: runs of the same program.

    Args:
        reports: in that order.
        controls: in any order.

    Raises:
        PolicyInvalid: there are some others than one, or one for each.
    """
    if len(controls) <= 1 or len(reports) == 1:
        return {report: tuple(controls) for report in reports}
    if len(controls) != len(reports):
        raise PolicyInvalid(
            f"--control: {len(controls)} for {count_of(len(reports), 'report')}",
            "give one that stands for all ranks, or one for each",
        )
    ordered = sorted(controls, key=lambda path: natural(str(path.absolute())))
    return {report: (one,) for report, one in zip(reports, ordered, strict=True)}
