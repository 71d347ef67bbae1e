"""`overlapcheck doctor`: every problem with its fix, exit 0 only if a capture would work."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner

from overlapcheck.capture.health import Health, HealthCheck, State
from overlapcheck.cli import cli
from overlapcheck.errors import ExitCode

OK = HealthCheck("nsys", State.OK, "2025.3.1 at /n/nsys")
NOTE = HealthCheck("cupti", State.NOTE, "ncu runs", "kill 13")
PROBLEM = HealthCheck("gpu", State.PROBLEM, "no NVIDIA GPU", "run on a GPU machine")


@pytest.mark.parametrize(
    ("checks", "exit_code", "last"),
    [
        ((OK,), ExitCode.PASS, "a capture works here"),
        ((OK, NOTE), ExitCode.PASS, "a capture works here"),
        ((OK, PROBLEM), ExitCode.COULD_NOT_RUN, "a capture would not work here"),
    ],
)
def test_exit_code_and_fixes(
    monkeypatch: pytest.MonkeyPatch,
    checks: tuple[HealthCheck, ...],
    exit_code: ExitCode,
    last: str,
) -> None:
    asked = []

    def examine(nsys: Path | None) -> Health:
        asked.append(nsys)
        return Health(checks)

    monkeypatch.setattr("overlapcheck.capture.health.examine", examine)
    arguments = ["doctor", "--nsys", "/n/nsys"]
    result = CliRunner().invoke(cli, arguments, standalone_mode=False)
    assert result.return_value == exit_code
    assert result.stdout.splitlines()[-1] == last
    assert asked == [Path("/n/nsys")]
    for check in checks:
        assert check.found in result.stdout
        assert not check.fix or f"fix: {check.fix}" in result.stdout
