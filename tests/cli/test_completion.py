"""What a shell offers after Tab, asked as click's own scripts ask."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.shell_completion import BashComplete

from overlapcheck.causes import causes
from overlapcheck.cli import cli
from overlapcheck.renderers import renderers


def offered(*words: str) -> set[str]:
    """What is offered for the last word."""
    shell = BashComplete(cli, {}, "overlapcheck", "_OVERLAPCHECK_COMPLETE")
    return {item.value for item in shell.get_completions(list(words[:-1]), words[-1])}


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / ".git").mkdir()
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_causes() -> None:
    assert offered("explain", "") == set(causes())
    assert offered("explain", "pag") == {"pageable-copy"}
    assert offered("analyze", "--fail-on", "host-sync,pag") == {"host-sync,pageable-copy"}
    assert offered("run", "--fail-on", "event") == {"event-wait"}


@pytest.mark.parametrize("command", ["analyze", "run", "render", "compare"])
def test_formats(command: str) -> None:
    assert offered(command, "--format", "") == set(renderers())
    assert offered(command, "--format", "ju") == {"junit"}


def test_the_command_that_may_be_left_out() -> None:
    assert offered("train.nsys-rep", "--format", "ju") == {"junit"}
    assert "--min-overlap" in offered("train.nsys-rep", "--min")


def test_profiles_of_the_policy_file(folder: Path) -> None:
    assert offered("analyze", "--profile", "") == set()
    (folder / "overlapcheck.toml").write_text("[profiles.ci]\n[profiles.nightly]\n")
    (folder / "other.toml").write_text("[profiles.strict]\n")

    assert offered("analyze", "--profile", "") == {"ci", "nightly"}
    assert offered("analyze", "--config", "other.toml", "--profile", "s") == {"strict"}
    (folder / "overlapcheck.toml").write_text("no toml")
    assert offered("run", "--profile", "") == set()


def test_baselines(folder: Path) -> None:
    assert offered("compare", "--baseline", "") == set()
    place = folder / ".overlapcheck" / "baselines"
    place.mkdir(parents=True)
    for name in ("main", "release"):
        (place / f"{name}.json").touch()

    assert offered("compare", "--baseline", "ma") == {"main"}
    assert offered("baseline", "show", "") == {"main", "release"}
