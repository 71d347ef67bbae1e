"""Exports with a secret wherever programs, users and machines leave one."""

from __future__ import annotations

import shutil
from pathlib import Path

from tests.export import edit

SECRET = "xyzzy-T0ken"
HOME = f"/home/{SECRET}"


def planted(export: Path, target: Path) -> Path:
    """A copy of a real export with the secret in every place that is not the program's own name."""
    shutil.copyfile(export, target)
    target.chmod(0o644)
    capture = {
        "PROCESS_0:COMMAND": f"{HOME}/bin/python",
        "PROCESS_0:ARGUMENT_7": f"--hf-token={SECRET}",
        "PROCESS_0:WORKING_DIR": HOME,
        "PROCESS_0:USER_NAME": SECRET,
        "DEVICE_DISPLAY_NAME": SECRET,
        "CAPTURE_EVENT_TYPE": SECRET,
        SECRET: "1",
    }
    variables = ("HF_TOKEN", "CUDA_VISIBLE_DEVICES", "NCCL_DEBUG", "PYTORCH_CUDA_ALLOC_CONF")
    rows = [*capture.items()]
    rows += [("PROCESS_0:ENVIRONMENT_VARIABLE", f"{name}={SECRET}") for name in variables]
    return edit(
        target,
        *(f"INSERT INTO META_DATA_CAPTURE VALUES ('{name}', '{value}')" for name, value in rows),
        f"INSERT INTO META_DATA_EXPORT VALUES ('EXPORT_PARAM_INPUT_PATH', '{HOME}/a')",
        f"INSERT INTO META_DATA_EXPORT VALUES ('EXPORT_PRODUCT_VERSION', '{SECRET}')",
        f"INSERT INTO TARGET_INFO_SYSTEM_ENV VALUES (0, 'd', 'Hostname', 1, '{SECRET}')",
        f"UPDATE PROCESSES SET name = '{HOME}/' || name",
        "INSERT INTO DIAGNOSTIC_EVENT (timestamp, timestampType, source, severity, text)"
        f" VALUES (0, 1, 0, 2, 'cannot open {HOME}/a.so')",
        f"UPDATE StringIds SET value = '{SECRET}' || id WHERE id IN"
        " (SELECT nameId FROM ThreadNames)",
        f"UPDATE StringIds SET value = 'dlopen({HOME}/lib' || id || '.so)' WHERE id IN"
        " (SELECT nameId FROM PROFILER_OVERHEAD)",
        # Unused texts, and tables and columns that nobody reads.
        f"INSERT INTO StringIds VALUES (987654, '{HOME}/train.py')",
        f"CREATE TABLE NOTES AS SELECT '{SECRET}' AS note",
        "ALTER TABLE CUPTI_ACTIVITY_KIND_KERNEL ADD COLUMN note TEXT",
        f"UPDATE CUPTI_ACTIVITY_KIND_KERNEL SET note = '{SECRET}'",
        # Marks with what a program hands over.
        "INSERT INTO NVTX_EVENTS (start, eventType, text, jsonText, globalTid)"
        f" SELECT start, 34, '{SECRET}', '{SECRET}', globalTid FROM NVTX_EVENTS",
    )


def with_telling_names(export: Path) -> Path:
    """The export, changed: kernels and ranges are called by a path in a home."""
    return edit(
        export,
        f"UPDATE StringIds SET value = '{HOME}/k.cu:' || value WHERE id IN"
        " (SELECT shortName FROM CUPTI_ACTIVITY_KIND_KERNEL)",
        f"UPDATE NVTX_EVENTS SET text = '{HOME}/' || text WHERE text IS NOT NULL",
    )
