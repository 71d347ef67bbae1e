"""What is no number and what names nothing is refused before anything is read."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner

from overlapcheck.cli import cli
from overlapcheck.errors import ExitCode


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("analyze", "t.sqlite", "--min-overlap", "much"), "'much' is not a valid percentage"),
        (("analyze", "t.sqlite", "--max-idle", "nan"), "'nan' is not a valid percentage"),
        (("compare", "a", "b", "--fail-if-worse", "nan"), "'nan' is not a valid percentage"),
        (("compare", "a", "b", "--fail-if-worse", "inf"), "'inf' is not a valid percentage"),
        (("analyze", "t.sqlite", "--skip", "few"), "'few' is not a valid whole number"),
    ],
)
def test_only_numbers_that_can_be_compared_are_taken(arguments: tuple[str, ...], said: str) -> None:
    result = CliRunner().invoke(cli, arguments)

    assert result.exit_code == ExitCode.USAGE
    assert said in result.stderr


@pytest.mark.parametrize(
    "arguments",
    [
        ("analyze", ""),
        ("analyze", "t.sqlite", ""),
        ("analyze", "t.sqlite", "--tables", ""),
        ("analyze", "t.sqlite", "-o", ""),
        ("compare", "", "t.sqlite"),
        ("render", ""),
        ("baseline", "save", "main", ""),
    ],
)
def test_an_empty_name_is_not_the_current_directory(
    arguments: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A job whose variable is not set must not judge whatever lies there."""
    monkeypatch.chdir(tmp_path)
    result = CliRunner().invoke(cli, arguments)

    assert result.exit_code == ExitCode.USAGE
    assert "an empty name" in result.stderr
