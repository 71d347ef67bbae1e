"""Exports hold the program's whole environment, tokens included: none of it may come out."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from overlapcheck import pipeline
from overlapcheck.compare.compare import compare
from overlapcheck.finding import SourceLine
from overlapcheck.ranks.summary import summarize
from overlapcheck.reading import Reading
from overlapcheck.renderers import renderers
from overlapcheck.renderers.comparison import comparison_renderers
from overlapcheck.renderers.fleet import fleet_renderers
from overlapcheck.renderers.streams import stream_renderers
from overlapcheck.reporting.tables import measured_tables
from overlapcheck.saved import encoded_result
from tests.export import Export, edit
from tests.pictures import picture

SECRETS = {
    "TOKEN": "xyz-token",
    "HF_TOKEN": "xyz-hugging",
    "AWS_SECRET_ACCESS_KEY": "xyz-cloud",
    "XNCCL_DEBUG": "xyz-prefix",
    "CUDA_LAUNCH_BLOCKING_NOTE": "xyz-suffix",
    "MY_CUDA_LAUNCH_BLOCKING": "xyz-infix",
    "PATH": "/home/xyz-person/bin",
    "USER": "xyz-user",
    "HOSTNAME": "xyz-host",
    "CUDA_API_KEY": "xyz-cuda",
}


@pytest.fixture
def export(tmp_path: Path) -> Path:
    path = picture(
        """
        s7  kernel k         |.aa.bb.cc.|
        s13 h2d pinned 1B    |...dd.....|
        t1  cudaLaunchKernel |a..b..c...|
        t1  cudaMemcpyAsync  |..d.......|
        t1  nvtx step        |000111222.|
        """,
        column_us=30,
        environment=SECRETS | {"CUDA_LAUNCH_BLOCKING": "1", "NCCL_NVLS_ENABLE": "0"},
    ).export(tmp_path / "secrets.sqlite")
    return edit(
        path,
        "INSERT INTO META_DATA_CAPTURE VALUES ('PROCESS_0:USER_NAME', 'xyz-user')",
        "INSERT INTO META_DATA_CAPTURE VALUES ('PROCESS_0:WORKING_DIR', '/home/xyz-person')",
        "INSERT INTO META_DATA_CAPTURE VALUES ('DEVICE_DISPLAY_NAME', 'xyz-host')",
        "INSERT INTO META_DATA_EXPORT VALUES ('EXPORT_HOST', 'xyz-host')",
        "INSERT INTO META_DATA_EXPORT VALUES ('EXPORT_USER', 'xyz-user')",
        "INSERT INTO META_DATA_EXPORT VALUES ('EXPORT_PARAM_INPUT_PATH', '/home/xyz-person/a')",
        "INSERT INTO TARGET_INFO_SYSTEM_ENV VALUES (0, 'd', 'Hostname', 1, 'xyz-host')",
    )


@pytest.mark.parametrize("name", sorted(renderers()))
def test_no_format_shows_environment_user_or_host(name: str, export: Path) -> None:
    text = renderers()[name].render(pipeline.analyze(export))

    assert "xyz" not in text


TOLD = {
    "NCCL_SOCKET_IFNAME": "xyz-net",
    "NCCL_COMM_ID": "xyz-host:29500",
    "NCCL_HOSTID": "xyz-host",
    "NCCL_DEBUG_FILE": "/home/xyz-person/nccl.%h",
    "NCCL_TOPO_FILE": "/home/xyz-person/topo.xml",
    "NCCL_DEBUG": "xyz-host.example.org",
    "NCCL_ALGO": "/home/xyz-person",
    "CUDA_VISIBLE_DEVICES": "xyz@host",
    "CUDA_LAUNCH_BLOCKING": "xyz-flag",
    "PYTORCH_CUDA_ALLOC_CONF": "xyz conf",
    "USER": "xyz-user",
    "HOSTNAME": "xyz-host.example.org",
}
WORDS = (
    "/home/xyz-person/bin/python", "/home/xyz-person/train.py", "--hf-token", "xyz-token",
    "--password=xyz-word", "https://xyz-user:xyz-word@xyz-host/a", "HF_TOKEN=xyz-token",
    "--home", "/home/xyz-person", "--out=/Users/xyz-person", "--run", "xyz-user-7",
    "--peer", "xyz-host", "/scratch/xyz-user",
)  # fmt: skip


@pytest.fixture
def telling(tmp_path: Path) -> Path:
    """An export whose arguments, variables and messages name a user, a host and secrets."""
    path = picture(
        """
        s7  kernel k         |.aa.bb.cc.|
        s13 h2d pinned 1B    |...dd.....|
        t1  cudaLaunchKernel |a..b..c...|
        t1  cudaMemcpyAsync  |..d.......|
        """,
        column_us=30,
        environment=TOLD,
    ).export(tmp_path / "telling.sqlite")
    return edit(
        path,
        "DELETE FROM META_DATA_CAPTURE WHERE name LIKE 'PROCESS_%:ARGUMENT_%'",
        f"UPDATE META_DATA_CAPTURE SET value = '{WORDS[0]}' WHERE name LIKE 'PROCESS_%:COMMAND'",
        *(
            f"INSERT INTO META_DATA_CAPTURE VALUES ('PROCESS_0:ARGUMENT_{number}', '{word}')"
            for number, word in enumerate(WORDS[1:])
        ),
        "CREATE TABLE IF NOT EXISTS DIAGNOSTIC_EVENT"
        " (timestamp INT, source INT, severity INT, text TEXT, globalPid INT)",
        "INSERT INTO DIAGNOSTIC_EVENT (timestamp, source, severity, text) VALUES"
        " (0, 0, 3, 'cannot open /home/xyz-person/a.so or /tmp/xyz-user/b on xyz-host')",
    )


@pytest.mark.parametrize("name", sorted(renderers()))
def test_no_format_shows_a_secret_of_arguments_variables_and_messages(
    name: str, telling: Path
) -> None:
    text = renderers()[name].render(pipeline.analyze(telling))

    assert "xyz" not in text


def test_neither_does_a_comparison_or_a_job_of_ranks(telling: Path) -> None:
    report = pipeline.analyze(telling)
    again = compare(report, report, limit=None, force=True)
    answer = pipeline.analyze_ranks([telling, telling.parent], reading=Reading(jobs=1))

    for comparing in comparison_renderers().values():
        assert "xyz" not in comparing.render(again)
    for telling_ranks in fleet_renderers().values():
        assert "xyz" not in telling_ranks.render(answer)
    assert "xyz" not in encoded_result(summarize(report)).decode()


def test_what_is_left_still_says_what_ran(telling: Path) -> None:
    capture = pipeline.analyze(telling).capture

    assert capture.program.startswith("python train.py --hf-token *** --password=***")
    assert capture.messages == ("cannot open a.so or b on ***",)
    assert capture.environment == {}


def test_no_table_names_a_home(export: Path) -> None:
    report = pipeline.analyze(export)
    assert report.measurements is not None
    names = report.measurements.names
    site = SourceLine("/home/xyz-person/train.py", 7, "=xyz()")
    ledger = replace(
        report.measurements.devices[0].ledger,
        site=np.zeros_like(report.measurements.devices[0].ledger.site),
    )
    measured = replace(
        report.measurements,
        names=replace(names, sites={0: site}),
        devices=(replace(report.measurements.devices[0], ledger=ledger),),
    )
    table = measured_tables(measured)["ledger"]

    assert set(table["source_file"]) == {"~/train.py"}


@pytest.mark.parametrize("name", sorted(renderers()))
def test_names_of_kernels_threads_and_ranges_name_no_home(name: str, export: Path) -> None:
    edit(
        export,
        "UPDATE StringIds SET value = '/home/xyz-person/' || value WHERE id IN"
        " (SELECT shortName FROM CUPTI_ACTIVITY_KIND_KERNEL)",
        "UPDATE NVTX_EVENTS SET text = '/Users/xyz-person/' || text",
        "INSERT INTO StringIds VALUES (987654, '/home/xyz-person/loader')",
        "DELETE FROM ThreadNames",
        "INSERT INTO ThreadNames SELECT DISTINCT 987654, 20, globalTid"
        " FROM CUPTI_ACTIVITY_KIND_RUNTIME",
    )

    assert "xyz" not in renderers()[name].render(pipeline.analyze(export))


@pytest.mark.parametrize("name", sorted(renderers()))
def test_names_of_processes_and_threads_are_read_as_command_lines(name: str, export: Path) -> None:
    title = "serve xyz-user --hf-token xyz-1 --key=xyz-2 on xyz-host.example.org"
    edit(
        export,
        f"INSERT INTO StringIds VALUES (987654, '{title}')",
        "DELETE FROM ThreadNames",
        "INSERT INTO ThreadNames SELECT DISTINCT 987654, 20, globalTid"
        " FROM CUPTI_ACTIVITY_KIND_RUNTIME",
        f"UPDATE PROCESSES SET name = '{title}'",
    )
    text = renderers()[name].render(pipeline.analyze(export))

    assert "xyz" not in text
    assert "example.org" not in text


@pytest.mark.parametrize("name", sorted(stream_renderers()))
def test_neither_do_streams(name: str, export: Path) -> None:
    edit(
        export,
        "UPDATE StringIds SET value = '/home/xyz-person/' || value WHERE id IN"
        " (SELECT shortName FROM CUPTI_ACTIVITY_KIND_KERNEL)",
        "UPDATE NVTX_EVENTS SET text = '/Users/xyz-person/' || text",
    )

    assert "xyz" not in stream_renderers()[name].render(pipeline.streams(export))


@pytest.mark.parametrize("name", ["PROCESS_0:USER_NAME", "DEVICE_DISPLAY_NAME"])
def test_who_recorded_where_is_cut_from_arguments(name: str, export: Path) -> None:
    edit(
        export,
        "DELETE FROM META_DATA_EXPORT",
        "DELETE FROM META_DATA_CAPTURE WHERE value LIKE '%xyz%'",
        "DELETE FROM TARGET_INFO_SYSTEM_ENV",
        f"INSERT INTO META_DATA_CAPTURE VALUES ('{name}', 'xyz-name')",
        "INSERT INTO META_DATA_CAPTURE VALUES ('PROCESS_0:ARGUMENT_9', 'by-xyz-name-7')",
    )

    assert "by-***-7" in pipeline.analyze(export).capture.program


@pytest.mark.parametrize("name", ["EXPORT_USER", "EXPORT_HOST"])
def test_who_exported_where_is_cut_from_arguments(name: str, export: Path) -> None:
    edit(
        export,
        "DELETE FROM META_DATA_EXPORT",
        "DELETE FROM META_DATA_CAPTURE WHERE value LIKE '%xyz%'",
        "DELETE FROM TARGET_INFO_SYSTEM_ENV",
        f"INSERT INTO META_DATA_EXPORT VALUES ('{name}', 'xyz-name')",
        "INSERT INTO META_DATA_CAPTURE VALUES ('PROCESS_0:ARGUMENT_9', 'by-xyz-name-7')",
    )

    assert "by-***-7" in pipeline.analyze(export).capture.program


def test_variables_that_change_how_a_program_runs_are_kept(export: Path) -> None:
    document = json.loads(renderers()["json"].render(pipeline.analyze(export)))

    assert document["capture"]["environment"] == {
        "CUDA_LAUNCH_BLOCKING": "1",
        "NCCL_NVLS_ENABLE": "0",
    }


def test_no_other_variable_even_leaves_the_database(export: Path) -> None:
    trace = pipeline.read_trace(export)

    assert "xyz" not in repr(trace)


def test_a_report_does_not_name_the_folder_it_lies_in(export: Path) -> None:
    report = pipeline.analyze(export)

    for renderer in renderers().values():
        assert str(export.parent) not in renderer.render(report)


@pytest.mark.parametrize("line", ['NAME="a\nb"', "NAME", "", "=", "NCCL_X", 'NCCL_Y="'])
def test_odd_lines_of_the_environment_do_not_stop_the_reading(line: str, tmp_path: Path) -> None:
    export = Export()
    export.add("META_DATA_CAPTURE", name="PROCESS_0:ENVIRONMENT_VARIABLE", value=line)
    trace = pipeline.read_trace(export.save(tmp_path / "odd.sqlite"))

    assert set(trace.info.environment) <= {"NCCL_Y"}
