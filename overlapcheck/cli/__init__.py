"""The command line: one command, one file. The only stage that prints and exits.

Nothing heavy is imported before a command runs, so that --help is instant.
"""

from __future__ import annotations

import os
import sys

import click

from overlapcheck._version import __version__
from overlapcheck.cli.analyze import analyze
from overlapcheck.cli.baseline import baseline
from overlapcheck.cli.cache import cache
from overlapcheck.cli.compare import compare
from overlapcheck.cli.doctor import doctor
from overlapcheck.cli.explain import explain
from overlapcheck.cli.heap import share_heap
from overlapcheck.cli.init import init
from overlapcheck.cli.messages import say, say_usage
from overlapcheck.cli.render import render
from overlapcheck.cli.run import run
from overlapcheck.errors import ExitCode, OverlapcheckError

_EPILOG = """\b
Exit codes:
  0  pass
  1  fail
  2  wrong option or limit
  3  inconclusive: the recording cannot prove it; the report says what would;
     or not comparable
  4  could not run: no nsys, no report, unreadable file
  5  the profiled program failed
"""


@click.group(context_settings={"help_option_names": ["-h", "--help"]}, epilog=_EPILOG)
@click.version_option(__version__, prog_name="overlapcheck")
def cli() -> None:
    """Prove that a GPU program's copies and collectives run under its compute.

    \b
    overlapcheck run python train.py        profile with nsys, then judge
    overlapcheck analyze train.nsys-rep     judge an existing report or SQLite export

    The report goes to stdout, everything else to stderr.
    """


for command in (run, analyze, compare, baseline, render, init, explain, doctor, cache):
    cli.add_command(command)


def main() -> None:
    """Run the command line and exit with its code; every foreseen failure is one line."""
    share_heap()
    try:
        sys.exit(cli.main(standalone_mode=False) or 0)
    except click.ClickException as error:
        say_usage(error)
        sys.exit(error.exit_code)
    except OverlapcheckError as error:
        say(str(error))
        sys.exit(error.exit_code)
    except (click.Abort, KeyboardInterrupt):
        say("interrupted")
        sys.exit(130)
    except BrokenPipeError:
        # The reader of our stdout went away (`| head`): not worth a traceback.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(ExitCode.COULD_NOT_RUN)
