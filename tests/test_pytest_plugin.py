"""The pytest plugin, in a pytest of its own."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tomllib
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path

import pytest

from tests.conftest import ROOT
from tests.export import RealExport
from tests.pictures import picture
from tests.ranks import fleets
from tests.ranks.programs import write_programs

ONLY_OURS = {"PYTHONPATH": str(ROOT), "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
"""For a pytest that has the plugin once, whether or not the package is installed."""
OVERLAPPED = """
s7  kernel k          |.aaaaaaaaaaaaaaaaaa|
s13 h2d pinned 64MiB  |...bbbb............|
t1  cudaLaunchKernel  |a..................|
t1  cudaMemcpyAsync   |.b.................|
"""


class Project:
    """A folder with a test that uses the plugin."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def pytest(self, body: str) -> tuple[int, str]:
        """Run one test function's body: exit code and what pytest printed."""
        return self.pytest_each([body])

    def pytest_each(self, bodies: Sequence[str]) -> tuple[int, str]:
        """The same, of several test functions."""
        (self.folder / "test_it.py").write_text(
            "\n".join(
                f"def test_it{number or ''}(overlapcheck_analyze, overlapcheck_run):\n"
                + "".join(f"    {line}\n" for line in body.splitlines())
                for number, body in enumerate(bodies)
            )
        )
        command = [sys.executable, "-m", "pytest", "-q", "-p", "overlapcheck.pytest_plugin"]
        done = subprocess.run(
            [*command, "--rootdir", ".", "-p", "no:cacheprovider"],
            cwd=self.folder,
            env={**os.environ, **ONLY_OURS},
            capture_output=True,
            text=True,
            timeout=120,
        )
        return done.returncode, done.stdout + done.stderr


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return Project(tmp_path)


def test_the_package_registers_the_plugin() -> None:
    declared = tomllib.loads((ROOT / "pyproject.toml").read_text())
    (module,) = declared["project"]["entry-points"]["pytest11"].values()

    assert hasattr(import_module(module), "pytest_assertrepr_compare")


def test_loading_the_plugin_costs_nothing(project: Project) -> None:
    code, out = project.pytest("import sys\nassert 'pandas' not in sys.modules")

    assert code == 0, out


def test_what_overlaps_passes(project: Project) -> None:
    picture(OVERLAPPED, column_us=100).export(project.folder / "good.sqlite")
    code, out = project.pytest(
        "run = overlapcheck_analyze('good.sqlite')\n"
        "assert run.overlap('h2d') >= 0.8\n"
        "assert run.overlap('h2d', device=0) == 1\n"
        "assert run.recoverable <= 0.1\n"
        "assert run.outcome == 'PASS'\n"
        "assert run.findings is run.report.findings"
    )

    assert code == 0, out


def test_a_failed_comparison_tells_the_first_cause(
    project: Project, real_export: RealExport
) -> None:
    code, out = project.pytest(
        f"run = overlapcheck_analyze({str(real_export('pt_pageable'))!r})\n"
        "assert run.overlap('h2d') >= 0.8"
    )

    assert code == 1
    assert "E       assert overlap h2d 73.4 % >= 80.0 %" in out
    assert "report: pt_pageable.sqlite" in out
    assert "first cause: pageable-copy, median 4.6 ms in 13 of 14 steps, 20.8 % of" in out
    assert "do: pin the source: DataLoader(pin_memory=True)" in out
    assert "unless the buffer is rewritten while the copy runs" in out


def test_the_limit_may_stand_on_the_left(project: Project, real_export: RealExport) -> None:
    code, out = project.pytest(
        f"run = overlapcheck_analyze({str(real_export('pt_pageable'))!r})\n"
        "assert 0.1 > run.recoverable"
    )

    assert code == 1
    assert "assert 10.0 % > recoverable 22.1 %" in out
    assert "first cause: pageable-copy" in out


def test_a_failed_outcome_tells_the_checks_too(project: Project, real_export: RealExport) -> None:
    code, out = project.pytest(
        f"run = overlapcheck_analyze({str(real_export('pt_pageable'))!r}, min_overlap=0.9)\n"
        "assert run.outcome == 'PASS'"
    )

    assert code == 1
    assert "assert FAIL == PASS" in out
    assert "FAIL overlap h2d 73.4 %, >= 90.0 % asked: pageable copies get no relief" in out
    assert "(limit: overlapcheck_analyze())" in out
    assert "first cause: pageable-copy" in out


def test_limits_and_the_policy_file_hold(project: Project, real_export: RealExport) -> None:
    (project.folder / "overlapcheck.toml").write_text("min-overlap = 10\nmax-recoverable = 50\n")
    trace = str(real_export("pt_pageable"))
    code, out = project.pytest(
        f"assert overlapcheck_analyze({trace!r}).outcome == 'PASS'\n"
        f"assert overlapcheck_analyze({trace!r}, no_config=True).outcome == 'FAIL'\n"
        f"assert overlapcheck_analyze({trace!r}, fail_on=('pageable-copy',)).outcome == 'FAIL'"
    )

    assert code == 0, out


def test_a_limit_that_is_none_names_the_nearest(project: Project, tmp_path: Path) -> None:
    code, out = project.pytest("overlapcheck_analyze('x.sqlite', min_overlpa=0.8)")

    assert code == 1
    assert "overlapcheck_analyze(): min-overlpa is no setting; did you mean min-overlap?" in out


def test_a_percentage_is_no_limit_in_python(project: Project) -> None:
    limits = {
        "min_overlap=90": "min_overlap = 90",
        "overlap={'h2d': 90}": "h2d = 90",
        "ranges={'forward': {'max-idle': 90}}": "max_idle = 90",
    }
    code, out = project.pytest_each([f"overlapcheck_analyze('x.sqlite', {one})" for one in limits])

    assert code == 1
    for named in limits.values():
        said = f"overlapcheck_analyze(): {named} is no share of one; in Python limits are shares,"
        assert f"{said} 0.9 for 90 %" in out


def test_a_failure_shows_the_line_of_the_test_and_none_of_ours(project: Project) -> None:
    picture(OVERLAPPED, column_us=100).export(project.folder / "good.sqlite")
    bodies = (
        "overlapcheck_analyze('gone.sqlite')",
        "overlapcheck_analyze('good.sqlite', min_overlap=90)",
        "overlapcheck_analyze('good.sqlite').overlap('d2h')",
        "overlapcheck_run(['no-such-program-anywhere'])",
    )
    code, out = project.pytest_each(bodies)

    assert code == 1
    for body in bodies:
        assert re.search(rf"^> +{re.escape(body)}$", out, flags=re.MULTILINE)
    assert "pytest_plugin.py" not in out
    assert "judged.py" not in out


def test_no_copies_are_no_overlap(project: Project) -> None:
    drawing = "s7 kernel k |.aaaa|\nt1 cudaLaunchKernel |a....|"
    picture(drawing).export(project.folder / "none.sqlite")
    code, out = project.pytest("assert overlapcheck_analyze('none.sqlite').overlap('h2d') >= 0")

    assert code == 1
    assert "NotProven: overlap h2d: no h2d copy in the window" in out


def test_an_incomplete_recording_proves_no_number(project: Project) -> None:
    drawing = """
    s7  kernel k         |.aaaa....cc|
    s13 h2d pinned 1B    |.....bbbb..|
    t1  cudaLaunchKernel |a...c......|
    t1  cudaMemcpyAsync  |..b........|
    t1  cuLaunchKernel   |..x........|
    """
    picture(drawing).export(project.folder / "broken.sqlite")
    for number in ("overlap('h2d') >= 0", "recoverable <= 1"):
        code, out = project.pytest(f"assert overlapcheck_analyze('broken.sqlite').{number}")

        assert code == 1
        assert "NotProven: 1 of 3 kernel launches left no row on the device; what to do:" in out


def test_a_direction_that_is_none_is_a_mistake_of_the_test(project: Project) -> None:
    picture(OVERLAPPED, column_us=100).export(project.folder / "good.sqlite")
    code, out = project.pytest("assert overlapcheck_analyze('good.sqlite').overlap('htod') >= 0.8")

    assert code == 1
    assert "ValueError: overlap('htod'): the direction is one of h2d, d2h, p2p" in out


def test_other_comparisons_are_left_alone(project: Project) -> None:
    code, out = project.pytest("assert [1, 2] == [1, 3]")

    assert code == 1
    assert "At index 1 diff: 2 != 3" in out


@pytest.mark.parametrize("error", ["AssertionError('no')", "KeyError('no')", "MemoryError()"])
def test_an_error_of_ours_is_an_error_and_no_failure(project: Project, error: str) -> None:
    code, out = project.pytest(
        "from overlapcheck import pipeline\n"
        f"def broken(*_, **__): raise {error}\n"
        "pipeline.analyze = broken\n"
        "assert overlapcheck_analyze('x.sqlite').outcome == 'PASS'"
    )

    assert code == 1
    assert "1 error in" in out
    assert "failed" not in out.splitlines()[-1]


def test_a_report_that_is_none_is_an_error_and_no_failure(project: Project) -> None:
    code, out = project.pytest("assert overlapcheck_analyze('none.sqlite').outcome == 'PASS'")

    assert code == 1
    assert "none.sqlite: no such file" in out
    assert "1 error in" in out


# ---- running a program

RECORDED = """
import overlapcheck.capture.profile as home
from overlapcheck.capture.discovery import Nsys
from overlapcheck.captured import CapturedReport
from pathlib import Path

def profile(spec, command, nsys, **_):
    print(spec.delay_s, spec.sync_debug, command, spec.keep_in.is_dir())
    return CapturedReport(Path({report!r}), {exit_code}, "", ())

home.profile = profile
import overlapcheck.capture.discovery as discovery
discovery.find_nsys = lambda given: Nsys(Path("/n/nsys"), "2025.3.1")
"""


def test_a_run_is_recorded_then_judged(project: Project, real_export: RealExport) -> None:
    recorded = RECORDED.format(report=str(real_export("pt_pageable")), exit_code=0)
    code, out = project.pytest(
        recorded + "run = overlapcheck_run(['python', 'train.py'], delay=3, sync_debug=True,"
        " max_recoverable=0.2)\n"
        "assert run.outcome == 'PASS'"
    )

    assert code == 1
    assert "3 True ['python', 'train.py'] True" in out
    assert "FAIL recoverable 22.1 %, <= 20.0 % asked: 70.4 ms of 318.5 ms" in out
    assert "(limit: overlapcheck_run())" in out


def test_a_program_that_fails_is_a_failure(project: Project) -> None:
    recorded = RECORDED.format(report="none.sqlite", exit_code=2)
    code, out = project.pytest(recorded + "overlapcheck_run(['python', 'train.py'])")

    assert code == 1
    assert "ProgramFailed: python ended with exit code 2" in out


@pytest.mark.nsys
def test_a_real_run_without_a_gpu_proves_nothing(project: Project) -> None:
    from overlapcheck.capture.discovery import find_nsys
    from overlapcheck.errors import NsysNotFound

    try:
        find_nsys()
    except NsysNotFound as error:
        pytest.skip(f"needs a real nsys: {error.message}")
    code, out = project.pytest(
        "import sys\n"
        "run = overlapcheck_run([sys.executable, '-c', 'pass'])\n"
        "assert run.outcome == 'INCONCLUSIVE'\n"
        "run.recoverable"
    )

    assert code == 1
    assert "NotProven: " in out


# ---- several ranks


def test_several_reports_are_a_job_and_a_failure_names_the_rank(project: Project) -> None:
    fleets.write_fleet(project.folder / "job", 3, pageable=2)
    code, out = project.pytest(
        "run = overlapcheck_analyze('job', min_overlap=0.5)\nassert run.overlap('h2d') >= 0.9"
    )

    assert code == 1
    assert "E       assert overlap h2d of rank 2 0.0 % >= 90.0 %" in out
    assert "E         job: 3 ranks in 3 reports" in out
    assert "E         first cause: exposed-collective, on 3 of 3 ranks" in out
    assert "pytest_plugin.py" not in out


def test_the_outcome_of_a_job_tells_measured_limit_and_rank(project: Project) -> None:
    fleets.write_fleet(project.folder / "job", 3, late=1)
    code, out = project.pytest("assert overlapcheck_analyze('job').outcome == 'PASS'")

    assert code == 1
    assert "E       assert FAIL == PASS" in out
    assert re.search(
        r"FAIL recoverable [\d.]+ %, <= 10\.0 % asked on rank \d \(3 failed, 0 unsure of 3\)", out
    )
    assert "the others wait for rank 1" in out


def test_a_job_is_named_by_several_paths_a_list_or_a_glob(project: Project) -> None:
    fleets.write_fleet(project.folder / "job", 2)
    code, out = project.pytest(
        "paths = ['job/rank_0.sqlite', 'job/rank_1.sqlite']\n"
        "found = [overlapcheck_analyze(*paths), overlapcheck_analyze(paths),"
        " overlapcheck_analyze('job/*.sqlite')]\n"
        "assert len({float(one.recoverable) for one in found}) == 1\n"
        "assert all(len(one.report.rows) == 2 for one in found)\n"
        "assert 'rank' in found[0].recoverable.name"
    )

    assert code == 0, out


def test_a_job_that_lacks_a_rank_has_no_numbers(project: Project) -> None:
    fleets.write_fleet(project.folder / "job", 2)
    (project.folder / "job/rank_2.sqlite").write_text("nothing")
    code, out = project.pytest("assert overlapcheck_analyze('job').recoverable <= 1")

    assert code == 1
    assert "NotProven: rank_2.sqlite is lost: " in out


def test_reports_of_different_programs_are_an_error(project: Project) -> None:
    write_programs(project.folder / "all")
    code, out = project.pytest("overlapcheck_analyze('all')")

    assert code == 1
    assert "not one job: 2 reports of 2 programs" in out
    assert "1 error" in out
