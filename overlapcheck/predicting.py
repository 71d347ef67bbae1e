"""The order of the stages of a prediction, which goes on where an analysis has measured.

What only `predict` tells is imported there: an analysis forecasts, too.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from overlapcheck.finding import MATERIAL_SHARE
from overlapcheck.forecast import Forecast
from overlapcheck.kinds import DeviceKey
from overlapcheck.measurements import DeviceMeasurements, Measurements
from overlapcheck.passes.replay.device_graph import device_graph, slowest
from overlapcheck.pipeline import at_own_pace, measure, read_trace
from overlapcheck.reading import Reading
from overlapcheck.selection import Selection
from overlapcheck.trace import Trace
from overlapcheck.whatif.forecast import forecast
from overlapcheck.whatif.predict import Predictor
from overlapcheck.whatif.repairs.late_rank import LATE_RANK
from overlapcheck.whatif.replay import BeyondAllClocks, Circular

if TYPE_CHECKING:
    from overlapcheck.predicted import WhatIf

MOST_RANKED_BY = 4_000
"""Operations that are replayed to rank causes, over all devices: an analysis must not take much
longer for it."""


def forecasts_of(trace: Trace, measured: Measurements) -> dict[DeviceKey, Forecast]:
    """What repairs would win on each device of which enough is idle to win anything.

    A few steps are replayed; devices whose steps are too long to replay a few have no forecast.
    """
    waiting = [
        device
        for device in measured.devices
        if len(device.steps) and device.idle_ns >= MATERIAL_SHARE * device.length_ns
    ]
    if not waiting:
        return {}
    most = MOST_RANKED_BY // len(waiting)
    graphs = [(device, device_graph(trace, device, most)) for device in waiting]
    found = {}
    for device, graph in graphs:
        # Rows of calls that cannot be as they are may wait for each other: they are not replayed.
        with suppress(Circular, BeyondAllClocks):
            if graph is not None:
                predictor = Predictor.of(graph, _own_ns(device))
                found[device.key] = forecast(device, predictor, chains=False)
    return found


def _own_ns(device: DeviceMeasurements) -> int | None:
    """The program's own step on a device, where it is known."""
    return device.pace.own_ns if device.pace else None


def predict(
    path: str | Path,
    *,
    fix: Sequence[str] = (),
    control: Sequence[str | Path] = (),
    selection: Selection | None = None,
    reading: Reading | None = None,
) -> WhatIf:
    """Predict what repairing causes would win, by replaying the steady steps without them.

    Args:
        path: a recording, see `read_trace`.
        fix: ids of causes to repair together; none takes every repair, and the best of them.
        control: see `analyze`; wins are then of the program's own pace.
        selection: what part to measure; of several devices, the one with the longest steps counts,
            for a late rank the one that waits longest for it.
        reading: how it is read, and who is told meanwhile.

    Raises:
        NoSteadySteps: there are too few steps to tell a pace.
        PolicyInvalid: no repair is known for a cause.
        OverlapcheckError: one line that names the file and what to do.
    """
    from overlapcheck.whatif.told import drawn, require_known, told

    require_known(fix)
    reading, selection = reading or Reading(), selection or Selection()
    trace = read_trace(path, reading=reading, window_ns=selection.window_ns)
    reading.progress(f"measuring {Path(path).name}")
    measured = at_own_pace(measure(trace, selection), control, selection, reading)
    waiting = LATE_RANK in fix
    device, graph = slowest(Path(path).name, trace, measured, waiting=waiting)
    reading.progress(f"replaying {Path(path).name}")
    predictor = Predictor.of(graph, _own_ns(device))
    asked = predictor.forced(fix) if fix else None
    found = drawn(told(trace, measured, forecast(device, predictor), asked), predictor)
    return replace(found, report=str(Path(path).absolute()))


def verified(
    found: WhatIf,
    after: str | Path,
    *,
    selection: Selection | None = None,
    reading: Reading | None = None,
) -> WhatIf:
    """What was predicted, beside what a recording of the repaired program shows.

    Args:
        found: the prediction.
        after: that recording.
        selection: what part of it to measure.
        reading: how it is read, and who is told meanwhile.

    Raises:
        OverlapcheckError: as of `predict`.
    """
    from overlapcheck.whatif.told import checked

    trace, name = read_trace(after, reading=reading), Path(after).name
    _, graph = slowest(name, trace, measure(trace, selection))
    return checked(found, name, Predictor.of(graph).step_ns)
