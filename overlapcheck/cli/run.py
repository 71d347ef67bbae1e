"""`overlapcheck run`: profile a program with nsys, then judge the recording."""

from __future__ import annotations

import click

from overlapcheck.cli.options import Judging, judging_options
from overlapcheck.cli.recording_options import Recording, recording_options
from overlapcheck.errors import ExitCode


# The command's own options belong to the command: ours end where it begins.
@click.command(
    short_help="Profile a program with nsys, then judge.",
    context_settings={"allow_interspersed_args": False},
)
@recording_options
@judging_options
@click.argument("command", nargs=-1, required=True, type=click.UNPROCESSED)
def run(command: tuple[str, ...], recording: Recording, judging: Judging) -> int:
    """Profile COMMAND with nsys, then judge the recording.

    \b
    overlapcheck run python train.py --max-steps 30
    overlapcheck run --duration 60 -o result.json -o step.nsys-rep torchrun train.py

    The report is left in the current directory, or where --keep or -o FILE.nsys-rep says.
    """
    from overlapcheck import pipeline
    from overlapcheck.capture.discovery import find_nsys
    from overlapcheck.capture.profile import profile
    from overlapcheck.cli.messages import say
    from overlapcheck.cli.output import deliver, draws_timeline
    from overlapcheck.cli.progress import shown
    from overlapcheck.cli.stopping import stoppable

    nsys = find_nsys(recording.nsys)
    with shown() as progress:
        place = (recording.keep_as, recording.keep_in)
        captured = profile(recording.spec, command, nsys, *place, progress=progress, warn=say)
        for warning in (*captured.warnings, f"the report is {captured.report}"):
            say(warning)
        if captured.program_exit:
            say(f"{command[0]} {captured.ending}")
        report = captured.report
        with stoppable(f"analysing {report}", f"overlapcheck analyze {report}"):
            result = pipeline.analyze(
                report,
                policy=judging.policy,
                selection=judging.selection,
                nsys=nsys.path,
                progress=progress,
                timeline=draws_timeline(judging),
                source_root=judging.source_root,
                cache=judging.cache,
                keep_export=report.with_suffix(".sqlite") if recording.keep_in else None,
                warn=say,
            )
    outcome = deliver(result, judging)
    return ExitCode.PROGRAM_FAILED if captured.program_failed else outcome
