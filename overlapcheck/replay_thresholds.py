"""Numbers that a replay of recorded steps takes for granted, and what it takes for a wait."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

from overlapcheck.threshold import Unit, decides

_assumed = partial(decides, fixed=True)


@dataclass(frozen=True)
class ReplayThresholds:
    """Of steps, links, hand-overs and threads."""

    # Which steps.
    fewest_steps: int = _assumed(
        4, Unit.COUNT,
        reason="three distances of steps are the least of which a median says something",
        if_wrong="smaller tells a pace from a single pair of steps; larger needs long recordings",
    )  # fmt: skip
    settling_steps: int = _assumed(
        2, Unit.COUNT,
        reason="a change has worked through queues and double buffers after two steps",
        if_wrong="smaller counts steps that still drain; larger leaves few to count",
    )  # fmt: skip
    uneven_share: float = _assumed(
        0.1, Unit.SHARE,
        reason="where mean and median step differ by more, what costs time does not do so in every"
        " step, or the steps are parts of the program's",
        if_wrong="smaller tells of means that one long step moves; larger hides what comes now and"
        " then",
    )  # fmt: skip
    # How soon one thing follows the other.
    launches_ns: int = _assumed(
        4_000, Unit.NS,
        reason="from a launch to its start on an idle device, where the recording has none to"
        " measure",
        if_wrong="smaller starts kernels before they can be there; larger makes the host slower",
    )  # fmt: skip
    follows_ns: int = _assumed(
        1_000, Unit.NS,
        reason="between two operations of a stream, where the recording has none to measure",
        if_wrong="smaller closes gaps that the device has; larger opens gaps that it has not",
    )  # fmt: skip
    usual_lag_share: float = _assumed(
        0.30, Unit.SHARE,
        reason="of the lags of links that held something up, the larger ones hold other waits, too",
        if_wrong="smaller takes the fastest for the usual; larger takes other waits for lags",
    )  # fmt: skip
    explained_ns: int = _assumed(
        100_000, Unit.NS,
        reason="a longer wait behind a link has another reason, which stays unexplained",
        if_wrong="smaller leaves waits in place that a repair takes away; larger takes away waits"
        " that it would not",
    )  # fmt: skip
    queue_length: int = _assumed(
        1_000, Unit.COUNT,
        reason="operations of a stream that may be under way: measured 1 000 to 1 024 on Linux",
        if_wrong="smaller holds launches that were free; larger lets the host run too far ahead",
    )  # fmt: skip
    unknown_link_bytes_per_ns: float = _assumed(
        25.0, Unit.BYTES_PER_NS,
        reason="PCI Express 4 is the link of most devices of which no more is known",
        if_wrong="smaller makes copies longer than they would be; larger promises what a slow link"
        " cannot do",
    )  # fmt: skip
    # What a call of the host waits for.
    returns_ns: int = _assumed(
        3_000, Unit.NS,
        reason="what a call costs that need not wait: measured for synchronisations of an idle"
        " device",
        if_wrong="smaller makes free calls cheaper than they are; larger hides what a wait costs",
    )  # fmt: skip
    long_allocation_ns: int = _assumed(
        20_000, Unit.NS,
        reason="a longer allocation during which the device fell idle has waited for it",
        if_wrong="smaller takes plain allocations for waits; larger misses those that drain the"
        " device",
    )  # fmt: skip
    shortest_os_call_ns: int = _assumed(
        5_000, Unit.NS,
        reason="shorter calls of the operating system wait for nobody and are part of a gap",
        if_wrong="smaller only takes time; larger hides waits for other threads",
    )  # fmt: skip
    concerns_repair_ns: int = _assumed(
        50_000, Unit.NS,
        reason="a shorter call that nothing hangs on is part of the gap around it; a longer one is"
        " one that a repair may concern",
        if_wrong="smaller only takes time; larger keeps calls from the repairs that concern them",
    )  # fmt: skip
    # Threads that wait for each other.
    shortest_wait_ns: int = _assumed(
        10_000, Unit.NS,
        reason="a shorter gap is the thread's own",
        if_wrong="smaller ties threads together by chance; larger misses short hand-offs",
    )  # fmt: skip
    outside_wait_ns: int = _assumed(
        100_000, Unit.NS,
        reason="a longer wait that no thread of the process ended was ended from outside",
        if_wrong="smaller lets locks keep the recorded time; larger shortens waits for input",
    )  # fmt: skip
    resumes_ns: int = _assumed(
        50_000, Unit.NS,
        reason="a thread that was waited for is followed this soon",
        if_wrong="smaller misses hand-offs of a busy host; larger takes chance for a hand-off",
    )  # fmt: skip
    resumes_share: float = _assumed(
        0.15, Unit.SHARE,
        reason="where the wait was long, the one that waited may wake later, too",
        if_wrong="smaller misses hand-offs of long waits; larger takes chance for a hand-off",
    )  # fmt: skip
    active_share: float = _assumed(
        0.5, Unit.SHARE,
        reason="a gap is a wait for another thread only where that one is at work for most of it",
        if_wrong="smaller ties a thread to any other; larger misses backward passes with gaps",
    )  # fmt: skip
    wakes_ns: int = _assumed(
        2_000, Unit.NS,
        reason="least time that a wait takes that need not wait",
        if_wrong="smaller makes waits cheaper than a call can be; larger keeps what is repaired",
    )  # fmt: skip


REPLAY = ReplayThresholds()
"""What every replay takes for granted."""

LINK_BYTES_PER_NS = ((9, 55.0), (8, 25.0), (0, 12.0))
"""What pinned copies reach over PCI Express 5, 4 and 3, which devices of a major compute
capability from here on have: 86 to 88 % of 63, 31.5 and 15.8 GB/s."""
