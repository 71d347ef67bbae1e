"""What a control recording says: the NVTX ranges of a program, recorded with nothing else."""

from __future__ import annotations

from overlapcheck.pace import Control
from overlapcheck.trace import Trace, rows_or_none
from overlapcheck.trace_tables import ApiCalls, Copies, Kernels, Ranges


def control_of(name: str, trace: Trace) -> Control:
    """What of a recording a control is used for.

    Args:
        name: of its file.
        trace: the recording; that nothing of CUDA is in it is what makes it a control.
    """
    cuda = (
        rows_or_none(trace.kernels, Kernels),
        rows_or_none(trace.copies, Copies),
        rows_or_none(trace.api_calls, ApiCalls),
    )
    return Control(
        name,
        rows_or_none(trace.ranges, Ranges),
        trace.strings,
        records_cuda=any(len(table) for table in cuda),
    )
