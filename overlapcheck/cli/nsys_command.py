"""The nsys command that `overlapcheck run` would use, to type where it cannot run itself."""

from __future__ import annotations

import os
import shlex
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from pathlib import Path

import click

from overlapcheck.cli.messages import say
from overlapcheck.cli.recording_options import Recording
from overlapcheck.errors import NsysNotFound

_EACH_PROCESS = "-%h-%p"
"""Host and process, as nsys fills them in: every rank needs a file of its own."""


def print_command(command: Sequence[str], recording: Recording) -> None:
    """Print the command line; what cannot be said in it goes to stderr."""
    from overlapcheck.capture.discovery import find_nsys, flags_of
    from overlapcheck.capture.report_place import report_name
    from overlapcheck.capture.spec import every_flag, profile_argv, uses_mpi

    spec = replace(recording.spec, mpi=uses_mpi(command, os.environ))
    try:
        flags = flags_of(find_nsys(recording.nsys), "profile")
    except NsysNotFound:
        say("there is no nsys here: this is for one of 2023.4 or later")
        flags = every_flag(spec)
    for option in ("--sync-debug", "--mark-steps", "--sanitizer"):
        if getattr(spec, option[2:].replace("-", "_")):
            say(f"{option} needs overlapcheck run where the program runs: left out")
    if not spec.replace_report:
        flags -= {"--force-overwrite"}
    name = Path(report_name(command, datetime.now(), {}))
    output = spec.keep_as or (spec.keep_in or Path()) / f"{name.stem}{_EACH_PROCESS}{name.suffix}"
    argv = profile_argv(recording.nsys or Path("nsys"), spec, flags, output, command)
    variables = [f"{name}={value}" for name, value in spec.environment.items()]
    click.echo(shlex.join(["env", *variables, *argv] if variables else argv))
