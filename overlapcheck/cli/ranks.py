"""`overlapcheck analyze` of several reports: one answer for all ranks."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

from overlapcheck import pipeline
from overlapcheck.cli.files import write
from overlapcheck.cli.options import Judging
from overlapcheck.cli.output import append_summary, print_text, suited
from overlapcheck.cli.rank_engine import engine_of, store_of
from overlapcheck.cli.rank_options import Fleet
from overlapcheck.cli.rank_pages import write_with_pages
from overlapcheck.cli.rank_progress import counted
from overlapcheck.cli.rank_tables import tables_of_ranks
from overlapcheck.cli.stopping import stoppable
from overlapcheck.errors import ExitCode
from overlapcheck.ranks.controls import controls_by_report
from overlapcheck.ranks.inputs import Inputs
from overlapcheck.ranks.job_reports import JobReports
from overlapcheck.ranks.pages import draw_pages
from overlapcheck.ranks.run import judge_fleet
from overlapcheck.reading import Reading
from overlapcheck.renderers.fleet import fleet_renderer, fleet_renderer_for_file


def analyze_ranks(found: Inputs, judging: Judging, fleet: Fleet, nsys: Path | None) -> ExitCode:
    """Judge several reports, print and write the answer."""
    chosen = suited(fleet_renderer(judging.format), to_terminal=True, detail=judging.detail)
    files = {path: fleet_renderer_for_file(path.name) for path in judging.outputs}
    paths, policy = found.reports, judging.policy
    reading = Reading(nsys, judging.cache, source_root=judging.source_root).of_rank
    how: dict[str, Any] = {"policy": policy, "selection": judging.selection, "reading": reading}
    how["controls"] = controls_by_report(paths, fleet.control)
    engine = engine_of(fleet, len(paths))
    hint = "the same command with --resume goes on where it stopped" if fleet.resume else ""
    with tables_of_ranks(judging, partial(pipeline.analyze_rank, **how)) as tables:
        with stoppable(f"analysing {len(paths)} reports", hint), counted() as arrived:
            report = judge_fleet(
                JobReports(paths, found.unread, fleet.job, policy, judging.selection.thresholds),
                tables.analyze,
                engine,
                store=store_of(judging, fleet.control) if fleet.resume else None,
                arrived=arrived,
            )
        print_text(chosen.render(report))
        with stoppable("writing tables"):
            tables.write(report, paths, engine)
    pages = [path for path, renderer in files.items() if renderer.name == "html"]
    for path in files.keys() - pages:
        write(path, suited(files[path], detail=judging.detail).render(report))
    append_summary(lambda: fleet_renderer("markdown").render(report))
    if pages:
        with stoppable("drawing timelines"):
            draw, most = partial(pipeline.draw, **how), fleet.rank_pages
            write_with_pages(report, pages, draw_pages(report, paths, draw, engine, most))
    return report.exit_code
