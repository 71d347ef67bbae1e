"""`overlapcheck run`: profile a program with nsys, then judge the recording."""

from __future__ import annotations

from functools import partial

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
@click.option(
    "--print-command", is_flag=True, help="Print the nsys command for a cluster, and run nothing."
)
@click.argument("command", nargs=-1, required=True, type=click.UNPROCESSED)
def run(
    command: tuple[str, ...], recording: Recording, judging: Judging, print_command: bool
) -> int:
    """Profile COMMAND with nsys, then judge the recording.

    \b
    overlapcheck run python train.py --max-steps 30
    overlapcheck run --duration 60 -o result.json -o step.nsys-rep torchrun train.py

    The report is left in the current directory, or where --keep or -o FILE.nsys-rep says.
    """
    if print_command:
        from overlapcheck.cli import nsys_command

        nsys_command.print_command(command, recording)
        return ExitCode.PASS
    from overlapcheck.cli.files import require_writable
    from overlapcheck.cli.output import deliver, reading_of
    from overlapcheck.cli.progress import shown
    from overlapcheck.cli.recorded import told
    from overlapcheck.recording import run as record

    require_writable(judging.outputs, judging.tables, recording.spec.keep_in)
    with shown() as progress:
        result = record(
            command,
            spec=recording.spec,
            reading=reading_of(judging, recording.nsys, progress),
            control=recording.control,
            prove=recording.prove,
            judging=partial(told, command[0]),
            policy=judging.policy,
            selection=judging.selection,
        )
    captured, outcome = result.captured, deliver(result, judging)
    return ExitCode.PROGRAM_FAILED if captured and captured.program_failed else outcome
