"""What the arguments of a command name, kept from being written over."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from overlapcheck.cli.options import Judging
    from overlapcheck.cli.rank_options import Fleet
    from overlapcheck.ranks.inputs import Inputs
    from overlapcheck.report import Report


def several_of(reports: Sequence[str], judging: Judging, fleet: Fleet) -> Inputs | None:
    """The reports behind arguments that name more than one; None for a single report.

    Args:
        reports: as the user gave them.
        judging: with the outputs.
        fleet: how several are judged, with further inputs.

    Raises:
        PolicyInvalid: an output would replace an input.
        InputUnreadable: an argument names nothing.
        NotAReport: it is a result of ours.
    """
    from overlapcheck.cli.files import spare_inputs
    from overlapcheck.cli.saved_results import refuse_results
    from overlapcheck.ranks.inputs import expand, is_several
    from overlapcheck.sources import recognised

    refuse_results(reports)
    several = fleet.each or judging.policy.expect_ranks is not None
    named = expand(reports, recognised) if several or is_several(reports, recognised) else None
    lists = (Path(name[1:]) for name in reports if name.startswith("@"))
    outputs = list(judging.outputs)
    if judging.tables is not None:
        from overlapcheck.cli.tables import table_files

        outputs += table_files(judging.tables, judging.tables_format)
    spare_inputs(
        outputs, [*fleet.control, *(named.reports if named else (Path(reports[0]),)), *lists]
    )
    return named


def are_ranks(found: Inputs, judging: Judging, fleet: Fleet) -> bool:
    """Whether what was found is to be judged as several reports, if it is but one."""
    from overlapcheck.ranks.missing import is_job

    return fleet.each or is_job(found, judging.policy)


def tells_of_ranks(path: Path, report: Report) -> bool:
    """Whether the only report that was found says that there are further ranks."""
    from overlapcheck.ranks.merge import lacks_ranks

    return lacks_ranks(path, report)
