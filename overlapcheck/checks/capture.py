"""Is the recording complete enough to prove anything?"""

from __future__ import annotations

from overlapcheck.capture_problem import CaptureProblem
from overlapcheck.columns import ABSENT
from overlapcheck.measurements import DeviceMeasurements, Measurements
from overlapcheck.quantities import percent
from overlapcheck.recorder import Content
from overlapcheck.verdict import Check, Outcome

NAME = "capture"


def problems_of(measured: Measurements, device: DeviceMeasurements) -> list[CaptureProblem]:
    """Problems that concern a device's process or the whole recording."""
    return [p for p in measured.problems if p.process in (device.process, ABSENT)]


def check_device(measured: Measurements, device: DeviceMeasurements) -> Check:
    """Complete, incomplete, or complete but for the content of graphs."""
    problems = problems_of(measured, device)
    if problems:
        more = f" (and {len(problems) - 1} more)" if len(problems) > 1 else ""
        return Check(
            NAME,
            device.key,
            Outcome.INCONCLUSIVE,
            None,
            None,
            problems[0].what + more,
            settle_with=problems[0].settle_with,
        )
    if device.opaque:
        share = device.opaque.total_ns / max(device.length_ns, 1)
        return Check(
            NAME,
            device.key,
            Outcome.INCONCLUSIVE,
            None,
            None,
            f"graph launches of unknown content fill {percent(share)} of the window",
            settle_with=measured.recorder.record_again(Content.GRAPH_NODES),
        )
    unseen = [one.what for one in measured.not_known if one.process == device.process]
    return Check(NAME, device.key, Outcome.PASS, None, None, "; ".join(["complete", *unseen]))


def check_report(measured: Measurements) -> list[Check]:
    """What keeps processes without any device to judge from being judged."""
    processes = measured.processes
    judged = {device.process for device in measured.devices}
    if judged:
        judged.add(ABSENT)  # told with each device
    return [
        Check(
            NAME,
            None,
            Outcome.INCONCLUSIVE,
            None,
            None,
            f"process {processes[problem.process].key.pid}: {problem.what}"
            if judged
            else problem.what,
            settle_with=problem.settle_with,
        )
        for problem in measured.problems
        if problem.process not in judged
    ]
