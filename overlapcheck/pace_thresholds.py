"""Numbers that decide about the program's own pace, and when it is worth asking for."""

from __future__ import annotations

from dataclasses import dataclass

from overlapcheck.threshold import Unit, decides


@dataclass(frozen=True)
class PaceThresholds:
    """Of control recordings, and of idle time that a late host explains."""

    control_steps_ratio: float = decides(
        3.0, Unit.RATIO, "profiler-overhead",
        reason="a time limit ends a slower program earlier, but recording hardly doubles a step:"
        " what has a third of the steps or three times as many did something else",
        if_wrong="smaller refuses controls of programs that a time limit ended; larger takes the"
        " cadence of another run",
    )  # fmt: skip
    same_pace_share: float = decides(
        0.03, Unit.SHARE, "profiler-overhead",
        reason="a control and a recording are two runs, often on two machines: where the device is"
        " the bound they differed by up to 3 % (H200, 15 programs)",
        if_wrong="smaller takes the difference of two runs for the recording's; larger leaves what"
        " follows from lateness in the window of a program that the recording slowed",
    )  # fmt: skip
    guessed_step_share: float = decides(
        0.5, Unit.SHARE, "profiler-overhead",
        reason="recording hardly doubles a step: where steps were found from kernel names, one that"
        " is said to be shorter than half of them may be one of several that they hold",
        if_wrong="smaller takes out what several steps take for one; larger refuses what is said of"
        " programs that recording slows most",
    )  # fmt: skip
    control_least_share: float = decides(
        0.05, Unit.SHARE,
        reason="where a late host holds less of the window and decides nothing, a second run would"
        " change no answer",
        if_wrong="smaller asks for controls that settle nothing; larger leaves shares to chance",
    )  # fmt: skip
