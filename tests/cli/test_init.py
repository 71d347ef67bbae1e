"""`overlapcheck init`, and the policy file at work in `analyze`."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from overlapcheck.causes import causes
from overlapcheck.cli import main
from overlapcheck.policy.resolve import Source, resolve, settings_of
from overlapcheck.policy.template import TEMPLATE
from overlapcheck.selection import Selection
from overlapcheck.verdict import Policy
from tests.conftest import ROOT
from tests.pictures import picture

SERIAL = """
s7  kernel k         |.aaaa....cccc....eeee....gggg|
s13 h2d pinned 64MiB |.....bbbb....dddd....ffff....|
t1  cudaLaunchKernel |a...c.......e.......g........|
t1  cudaMemcpyAsync  |..b.........d.......f........|
"""
Overlapcheck = Callable[..., tuple[int, str, str]]


@pytest.fixture
def overlapcheck(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str], tmp_path: Path
) -> Overlapcheck:
    """Run a command in an empty folder: exit code, stdout, stderr."""
    monkeypatch.chdir(tmp_path)

    def run(*arguments: str | Path) -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "argv", ["overlapcheck", *map(str, arguments)])
        with pytest.raises(SystemExit) as stop:
            main()
        out, err = capfd.readouterr()
        return int(stop.value.code or 0), out, err

    return run


@pytest.fixture
def serial(tmp_path: Path) -> Path:
    return picture(SERIAL, column_us=100).export(tmp_path / "serial.sqlite")


def checks(out: str) -> dict[str, Any]:
    return {check["name"]: check for check in json.loads(out)["verdict"]["checks"]}


def test_init_writes_a_file_that_changes_nothing(overlapcheck: Overlapcheck) -> None:
    assert overlapcheck("init") == (0, "wrote overlapcheck.toml\n", "")

    policy, selection = resolve(settings_of(Source(), causes()), {})
    assert Policy(origins=policy.origins) == policy
    assert selection == Selection()


def test_everything_that_the_file_offers_is_a_setting(tmp_path: Path) -> None:
    offered = re.sub(r"^# (?=[\[a-z0-9-]+\S* = |\[)", "", TEMPLATE, flags=re.MULTILINE)
    (tmp_path / "overlapcheck.toml").write_text(offered)
    settings = settings_of(Source(start=tmp_path, profile="ci"), causes())

    assert set(settings) == {
        "min-overlap", "ceiling", "max-recoverable", "max-idle", "max-exposed-comm",
        "require-copies", "fail-on", "steps", "skip", "step-time", "comm-patterns", "overlap h2d",
        "overlap d2h", "allow", "ranges", "max-failing-ranks", "thresholds",
        "expect-ranks", "streams",
    }  # fmt: skip
    assert settings["require-copies"].origin == "overlapcheck.toml, profile ci"
    assert set(settings["ranges"].value["forward*"]) == {"min-overlap", "max-recoverable"}


def test_the_profiles_of_the_examples_are_in_the_file(overlapcheck: Overlapcheck) -> None:
    overlapcheck("init")
    examples = (ROOT / "examples").rglob("*.yml")
    named = {name for path in examples for name in re.findall(r"--profile (\w+)", path.read_text())}

    assert named
    for name in named:
        settings_of(Source(profile=name), causes())


def test_init_replaces_nothing_unless_told(overlapcheck: Overlapcheck) -> None:
    Path("overlapcheck.toml").write_text("max-idle = 3\n")
    code, out, err = overlapcheck("init")

    assert (code, out) == (2, "")
    assert err == (
        "overlapcheck: overlapcheck.toml: is there already;"
        " to replace it: overlapcheck init --force\n"
    )
    assert Path("overlapcheck.toml").read_text() == "max-idle = 3\n"
    assert overlapcheck("init", "--force")[0] == 0
    assert Path("overlapcheck.toml").read_text() == TEMPLATE


# ---- the file at work


def test_the_file_decides_and_the_report_says_so(overlapcheck: Overlapcheck, serial: Path) -> None:
    assert overlapcheck("analyze", serial)[0] == 1
    Path("pyproject.toml").write_text(
        "[tool.overlapcheck]\nmin-overlap = 0\nmax-recoverable = 100\n"
    )
    code, out, err = overlapcheck("analyze", serial)

    assert (code, err) == (0, "")
    assert re.search(r"overlap h2d .* ok .*\(pyproject\.toml\)", out)


def test_the_command_line_beats_the_file(overlapcheck: Overlapcheck, serial: Path) -> None:
    Path("overlapcheck.toml").write_text("min-overlap = 0\nmax-recoverable = 100\n")
    code, out, _ = overlapcheck(
        "analyze", serial, "--max-recoverable", "5", "--no-ceiling", "--format", "json"
    )
    found = checks(out)

    assert code == 1
    assert found["overlap h2d"]["limit_from"] == "overlapcheck.toml and --no-ceiling"
    assert found["recoverable"]["limit"] == 0.05
    assert found["recoverable"]["limit_from"] == "--max-recoverable"
    assert found["capture"]["reason"] == "complete"


def test_an_allowed_call_is_marked_with_its_reason(
    overlapcheck: Overlapcheck, tmp_path: Path
) -> None:
    report = picture(
        """
        s7  kernel k              |.aaaa....cccc....eeee....gggg|
        t1  cudaLaunchKernel      |a.......c.......e.......g....|
        t1  cudaStreamSynchronize |.xxxx....yyyy....zzzz........|
        """,
        column_us=100,
    ).export(tmp_path / "sync.sqlite")
    Path("overlapcheck.toml").write_text(
        'max-recoverable = 100\nfail-on = ["host-sync"]\n'
        '[[allow]]\napi = "cudaStreamSynchronize"\nreason = "early stopping"\n'
    )
    code, out, _ = overlapcheck("analyze", report, "--format", "json")
    (found,) = [f for f in json.loads(out)["findings"] if f["cause"] == "host-sync"]

    assert code == 0
    assert re.fullmatch("allowed, .* of .*: early stopping", found["evidence"][0])
    assert overlapcheck("analyze", report, "--fail-on", "host-sync", "--no-config")[0] == 1


def test_no_config_forgets_the_file(overlapcheck: Overlapcheck, serial: Path) -> None:
    Path("overlapcheck.toml").write_text("min-overlap = 0\nmax-recoverable = 100\n")

    assert overlapcheck("analyze", serial, "--no-config")[0] == 1


def test_a_profile_is_chosen_by_name(overlapcheck: Overlapcheck, serial: Path) -> None:
    Path("ci.toml").write_text(
        "min-overlap = 0\nmax-recoverable = 100\n[profiles.strict]\nmax-recoverable = 1\n"
    )

    assert overlapcheck("analyze", serial, "--config", "ci.toml")[0] == 0
    code, out, _ = overlapcheck("analyze", serial, "--config", "ci.toml", "--profile", "strict")
    assert code == 1
    assert "(ci.toml, profile strict)" in " ".join(out.split())


def test_a_mistake_in_the_file_is_a_usage_error(overlapcheck: Overlapcheck, serial: Path) -> None:
    Path("overlapcheck.toml").write_text("min-overlpa = 80\n")

    assert overlapcheck("analyze", serial) == (
        2,
        "",
        "overlapcheck: overlapcheck.toml: min-overlpa is no setting; did you mean min-overlap?\n",
    )
