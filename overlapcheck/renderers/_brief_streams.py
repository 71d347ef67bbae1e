"""The streams of each device as one JSON object of less than 4 kB."""

from __future__ import annotations

import json
from typing import Any

from overlapcheck.brief import MOST_BYTES
from overlapcheck.renderers._brief_document import fitted
from overlapcheck.renderers._plain_text import device_text, window_text
from overlapcheck.report import DeviceReport, Report, StreamSummary

# Streams and devices that are told; of the last size even one stream a device fits.
_SIZES = ((20, 8), (10, 8), (5, 8), (3, 4), (1, 4))


def streams_text(report: Report) -> str:
    """What each device's busiest streams did in the window; what is left out is counted."""
    texts = (json.dumps(_document(report, *size), ensure_ascii=False) for size in _SIZES)
    return next(text for text in texts if len(text.encode()) < MOST_BYTES)


def _document(report: Report, streams: int, devices: int) -> dict[str, Any]:
    return {
        "kind": "streams",
        "devices": [_device(one, streams) for one in report.devices[:devices]],
        "devices_left_out": max(len(report.devices) - devices, 0),
    }


def _device(device: DeviceReport, most: int) -> dict[str, Any]:
    return {
        "device": fitted(device_text(device), 80),
        "judged": fitted(window_text(device), 120),
        "window_ns": device.window_ns,
        "streams": [_stream(one) for one in device.streams[:most]],
        "streams_left_out": max(device.streams_total - most, 0),
    }


def _stream(stream: StreamSummary) -> dict[str, Any]:
    return {
        "stream": stream.stream_id,
        "role": stream.role,
        "kind": stream.kind,
        "priority": stream.priority,
        "kernels": stream.kernels,
        "busy_ns": stream.busy_ns,
        "compute_ns": stream.compute_ns,
        "communication_ns": stream.communication_ns,
        "copy_ns": dict(stream.copy_ns),
    }
