"""For `overlapcheck run --sync-debug`: logs PyTorch's own synchronisation warnings.

PyTorch is asked to warn of operations that synchronise (torch.cuda.set_sync_debug_mode) as soon as
the program itself initialises CUDA. Those warnings, and only those, go to a file; nothing else is
touched: CUDA is not initialised early, and other warnings go their way.
"""

from __future__ import annotations

import contextlib
import json
import os
import sys
import time
import warnings
from typing import Any

LOG = os.environ.get("OVERLAPCHECK_SYNC_LOG", "")
HERE = os.path.dirname(os.path.abspath(__file__))  # noqa: PTH100, PTH120 - no import to spare
MESSAGE = "called a synchronizing CUDA operation"


def arm(cuda: Any) -> None:
    """Log from the moment on at which the program initialises CUDA."""
    original = warnings.showwarning

    def showwarning(  # noqa: PLR0913  # as Python has it
        message: Any,
        category: Any,
        filename: str,
        lineno: int,
        file: Any = None,
        line: Any = None,
    ) -> None:
        if str(message).startswith(MESSAGE):
            _log(sys._getframe(1), filename, lineno)
        else:
            original(message, category, filename, lineno, file, line)

    def begin() -> None:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # it warns of itself: a prototype feature
            cuda.set_sync_debug_mode("warn")
        warnings.filterwarnings("always", message=MESSAGE)
        warnings.showwarning = showwarning

    # A torch without this queue is one that has no sync debug mode either.
    if hasattr(cuda, "_lazy_call") and hasattr(cuda, "set_sync_debug_mode"):
        cuda._lazy_call(begin)


def _log(frame: Any, filename: str, lineno: int) -> None:
    place: dict[str, Any] = {"file": filename, "line": lineno, "function": ""}
    while frame is not None:
        code = frame.f_code
        foreign = ("site-packages" in code.co_filename) or ("dist-packages" in code.co_filename)
        if not foreign and not code.co_filename.startswith((HERE, "<", sys.base_prefix + "/lib")):
            place = {"file": code.co_filename, "line": frame.f_lineno, "function": code.co_name}
            break
        frame = frame.f_back
    entry = json.dumps({"utc_ns": time.time_ns(), "pid": os.getpid(), **place}) + "\n"
    # A process that outlives the recording finds no folder for it any more.
    with contextlib.suppress(OSError):
        descriptor = os.open(LOG, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
        os.write(descriptor, entry.encode())
        os.close(descriptor)
