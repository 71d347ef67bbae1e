"""`overlapcheck whatif`: what a repair would win."""

from __future__ import annotations

from pathlib import Path

import click

from overlapcheck.cli.option_types import FILE


@click.command(short_help="What repairing a cause would win, predicted by replaying the steps.")
@click.argument("report", type=FILE, metavar="REPORT")
@click.option("--fix", metavar="CAUSE,...",
              help="Repair these together; default: each, and the best.")  # fmt: skip
@click.option("--verify", type=FILE, metavar="AFTER",
              help="A recording of the repaired program: compare with it.")  # fmt: skip
@click.option("--control", multiple=True, type=FILE, metavar="FILE",
              help="The program recorded with NVTX alone: tells its own pace.")  # fmt: skip
@click.option("--step-time", metavar="TIME", help="Its own pace, if known: 20.6ms.")
@click.option("--steps", metavar="PATTERN", help="NVTX ranges that are the steps.")
@click.option("--device", type=click.IntRange(min=0), metavar="N",
              help="Look at device N; default: the one with the longest steps.")  # fmt: skip
@click.option("--nsys", type=FILE, metavar="PATH",
              help="The nsys to export with; default: the newest one found.")  # fmt: skip
@click.option("--format", "format_", metavar="NAME", default="terminal", show_default=True,
              help="What to print: terminal, json or html.")  # fmt: skip
@click.option("-o", "--output", "outputs", multiple=True, type=FILE, metavar="FILE",
              help="Also write it here; the suffix chooses the format; may repeat.")  # fmt: skip
def whatif(report: Path, fix: str | None, verify: Path | None, control: tuple[Path, ...],
           step_time: str | None, steps: str | None, device: int | None, nsys: Path | None,
           format_: str, outputs: tuple[Path, ...]) -> int:  # fmt: skip
    """Predict what repairing the causes found in REPORT would win per step.

    \b
    overlapcheck whatif train.nsys-rep --fix pageable-copy,host-sync
    overlapcheck whatif before.nsys-rep --fix pageable-copy --verify after.nsys-rep
    """
    from overlapcheck.cli.files import spare_inputs
    from overlapcheck.cli.messages import say
    from overlapcheck.cli.option_values import time_ns
    from overlapcheck.cli.progress import shown
    from overlapcheck.cli.stopping import stoppable
    from overlapcheck.cli.what_if_output import deliver_what_if, require_formats
    from overlapcheck.predicting import predict, verified
    from overlapcheck.reading import Reading
    from overlapcheck.selection import Selection

    require_formats(format_, outputs)
    spare_inputs(outputs, [report, *control, *([verify] if verify else [])])
    own_ns = time_ns("--step-time", step_time)
    fixes = tuple(filter(None, map(str.strip, (fix or "").split(","))))
    with stoppable(f"analysing {report}"), shown() as progress:
        selection = Selection(steps=steps, device=device, step_time_ns=own_ns)
        reading = Reading(nsys=nsys, timeline=False, progress=progress, warn=say)
        found = predict(report, fix=fixes, control=control, selection=selection, reading=reading)
        if verify:
            found = verified(found, verify, selection=selection, reading=reading)
    deliver_what_if(found, format_, outputs)
    return 0
