"""`overlapcheck analyze` of several reports: one answer for all ranks."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from functools import partial
from pathlib import Path

import click

from overlapcheck import pipeline
from overlapcheck.capture.interruption import interruptible
from overlapcheck.cli.options import Judging
from overlapcheck.cli.output import write
from overlapcheck.cli.rank_options import Fleet
from overlapcheck.cli.rank_progress import counted
from overlapcheck.errors import ExitCode, PolicyInvalid
from overlapcheck.ranks.dask_cluster import DaskCluster
from overlapcheck.ranks.naming import rank_pattern
from overlapcheck.ranks.pool import LocalPool
from overlapcheck.ranks.run import Engine, judge_fleet
from overlapcheck.ranks.store import Store
from overlapcheck.ranks.work import usable_cores
from overlapcheck.renderers._fleet import fleet_renderer, fleet_renderer_for_file


def analyze_ranks(
    paths: Sequence[Path], judging: Judging, fleet: Fleet, nsys: Path | None
) -> ExitCode:
    """Judge several reports, print and write the answer."""
    show = fleet_renderer(judging.format)
    files = [(path, fleet_renderer_for_file(path.name)) for path in judging.outputs]
    if judging.tables is not None:
        raise PolicyInvalid("--tables: not for several reports", "analyse one report at a time")
    place = judging.outputs[0].parent if judging.outputs else Path()
    choices = (judging.policy, judging.selection)
    hint = "the same command with --resume goes on where it stopped" if fleet.resume else ""
    with interruptible(f"analysing {len(paths)} reports", hint), counted() as arrived:
        report = judge_fleet(
            paths,
            partial(pipeline.analyze, policy=choices[0], selection=choices[1], nsys=nsys),
            _engine(fleet, len(paths)),
            store=Store.beside(place, *choices) if fleet.resume else None,
            pattern=rank_pattern(fleet.rank_pattern) if fleet.rank_pattern else None,
            same_host=fleet.same_host,
            arrived=arrived,
        )
    click.echo(show(report).encode(sys.stdout.encoding or "utf-8", "replace"), nl=False)
    for path, renderer in files:
        write(path, renderer(report))
    return report.exit_code


def _engine(fleet: Fleet, reports: int) -> Engine:
    if fleet.dask or fleet.dask_local:
        return DaskCluster(fleet.dask or "", fleet.dask_local or 0)
    return LocalPool(min(fleet.jobs or usable_cores(), reports))
