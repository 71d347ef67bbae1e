"""What a user is told between recording a program and judging the recording."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from overlapcheck.cli.messages import say
from overlapcheck.cli.stopping import stoppable

if TYPE_CHECKING:
    from overlapcheck.captured import CapturedReport


@contextmanager
def told(program: str, captured: CapturedReport) -> Iterator[None]:
    """Say where the report is and how the program ended; the block can be stopped.

    Where the program has run again for controls, or repaired, say where those recordings are.
    """
    report = captured.report
    if captured.repaired:
        last = captured.repaired[-1]
        say(f"the recording of the repaired program is {last}")
        with stoppable(f"analysing {last}"):
            yield
        return
    if captured.controls:
        which = "control is" if len(captured.controls) == 1 else "controls are"
        say(f"the {which} {', '.join(map(str, captured.controls))}")
        with stoppable(f"analysing {captured.controls[-1]}"):
            yield
        return
    for warning in (*captured.warnings, f"the report is {report}"):
        say(warning)
    if captured.program_exit:
        say(f"{program} {captured.ending}")
    with stoppable(f"analysing {report}", f"overlapcheck analyze {report}"):
        yield
