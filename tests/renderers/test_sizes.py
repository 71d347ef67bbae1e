"""What two million kernels become: no format grows with the length of the trace."""

from __future__ import annotations

import pytest

from overlapcheck.brief import MOST_BYTES
from overlapcheck.pipeline import analyze
from overlapcheck.renderers import renderers
from overlapcheck.renderers._markdown_text import MOST_CHARACTERS
from overlapcheck.renderers._perfetto_ledger import MOST_PIECES
from overlapcheck.reporting.timeline import MAX_EVENTS
from tests.export import RealExport
from tests.renderers.scaled import KERNELS, Scaled

KB, MB = 1_000, 1_000_000
SLICE = 250
"""Bytes of an event in a Chrome trace: eight numbers and words, and a name."""
MOST = {
    # Read on a screen: five causes of some ten lines, and tables of the worst rows.
    "terminal": 10 * KB,
    # Lists of the worst 10 to 50 rows, three or four picture rows of 40 cells.
    "json": 60 * KB,
    # Read by an assistant that pays by the word.
    "brief": MOST_BYTES,
    # GitHub refuses a comment that is longer.
    "markdown": MOST_CHARACTERS,
    # A case for each of three checks, the causes in the body of those that failed.
    "junit": 10 * KB,
    # At most ten annotations of a level, three levels, of at most three texts each.
    "github": 30 * KB,
    # One result per check and cause: 3 and 24, of at most seven texts of 600 characters.
    "sarif": 27 * 8 * 600,
    # Opened from an artifact or a mail: what the issue asks for.
    "html": 5 * MB,
    # Every drawn event and every bar of the ledger, one slice each.
    "perfetto": (MAX_EVENTS + MOST_PIECES) * SLICE,
}


def test_the_trace_is_as_long_as_it_says(scaled: Scaled) -> None:
    (device,) = scaled.report.devices

    assert sum(stream.kernels for stream in device.streams) > 0.99 * KERNELS


def test_every_format_has_a_bound() -> None:
    assert set(MOST) == set(renderers())


@pytest.mark.parametrize("name", MOST)
def test_a_long_trace_stays_within_the_bound(name: str, scaled: Scaled) -> None:
    assert 0 < len(scaled.texts[name].encode()) < MOST[name]


@pytest.mark.parametrize("name", sorted(set(MOST) - {"html", "perfetto"}))
def test_what_draws_no_events_is_as_long_as_of_a_short_trace(
    name: str, scaled: Scaled, real_export: RealExport
) -> None:
    """Longer numbers and a cause more, no more: a fixed number of rows."""
    short = renderers()[name].render(analyze(real_export("pt_pageable")))

    assert len(scaled.texts[name]) < 3 * len(short)
