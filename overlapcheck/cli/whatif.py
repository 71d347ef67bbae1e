"""`overlapcheck whatif`: what a repair would win."""

from __future__ import annotations

from pathlib import Path

import click

_FILE = click.Path(path_type=Path)


@click.command(short_help="What repairing a cause would win, predicted by replaying the steps.")
@click.argument("report", type=_FILE, metavar="REPORT")
@click.option(
    "--fix", metavar="CAUSE,...", help="Repair these together; default: each, and the best."
)
@click.option("--verify", type=_FILE, metavar="AFTER",
              help="A recording of the repaired program: compare with it.")  # fmt: skip
@click.option("--steps", metavar="PATTERN", help="NVTX ranges that are the steps.")
@click.option("--device", type=click.IntRange(min=0), metavar="N",
              help="Look at device N; default: the one with the longest steps.")  # fmt: skip
@click.option("--nsys", type=_FILE, metavar="PATH",
              help="The nsys to export with; default: the newest one found.")  # fmt: skip
@click.option("--format", "format_", metavar="NAME", default="terminal", show_default=True,
              help="What to print: terminal or json.")  # fmt: skip
@click.option("-o", "--output", "outputs", multiple=True, type=_FILE, metavar="FILE",
              help="Also write it here; the suffix chooses the format; may repeat.")  # fmt: skip
def whatif(report: Path, fix: str | None, verify: Path | None, steps: str | None,
           device: int | None, nsys: Path | None, format_: str,
           outputs: tuple[Path, ...]) -> int:  # fmt: skip
    """Predict what repairing the causes found in REPORT would win per step.

    \b
    overlapcheck whatif train.nsys-rep
    overlapcheck whatif train.nsys-rep --fix pageable-copy,host-sync
    overlapcheck whatif before.nsys-rep --fix pageable-copy --verify after.nsys-rep
    """
    from overlapcheck import pipeline
    from overlapcheck.cli.files import spare_inputs, write
    from overlapcheck.cli.messages import say
    from overlapcheck.cli.output import print_text, suited
    from overlapcheck.cli.progress import shown
    from overlapcheck.cli.stopping import stoppable
    from overlapcheck.reading import Reading
    from overlapcheck.renderers.what_if import what_if_renderer, what_if_renderer_for_file
    from overlapcheck.selection import Selection

    chosen = what_if_renderer(format_)
    written = [(path, what_if_renderer_for_file(path.name)) for path in outputs]
    spare_inputs(outputs, [report, *([verify] if verify else [])])
    causes = tuple(filter(None, (cause.strip() for cause in (fix or "").split(","))))
    with stoppable(f"analysing {report}"), shown() as progress:
        found = pipeline.predict(
            report,
            fix=causes,
            verify=verify,
            selection=Selection(steps=steps, device=device),
            reading=Reading(nsys=nsys, timeline=False, progress=progress, warn=say),
        )
    print_text(suited(chosen, to_terminal=True).render(found))
    for path, renderer in written:
        write(path, suited(renderer).render(found))
    return 0
