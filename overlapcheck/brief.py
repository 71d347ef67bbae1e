"""A result in a few lines: what a program that asks, an assistant say, must know of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

SCHEMA = 1
"""Version of the brief form: raised when a field changes its meaning or goes away."""
MOST_BYTES = 4000
"""Of its JSON, whatever it is of."""


@dataclass(frozen=True)
class BriefCheck:
    """One question, its answer and why; what did not pass comes first."""

    name: str
    where: str
    """Device or rank; "" where there is one only."""
    outcome: str
    """"PASS", "FAIL", "INCONCLUSIVE"; of a comparison "better", "worse", "no change", "not judged".
    """
    measured: float | None
    """Share of one, or ns of a step time that is compared; None where nothing could be measured."""
    limit: float | None
    """Likewise; of a comparison the base."""
    at_least: bool
    """Whether the limit is a least value rather than a largest."""
    reason: str


@dataclass(frozen=True)
class BriefCause:
    """One cause, and what is known of it."""

    cause: str
    """What `overlapcheck explain` knows it by."""
    where: str
    title: str
    share: float
    """Of the window, in [0, 1]."""
    cost: str
    """In words, with the most that removing it can save."""
    confidence: str
    """"sure", "likely", "suspected"; "gone" or "new" in a comparison, of jobs "grew" or
    "shrank"; "" of ranks."""
    evidence: tuple[str, ...]
    advice: str
    unless: str
    """When the advice would be wrong."""
    source: str
    """Place in the program, "train.py:104 (step)"; "" where not recorded."""


@dataclass(frozen=True)
class Brief:
    """What `--format brief` writes: one JSON object of less than 4 kB."""

    schema: int
    """Version of this form."""
    kind: Literal["report", "comparison", "ranks"]
    verdict: str
    """"PASS", "FAIL", "INCONCLUSIVE"; of a comparison "BETTER", "WORSE", "NO CHANGE"."""
    basis: str | None
    """Of a report: "own pace", or "as recorded" with what recording cost in it; None otherwise."""
    exit_code: int
    """0 pass, 1 fail, 3 inconclusive; of a comparison 1 where a limit is missed."""
    summary: str
    """What the verdict rests on, in a sentence."""
    judged: str
    """What it holds for: the part of the trace, or both sides, or how many ranks."""
    checks: tuple[BriefCheck, ...]
    checks_left_out: int
    causes: tuple[BriefCause, ...]
    """Three at most, costliest first."""
    causes_left_out: int
    next: str | None
    """One command or thing to do; None where nothing is left to do."""
    cut: bool
    """Whether texts, evidence or checks were cut to fit."""
