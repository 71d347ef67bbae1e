"""Numbers that decide whether a recording carries a verdict, how its clocks lie, and its window."""

from __future__ import annotations

from dataclasses import dataclass

from overlapcheck.threshold import Unit, decides


@dataclass(frozen=True)
class RecordingThresholds:
    """Of completeness, clocks and windows."""

    # Whether rows are missing, or cannot be.
    lost_share: float = decides(
        0.01, Unit.SHARE, "incomplete-capture", "event-wait",
        reason="limits are shares of five per cent and more: what a hundredth of the rows, or of"
        " their time, could have done turns no verdict",
        if_wrong="smaller refuses recordings for a row that any profiler loses; larger judges what"
        " is not there",
    )  # fmt: skip
    in_flight_calls: int = decides(
        2, Unit.COUNT, "incomplete-capture",
        reason="a thread is in one call when recording stops, and the one before may be on its way",
        if_wrong="smaller calls every stopped recording incomplete; larger excuses rows that were"
        " lost at the end",
    )  # fmt: skip
    cut_share: float = decides(
        0.1, Unit.SHARE, "incomplete-capture",
        reason="a queue holds some of a recording's calls when it stops; a tenth of all of them is"
        " a part of the recording",
        if_wrong="smaller refuses short recordings of a long queue; larger judges a recording that"
        " lost its end",
    )  # fmt: skip
    patience_ratio: float = decides(
        2, Unit.RATIO, "incomplete-capture",
        reason="what was running at the stop may have been the longest yet, hardly twice as long",
        if_wrong="smaller takes a last long copy for a lost one; larger waits for rows that were"
        " lost",
    )  # fmt: skip
    clock_noise_ns: int = decides(
        50_000, Unit.NS, "incomplete-capture",
        reason="times of host and device contradicted each other by up to 27 us where nothing was"
        " lost (H200, 42 programs)",
        if_wrong="smaller takes a clock for a lost or damaged row; larger misses those that fit in"
        " it",
    )  # fmt: skip
    drift_ns: int = decides(
        1_000_000, Unit.NS, "incomplete-capture",
        reason="a clock that is this far off is told as such; a single row that is, is damaged: one"
        " flipped bit moves a time by a power of two",
        if_wrong="smaller takes drifting clocks for damage; larger misses damage of lower bits",
    )  # fmt: skip
    enclosed_least: int = decides(
        2, Unit.COUNT, "incomplete-capture",
        reason="a stream runs one thing after the other, but for a dependent launch that begins"
        " before the one before it has ended",
        if_wrong="smaller refuses programs with dependent launches; larger misses a row that is too"
        " long by a bit",
    )  # fmt: skip
    shortest_recording_ns: int = decides(
        1_000_000_000, Unit.NS, "incomplete-capture",
        reason="a device may work on for as long as the host was seen, and for a second where that"
        " was a moment",
        if_wrong="smaller refuses short recordings of long kernels; larger misses times that lie"
        " nowhere",
    )  # fmt: skip
    most_bytes_per_ns: int = decides(
        100_000, Unit.BYTES_PER_NS, "incomplete-capture",
        reason="ten times what the fastest caches of today do",
        if_wrong="smaller refuses a copy that a cache served; larger misses damaged sizes",
    )  # fmt: skip
    # By how much the clocks of host and device differ.
    skew_rows_least: int = decides(
        20, Unit.COUNT, "host-sync", "launch-bound",
        reason="of fewer rows a damaged one could be the one in twenty that is looked at",
        if_wrong="smaller moves all host times for one damaged row; larger leaves short recordings"
        " with clocks that contradict each other",
    )  # fmt: skip
    skew_damaged_share: float = decides(
        0.01, Unit.SHARE, "host-sync", "launch-bound",
        reason="nothing begins before its launch began: what does beyond the hundredth that may be"
        " damaged is the clock",
        if_wrong="smaller believes damaged rows; larger asks for a clock that is wrong most of the"
        " time",
    )  # fmt: skip
    skew_launch_share: float = decides(
        0.05, Unit.SHARE, "host-sync", "launch-bound",
        reason="a launch that was interrupted may return after its kernel began: one in twenty is"
        " allowed to",
        if_wrong="smaller takes interrupted launches for a clock; larger overlooks a skew of a few"
        " microseconds",
    )  # fmt: skip
    # What the window is.
    steps_least: int = decides(
        3, Unit.COUNT, fixed=True,
        reason="the definition: two could be a begin and an end; three are a rhythm",
        if_wrong="smaller finds steps in any pair; larger misses them in short recordings",
    )  # fmt: skip
    window_kernel_share: float = decides(
        0.5, Unit.SHARE, fixed=True,
        reason="the definition: what holds less than half of the kernel time is not the program",
        if_wrong="smaller judges a loop that matters little; larger takes the whole run where"
        " set-up computes, too",
    )  # fmt: skip
    period_few_kernels: int = decides(
        64, Unit.COUNT,
        reason="programs of one pass launch a handful of equal kernels between their copies",
        if_wrong="smaller takes those for steps and leaves the copies out; larger asks short loops"
        " for copies that they do not have",
    )  # fmt: skip
    period_agreement_share: float = decides(
        0.3, Unit.SHARE,
        reason="three repeats that hold half of the sequence agree by a third; names are compared"
        " as random signs, whose chance agreement is far below",
        if_wrong="smaller tries lags that cannot be periods; larger overlooks a loop of half of the"
        " run",
    )  # fmt: skip
