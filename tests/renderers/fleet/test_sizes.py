"""What 300 ranks become: no format but the listing ones grows with the job, and those slowly."""

from __future__ import annotations

from dataclasses import replace

import pytest

from overlapcheck.brief import MOST_BYTES
from overlapcheck.fleet import FleetReport
from overlapcheck.renderers._markdown_text import MOST_CHARACTERS
from overlapcheck.renderers.fleet import fleet_renderers
from tests.renderers.fleet.jobs import many

RANKS = 300
KB = 1_000
MOST = {
    # Read on a screen, as long for four thousand ranks as for forty.
    "terminal": 12 * KB,
    # A line per rank of at most 2 kB, and lists of what matters.
    "json": RANKS * 2 * KB + 200 * KB,
    "brief": MOST_BYTES,
    "markdown": MOST_CHARACTERS,
    # 128 suites of three cases, some of which say why they failed.
    "junit": 129 * 3 * 600,
    # At most ten annotations of a level, of at most three texts each.
    "github": 30 * KB,
    # One result per check, cause, straggler and lost report, not per rank.
    "sarif": 200 * 2 * KB,
    # Up to 1024 ranks of some ten slices, and 50 groups of at most 16 ranks.
    "perfetto": (RANKS * 12 + 50 * 16 * 6) * 200,
    # A row per rank of less than 2 kB.
    "html": RANKS * 2 * KB + 400 * KB,
}


@pytest.fixture(scope="module")
def job() -> FleetReport:
    return many(RANKS)


def test_every_format_has_a_bound() -> None:
    assert set(MOST) == set(fleet_renderers())


@pytest.mark.parametrize("name", MOST)
def test_three_hundred_ranks_stay_within_the_bound(name: str, job: FleetReport) -> None:
    assert 0 < len(fleet_renderers()[name].render(job).encode()) < MOST[name]


@pytest.mark.parametrize("name", ["terminal", "brief", "markdown", "junit", "github", "sarif"])
def test_ten_times_as_many_are_told_within_the_same_bound(name: str) -> None:
    assert len(fleet_renderers()[name].render(many(10 * RANKS)).encode()) < MOST[name]


@pytest.mark.parametrize("name", sorted(set(MOST) - {"json", "html"}))
def test_neither_do_names_without_end_make_it_long(name: str, job: FleetReport) -> None:
    """A name takes some hundred characters at most, wherever it stands."""
    endless = "template<typename T, int N> void kernel" * 100
    rows = tuple(replace(row, label=row.label + endless, report=endless) for row in job.rows)
    causes = tuple(replace(one, title=endless, evidence=(endless,) * 9) for one in job.causes)
    checks = tuple(replace(one, reason=endless, worst_rank=endless) for one in job.checks)
    long = replace(job, rows=rows, causes=causes, checks=checks, notes=(endless,) * 8)

    assert len(fleet_renderers()[name].render(long).encode()) < 4 * MOST[name]
