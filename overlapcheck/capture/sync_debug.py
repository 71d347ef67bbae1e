"""Recording PyTorch's own warnings about synchronising operations, with their source lines."""

from __future__ import annotations

import os
import shutil
from collections.abc import Mapping
from pathlib import Path

LOG_SUFFIX = ".sync.jsonl"
"""Of the log beside a report: `train.nsys-rep.sync.jsonl`."""
_HOOK = Path(__file__).parent / "sync_hook"
_LOG_NAME = "sync_warnings.jsonl"


def environment(scratch: Path, inherited: Mapping[str, str]) -> dict[str, str]:
    """Variables that make Python processes of the program log to the scratch directory."""
    path = os.pathsep.join(filter(None, (str(_HOOK), inherited.get("PYTHONPATH", ""))))
    return {"PYTHONPATH": path, "OVERLAPCHECK_SYNC_LOG": str(scratch / _LOG_NAME)}


def keep_log(scratch: Path, report: Path) -> str:
    """Move the log beside the report.

    Returns:
        A warning where there is nothing to move, else "".
    """
    log = scratch / _LOG_NAME
    if not log.exists():
        return "--sync-debug logged nothing: no PyTorch operation synchronised, or no PyTorch"
    try:
        shutil.move(log, report.with_name(report.name + LOG_SUFFIX))
    except OSError as error:
        return f"--sync-debug: the log could not be kept ({error.strerror})"
    return ""
