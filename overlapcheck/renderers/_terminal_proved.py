"""What repairs won that were made from outside, beside what was predicted."""

from __future__ import annotations

from collections.abc import Sequence

from rich.text import Text

from overlapcheck.prediction import span
from overlapcheck.proved import Proved
from overlapcheck.quantities import duration
from overlapcheck.renderers._terminal_text import BOLD, DIM, paragraph, styled

_HANG = 9
"""Columns of "proved   "."""


def proved_lines(proofs: Sequence[Proved]) -> list[Text]:
    """A paragraph for each, and one for its own pace where that is known."""
    lines: list[Text] = []
    for proof in proofs:
        said = f"{' + '.join(proof.fix)} ({proof.what}): {_steps(proof)}"
        lines += paragraph(styled("proved", BOLD), said, hang=_HANG)
        if proof.own_measured_ns is not None:
            own = f"at its own pace {duration(proof.own_measured_ns)} per step"
            if proof.own_before_ns is not None:
                own += f", before {duration(proof.own_before_ns)}"
            lines += paragraph(styled("", DIM), own, hang=_HANG)
    return lines


def _steps(proof: Proved) -> str:
    real = f"measured {duration(proof.measured_ns)}, recorded {duration(proof.before_ns)} per step"
    if proof.predicted_ns is None or proof.low_ns is None or proof.high_ns is None:
        return f"{real}; no replay predicts it"
    band = span(proof.low_ns, proof.high_ns)
    where = "in the band" if proof.in_band else "outside of the band"
    return f"predicted {duration(proof.predicted_ns)} ({band}), {real}: {where}"
