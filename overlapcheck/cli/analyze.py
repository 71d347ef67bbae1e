"""`overlapcheck analyze`: judge an existing report."""

from __future__ import annotations

from pathlib import Path

import click

from overlapcheck.cli.option_types import FileName
from overlapcheck.cli.options import Judging, judging_options_of_ranks
from overlapcheck.cli.rank_options import Fleet, fleet_options


@click.command(short_help="Judge an existing report (.nsys-rep, .qdrep, .sqlite).")
@click.argument(
    "reports", nargs=-1, required=True, type=FileName(readable=False), metavar="REPORT..."
)
@judging_options_of_ranks
@fleet_options
@click.option("--nsys", type=FileName(path_type=Path), metavar="PATH",
              help="The nsys to export with; default: the newest one found.")  # fmt: skip
def analyze(reports: tuple[str, ...], judging: Judging, fleet: Fleet, nsys: Path | None) -> int:
    """Judge REPORT: a .nsys-rep or .qdrep report, or its export: SQLite, parquetdir or arrowdir.

    Several reports, a folder, a quoted glob or @LIST are the ranks of one job: one answer for all,
    in every format; --tables has a row per rank in `ranks`, and a column `rank` in the others.

    \b
    overlapcheck analyze train.nsys-rep
    overlapcheck analyze train.sqlite --min-overlap 90 -o result.json
    overlapcheck analyze rank_*.nsys-rep -o fleet.json --resume
    overlapcheck analyze rank_*.nsys-rep -o ranks.junit.xml --tables DIR
    overlapcheck analyze nightly/ --each
    overlapcheck analyze train.nsys-rep --control train_nvtx_alone.nsys-rep
    """
    from overlapcheck import pipeline
    from overlapcheck.cli.inputs import are_ranks, several_of, tells_of_ranks
    from overlapcheck.cli.output import deliver, reading_of
    from overlapcheck.cli.progress import shown
    from overlapcheck.cli.stopping import stoppable

    one = several_of(reports, judging, fleet)
    if one is not None and are_ranks(one, judging, fleet):
        from overlapcheck.cli.each import analyze_several

        return analyze_several(one, judging, fleet, nsys)
    report = one.reports[0] if one else Path(reports[0])
    with stoppable(f"analysing {report}"), shown() as progress:
        result = pipeline.analyze(
            report,
            policy=judging.policy,
            selection=judging.selection,
            reading=reading_of(judging, nsys, progress),
            control=fleet.control,
        )
    if one is not None and tells_of_ranks(report, result):
        from overlapcheck.cli.each import analyze_several

        return analyze_several(one, judging, fleet, nsys)
    return deliver(result, judging)
