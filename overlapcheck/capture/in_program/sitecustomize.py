"""Start-up hook of `overlapcheck run`: Python imports a module of this name at start.

It has parts of PyTorch watched, as asked for, when the program itself imports them; it imports
nothing on its own, and a sitecustomize of the user's own runs as it would have.
"""

from __future__ import annotations

import importlib.machinery
import importlib.util
import os
import sys
from collections.abc import Callable
from typing import Any

HERE = os.path.dirname(os.path.abspath(__file__))  # noqa: PTH100, PTH120 - no import to spare


class _AfterImports:
    """Import hook that calls a function with each of some modules once that has been imported."""

    def __init__(self) -> None:
        self._wanted: dict[str, Callable[[Any], None]] = {}

    def add(self, name: str, arm: Callable[[Any], None]) -> None:
        """Call `arm` with this module."""
        if not self._wanted:
            sys.meta_path.insert(0, self)
        self._wanted[name] = arm

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> Any:
        """See importlib.abc.MetaPathFinder."""
        arm = self._wanted.pop(name, None)
        if arm is None:
            return None
        if not self._wanted:
            sys.meta_path.remove(self)
        spec = importlib.machinery.PathFinder.find_spec(name, path, target)
        if spec is not None and spec.loader is not None:
            execute = spec.loader.exec_module

            def exec_module(module: Any) -> None:
                execute(module)
                arm(module)

            setattr(spec.loader, "exec_module", exec_module)  # noqa: B010
        return spec


def _run_the_users_own() -> None:
    elsewhere = [entry for entry in sys.path if os.path.abspath(entry or ".") != HERE]  # noqa: PTH100
    spec = importlib.machinery.PathFinder.find_spec("sitecustomize", elsewhere)
    if spec is not None and spec.loader is not None:
        module = importlib.util.module_from_spec(spec)
        sys.modules["sitecustomize"] = module
        spec.loader.exec_module(module)


_imports = _AfterImports()
if os.environ.get("OVERLAPCHECK_SYNC_LOG"):
    import overlapcheck_sync_log

    _imports.add("torch.cuda", overlapcheck_sync_log.arm)
if os.environ.get("OVERLAPCHECK_STEP_LOG"):
    import overlapcheck_step_marks

    _imports.add("torch.optim.optimizer", overlapcheck_step_marks.arm_optimizers)
    _imports.add("torch.nn.modules.module", overlapcheck_step_marks.arm_modules)
if os.environ.get("OVERLAPCHECK_PIN_LOG"):
    import overlapcheck_pinned_copies

    _imports.add("torch", overlapcheck_pinned_copies.arm)
    _imports.add("torch.utils.data.dataloader", overlapcheck_pinned_copies.arm_loaders)
_run_the_users_own()
