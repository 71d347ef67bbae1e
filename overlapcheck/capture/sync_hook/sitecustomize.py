"""Start-up hook of `overlapcheck run --sync-debug`: logs PyTorch's own synchronisation warnings.

Python imports a module of this name at start. It asks PyTorch to warn of operations that
synchronise (torch.cuda.set_sync_debug_mode) as soon as the program itself initialises CUDA, writes
those warnings, and only those, to a file, and touches nothing else: CUDA is not initialised early,
other warnings go their way, and a sitecustomize of the user's own runs as it would have.
"""

from __future__ import annotations

import importlib.machinery
import importlib.util
import json
import os
import sys
import time
import warnings
from typing import Any

LOG = os.environ.get("OVERLAPCHECK_SYNC_LOG", "")
HERE = os.path.dirname(os.path.abspath(__file__))  # noqa: PTH100, PTH120 - no import to spare
MESSAGE = "called a synchronizing CUDA operation"


class _AfterTorchCuda:
    """Import hook that arms the warning once torch.cuda has been imported."""

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> Any:
        """See importlib.abc.MetaPathFinder."""
        if name != "torch.cuda":
            return None
        sys.meta_path.remove(self)
        spec = importlib.machinery.PathFinder.find_spec(name, path, target)
        if spec is not None and spec.loader is not None:
            execute = spec.loader.exec_module

            def exec_module(module: Any) -> None:
                execute(module)
                _arm(module)

            setattr(spec.loader, "exec_module", exec_module)  # noqa: B010
        return spec


def _arm(cuda: Any) -> None:
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
    descriptor = os.open(LOG, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
    os.write(descriptor, entry.encode())
    os.close(descriptor)


def _run_the_users_own() -> None:
    elsewhere = [entry for entry in sys.path if os.path.abspath(entry or ".") != HERE]  # noqa: PTH100
    spec = importlib.machinery.PathFinder.find_spec("sitecustomize", elsewhere)
    if spec is not None and spec.loader is not None:
        module = importlib.util.module_from_spec(spec)
        sys.modules["sitecustomize"] = module
        spec.loader.exec_module(module)


if LOG:
    sys.meta_path.insert(0, _AfterTorchCuda())
_run_the_users_own()
