"""Numbers that decide about collectives across devices and ranks, and which ranks are unusual."""

from __future__ import annotations

from dataclasses import dataclass

from overlapcheck.threshold import Unit, decides


@dataclass(frozen=True)
class RankThresholds:
    """Of meetings, of their order, of outliers among ranks and of what may be communication."""

    # Who met whom.
    meeting_occasions_least: int = decides(
        3, Unit.COUNT, "exposed-collective",
        reason="two collectives that end together may do so by chance",
        if_wrong="smaller compares ranks that have nothing in common; larger needs long recordings",
    )  # fmt: skip
    meeting_end_ns: int = decides(
        50_000, Unit.NS, "exposed-collective",
        reason="ranks of one collective leave it within some ten microseconds by one host's clock",
        if_wrong="smaller does not compare ranks that met; larger compares across clocks",
    )  # fmt: skip
    meeting_end_share: float = decides(
        0.2, Unit.SHARE, "exposed-collective",
        reason="the last blocks of a long transfer arrive one rank after the other",
        if_wrong="smaller does not compare ranks of long collectives; larger compares communicators"
        " that only run at about the same time",
    )  # fmt: skip
    meeting_apart_share: float = decides(
        0.1, Unit.SHARE, "exposed-collective",
        reason="steps that one rank counts otherwise, or a row that it lost, displace some",
        if_wrong="smaller gives up for one lost row; larger compares ranks of unlike work",
    )  # fmt: skip
    meeting_near_ns: int = decides(
        5_000_000, Unit.NS, "exposed-collective",
        reason="a collective's ends on its ranks lie far closer; those of unlike groups, further",
        if_wrong="smaller splits a group whose clocks differ a little; larger only takes time",
    )  # fmt: skip
    # In which order.
    order_apart_ns: int = decides(
        10_000, Unit.NS, "exposed-collective",
        reason="two launches lie about this far apart: what begins closer together has no order",
        if_wrong="smaller sees an order in two streams that start together; larger misses it among"
        " short collectives",
    )  # fmt: skip
    crossed_least: int = decides(
        3, Unit.COUNT, "exposed-collective",
        reason="one or two may be chance",
        if_wrong="smaller tells of accidents; larger says nothing of short recordings",
    )  # fmt: skip
    crossed_share: float = decides(
        0.5, Unit.SHARE, "exposed-collective",
        reason="an order that differs less often is not how the program was written",
        if_wrong="smaller blames the program for what late ranks do; larger misses what differs in"
        " every second step",
    )  # fmt: skip
    # What may be communication.
    hint_alone_share: float = decides(
        0.5, Unit.SHARE,
        reason="an exchange has the device to itself, for what follows waits for it",
        if_wrong="smaller hints at kernels of side streams; larger misses exchanges beside a tail",
    )  # fmt: skip
    # Which ranks are unusual.
    outlier_ranks_least: int = decides(
        4, Unit.COUNT,
        reason="of three ranks the median is one of them, and the spread that of two",
        if_wrong="smaller calls one of two ranks unusual; larger says nothing of a small job",
    )  # fmt: skip
    outlier_deviations: float = decides(
        3.5, Unit.RATIO,
        reason="the usual cut for robust deviations: of a normal distribution one value in two"
        " thousand lies beyond",
        if_wrong="smaller finds unusual ranks in every large job; larger misses slow hosts",
    )  # fmt: skip
    outlier_ratio: float = decides(
        1.25, Unit.RATIO,
        reason="a share of 44 % beside 42 % is nothing to look into, though all others be alike",
        if_wrong="smaller names ranks that are like the others; larger misses a quarter more idle"
        " time",
    )  # fmt: skip
    outlier_spread_share: float = decides(
        0.002, Unit.SHARE,
        reason="medians of ranks of one job differ by some tenths of a per cent without a reason",
        if_wrong="smaller calls noise among equal ranks unusual; larger hides a slow rank",
    )  # fmt: skip
    outlier_step_share: float = decides(
        0.02, Unit.SHARE,
        reason="a rank that is slower by less delays its job by no more than what is material",
        if_wrong="smaller names ranks for a per cent; larger misses what every step waits for",
    )  # fmt: skip
    meanwhile_share: float = decides(
        0.05, Unit.SHARE,
        reason="what makes up less of a straggler's lateness explains nothing",
        if_wrong="smaller lists side matters; larger leaves the lateness unexplained",
    )  # fmt: skip
    # What is no difference between two reports.
    noise_deviations: float = decides(
        2.0, Unit.RATIO, fixed=True,
        reason="the definition, printed with each comparison: twice the standard error, so that"
        " chance alone exceeds it once in twenty comparisons",
        if_wrong="smaller calls noise a change; larger misses changes",
    )  # fmt: skip
    noise_share: float = decides(
        0.01, Unit.SHARE, fixed=True,
        reason="the definition, printed with each comparison: of the base's step, or one percentage"
        " point of a share, for runs differ by more than their steps do",
        if_wrong="smaller calls another run of the same program a change; larger misses changes",
    )  # fmt: skip
