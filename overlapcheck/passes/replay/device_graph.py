"""The steady steps of a measured device, as far as its recording tells."""

from __future__ import annotations

import numpy as np

from overlapcheck.errors import NoSteadySteps
from overlapcheck.measurements import DeviceMeasurements, Measurements
from overlapcheck.passes.process import process_tables
from overlapcheck.passes.replay.steps import step_graph
from overlapcheck.step_graph import StepGraph
from overlapcheck.trace import Trace

MOST_OPERATIONS = 20_000
"""Of steps that together hold more, the last ones are replayed."""
MOST_OF_LONG_STEPS = 500_000
"""The same where not even a few steps hold so few."""


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
    return step_graph(process, device, trace.gpu(device.key), most_operations)


def slowest(
    name: str, trace: Trace, measured: Measurements
) -> tuple[DeviceMeasurements, StepGraph]:
    """The device with the longest steps, and those.

    Args:
        name: of the recording, for the error.
        trace: the recording.
        measured: of it.

    Raises:
        NoSteadySteps: no device has enough steps.
    """
    with_steps = [one for one in measured.devices if len(one.steps)]
    for device in sorted(with_steps, key=lambda one: -float(np.median(one.steps.step_ns))):
        graph = device_graph(trace, device, MOST_OPERATIONS)
        graph = graph or device_graph(trace, device, MOST_OF_LONG_STEPS)
        if graph is not None:
            return device, graph
    raise NoSteadySteps(
        f"{name}: no steady steps to replay",
        "name the steps with NVTX ranges ('step 1', 'step 2' ...), or say which they are: --steps",
    )
