"""What runs inside Python programs from their start: logs and marks that were asked for."""

from __future__ import annotations

import os
import shutil
from collections.abc import Mapping
from pathlib import Path

from overlapcheck.capture.spec import CaptureSpec
from overlapcheck.sync_warnings import LOG_SUFFIX

_HOOK = Path(__file__).parent / "in_program"
_SYNC_LOG = "sync_warnings.jsonl"
_STEP_LOG = "step_marks.txt"
_PIN_LOG = "pinned_copies.txt"


def environment(spec: CaptureSpec, scratch: Path, inherited: Mapping[str, str]) -> dict[str, str]:
    """Variables that make Python processes of the program do it; logs go to the scratch folder."""
    asked = {}
    if spec.sync_debug:
        asked["OVERLAPCHECK_SYNC_LOG"] = str(scratch / _SYNC_LOG)
    if spec.mark_steps:
        asked["OVERLAPCHECK_STEP_LOG"] = str(scratch / _STEP_LOG)
    if spec.pin_memory:
        asked["OVERLAPCHECK_PIN_LOG"] = str(scratch / _PIN_LOG)
    if not asked:
        return {}
    path = os.pathsep.join(filter(None, (str(_HOOK), inherited.get("PYTHONPATH", ""))))
    return {"PYTHONPATH": path, **asked}


def keep_logs(spec: CaptureSpec, scratch: Path, report: Path) -> list[str]:
    """Move logs beside the report, and warn of what did not come."""
    warnings = [_keep_sync_log(scratch / _SYNC_LOG, report)] if spec.sync_debug else []
    warnings += [_why_no_marks(scratch / _STEP_LOG)] if spec.mark_steps else []
    warnings += [_why_not_pinned(scratch / _PIN_LOG)] if spec.pin_memory else []
    return [warning for warning in warnings if warning]


def _keep_sync_log(log: Path, report: Path) -> str:
    if not log.exists():
        return "--sync-debug logged nothing: no PyTorch operation synchronised, or no PyTorch"
    try:
        shutil.move(log, report.with_name(report.name + LOG_SUFFIX))
    except OSError as error:
        return f"--sync-debug: the log could not be kept ({error.strerror})"
    return ""


def _why_no_marks(log: Path) -> str:
    """Why no step is marked; "" where steps are."""
    told = _told_in(log)
    if told & {"optimizer", "module"}:
        return ""
    if "no NVTX" in told:
        reason = "this PyTorch was built without NVTX"
    elif "old PyTorch" in told:
        reason = "this PyTorch cannot tell of its optimizers' steps (2.1 and later can)"
    elif "PyTorch" in told:
        reason = "no optimizer of PyTorch stepped, and no module was called again and again"
    else:
        reason = "the program imported no PyTorch"
    return f"--mark-steps marked nothing: {reason}; put NVTX ranges such as `step 12` into it"


def _why_not_pinned(log: Path) -> str:
    """Why no copy is made otherwise; "" where some are."""
    told = _told_in(log)
    if told & {"loader", "copy"}:
        return ""
    missing = "no tensor of the host was copied" if "PyTorch" in told else "it imported no PyTorch"
    return f"--prove pageable-copy changed nothing of the program: {missing}"


def _told_in(log: Path) -> set[str]:
    try:
        return set(log.read_text(encoding="utf-8").split("\n"))
    except OSError:
        return set()
