"""`overlapcheck analyze` of several reports; with `--each` of different programs, a line each."""

from __future__ import annotations

from functools import partial
from pathlib import Path

from overlapcheck import pipeline
from overlapcheck.cli.files import write
from overlapcheck.cli.options import Judging
from overlapcheck.cli.output import print_text, suited
from overlapcheck.cli.rank_engine import engine_of
from overlapcheck.cli.rank_options import Fleet
from overlapcheck.cli.rank_progress import counted
from overlapcheck.cli.ranks import analyze_ranks
from overlapcheck.cli.stopping import stoppable
from overlapcheck.errors import ExitCode, PolicyInvalid
from overlapcheck.ranks.controls import controls_by_report
from overlapcheck.ranks.each import judge_each
from overlapcheck.ranks.inputs import Inputs
from overlapcheck.reading import Reading
from overlapcheck.renderers.separate import separate_renderer, separate_renderer_for_file


def analyze_several(found: Inputs, judging: Judging, fleet: Fleet, nsys: Path | None) -> ExitCode:
    """Judge several reports, as the ranks of a job or each alone."""
    if fleet.each:
        return analyze_each(found, judging, fleet, nsys)
    return analyze_ranks(found, judging, fleet, nsys)


def analyze_each(found: Inputs, judging: Judging, fleet: Fleet, nsys: Path | None) -> ExitCode:
    """Judge each report alone, print and write a line for each.

    Raises:
        PolicyInvalid: an option is for one report or one job alone.
    """
    chosen = suited(separate_renderer(judging.format), to_terminal=True, detail=judging.detail)
    files = {path: separate_renderer_for_file(path.name) for path in judging.outputs}
    if judging.tables is not None:
        raise PolicyInvalid("--tables: not with --each", "analyse one report at a time")
    paths = found.reports
    judge = partial(
        pipeline.analyze_rank,
        policy=judging.policy,
        selection=judging.selection,
        reading=Reading(nsys, judging.cache, source_root=judging.source_root, timeline=False),
        controls=controls_by_report(paths, fleet.control),
    )
    with stoppable(f"analysing {len(paths)} reports"), counted() as arrived:
        report = judge_each(found, judge, engine_of(fleet, len(paths)), arrived)
    print_text(chosen.render(report))
    for path, renderer in files.items():
        write(path, suited(renderer).render(report))
    return report.exit_code
