"""For `overlapcheck run --mark-steps`: opens an NVTX range for each step of a PyTorch program.

A step lasts from the end of one optimizer step to the end of the next. Of several optimizers the
one that steps first counts. Where none steps, a step lasts from one call of a module to its next
call: of the first module with parameters that is called three times while no gradients are wanted,
or thirty-two times while they are, and not from inside another one.

The ranges are started and ended, not pushed and popped: they disturb no nesting of the program's
own. Calls of all modules are looked at only until it is known what marks the steps.
"""

from __future__ import annotations

import atexit
import contextlib
import os
import sys
import threading
import warnings
import weakref
from typing import Any

LOG = os.environ.get("OVERLAPCHECK_STEP_LOG", "")
NAME = "step {} (--mark-steps, {})"
HOOKS_AND_COMPILER = r"Using `torch\.compile\(module\)` when there are global hooks"
"""PyTorch warns of hooks that fire twice, which ours may."""
CALLS_WITHOUT_GRADIENTS, CALLS_WITH_GRADIENTS = 3, 32


class _Marks:
    """The ranges of this process."""

    def __init__(self) -> None:
        self._open: Any = None
        self._count = 0
        self._kinds: set[str] = set()
        self.useless = False
        """PyTorch has no NVTX here."""

    def next(self, kind: str) -> None:
        """End the step that is open, and begin the next one."""
        self.end()
        try:
            from torch.cuda import nvtx

            self._open = nvtx.range_start(NAME.format(self._count, kind))
        except (ImportError, AttributeError, RuntimeError):
            self.useless = True
            _log("no NVTX")
            return
        self._count += 1
        if kind not in self._kinds:
            self._kinds.add(kind)
            _log(kind)

    def end(self) -> None:
        """End the step that is open."""
        if self._open is not None:
            from torch.cuda import nvtx

            nvtx.range_end(self._open)
            self._open = None

    def forget(self) -> None:
        """In a forked process: the open step is the parent's."""
        self._open = None


class _Optimizers:
    """Marks steps by the optimizer that steps first."""

    def __init__(self) -> None:
        self._first: Any = None

    def has_stepped(self, optimizer: Any, *_: Any) -> None:
        """Hook that PyTorch calls when any optimizer has stepped."""
        if _compiling() or marks.useless:
            return
        first = self._first() if self._first is not None else None
        if first is None:
            if self._first is None:
                modules.give_way()
            self._first = weakref.ref(optimizer)
        elif first is not optimizer:
            return
        marks.next("optimizer")


class _Modules:
    """Looks for the outermost module that is called again and again, and marks its calls."""

    def __init__(self) -> None:
        self._depth = threading.local()
        self._looking: list[Any] = []
        self._watching: Any = None
        self._calls: weakref.WeakKeyDictionary[Any, int] = weakref.WeakKeyDictionary()
        self._outermost: Any = None

    def look(self, module: Any) -> None:
        """Watch the calls of all modules; `module` is torch.nn.modules.module."""
        warnings.filterwarnings("ignore", message=HOOKS_AND_COMPILER)
        self._looking = [
            module.register_module_forward_pre_hook(self._begins),
            module.register_module_forward_hook(self._ends, always_call=True),
        ]

    def give_way(self) -> None:
        """Optimizers step, so they tell the steps; what runs without gradients is none."""
        self._look_no_more()
        marks.end()
        if self._watching is not None:
            self._watching.remove()
        outermost = self._outermost() if self._outermost is not None else None
        if outermost is not None:
            self._watching = outermost.register_forward_pre_hook(_end_unless_training)

    def _look_no_more(self) -> None:
        for handle in self._looking:
            handle.remove()
        self._looking = []

    def _begins(self, module: Any, _: Any) -> None:
        if _compiling():
            return
        depth = getattr(self._depth, "value", 0)
        self._depth.value = depth + 1
        if depth == 0 and next(module.parameters(), None) is not None:
            self._outermost = weakref.ref(module)
            self._calls[module] = self._calls.get(module, 0) + 1
            if self._calls[module] >= _calls_needed():
                self._look_no_more()
                self._depth.value = 0
                self._watching = module.register_forward_pre_hook(_mark_call)
                marks.next("module")

    def _ends(self, *_: Any) -> None:
        if not _compiling():
            self._depth.value = max(0, getattr(self._depth, "value", 0) - 1)


def _mark_call(*_: Any) -> None:
    if not (_compiling() or marks.useless):
        marks.next("module")


def _end_unless_training(*_: Any) -> None:
    if not _compiling() and not _wants_gradients():
        marks.end()


def _calls_needed() -> int:
    return CALLS_WITH_GRADIENTS if _wants_gradients() else CALLS_WITHOUT_GRADIENTS


def _wants_gradients() -> bool:
    return bool(sys.modules["torch"].is_grad_enabled())


def _compiling() -> bool:
    """Whether PyTorch's compiler is looking at us, which must see nothing."""
    compiler = getattr(sys.modules["torch"], "compiler", None)
    return bool(compiler is not None and compiler.is_compiling())


def _log(what: str) -> None:
    # A process that outlives the recording finds no folder for it any more.
    with contextlib.suppress(OSError):
        descriptor = os.open(LOG, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
        os.write(descriptor, f"{what}\n".encode())
        os.close(descriptor)


marks, optimizers, modules = _Marks(), _Optimizers(), _Modules()


def arm_optimizers(optimizer: Any) -> None:
    """Mark the steps of all optimizers; the argument is torch.optim.optimizer."""
    if not hasattr(optimizer, "register_optimizer_step_post_hook"):
        _log("old PyTorch")
        return
    _log("PyTorch")
    optimizer.register_optimizer_step_post_hook(optimizers.has_stepped)
    atexit.register(marks.end)
    os.register_at_fork(after_in_child=marks.forget)


def arm_modules(module: Any) -> None:
    """Mark the calls of a module until optimizers step; it is torch.nn.modules.module."""
    if hasattr(module, "register_module_forward_hook"):
        modules.look(module)
