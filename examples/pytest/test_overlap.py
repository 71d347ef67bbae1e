"""Copies hide under compute, as a test: `pip install overlapcheck`, then `pytest`.

The fixtures come with the package. Limits of the policy file hold here too.
"""

import os
import sys
from pathlib import Path

import pytest

REPORT = os.environ.get("OVERLAP_REPORT", "")
PROGRAM = Path("train.py")


@pytest.mark.skipif(not REPORT, reason="set OVERLAP_REPORT to a recorded report")
def test_a_recorded_run_overlaps(overlapcheck_analyze):
    """A report that another job recorded."""
    run = overlapcheck_analyze(REPORT)

    assert run.overlap("h2d") >= 0.8
    assert run.recoverable <= 0.1


@pytest.mark.skipif(not PROGRAM.exists(), reason="needs a GPU, nsys and your train.py")
def test_training_overlaps(overlapcheck_run):
    """Profiles the program, then judges; the message of a failure names the first cause."""
    run = overlapcheck_run(
        [sys.executable, str(PROGRAM), "--max-steps", "30"],
        max_recoverable=0.1,
        fail_on=["pageable-copy", "host-sync"],
    )

    assert run.outcome == "PASS"
