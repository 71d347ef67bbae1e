"""Whose words advice uses is told by names of kernels and threads."""

from __future__ import annotations

import pytest

from overlapcheck.measurements import Framework
from tests.pictures import picture


@pytest.mark.parametrize(
    ("kernel", "framework"),
    [
        ("void at::native::vectorized_elementwise_kernel<4>", Framework.PYTORCH),
        ("triton_poi_fused_add_0", Framework.PYTORCH),
        ("cupy_add", Framework.CUPY),
        ("my_cupy_add", Framework.CUDA),
        ("gemm", Framework.CUDA),
    ],
)
def test_names_of_kernels_tell_the_framework(kernel: str, framework: Framework) -> None:
    text = f"s7 kernel {kernel} |.a|\nt1 cudaLaunchKernel |a.|"

    assert picture(text).measure().framework is framework


@pytest.mark.parametrize(
    ("thread", "framework"),
    [("pt_autograd_0", Framework.PYTORCH), ("apt_autograd_0", Framework.CUDA)],
)
def test_names_of_threads_tell_it_too(thread: str, framework: Framework) -> None:
    text = "s7 kernel gemm |.a|\nt1 cudaLaunchKernel |a.|"

    assert picture(text, threads={"t1": thread}).measure().framework is framework


@pytest.mark.parametrize(
    ("second", "third", "framework"),
    [
        ("nvkernel_init_F1L7", "gemm", Framework.DIRECTIVES),
        ("__omp_offloading_10_main_l9", "gemm", Framework.DIRECTIVES),
        ("solve_12_gpu", "gemm", Framework.DIRECTIVES),
        ("axpy", "gemm", Framework.CUDA),
        ("axpy", "axpy", Framework.CUDA),
    ],
)
def test_most_kernels_must_be_of_directives(second: str, third: str, framework: Framework) -> None:
    """Two of three are, one of three or half of two are not."""
    text = f"""
    s7 kernel main_40_gpu |aa....|
    s7 kernel {second}    |..bb..|
    s7 kernel {third}     |....cc|
    """

    assert picture(text).measure().framework is framework


def test_recorded_directives_tell_it_whatever_the_kernels_are_called() -> None:
    text = """
    s7 kernel gemm                          |..aaa|
    t1 cuLaunchKernel                       |.a...|
    t1 acc acc_compute_construct solve.c:12 |bbb..|
    """

    assert picture(text).measure().framework is Framework.DIRECTIVES
