"""The check `streams` wherever limits are judged."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from overlapcheck import pipeline
from overlapcheck.errors import PolicyInvalid
from overlapcheck.policy.resolve import Source, resolve, settings_of
from overlapcheck.reading import Reading
from overlapcheck.renderers import renderers
from overlapcheck.report import Report
from overlapcheck.stream_contract_file import written
from overlapcheck.verdict import Outcome, Policy
from tests.cli.test_streams import export
from tests.test_pytest_plugin import Project


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A policy file that names a contract beside it, and two recordings."""
    folder = tmp_path / "repository"
    folder.mkdir()
    found = pipeline.streams(export(folder / "right.sqlite"))
    (folder / "streams.toml").write_text(written(found.to_agree_on()))
    (folder / "overlapcheck.toml").write_text('streams = "streams.toml"\n')
    export(folder / "wrong.sqlite", ready=False)
    return folder


def policy_of(folder: Path) -> Policy:
    settings = settings_of(Source(start=folder), ())
    return resolve(settings, {})[0]


def judged(folder: Path, name: str) -> Report:
    return pipeline.analyze(folder / name, policy=policy_of(folder))


def test_a_policy_names_its_contract_from_where_it_lies(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    below = project / "src"
    below.mkdir()
    monkeypatch.chdir(below)
    (right,) = [c for c in judged(project, "right.sqlite").verdict.checks if c.name == "streams"]
    (wrong,) = [c for c in judged(project, "wrong.sqlite").verdict.checks if c.name == "streams"]

    assert (right.outcome, right.limit_from) == (Outcome.PASS, "overlapcheck.toml")
    assert wrong.outcome is Outcome.FAIL
    assert wrong.reason.startswith("ready edge h2d -> compute, distance 0 has gone (step ")
    assert "h2d copy of 64.0 MiB → kernel k" in wrong.reason


def test_every_format_shows_the_check(project: Path) -> None:
    report = judged(project, "wrong.sqlite")

    for name in ("terminal", "json", "junit", "sarif", "github", "markdown", "html"):
        text = renderers()[name].render(report)
        assert "ready edge h2d" in text, name


def test_without_a_contract_nothing_is_asked(project: Path) -> None:
    report = pipeline.analyze(project / "wrong.sqlite", policy=Policy())

    assert all(check.name != "streams" for check in report.verdict.checks)


def test_a_contract_that_cannot_be_read_is_a_mistake_in_the_policy(project: Path) -> None:
    (project / "streams.toml").write_text("version = 7\n")
    with pytest.raises(PolicyInvalid, match=r"streams.toml: version = 7"):
        policy_of(project)
    (project / "streams.toml").unlink()
    with pytest.raises(PolicyInvalid, match="cannot be read"):
        policy_of(project)


def test_ranks_are_held_against_it_too(project: Path) -> None:
    shutil.copy(project / "right.sqlite", project / "rank_0.sqlite")
    shutil.copy(project / "wrong.sqlite", project / "rank_1.sqlite")
    ranks = [project / "rank_0.sqlite", project / "rank_1.sqlite"]

    fleet = pipeline.analyze_ranks(ranks, policy=policy_of(project), reading=Reading(jobs=1))

    (check,) = [check for check in fleet.checks if check.name == "streams"]
    assert check.outcome is Outcome.FAIL


def test_the_pytest_plugin_has_it(project: Path) -> None:
    code, out = Project(project).pytest(
        'right, wrong = map(overlapcheck_analyze, ("right.sqlite", "wrong.sqlite"))\n'
        "of = lambda run: {c.name: c.outcome for c in run.report.verdict.checks}['streams']\n"
        'assert (of(right), of(wrong)) == ("PASS", "FAIL")'
    )

    assert code == 0, out


def test_a_saved_result_keeps_the_check(project: Path) -> None:
    report = judged(project, "wrong.sqlite")
    saved = json.loads(renderers()["json"].render(report))

    assert any("ready edge" in json.dumps(check) for check in saved["verdict"]["checks"])
