"""The steady steps of a measured device, as far as its recording tells."""

from __future__ import annotations

from overlapcheck.measurements import DeviceMeasurements
from overlapcheck.passes.process import process_tables
from overlapcheck.passes.replay.steps import step_graph
from overlapcheck.step_graph import StepGraph
from overlapcheck.trace import Trace


def device_graph(
    trace: Trace, device: DeviceMeasurements, most_operations: int
) -> StepGraph | None:
    """The last steady steps of a device; None where there are too few to tell their pace.

    Args:
        trace: what the device was measured from.
        device: its measurements.
        most_operations: steps that together hold more are not all replayed: the last ones are.
    """
    (process,) = process_tables(trace, [device.process])
    return step_graph(process, device.order, device.steps, trace.gpu(device.key), most_operations)
