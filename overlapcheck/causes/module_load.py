"""Code is loaded or compiled for the device inside the loop.

What it is
    cuModuleLoad, cuLibraryLoadData, cuLinkComplete and their like. With lazy loading (the default
    since CUDA 12) a kernel is loaded when it is launched first, inside that launch, or when its
    attributes are asked for; JIT compilers load what they have just built.

Why it costs overlap
    The call holds its thread for milliseconds, may wait for the device, and holds a lock that
    launches of other threads need.

What it looks like
    kernels  ####··············####
    thread   L [cuModuleLoadData]L

What to do
    Run each kernel and shape once before the loop that matters (warm up), or set
    CUDA_MODULE_LOADING=EAGER. PyTorch: warm up all input shapes; torch.compile(dynamic=True) or
    padding against recompilation; keep the caches of Triton and Inductor.

When this is wrong
    In the first steps it is normal: leave them out (--skip N). A program that meets new shapes for
    ever must bound their number first.
"""

from overlapcheck.causes import _facts
from overlapcheck.causes._base import IdleCause
from overlapcheck.ledger import Reason

CAUSE = IdleCause(
    reason=Reason.MODULE_LOAD,
    title="code is loaded or compiled for the device inside the loop",
    facts=(_facts.calls, _facts.environment("CUDA_MODULE_LOADING"), _facts.waits),
    advice="run every kernel once before the loop, or set CUDA_MODULE_LOADING=EAGER",
    advice_pytorch="warm up every input shape before the loop (pad against recompilation), or set"
    " CUDA_MODULE_LOADING=EAGER",
    caveat="these are warm-up steps: then leave them out with --skip",
)
