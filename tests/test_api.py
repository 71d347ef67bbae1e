"""What `import overlapcheck` gives, and what it does not load."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import fields
from pathlib import Path

import pytest

import overlapcheck
from overlapcheck.capture.discovery import Nsys
from overlapcheck.captured import CapturedReport
from overlapcheck.columns import Columns
from overlapcheck.errors import InputUnreadable
from overlapcheck.measurements import DeviceMeasurements
from overlapcheck.trace import Missing
from tests.conftest import ROOT
from tests.export import RealExport
from tests.ranks import fleets

HEAVY = ("numpy", "pandas", "pyarrow", "adbc_driver_sqlite", "rich", "msgspec")
NOT_FOR_A_PLAIN_ANALYSIS = {
    *("difflib", "email", "importlib.metadata", "multiprocessing", "statistics", "subprocess"),
    *("tomllib", "xml", "pandas", "mcp", "pyarrow.compute", "pyarrow.dataset", "pyarrow.parquet"),
    *("overlapcheck.capture.export", "overlapcheck.cli.tables", "overlapcheck.compare"),
    *("overlapcheck.fleet", "overlapcheck.fleet_comparison", "overlapcheck.ranks.pool"),
    *("overlapcheck.renderers.html", "overlapcheck.renderers.fleet", "overlapcheck.saved_fleet"),
    *("overlapcheck.sharing", "overlapcheck.stream_contract", "overlapcheck.streams.check"),
    *("overlapcheck.whatif.told", "overlapcheck.whatif.picture"),
}


def modules_loaded_by(code: str) -> set[str]:
    """Top-level modules that a fresh interpreter has loaded after running some code."""
    return {name.split(".")[0] for name in all_loaded_by(code)}


def all_loaded_by(code: str) -> set[str]:
    """Modules and submodules, as of `modules_loaded_by`."""
    program = f"{code}\nimport sys; print(); print(*sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", program],
        capture_output=True,
        text=True,
        check=True,
        cwd=ROOT,
        timeout=60,
    )
    return set(done.stdout.splitlines()[-1].split())


RUN_CLI = """
import sys
from overlapcheck.cli import main
sys.argv = ["overlapcheck", *{arguments!r}]
try:
    main()
except SystemExit as stop:
    assert not stop.code, stop.code
"""


@pytest.mark.parametrize(
    "code",
    [
        "import overlapcheck, overlapcheck.cli",
        *(
            RUN_CLI.format(arguments=arguments)
            for arguments in (
                ["--help"],
                ["--version"],
                ["analyze", "--help"],
                ["run", "--help"],
                ["explain", "--help"],
                ["doctor", "--help"],
            )
        ),
    ],
    ids=["import", "help", "version", "analyze", "run", "explain", "doctor"],
)
def test_nothing_heavy_is_loaded_before_it_is_needed(code: str) -> None:
    loaded = modules_loaded_by(code)

    assert "overlapcheck" in loaded
    assert not loaded & set(HEAVY)


@pytest.mark.parametrize(("form", "loads_it"), [("terminal", False), ("json", True)])
def test_the_codec_is_loaded_for_what_is_saved_alone(
    form: str, loads_it: bool, real_export: RealExport
) -> None:
    export = str(real_export("cu_double_buffer"))
    code = f"""
import overlapcheck
from overlapcheck.renderers import renderers
import overlapcheck.renderers.comparison, overlapcheck.renderers.fleet
renderers()[{form!r}].render(overlapcheck.analyze({export!r}))
"""

    assert ("msgspec" in modules_loaded_by(code)) is loads_it


@pytest.mark.parametrize(
    ("form", "needs"),
    [("terminal", "overlapcheck.renderers.terminal"), ("json", "overlapcheck.saved_report")],
)
def test_a_plain_analysis_loads_nothing_that_it_does_not_need(
    form: str, needs: str, real_export: RealExport
) -> None:
    arguments = ["analyze", str(real_export("pt_pageable")), "--no-config", "--format", form]
    code = f"""
from overlapcheck.cli import cli
cli.main({arguments!r}, standalone_mode=False)
"""
    loaded = all_loaded_by(code)

    assert needs in loaded
    assert not loaded & NOT_FOR_A_PLAIN_ANALYSIS


def test_the_first_use_of_a_name_loads_what_it_needs() -> None:
    assert "numpy" in modules_loaded_by("import overlapcheck; overlapcheck.analyze")


@pytest.mark.parametrize("name", overlapcheck.__all__)
def test_every_public_name_resolves(name: str) -> None:
    assert getattr(overlapcheck, name) is not None


def test_an_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="'overlapcheck' has no attribute 'analyse'"):
        overlapcheck.analyse  # type: ignore[attr-defined]  # noqa: B018


def test_one_call_analyses_a_report(real_export: RealExport) -> None:
    report = overlapcheck.analyze(real_export("pt_pageable"))

    assert report.verdict.outcome is overlapcheck.Outcome.FAIL
    assert report.capture.report == "pt_pageable.sqlite"
    assert [device.name for device in report.devices] == ["NVIDIA H200"]


def test_policy_and_selection_change_the_answer(real_export: RealExport) -> None:
    lenient = overlapcheck.Policy(min_overlap=0.5, max_recoverable=0.5)
    first = overlapcheck.Selection(skip=12)
    report = overlapcheck.analyze(str(real_export("pt_pageable")), policy=lenient, selection=first)

    assert report.verdict.outcome is overlapcheck.Outcome.PASS
    assert report.devices[0].window.skipped == 12


def test_reading_and_measuring_can_be_done_apart(real_export: RealExport) -> None:
    path = real_export("cu_double_buffer")
    measured = overlapcheck.measure(overlapcheck.read_trace(path), overlapcheck.Selection(skip=3))
    report = overlapcheck.analyze(path, selection=overlapcheck.Selection(skip=3))

    assert report.devices[0].compute_ns == measured.devices[0].compute_ns


def test_progress_is_told_what_begins(real_export: RealExport) -> None:
    said: list[str] = []
    overlapcheck.analyze(
        real_export("cu_double_buffer"), reading=overlapcheck.Reading(progress=said.append)
    )

    assert said[:2] == ["reading cu_double_buffer.sqlite", "measuring cu_double_buffer.sqlite"]


def test_errors_carry_message_hint_and_exit_code(tmp_path: Path) -> None:
    with pytest.raises(overlapcheck.OverlapcheckError) as caught:
        overlapcheck.analyze(tmp_path / "nothing.sqlite")

    assert isinstance(caught.value, InputUnreadable)
    assert caught.value.exit_code is overlapcheck.ExitCode.COULD_NOT_RUN
    assert str(caught.value) == f"{caught.value.message}; {caught.value.hint}"


def test_every_table_of_a_trace_becomes_a_frame_of_its_length(real_export: RealExport) -> None:
    trace = overlapcheck.read_trace(real_export("pt_pageable"))
    tables = {f.name: getattr(trace, f.name) for f in fields(trace)}
    present = {name: table for name, table in tables.items() if isinstance(table, Columns)}

    assert {"kernels", "copies", "api_calls", "ranges", "os_calls", "streams"} <= set(present)
    assert all(isinstance(t, Columns) for t in tables.values() if hasattr(t, "frame"))
    assert not any(isinstance(table, Missing) for table in present.values())
    for table in present.values():
        assert len(table.frame()) == len(table)


def test_every_measured_table_becomes_a_frame_of_its_length(real_export: RealExport) -> None:
    report = overlapcheck.analyze(real_export("pt_pageable"))
    assert report.measurements is not None
    (device,) = report.measurements.devices
    tables = {
        f.name: getattr(device, f.name)
        for f in fields(DeviceMeasurements)
        if isinstance(getattr(device, f.name), Columns)
    }

    assert {"gaps", "blocking", "steps"} <= set(tables)
    for table in tables.values():
        frame = table.frame()
        assert len(frame) == len(table)
        assert list(frame.columns) == [f.name for f in fields(table)]


def test_the_package_is_typed() -> None:
    assert (ROOT / "overlapcheck" / "py.typed").is_file()


def test_many_reports_from_python(tmp_path: Path) -> None:
    fleets.write_fleet(tmp_path, 3, late=1)

    found = overlapcheck.analyze_ranks([tmp_path], reading=overlapcheck.Reading(jobs=1))

    assert isinstance(found, overlapcheck.FleetReport)
    assert [row.label for row in found.rows] == ["0", "1", "2"]
    assert found.stragglers[0].rank == "1"
    assert found.exit_code == 1


def test_many_reports_with_a_policy_and_a_pattern(tmp_path: Path) -> None:
    paths = fleets.write_fleet(tmp_path, 2)

    found = overlapcheck.analyze_ranks(
        [str(path) for path in paths],
        policy=overlapcheck.Policy(max_failing_ranks=1.0),
        job=overlapcheck.Job(rank_pattern=r"rank_(?P<rank>\d)"),
        # What tells whoever waits here need not travel to the workers.
        reading=overlapcheck.Reading(jobs=2, progress=lambda _: None, opened=lambda _: None),
    )

    assert found.notes[0] == "ranks by --rank-pattern"
    assert found.outcome is overlapcheck.Outcome.PASS


def test_a_program_is_recorded_and_judged_by_one_call(
    real_export: RealExport, monkeypatch: pytest.MonkeyPatch
) -> None:
    report = real_export("pt_pageable")
    told: list[object] = []

    def profile(spec: object, command: object, nsys: object, **_: object) -> object:
        told.extend((spec, command))
        return CapturedReport(report, 3, "")

    @contextmanager
    def judging(captured: CapturedReport) -> Iterator[None]:
        told.append(captured.ending)
        yield
        told.append("judged")

    monkeypatch.setattr("overlapcheck.recording.find_nsys", lambda _: Nsys(Path("n"), "1"))
    monkeypatch.setattr("overlapcheck.capture.second_run.profile", profile)

    found = overlapcheck.run(
        ["prog"],
        spec=overlapcheck.CaptureSpec(delay_s=2),
        reading=overlapcheck.Reading(timeline=False),
        judging=judging,
    )

    assert told == [
        *(overlapcheck.CaptureSpec(delay_s=2), ["prog"]),
        *("ended with exit code 3", "judged"),
    ]
    assert found.verdict.outcome is overlapcheck.Outcome.FAIL
    assert found.captured == CapturedReport(report, 3, "")
    assert found.captured.program_failed
