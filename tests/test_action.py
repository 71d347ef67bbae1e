"""The GitHub Action, by running its own steps; and the CI examples, by reading them."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import xml.etree.ElementTree as ElementTree
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import yaml

from overlapcheck._version import __version__
from overlapcheck.cli import cli
from tests.conftest import ROOT
from tests.export import RealExport
from tests.pictures import picture
from tests.ranks import fleets
from tests.ranks.programs import write_programs

ACTION = yaml.safe_load((ROOT / "action.yml").read_text())
EXAMPLES = ROOT / "examples"
OVERLAPPED = """
s7  kernel k          |.aaaaaaaaaaaaaaaaaa|
s13 h2d pinned 64MiB  |...bbbb............|
t1  cudaLaunchKernel  |a..................|
t1  cudaMemcpyAsync   |.b.................|
"""
ONLY_OURS = {"PYTHONPATH": str(ROOT), "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
"""For a pytest that has the plugin once, whether or not the package is installed."""
# What `python3 -m venv FOLDER` makes here: an environment whose pip notes what it should install,
# and whose python then has it. A real install takes a minute and the network.
PYTHON3 = """#!/bin/bash
mkdir -p "$3/bin"
cat > "$3/bin/python" <<'END'
#!/bin/bash
here="$(cd "$(dirname "$0")/.." && pwd)"
if [ "$1 $2 $3" = "-m pip install" ]; then
  echo "${@: -1}" > "$here/installed"
else
  PYTHONPATH="$(cat "$here/installed")" exec %s "$@"
fi
END
chmod +x "$3/bin/python"
"""


@dataclass
class Job:
    """What a job left behind."""

    code: int
    log: str
    outputs: dict[str, str]
    summary: str


class Runner:
    """Runs the Action's steps as GitHub does."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.temp = folder / "a temp"
        self.temp.mkdir()
        self.bin = folder / "bin"

    def pretend_to_install(self) -> None:
        self.bin.mkdir()
        python3 = self.bin / "python3"
        python3.write_text(PYTHON3 % sys.executable)
        python3.chmod(0o755)

    def run(self, *, source: str = str(ROOT), **inputs: str) -> Job:
        """All steps that have a script, until one fails."""
        output, summary = self.folder / "output", self.folder / "summary"
        output.write_text("")
        summary.write_text("")
        given = {name: str(about.get("default", "")) for name, about in ACTION["inputs"].items()}
        context = {f"inputs.{name}": value for name, value in {**given, **inputs}.items()}
        context["github.action_path"] = source
        environment = {
            **os.environ,
            "PATH": f"{self.bin}:{os.environ['PATH']}",
            "RUNNER_TEMP": str(self.temp),
            "GITHUB_OUTPUT": str(output),
            "GITHUB_STEP_SUMMARY": str(summary),
        }
        code, log = 0, ""
        for step in ACTION["runs"]["steps"]:
            if "run" not in step or code:
                continue
            assert step["shell"] == "bash"
            assert "${{" not in step["run"], "an input in a script is a hole"
            own = {key: _filled(text, context) for key, text in step.get("env", {}).items()}
            done = subprocess.run(
                ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", step["run"]],
                env=environment | own,
                cwd=self.folder,
                capture_output=True,
                text=True,
                timeout=600,
            )
            code, log = done.returncode, log + done.stdout + done.stderr
        lines = (line.partition("=") for line in output.read_text().splitlines())
        return Job(code, log, {key: value for key, _, value in lines}, summary.read_text())


def _filled(text: str, context: dict[str, str]) -> str:
    return re.sub(r"\$\{\{ ([\w.-]+) \}\}", lambda found: context[found[1]], text)


@pytest.fixture
def runner(tmp_path: Path) -> Runner:
    prepared = Runner(tmp_path)
    prepared.pretend_to_install()
    return prepared


def test_a_report_that_does_not_overlap_is_red(runner: Runner, real_export: RealExport) -> None:
    job = runner.run(report=str(real_export("pt_pageable")))

    assert job.code == 1
    assert job.outputs["outcome"] == "FAIL"
    assert "first cause: pageable-copy" in job.log
    assert "pageable-copy" in job.summary
    assert "\n::error title=overlapcheck%3A overlap h2d::overlap h2d is 73.4 %25" in job.log
    assert Path(job.outputs["html"]).read_text().startswith("<!doctype html>")
    suite = ElementTree.parse(job.outputs["junit"]).getroot()
    assert len(list(suite.iter("failure"))) == 2
    assert json.loads(Path(job.outputs["json"]).read_text())["verdict"]["outcome"] == "FAIL"
    assert Path(job.outputs["markdown"]).read_text() in job.summary


def test_a_report_that_overlaps_is_green(runner: Runner) -> None:
    good = picture(OVERLAPPED, column_us=100).export(runner.folder / "good run.sqlite")
    job = runner.run(report=str(good))

    assert (job.code, job.outputs["outcome"]) == (0, "PASS")
    assert "PASS" in job.summary
    assert list(ElementTree.parse(job.outputs["junit"]).getroot().iter("failure")) == []


@pytest.mark.parametrize("named", ["job", "job/rank_*.sqlite"])
def test_a_folder_or_a_glob_is_a_job(named: str, runner: Runner) -> None:
    fleets.write_fleet(runner.folder / "job", 2, late=1)
    job = runner.run(report=named)

    assert (job.code, job.outputs["outcome"]) == (1, "FAIL"), job.log
    assert "2 of 2 ranks failed; waiting for rank 1" in job.log
    assert "\n::error title=overlapcheck" in job.log
    assert json.loads(Path(job.outputs["json"]).read_text())["reports"] == 2
    assert Path(job.outputs["html"]).read_text().startswith("<!doctype html>")
    assert Path(job.outputs["html"]).with_name("overlapcheck-ranks").is_dir()
    assert list(ElementTree.parse(job.outputs["junit"]).getroot().iter("failure"))
    assert Path(job.outputs["markdown"]).read_text() in job.summary


def test_a_folder_of_other_programs_is_an_error_that_says_so(runner: Runner) -> None:
    write_programs(runner.folder / "all")
    job = runner.run(report="all")

    assert (job.code, job.outputs["outcome"]) == (2, "ERROR")
    assert "not one job: 2 reports of 2 programs" in job.log


def test_further_options_reach_the_command_as_a_shell_would_split_them(
    runner: Runner, real_export: RealExport
) -> None:
    job = runner.run(
        report=str(real_export("pt_pageable")),
        args="--min-overlap 50  --max-recoverable=30 --steps 'step #'",
    )

    assert (job.code, job.outputs["outcome"]) == (0, "PASS"), job.log


def test_blank_options_are_none(runner: Runner) -> None:
    good = picture(OVERLAPPED, column_us=100).export(runner.folder / "good.sqlite")

    assert runner.run(report=str(good), args="  \n ").code == 0


@pytest.mark.parametrize(
    ("args", "said"),
    [
        ("--steps 'step", "args: quotes that do not match"),
        ("--no-such-option", "No such option"),
    ],
)
def test_options_that_make_no_sense_are_an_error(
    args: str, said: str, runner: Runner, real_export: RealExport
) -> None:
    job = runner.run(report=str(real_export("pt_pageable")), args=args)

    assert (job.code, job.outputs["outcome"]) == (2, "ERROR")
    assert said in job.log
    assert "could not judge the report" in job.summary


def test_options_are_never_a_command(runner: Runner, real_export: RealExport) -> None:
    job = runner.run(
        report=str(real_export("pt_pageable")),
        args="$(touch hacked) `touch hacked` ; touch hacked",
    )

    assert job.code != 0
    assert "7 reports lost" in job.log, "words are taken for reports"
    assert not (runner.folder / "hacked").exists()


def test_a_recording_that_proves_nothing_is_inconclusive(runner: Runner) -> None:
    nothing = picture("t1 nvtx step |001122|").export(runner.folder / "cpu.sqlite")
    job = runner.run(report=str(nothing))

    assert (job.code, job.outputs["outcome"]) == (3, "INCONCLUSIVE")


def test_no_report_is_an_error(runner: Runner) -> None:
    job = runner.run(report="none.nsys-rep")

    assert (job.code, job.outputs["outcome"]) == (4, "ERROR")
    assert "none.nsys-rep" in job.log
    assert "exit code 4" in job.summary


def test_a_crash_is_an_error_and_no_failed_check(runner: Runner) -> None:
    broken = runner.folder / "broken"
    broken.mkdir()
    (broken / "overlapcheck.py").write_text("raise RuntimeError('a bug')\n")
    job = runner.run(report="none.nsys-rep", source=str(broken))

    assert (job.code, job.outputs["outcome"]) == (1, "ERROR")
    assert "RuntimeError: a bug" in job.log


def test_results_of_an_earlier_step_are_not_taken_for_this_ones(
    runner: Runner, real_export: RealExport
) -> None:
    runner.run(report=str(real_export("pt_pageable")))
    job = runner.run(report="none.nsys-rep")

    assert not Path(job.outputs["json"]).exists()


@pytest.mark.skipif(
    not os.environ.get("OVERLAPCHECK_TEST_INSTALL"),
    reason="installs from the network: set OVERLAPCHECK_TEST_INSTALL",
)
def test_the_action_installs_itself(tmp_path: Path, real_export: RealExport) -> None:
    job = Runner(tmp_path).run(report=str(real_export("pt_pageable")))

    assert (job.code, job.outputs.get("outcome")) == (1, "FAIL"), job.log


# ---- the Action and the examples agree


def test_every_output_is_one_that_the_step_writes() -> None:
    script = next(step["run"] for step in ACTION["runs"]["steps"] if step.get("id") == "judge")
    written = set(re.findall(r'echo "(\w+)=', script))

    assert set(ACTION["outputs"]) == written
    for name, about in ACTION["outputs"].items():
        assert about["value"] == f"${{{{ steps.judge.outputs.{name} }}}}"


def test_the_github_example_uses_inputs_and_outputs_that_exist() -> None:
    text = (EXAMPLES / "github-action.yml").read_text()
    steps: list[dict[str, Any]] = yaml.safe_load(text)["jobs"]["overlap"]["steps"]
    used = next(step for step in steps if step.get("id") == "overlap")

    assert set(used["with"]) <= set(ACTION["inputs"])
    assert set(re.findall(r"steps\.overlap\.outputs\.(\w+)", text)) <= set(ACTION["outputs"])


def test_the_github_example_names_the_release_that_it_comes_with() -> None:
    text = (EXAMPLES / "github-action.yml").read_text()

    assert re.findall(r"uses: [\w.-]+/overlapcheck@(\S+)", text) == [f"v{__version__}"]


def test_the_examples_use_commands_and_options_that_exist() -> None:
    gitlab = yaml.safe_load((EXAMPLES / "gitlab-ci.yml").read_text())["overlap"]["script"]
    make = (EXAMPLES / "Makefile").read_text().splitlines()
    lines = [line.strip() for line in (*gitlab, *make) if "overlapcheck " in line]
    lines = [line for line in lines if line.startswith("overlapcheck ")]
    assert len(lines) == 3

    for line in lines:
        _, name, *words = line.split(" -- ")[0].split()
        options = {option for p in cli.commands[name].params for option in p.opts}
        assert {word for word in words if word.startswith("-")} <= options


def test_the_example_test_passes_and_fails_with_the_report(
    tmp_path: Path, real_export: RealExport
) -> None:
    def pytest_of_the_example(report: Path) -> str:
        command = [sys.executable, "-m", "pytest", "-q", "-p", "overlapcheck.pytest_plugin"]
        done = subprocess.run(
            [*command, "-p", "no:cacheprovider", str(EXAMPLES / "pytest"), "--rootdir", "."],
            cwd=tmp_path,
            env={**os.environ, **ONLY_OURS, "OVERLAP_REPORT": str(report)},
            capture_output=True,
            text=True,
            timeout=120,
        )
        return done.stdout

    good = picture(OVERLAPPED, column_us=100).export(tmp_path / "good.sqlite")
    assert "1 passed, 1 skipped" in pytest_of_the_example(good)
    failed = pytest_of_the_example(real_export("pt_pageable"))
    assert "assert overlap h2d 73.4 % >= 80.0 %" in failed
    assert "first cause: pageable-copy" in failed
