"""Exports hold the program's whole environment, tokens included: none of it may come out."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from overlapcheck import pipeline
from overlapcheck.renderers import renderers
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
