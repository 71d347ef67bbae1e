"""Limits on the device time of NVTX ranges: the checks of the window, asked of a part of it."""

from __future__ import annotations

import re
from dataclasses import replace

from overlapcheck.checks.overlap import check_overlap
from overlapcheck.checks.shares import check_shares
from overlapcheck.grouping import distinct
from overlapcheck.measurements import DeviceMeasurements, Measurements
from overlapcheck.nearest import nearest
from overlapcheck.quantities import count_of
from overlapcheck.recorder import Content
from overlapcheck.thresholds import Thresholds
from overlapcheck.time_use import RangeUse
from overlapcheck.verdict import Check, Limits, Outcome, Policy

MAX_NAMES = 3
"""Names told that an unknown one may have meant."""
MAX_ASKED = 1000
"""Names compared with it: a million would take minutes, and the recorder lists them all."""


def check_ranges(device: DeviceMeasurements, measured: Measurements, policy: Policy) -> list[Check]:
    """The checks of every range that has limits, named like those of the window.

    No data is never a pass: a range that is not in the recording, or launched no work that runs
    in the window, is INCONCLUSIVE.
    """
    parts = {part.pattern: part for part in device.ranges}
    checks = []
    for pattern, limits in policy.ranges.items():
        part = parts.get(pattern)
        checks += (
            _inside(part, limits, measured.thresholds)
            if part is not None and part.time
            else [_not_there(device, pattern, part, limits, measured)]
        )
    return checks


def _inside(part: RangeUse, limits: Limits, granted: Thresholds) -> list[Check]:
    overlaps = check_overlap(part, limits, granted)
    if not overlaps and (limits.min_overlap is not None or limits.overlap_of):
        overlaps = [Check("overlap", part.key, Outcome.PASS, None, None, "no copies to hide in it")]
    checks = [*overlaps, *check_shares(part, limits)]
    return [replace(check, name=f"{check.name} in '{part.pattern}'") for check in checks]


def _not_there(
    device: DeviceMeasurements,
    pattern: str,
    part: RangeUse | None,
    limits: Limits,
    measured: Measurements,
) -> Check:
    if part is None:
        reason = "it was not measured"
        settle_with = "name it in Selection.ranges too (overlapcheck.analyze does)"
    elif part.closed:
        instances = count_of(part.closed, "instance")
        reason = f"its {instances} launched no work of this device that runs in the window"
        settle_with = (
            "name the range around the launches, or judge more: --skip 0, --window, --device"
        )
    else:
        names = _likely_names(pattern, measured, device.process)
        reason = "no closed NVTX range of the process has this name"
        recorder = measured.recorder
        settle_with = (
            f"name one that it has, {', '.join(names)}; all: {recorder.list_ranges}"
            if names
            else f"mark the code with NVTX ranges, and {recorder.record_again(Content.RANGES)}"
        )
    return Check(
        f"range '{pattern}'",
        device.key,
        Outcome.INCONCLUSIVE,
        None,
        None,
        reason,
        settle_with=settle_with,
        limit_from=limits.origin(*limits.origins),
    )


def _likely_names(pattern: str, measured: Measurements, process: int) -> list[str]:
    """Names of a process's ranges like the one that was asked for, else any; digits as *."""
    ids = distinct(measured.ranges.name_id[measured.ranges.process == process])[:MAX_ASKED].tolist()
    names = [re.sub(r"\d+", "*", measured.names.strings.text(name_id)) for name_id in ids]
    families = list(dict.fromkeys(filter(None, names)))
    likely = nearest(pattern, families, MAX_NAMES) or families[:MAX_NAMES]
    return [f"'{name}'" for name in likely]
