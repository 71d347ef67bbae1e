"""What a CUDA call does to the thread that makes it, told by its name.

NVIDIA, CUDA Runtime API, "API synchronization behavior", and the CUDA Driver API manual. Names are
those of the trace without ABI suffix. Types that profilers give synchronisations are of no use:
their numbers changed meaning twice.
"""

from __future__ import annotations

import re
from functools import cache

from overlapcheck.codes import Code


class ApiKind(Code):
    """Kinds of CUDA calls that the passes tell apart."""

    OTHER = 0
    LAUNCH = 1
    """Kernel launches."""
    GRAPH_LAUNCH = 2
    COPY = 3
    """Copies that may return before they are done (cudaMemcpyAsync)."""
    SYNC_COPY = 4
    """Copies and memsets that return when they are done (cudaMemcpy)."""
    MEMSET = 5
    SYNC = 6
    """Waits for the device, a stream or an event."""
    WAIT_EVENT = 7
    """Makes a stream wait; the thread goes on at once."""
    RECORD_EVENT = 8
    QUERY = 9
    """Asks without waiting."""
    ALLOCATION = 10
    """Allocates, frees, pins or unpins memory."""
    MODULE_LOAD = 11
    """Loads code: modules, libraries, JIT linking."""
    CAPTURE = 12
    """Begins or ends stream capture."""
    GRAPH_BUILD = 13
    """Makes, changes, instantiates or destroys a graph."""
    CODE_QUERY = 14
    """Asks for code by name, which loads it only where that is still to be done."""


HAND_OVERS = (ApiKind.LAUNCH, ApiKind.COPY, ApiKind.MEMSET)
"""Calls that only put work into a queue."""

# First match wins. `(cuda|cu)` covers runtime and driver spelling.
_PATTERNS: tuple[tuple[str, ApiKind], ...] = (
    (r"(cuda|cu)GraphLaunch", ApiKind.GRAPH_LAUNCH),
    (
        r"(cuda|cu)Graph(Instantiate|Exec|Upload|Clone|Create|Destroy|Add|Remove|Kernel\w*Set).*",
        ApiKind.GRAPH_BUILD,
    ),
    (r"(cuda|cu)Launch(?!HostFunc).*", ApiKind.LAUNCH),
    (r"(cuda|cu)Stream(Begin|End)Capture.*", ApiKind.CAPTURE),
    (r"(cuda|cu)StreamWaitEvent.*", ApiKind.WAIT_EVENT),
    (r"(cuda|cu)(Device|Stream|Event|Ctx|Thread)Synchronize.*", ApiKind.SYNC),
    (r"(cuda|cu)EventRecord.*", ApiKind.RECORD_EVENT),
    (r"(cuda|cu)(Event|Stream)Query", ApiKind.QUERY),
    (r"(cuda|cu)Mem(cpy|Prefetch).*Async", ApiKind.COPY),
    (r"(cuda|cu)Memcpy.*", ApiKind.SYNC_COPY),
    (r"cudaMemset.*Async|cuMemsetD\d+.*Async", ApiKind.MEMSET),
    (r"cudaMemset.*|cuMemsetD\d+.*", ApiKind.SYNC_COPY),
    (
        r"cuda(Malloc|Free|HostAlloc|HostRegister|HostUnregister|MemPool|MallocHost).*"
        r"|cuMem(Alloc|Free|HostAlloc|HostRegister|HostUnregister|Create|Release|Map|Unmap"
        r"|SetAccess|Address|FreeHost|Pool).*"
        r"|cuMemHost.*|cuArray(3D)?(Create|Destroy)|cuda(Array)?MallocArray",
        ApiKind.ALLOCATION,
    ),
    (
        r"cu(Module|Library)(Load|Unload).*|cuLink.*|cudaLibrary(Load|Unload).*|cuFuncLoad",
        ApiKind.MODULE_LOAD,
    ),
    (
        r"cuModuleGetFunction|cu(da)?LibraryGetKernel|cu(da)?KernelGetFunction"
        r"|cu(da)?FuncGetAttributes?.*|cudaGetFuncBySymbol|cu(da)?KernelGetAttribute",
        ApiKind.CODE_QUERY,
    ),
)
_COMPILED = tuple((re.compile(pattern), kind) for pattern, kind in _PATTERNS)


@cache
def api_kind(name: str) -> ApiKind:
    """Kind of a call by its plain name."""
    for pattern, kind in _COMPILED:
        if pattern.fullmatch(name):
            return kind
    return ApiKind.OTHER
