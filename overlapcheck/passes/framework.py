"""Which framework a program uses, so that advice can use its words."""

from __future__ import annotations

import re

from overlapcheck.columns import ABSENT
from overlapcheck.grouping import distinct
from overlapcheck.measurements import Framework
from overlapcheck.trace import Trace, rows_or_none
from overlapcheck.trace_tables import Directives, Kernels

# Kernel templates of PyTorch's native library and optimisers; threads that only PyTorch names so.
_PYTORCH_KERNEL = re.compile(
    r"at::native|vectorized_elementwise_kernel|multi_tensor_apply_kernel"
    r"|unrolled_elementwise_kernel|triton_(poi|red|per)_"
)
_PYTORCH_THREAD = re.compile(r"pt_(autograd|main|nccl|elastic|data)")
_CUPY_KERNEL = re.compile(r"^cupy_")
# Names that nvfortran, nvc++, LLVM and GCC give to offloaded regions.
_DIRECTIVE_KERNEL = re.compile(r"^nvkernel_|^__omp_offloading_|_\d+_gpu(__red)?$|\$_omp_fn\$\d+$")


def framework(trace: Trace) -> Framework:
    """The framework that kernel and thread names give away; CUDA where none does."""
    kernels = rows_or_none(trace.kernels, Kernels)
    names = [trace.strings.text(i) for i in distinct(kernels.name_id).tolist()]
    if any(_PYTORCH_KERNEL.search(name) for name in names) or any(
        _PYTORCH_THREAD.match(name) for name in trace.thread_names.values()
    ):
        return Framework.PYTORCH
    if any(_CUPY_KERNEL.match(name) for name in names):
        return Framework.CUPY
    of_directives = sum(bool(_DIRECTIVE_KERNEL.search(name)) for name in names)
    places = rows_or_none(trace.directives, Directives).file_id
    if 2 * of_directives > len(names) or (places != ABSENT).any():
        return Framework.DIRECTIVES
    return Framework.CUDA
