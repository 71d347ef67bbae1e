"""The command line: one command, one file. The only stage that prints and exits.

Nothing heavy is imported before a command runs, so that --help is instant.
"""

from __future__ import annotations

import sys

import click

from overlapcheck._version import __version__
from overlapcheck.cli.analyze import analyze
from overlapcheck.cli.baseline import baseline
from overlapcheck.cli.cache import cache
from overlapcheck.cli.compare import compare
from overlapcheck.cli.doctor import doctor
from overlapcheck.cli.exits import Commands, exit_code_of, leave
from overlapcheck.cli.explain import explain
from overlapcheck.cli.heap import keep_heap
from overlapcheck.cli.init import init
from overlapcheck.cli.mcp import mcp
from overlapcheck.cli.messages import say
from overlapcheck.cli.render import render
from overlapcheck.cli.run import run
from overlapcheck.cli.standard_streams import standard_streams
from overlapcheck.cli.streams import streams
from overlapcheck.cli.trim import trim
from overlapcheck.cli.whatif import whatif
from overlapcheck.errors import ExitCode

_EPILOG = """\b
Exit codes:
  0  pass
  1  fail
  2  wrong option or limit
  3  inconclusive: the recording cannot prove it; the report says what would;
     or not comparable, or too noisy for --fail-if-worse
  4  could not run: no nsys, no report, unreadable file, an error of ours
  5  the profiled program failed
  128 and the signal's number: stopped (Ctrl-C 130, SIGTERM 143)
"""


@click.group(cls=Commands, context_settings={"help_option_names": ["-h", "--help"]}, epilog=_EPILOG)
@click.version_option(__version__, prog_name="overlapcheck")
def cli() -> None:
    """Prove that a GPU program's copies and collectives run under its compute.

    \b
    overlapcheck run python train.py        profile with nsys, then judge
    overlapcheck train.nsys-rep             judge a report or its export, as analyze does

    The report goes to stdout, everything else to stderr.
    """


for command in (
    *(run, analyze, compare, whatif, baseline, streams, render),
    *(init, explain, trim, mcp, doctor, cache),
):
    cli.add_command(command)


def main() -> None:
    """Run the command line and exit with its code; every failure is one line, none is 0 or 1."""
    keep_heap()
    with standard_streams() as standard:
        code = exit_code_of(lambda: cli.main(standalone_mode=False))
        sys.stdout.flush()
        if lost := standard.lost_output:
            say(f"stdout: cannot be written: {lost.strerror}")
            code = ExitCode.COULD_NOT_RUN
    leave(code)
