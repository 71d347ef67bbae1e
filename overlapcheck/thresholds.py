"""The numbers that decide, each with unit, reason, and what a wrong one would do.

A number stands here if another value of it would change a measured number, a verdict, a reason or
what is called a cause, and if a sensible person could have chosen that value. Everything that
decides by one takes it from a value that is handed down, never from a global, so that a study can
move one and see what changes: `[thresholds]` in the policy file. A report says which were moved.

Some are *fixed*: docs/definitions.md and the pages say them in words ("half of the kernel time", "a
quarter of the steps", "2 %"), and moved they would no longer be what is written. They are
attributes of the class, listed like the others and refused in a policy file.

What a replay takes for granted is in `replay_thresholds.py` and `whatif_thresholds.py`, with the
same page: it makes predictions, which have a band, and is no part of a policy.

Beside the code that uses them stay: what "most" means (more than half), constants of mathematics
and of file formats, bounds on time and memory (how many rows are sampled), and how much is shown.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields

from overlapcheck.pace_thresholds import PaceThresholds
from overlapcheck.quantities import figure
from overlapcheck.rank_thresholds import RankThresholds
from overlapcheck.recording_thresholds import RecordingThresholds
from overlapcheck.threshold import Threshold, Unit, decides, described, key_of


@dataclass(frozen=True)
class Thresholds(PaceThresholds, RankThresholds, RecordingThresholds):
    """All of them; attributes for the code, `described` for people."""

    # What orders operations on a device.
    clock_slack_ns: int = decides(
        2_000, Unit.NS, "same-stream", "event-wait", "default-stream", "copy-engine",
        reason="the device's time stamps of two operations that follow one another cross by up to"
        " a microsecond",
        if_wrong="smaller loses orders whose times cross by rounding; larger takes operations that"
        " overlapped for ordered ones",
    )  # fmt: skip
    start_latency_ns: int = decides(
        20_000, Unit.NS, "event-wait", "copy-engine", "launch-latency", "hardware-queue",
        "exposed-collective",
        reason="of kernels queued behind another in their stream 95 % start within 4.7 us (H200, 42"
        " programs); across streams and for copies it takes a few times that",
        if_wrong="smaller leaves ordinary starts unexplained; larger ties together operations that"
        " have nothing to do with one another",
    )  # fmt: skip
    adjacent_tries: int = decides(
        8, Unit.COUNT, "event-wait",
        reason="memsets and tails of other streams may stand between an operation and the one that"
        " released it",
        if_wrong="smaller misses the one that released it where many streams end together; larger"
        " only takes time",
    )  # fmt: skip
    engine_min_bytes: int = decides(
        64 * 1024, Unit.BYTES, "copy-engine",
        reason="smaller copies pass through the engine faster than its queue can show",
        if_wrong="smaller takes small copies that follow one another for a queue; larger misses a"
        " queue of medium ones",
    )  # fmt: skip
    # What the host did.
    submit_slack_ns: int = decides(
        1_000, Unit.NS, "host-sync", "host-starved", "launch-bound", "launch-latency",
        "late-issue",
        reason="host and device clocks agree to about a microsecond after nsys has aligned them",
        if_wrong="smaller calls the host late by the error of its clock; larger blames the device"
        " for what was not submitted",
    )  # fmt: skip
    handing_over_share: float = decides(
        0.01, Unit.SHARE, "launch-latency", "launch-bound",
        reason="the fastest hundredth of the launches were queued behind nothing, and of many"
        " launches one with a damaged time does not count",
        if_wrong="smaller lets one damaged time say how fast the device is reached; larger takes"
        " waiting in a queue for the way to the device",
    )  # fmt: skip
    drain_slack_ns: int = decides(
        20_000, Unit.NS, "host-sync", "sync-copy", "allocation", "pageable-copy",
        "launch-blocking", "host-starved",
        reason="between the end of a call that waited and the next launch lie a few calls of some"
        " microseconds, twice that under the profiler",
        if_wrong="smaller gives the restart after a wait to launch-bound; larger blames a wait for"
        " idle time that began long after it",
    )  # fmt: skip
    launch_distance_ns: int = decides(
        10_000, Unit.NS, "launch-latency", "launch-bound",
        reason="two launches of one thread lie 4 us (5 %) to 16 us (median) apart under the"
        " profiler (H200, 42 programs)",
        if_wrong="smaller calls a host that is ahead launch-bound for one late launch; larger"
        " excuses a host that is late again and again",
    )  # fmt: skip
    away_ns: int = decides(
        100_000, Unit.NS, "host-starved", "launch-bound", "module-load",
        reason="between two calls of a thread lie less than 20 us in 90 % and less than 48 us in"
        " 95 % of the cases, 1.6 ms in 99 % (H200, 42 programs): beyond is something else",
        if_wrong="smaller calls slow launching starvation; larger hides waits for data in"
        " launch-bound",
    )  # fmt: skip
    ahead_ns: int = decides(
        50_000, Unit.NS, "host-sync", "launch-latency",
        reason="a launch several launches ahead of its kernel shows that the host has caught up",
        if_wrong="smaller ends the blame for a wait at the first queued kernel; larger lets a wait"
        " answer for late launches long after it",
    )  # fmt: skip
    long_call_ns: int = decides(
        50_000, Unit.NS, "driver-lock", "host-sync", "launch-bound",
        reason="90 % of the launches, copies and memsets return within 15 us under the profiler,"
        " 95 % within 24 us (H200, 42 programs): twice that was kept waiting",
        if_wrong="smaller takes slow launches for waiting ones; larger misses short locks",
    )  # fmt: skip
    stuck_call_ns: int = decides(
        1_000_000, Unit.NS, "driver-lock", "cuda-call", "launch-bound",
        reason="99 % of the launches, copies and memsets return within a tenth of this under the"
        " profiler (H200, 42 programs): one that takes so long was not launching",
        if_wrong="smaller takes a slow launch for a lock by the chance of two calls that end"
        " together; larger advises graphs against locks",
    )  # fmt: skip
    lazy_load_ns: int = decides(
        500_000, Unit.NS, "module-load", "launch-bound",
        reason="loading the code of a kernel takes from some tenths of a millisecond to several",
        if_wrong="smaller calls any slow first launch loading; larger leaves small modules to"
        " launch-bound",
    )  # fmt: skip
    polls_least: int = decides(
        4, Unit.COUNT, "host-sync",
        reason="allocators ask for two or three events in a row and go on; who waits asks on",
        if_wrong="smaller takes housekeeping for a wait; larger misses waits that ask seldom",
    )  # fmt: skip
    poll_distance_ns: int = decides(
        1_000_000, Unit.NS, "host-sync",
        reason="loops that poll sleep or yield for up to some tenths of a millisecond in between",
        if_wrong="smaller misses loops that sleep; larger takes a program that looks in now and"
        " then for one that waits",
    )  # fmt: skip
    lock_cover_share: float = decides(
        0.5, Unit.SHARE, "driver-lock",
        reason="a call that waited for another thread's lock lies mostly inside that thread's call",
        if_wrong="smaller blames a call that only touches it; larger misses calls that went on"
        " after the lock was free",
    )  # fmt: skip
    small_copy_bytes: int = decides(
        64 * 1024, Unit.BYTES, "host-sync", "pageable-copy", "sync-copy",
        reason="up to here the driver stages a copy at once, and pinning its buffer wins nothing",
        if_wrong="smaller advises to pin scalars; larger calls slow copies synchronisations",
    )  # fmt: skip
    blocking_launches_least: int = decides(
        20, Unit.COUNT, "launch-blocking",
        reason="fewer launches that all outlast their kernels may be chance",
        if_wrong="smaller sees the debug variable in tiny programs; larger misses it in short runs",
    )  # fmt: skip
    blocking_launches_share: float = decides(
        0.9, Unit.SHARE, "launch-blocking",
        reason="the variable makes every launch wait, but for those that were already done",
        if_wrong="smaller takes short kernels behind slow launches for it; larger misses it",
    )  # fmt: skip
    issue_bound_share: float = decides(
        0.9, Unit.SHARE, "launch-bound", "same-stream", "event-wait", "late-issue",
        reason="a host that issues without a wait all this while is the bound itself, if the device"
        " is hardly behind in the end: no order could win that time back",
        if_wrong="smaller hides faults of order behind the launches; larger blames the order where"
        " the host needs all the time",
    )  # fmt: skip
    # How copies fill the time.
    link_bound_share: float = decides(
        0.9, Unit.SHARE, "copy-bound", "same-stream", "event-wait", "late-issue",
        reason="a direction this busy is the bound itself: no order could win its time back",
        if_wrong="smaller hides faults of order behind the link; larger blames the order where the"
        " link is full",
    )  # fmt: skip
    blocking_call_ns: int = decides(
        20_000, Unit.NS,
        reason="90 % of the calls that only hand work over return within 15 us under the profiler"
        " (H200, 42 programs)",
        if_wrong="smaller lists launches among the blocking calls; larger loses short waits",
    )  # fmt: skip
    # Where in the program a call was made.
    stack_before_call_ns: int = decides(
        20_000, Unit.NS,
        reason="nsys takes the stack just before its call, the slowest of them some ten"
        " microseconds",
        if_wrong="smaller loses source lines; larger gives calls without a stack that of another",
    )  # fmt: skip
    stack_clock_slack_ns: int = decides(
        1_000, Unit.NS,
        reason="the mark of a stack may carry a later time than its call by rounding",
        if_wrong="smaller gives calls the line of the call before; larger that of the next",
    )  # fmt: skip
    # Kernels beside transfers.
    contention_samples: int = decides(
        5, Unit.COUNT, "contention",
        reason="a median of fewer kernels moves with every one of them",
        if_wrong="smaller compares noise; larger needs long recordings",
    )  # fmt: skip
    contention_ratio: float = decides(
        1.2, Unit.RATIO, "contention",
        reason="the same kernel varies by a tenth with clock and data",
        if_wrong="smaller reports noise; larger misses slow-downs that eat up the overlap",
    )  # fmt: skip
    contention_most_ratio: float = decides(
        4.0, Unit.RATIO, "contention",
        reason="transfers cannot slow a kernel this much: such launches did different work",
        if_wrong="smaller leaves real slow-downs out; larger compares different work",
    )  # fmt: skip
    contention_shared_from: float = decides(
        0.5, Unit.SHARE, "contention",
        reason="covered this much by a transfer, a kernel shares the device with it",
        if_wrong="smaller thins the slow-down out; larger leaves few samples",
    )  # fmt: skip
    contention_alone_up_to: float = decides(
        0.05, Unit.SHARE, "contention",
        reason="covered hardly at all, a kernel runs as if alone",
        if_wrong="smaller leaves few samples; larger slows what the others are held against",
    )  # fmt: skip
    contention_least_share: float = decides(
        0.005, Unit.SHARE, "contention",
        reason="less of the window is noise of two medians",
        if_wrong="smaller reports noise; larger says nothing of a slow-down that costs",
    )  # fmt: skip
    # Collectives.
    compute_stream_share: float = decides(
        0.05, Unit.SHARE, "exposed-collective",
        reason="a stream with less of the device's compute is no compute stream",
        if_wrong="smaller calls a stream of collectives with some casts a compute stream; larger"
        " misses collectives among kernels",
    )  # fmt: skip
    queue_held_ns: int = decides(
        50_000, Unit.NS, "exposed-collective",
        reason="a launch that takes this long to begin has waited for something",
        if_wrong="smaller sees queues in ordinary starts; larger misses short ones",
    )  # fmt: skip
    queue_busy_share: float = decides(
        0.9, Unit.SHARE, "exposed-collective",
        reason="with less compute meanwhile it was not the compute that a collective stood behind",
        if_wrong="smaller blames kernels for waits for a rank; larger misses it where kernels"
        " leave small gaps",
    )  # fmt: skip
    telling_share: float = decides(
        0.5, Unit.SHARE, "exposed-collective",
        reason="below half of the exposed time a fact does not say which kind of exposure it is",
        if_wrong="smaller tells of side matters; larger says nothing of mixed cases",
    )  # fmt: skip
    # What evidence says.
    speed_min_bytes: int = decides(
        64 * 1024, Unit.BYTES, "pageable-copy", "sync-copy", "copy-bound", "exposed-collective",
        reason="the time of smaller copies is latency, and says nothing of the link's speed",
        if_wrong="smaller prints misleading bandwidths; larger leaves them out",
    )  # fmt: skip
    mostly_inferred_share: float = decides(
        0.5, Unit.SHARE, "event-wait", "same-stream",
        reason="a cause is as sure as most of its time",
        if_wrong="smaller doubts what is proven; larger is sure of what is inferred",
    )  # fmt: skip
    link_use_share: float = decides(
        0.5, Unit.SHARE, "copy-bound",
        reason="what is busy less than half of the time is not the bound",
        if_wrong="smaller tells of idle links; larger of none",
    )  # fmt: skip
    # What recurs.
    spike_step_share: float = decides(
        0.25, Unit.SHARE, fixed=True,
        reason="the definition: what happens in fewer than a quarter of the steps is a one-off",
        if_wrong="smaller takes what happens now and then for what every step pays; larger takes"
        " what many steps pay for an accident",
    )  # fmt: skip
    spike_ratio: float = decides(
        2.0, Unit.RATIO,
        reason="a step that pays twice what is usual stands out from steps that differ a little",
        if_wrong="smaller names steps that are like the others; larger leaves one-offs without a"
        " line",
    )  # fmt: skip
    returns_least: int = decides(
        3, Unit.COUNT,
        reason="two distances that are alike are no coincidence, and a period needs as many",
        if_wrong="smaller takes two one-offs for a rhythm; larger misses what comes seldom",
    )  # fmt: skip
    returns_distance_ratio: float = decides(
        2.0, Unit.RATIO,
        reason="a return that was missed once doubles one distance",
        if_wrong="smaller misses a rhythm with one beat left out; larger takes chance for one",
    )  # fmt: skip
    material_share: float = decides(
        0.02, Unit.SHARE, fixed=True,
        reason="the definition: what costs less than 2 % of the window is no cause of failure",
        if_wrong="smaller fails runs for what no run-to-run comparison could show; larger hides"
        " what is worth a repair",
    )  # fmt: skip
    # What the checks grant.
    ceiling_share: float = decides(
        0.9, Unit.SHARE,
        reason="nine tenths of what compute can hide at all are as good as reaching it",
        if_wrong="smaller passes schedules that could hide more; larger fails perfect ones for"
        " the first copy of a window",
    )  # fmt: skip
    pageable_relief_share: float = decides(
        0.10, Unit.SHARE,
        reason="pageable copies are long through their own fault: their length is no excuse",
        if_wrong="smaller denies relief for a stray copy; larger lets slow copies pass as a bound",
    )  # fmt: skip
    least_win_share: float = decides(
        0.05, Unit.SHARE,
        reason="hiding more that wins less of the time is not worth a failing run",
        if_wrong="smaller fails runs for nothing; larger passes what could be won",
    )  # fmt: skip

    def described(self) -> tuple[Threshold, ...]:
        """All thresholds in the order of their sections."""
        return described(self)

    def moved(self) -> dict[str, float]:
        """Name and value of those that are not what they usually are."""
        return {
            key_of(one): getattr(self, one.name)
            for one in fields(self)
            if one.init and getattr(self, one.name) != one.default
        }


USUAL = Thresholds()
"""None of them moved."""


def moved_text(moved: Mapping[str, float]) -> str:
    """Moved thresholds in words: "start-latency-ns = 5000"; "" for none."""
    return ", ".join(f"{name} = {figure(value)}" for name, value in moved.items())


def with_values(values: Mapping[str, float]) -> Thresholds:
    """The usual thresholds but for some, by their names in the policy file."""
    return Thresholds(**{name.replace("-", "_"): value for name, value in values.items()})  # type: ignore[arg-type]
