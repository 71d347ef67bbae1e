"""For `overlapcheck run --prove pageable-copy`: copies of a PyTorch program from pinned memory.

Every DataLoader pins its batches. What `.to()`, `.cuda()` and `.copy_()` copy from the host to CUDA
goes there from pinned memory, and they do not wait for it: of pageable tensors a pinned copy is
made first, which PyTorch keeps until the device has read it. The pinned copy of a tensor that
comes again unchanged is used again. Tensors that gradients flow through are left alone.
"""

from __future__ import annotations

import contextlib
import functools
import os
import sys
import threading
import weakref
from collections.abc import Callable
from typing import Any

LOG = os.environ.get("OVERLAPCHECK_PIN_LOG", "")
MOST_KEPT_BYTES = 4 << 30
"""Of pinned copies that are kept in case their tensors come again."""
_PIN_MEMORY_AT = 7
"""Position of DataLoader's argument, the loader itself aside (PyTorch 1.2 and later)."""


class _Pinned:
    """Pinned copies of the tensors that came, as long as these live."""

    def __init__(self) -> None:
        self._kept: dict[int, tuple[Any, dict[Any, tuple[int, Any]]]] = {}
        self._bytes = 0
        self._lock = threading.RLock()

    def copy_of(self, tensor: Any) -> Any:
        """A pinned copy: the one that was made before, where nothing was written since."""
        # What NumPy or another process owns, and inference tensors, are written to unseen.
        if tensor.is_inference() or not tensor.untyped_storage().resizable():
            return tensor.pin_memory()
        owner = tensor if tensor._base is None else tensor._base
        key = (tensor.data_ptr(), tuple(tensor.shape), tensor.stride(), tensor.dtype)
        with self._lock:
            of, copies = self._kept.get(id(owner), (None, {}))
            if of is None or of() is not owner:
                copies = {}
            version, copy = copies.get(key, (-1, None))
            if copy is not None and version == tensor._version:
                return copy
            copy = tensor.pin_memory()
            size = copy.numel() * copy.element_size()
            if key not in copies:
                if self._bytes + size > MOST_KEPT_BYTES:
                    return copy
                self._bytes += size
            copies[key] = (tensor._version, copy)
            if len(copies) == 1:
                forget = functools.partial(self._forget, id(owner), copies)
                self._kept[id(owner)] = (weakref.ref(owner, forget), copies)
            return copy

    def _forget(self, owner: int, copies: dict[Any, tuple[int, Any]], _: Any) -> None:
        with self._lock:
            self._bytes -= sum(one.numel() * one.element_size() for _, one in copies.values())
            if self._kept.get(owner, (None, None))[1] is copies:
                del self._kept[owner]
            copies.clear()


pinned = _Pinned()
_said: set[str] = set()


def arm(torch: Any) -> None:
    """Have tensors copied to CUDA from pinned memory; the argument is the module torch."""
    _log("PyTorch")
    tensor = torch.Tensor
    tensor.to = _to(torch, tensor.to)
    tensor.cuda = _cuda(torch, tensor.cuda)
    tensor.copy_ = _copy(torch, tensor.copy_)


def arm_loaders(dataloader: Any) -> None:
    """Have every DataLoader pin its batches; the argument is torch.utils.data.dataloader."""
    original = dataloader.DataLoader.__init__

    @functools.wraps(original)
    def __init__(self: Any, *arguments: Any, **named: Any) -> None:
        if len(arguments) > _PIN_MEMORY_AT:
            arguments = _with_true(arguments, _PIN_MEMORY_AT)
        else:
            named["pin_memory"] = True
        _log("loader")
        original(self, *arguments, **named)

    dataloader.DataLoader.__init__ = __init__


def _to(torch: Any, original: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(original)
    def to(self: Any, *arguments: Any, **named: Any) -> Any:
        where = arguments[0] if arguments else named.get("device", named.get("other"))
        if not (_is_cuda(torch, where) and _is_ours(torch, self)):
            return original(self, *arguments, **named)
        # to(device, dtype, non_blocking, copy), but to(other, non_blocking, copy)
        position = 1 if isinstance(where, torch.Tensor) else 2
        return original(
            _staged(self), *arguments[:position], **_not_waited_for(arguments, named, position)
        )

    return to


def _cuda(torch: Any, original: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(original)
    def cuda(self: Any, *arguments: Any, **named: Any) -> Any:
        if not _is_ours(torch, self):
            return original(self, *arguments, **named)
        return original(_staged(self), *arguments[:1], **_not_waited_for(arguments, named, 1))

    return cuda


def _copy(torch: Any, original: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(original)
    def copy_(self: Any, *arguments: Any, **named: Any) -> Any:
        source = arguments[0] if arguments else named.get("src")
        if not (self.is_cuda and isinstance(source, torch.Tensor) and _is_ours(torch, source)):
            return original(self, *arguments, **named)
        named.pop("src", None)
        return original(self, _staged(source), non_blocking=True)

    return copy_


def _not_waited_for(
    arguments: tuple[Any, ...], named: dict[str, Any], position: int
) -> dict[str, Any]:
    """Named arguments with non_blocking, and what stood behind that one."""
    behind = arguments[position + 1 : position + 2]
    named = {**named, "copy": behind[0]} if behind else named
    return {**named, "non_blocking": True}


def _is_cuda(torch: Any, where: Any) -> bool:
    """Whether what `.to()` was given names a CUDA device."""
    if isinstance(where, torch.Tensor):
        return bool(where.is_cuda)
    if isinstance(where, str):
        return where.partition(":")[0] == "cuda"
    if isinstance(where, torch.device):
        return bool(where.type == "cuda")
    return isinstance(where, int) and not isinstance(where, bool)


def _is_ours(torch: Any, tensor: Any) -> bool:
    """Whether a tensor is plain memory of the host."""
    if type(tensor) is not torch.Tensor or _compiling(torch):
        return False
    on_host = tensor.device.type == "cpu" and tensor.layout is torch.strided
    return bool(on_host and not tensor.requires_grad and tensor.numel())


def _staged(tensor: Any) -> Any:
    """The same in pinned memory."""
    _log("copy")
    return tensor if tensor.is_pinned() else pinned.copy_of(tensor)


def _with_true(arguments: tuple[Any, ...], position: int) -> tuple[Any, ...]:
    return (*arguments[:position], True, *arguments[position + 1 :])


def _compiling(torch: Any) -> bool:
    """Whether PyTorch's compiler is looking at us, which must see nothing."""
    compiler = getattr(sys.modules.get("torch", torch), "compiler", None)
    return bool(compiler is not None and compiler.is_compiling())


def _log(what: str) -> None:
    if what in _said:
        return
    _said.add(what)
    # A process that outlives the recording finds no folder for it any more.
    with contextlib.suppress(OSError):
        descriptor = os.open(LOG, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
        os.write(descriptor, f"{what}\n".encode())
        os.close(descriptor)
