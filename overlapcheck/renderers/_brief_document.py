"""The brief form as text that is never too long: cut more and more until it fits.

The last size fits whatever there is to say: its parts, each as long as it may be, sum to less.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, replace

from overlapcheck.brief import MOST_BYTES, Brief, BriefCause, BriefCheck
from overlapcheck.clean import clean

MAX_CAUSES = 3


@dataclass(frozen=True)
class _Size:
    checks: int
    evidence: int
    text: int
    """Bytes of a sentence in JSON."""
    name: int
    """Bytes of a name."""


_SIZES = (
    _Size(checks=16, evidence=8, text=400, name=120),
    _Size(checks=12, evidence=4, text=240, name=80),
    _Size(checks=6, evidence=2, text=160, name=60),
    _Size(checks=4, evidence=1, text=70, name=32),
)
_MOST_CHECKS = _SIZES[0].checks
_WHOLE = _Size(checks=1 << 40, evidence=1 << 40, text=1 << 40, name=1 << 40)
"""What cuts nothing, but cleans texts and rounds numbers as the others do."""


def brief_text(brief: Brief) -> str:
    """One line of JSON, ending in a newline, of fewer than `MOST_BYTES` bytes.

    Args:
        brief: with all checks and causes, the most telling first, and texts of any length.
    """
    texts = (_text(_cut(brief, size)) for size in _SIZES)
    return next(text for text in texts if len(text.encode()) < MOST_BYTES)


def _text(brief: Brief) -> str:
    return json.dumps(asdict(brief), ensure_ascii=False, allow_nan=False) + "\n"


def _cut(brief: Brief, size: _Size) -> Brief:
    found, whole = _fitted(brief, size), _fitted(brief, _WHOLE)
    told = replace(whole, checks=whole.checks[: size.checks], cut=found.cut)
    return replace(found, cut=found != replace(told, checks_left_out=0))


def _fitted(brief: Brief, size: _Size) -> Brief:
    # More are never told, and of a job there may be thousands.
    checks = tuple(_check(one, size) for one in brief.checks[: min(size.checks, _MOST_CHECKS)])
    causes = tuple(_cause(one, size) for one in brief.causes[:MAX_CAUSES])
    return replace(
        brief,
        summary=fitted(brief.summary, size.text),
        judged=fitted(brief.judged, size.text),
        checks=checks,
        checks_left_out=max(len(brief.checks) - size.checks, 0),
        causes=causes,
        causes_left_out=len(brief.causes) - len(causes),
        next=None if brief.next is None else fitted(brief.next, 2 * size.text),
    )


def _check(check: BriefCheck, size: _Size) -> BriefCheck:
    return replace(
        check,
        name=fitted(check.name, size.name),
        where=fitted(check.where, size.name),
        reason=fitted(check.reason, size.text),
        measured=_rounded(check.measured),
        limit=_rounded(check.limit),
    )


def _cause(cause: BriefCause, size: _Size) -> BriefCause:
    return replace(
        cause,
        cause=fitted(cause.cause, size.name),
        where=fitted(cause.where, size.name),
        title=fitted(cause.title, size.text),
        share=_rounded(cause.share) or 0.0,
        cost=fitted(cause.cost, size.text),
        evidence=tuple(fitted(one, size.text) for one in cause.evidence[: size.evidence]),
        advice=fitted(cause.advice, size.text),
        unless=fitted(cause.unless, size.text),
        source=fitted(cause.source, size.name),
    )


def _rounded(value: float | None) -> float | None:
    return None if value is None else float(f"{value:.6g}")


def fitted(text: str, most: int) -> str:
    """A text on one line whose JSON takes so many bytes at most, quotation marks left out.

    Args:
        text: from anywhere; of one that is too long the middle is cut.
        most: bytes.
    """
    text = " ".join(clean(text).split())
    kept = len(text)
    shown = text
    while len(json.dumps(shown, ensure_ascii=False).encode()) - 2 > most:
        # What is cut is at least an eighth: bytes of a character differ by no more.
        kept = min(kept - 1, most - 1) if kept > most else kept * 7 // 8
        shown = f"{text[: kept - kept // 2]}…{text[len(text) - kept // 2 :]}"
    return shown
