"""The window as Chrome trace JSON, to be opened in ui.perfetto.dev.

A device is a process, a row of its timeline (stream, thread) a thread. The ledger has a track of
its own: the durations on it add up to `devices[].ledger`, cause by cause, to the nanosecond.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from overlapcheck.device_report import DeviceReport
from overlapcheck.errors import PolicyInvalid
from overlapcheck.measurements import DeviceMeasurements, Names
from overlapcheck.quantities import bandwidth
from overlapcheck.renderers._perfetto_ledger import MOST_PIECES, ledger_slices
from overlapcheck.renderers._perfetto_slices import Slice, Track, in_lanes, trace_text
from overlapcheck.renderers._plain_text import device_text, headline, key_of, plain
from overlapcheck.report import Report
from overlapcheck.timeline import EventKind, RowRole, Timeline

_LEDGER, _STEPS, _FIRST_ROW = 1, 2, 3
"""Thread numbers within a device."""
_MAX_LANES = 64
"""Tracks that one row may need where its events overlap."""


class PerfettoRenderer:
    """See `Renderer`."""

    name = "perfetto"
    suffix = ".perfetto.json"
    draws_timeline = True

    def render(self, report: Report, /) -> str:
        """See `Renderer.render`.

        Raises:
            PolicyInvalid: the report was read back from a result, which holds no events.
        """
        measured = report.measurements
        if measured is None or any(device.timeline is None for device in report.devices):
            raise PolicyInvalid(
                "the perfetto format draws every event, and a saved result holds none",
                "write it where the trace is: overlapcheck analyze REPORT -o trace.perfetto.json",
            )
        most = MOST_PIECES // max(len(report.devices), 1)
        by_key = {device.key: device for device in measured.devices}
        tracks = [
            track
            for number, device in enumerate(report.devices, 1)
            for track in _tracks(number, device, by_key[key_of(device)], measured.names, most)
        ]
        processes = [device_text(device) for device in report.devices]
        return trace_text(_about(report), processes, tracks)


def _about(report: Report) -> dict[str, Any]:
    drawn = [device.timeline for device in report.devices if device.timeline]
    coarsest = max((timeline.resolution_ns for timeline in drawn), default=0)
    return {
        "tool": f"overlapcheck {report.tool_version}",
        "verdict": f"{report.verdict.outcome.value}: {headline(report)}",
        "report": plain(report.capture.report),
        "events_recorded": sum(timeline.recorded for timeline in drawn),
        "merged": f"neighbours within {coarsest} ns are one slice" if coarsest else "nothing",
        "rows_left_out": sum(timeline.rows_left_out for timeline in drawn),
        **({"moved_thresholds": report.moved} if report.moved else {}),
    }


def _tracks(
    pid: int, device: DeviceReport, measured: DeviceMeasurements, names: Names, most: int
) -> Iterator[Track]:
    slices = ledger_slices(measured, names, most)
    yield Track(pid, _LEDGER, "time without compute, by cause", "ledger", slices)
    timeline = device.timeline
    if timeline is None:
        return
    yield Track(pid, _STEPS, "steps", "step", _steps(timeline))
    for row, slices in enumerate(_rows(timeline)):
        about = timeline.rows[row]
        if about.role is RowRole.CAUSES:
            continue
        kind = "host" if about.role in (RowRole.THREAD, RowRole.RANGES) else "device"
        title = plain(f"{about.label} ({about.note})", 120)
        for lane, part in enumerate(in_lanes(slices, _MAX_LANES)):
            tid = _FIRST_ROW + row * _MAX_LANES + lane
            yield Track(pid, tid, title if lane == 0 else f"{title}, beside it", kind, part)


def _steps(timeline: Timeline) -> list[Slice]:
    steps = timeline.steps
    return [
        Slice(plain(timeline.step_name.replace("#", str(number)), 120), start, end)
        for number, start, end in zip(
            steps.number.tolist(), steps.start_ns.tolist(), steps.end_ns.tolist(), strict=True
        )
    ]


def _rows(timeline: Timeline) -> list[list[Slice]]:
    """The events of each row, by start."""
    rows: list[list[Slice]] = [[] for _ in timeline.rows]
    events = timeline.events
    columns = (events.row, events.start_ns, events.end_ns, events.kind, events.name, events.count)
    more = (events.busy_ns, events.bytes)
    table = zip(*(column.tolist() for column in (*columns, *more)), strict=True)
    names = [plain(name, 200) for name in timeline.names]
    for row, start, end, kind, name, count, busy, moved in table:
        if kind < EventKind.IDLE:
            args = _args(kind, count, busy, moved)
            rows[row].append(Slice(names[name] or "(no name)", start, end, args))
    return rows


def _args(kind: int, count: int, busy_ns: int, moved: int) -> dict[str, Any]:
    args: dict[str, Any] = {"kind": EventKind(kind).name.lower()}
    if count > 1:
        args |= {"merged": count, "busy_ns": busy_ns}
    if moved:
        args |= {"bytes": moved, "speed": bandwidth(moved, busy_ns)}
    return args


RENDERER = PerfettoRenderer()
