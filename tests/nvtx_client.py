"""NVTX for programs under test: no package and no CUDA, only what nsys itself injects.

What the header-only NVTX 3 does when it is first used: load the library that NVTX_INJECTION64_PATH
names, and let it fill in a table of functions. Without nsys the functions do nothing. Stands alone,
so that a program can import it from its file.
"""

from __future__ import annotations

import ctypes
import os
from typing import Any

_CALLBACKS, _VERSION_INFO = 1, 3
_CORE, _SIZES = 1, {1: 16, 2: 9, 4: 7, 5: 16}
"""Modules, and one more than the number of functions of each."""
_START, _END, _PUSH, _POP = 5, 7, 9, 11

_GetTable = ctypes.CFUNCTYPE(
    ctypes.c_int, ctypes.c_int, ctypes.POINTER(ctypes.c_void_p), ctypes.POINTER(ctypes.c_uint)
)
_SetVersion = ctypes.CFUNCTYPE(None, ctypes.c_uint32)
_Export = ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_uint32)


class _Callbacks(ctypes.Structure):
    _fields_ = [("size", ctypes.c_size_t), ("get_table", _GetTable)]


class _VersionInfo(ctypes.Structure):
    _fields_ = [
        ("size", ctypes.c_size_t),
        ("version", ctypes.c_uint32),
        ("reserved", ctypes.c_uint32),
        ("set_version", _SetVersion),
    ]


class _Module:
    """Functions of one module, to be filled in: a table of pointers to where they go."""

    def __init__(self, size: int) -> None:
        self.size = size
        self.slots = (ctypes.c_void_p * size)()
        first, step = ctypes.addressof(self.slots), ctypes.sizeof(ctypes.c_void_p)
        places = [first + number * step for number in range(1, size)]
        self.table = (ctypes.c_void_p * (size + 1))(None, *places, None)


_modules = {number: _Module(size) for number, size in _SIZES.items()}


def _get_table(module: int, table: Any, size: Any) -> int:
    if module not in _modules:
        return 0
    table[0] = ctypes.addressof(_modules[module].table)
    if size:
        size[0] = _modules[module].size
    return 1


def _set_version(_: int) -> None:
    pass


# Kept: nsys goes on calling them.
_callbacks = _Callbacks(ctypes.sizeof(_Callbacks), _GetTable(_get_table))
_version = _VersionInfo(ctypes.sizeof(_VersionInfo), 3, 0, _SetVersion(_set_version))


def _export(number: int) -> int | None:
    tables = {_CALLBACKS: _callbacks, _VERSION_INFO: _version}
    return ctypes.addressof(tables[number]) if number in tables else None


_exported = _Export(_export)


def _load() -> None:
    if path := os.environ.get("NVTX_INJECTION64_PATH"):
        library = ctypes.CDLL(path)
        library.InitializeInjectionNvtx2(_exported)


def _function(number: int, result: Any, *arguments: Any) -> Any:
    address = _modules[_CORE].slots[number]
    if not address:
        return lambda *_: 0
    return ctypes.CFUNCTYPE(result, *arguments)(address)


_load()
_start = _function(_START, ctypes.c_uint64, ctypes.c_char_p)
_end = _function(_END, None, ctypes.c_uint64)
_push = _function(_PUSH, ctypes.c_int, ctypes.c_char_p)
_pop = _function(_POP, ctypes.c_int)


# Named as in torch._C._nvtx, which a program can put this in the place of.


def rangePushA(name: str) -> int:
    return int(_push(name.encode()))


def rangePop() -> int:
    return int(_pop())


def rangeStartA(name: str) -> int:
    return int(_start(name.encode()))


def rangeEnd(number: int) -> None:
    _end(number)
