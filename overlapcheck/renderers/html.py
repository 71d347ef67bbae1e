"""The report as one self-contained page, with a timeline to zoom into."""

from __future__ import annotations

from typing import Any

from overlapcheck.device_report import DeviceReport
from overlapcheck.quantities import count_of
from overlapcheck.renderers import _html_causes as causes
from overlapcheck.renderers import _html_head as head
from overlapcheck.renderers import _html_streams as streams
from overlapcheck.renderers._html_markup import Html, el, html
from overlapcheck.renderers._html_page import header, page
from overlapcheck.renderers._html_stream_marks import wait_instances
from overlapcheck.renderers._html_tables import tables
from overlapcheck.renderers._html_timeline import TIMELINE_SCRIPTS, timeline_block, timeline_data
from overlapcheck.report import Report
from overlapcheck.verdict import Outcome

SCRIPTS = (*TIMELINE_SCRIPTS, "search.js", "address.js", "theme.js", "page.js")
_ORDER = (Outcome.FAIL, Outcome.INCONCLUSIVE, Outcome.PASS)
_OPEN_DEVICES = 2
"""Devices shown unfolded where there are several, the worst first."""


class HtmlRenderer:
    """See `Renderer`."""

    name = "html"
    suffix = ".html"
    draws_timeline = True

    def render(self, report: Report, /) -> str:
        """See `Renderer.render`."""
        devices = sorted(report.devices, key=lambda d: _ORDER.index(_outcome(report, d)))
        return page(
            f"{report.verdict.outcome.value} {report.capture.report}",
            _body(report, devices),
            styles=("style.css",),
            scripts=SCRIPTS,
            data=[_data(report, device) for device in devices],
        )


def _body(report: Report, devices: list[DeviceReport]) -> Html:
    known = {head.key_of(device) for device in devices}
    general = tuple(check for check in report.verdict.checks if check.device not in known)
    return html(
        header(
            report.tool_version,
            report.capture.report,
            head.verdict_block(report),
            head.facts_block(report),
        ),
        el(
            "main",
            head.checks_table(general),
            _contents(report, devices) if len(devices) > 1 else None,
            *(_device(report, d, n, len(devices)) for n, d in enumerate(devices)),
            head.problems_block(report),
        ),
        el("footer", el("p", _footer(report), cls="dim")),
    )


def _outcome(report: Report, device: DeviceReport) -> Outcome:
    return report.verdict.of_device(head.key_of(device)).outcome


def _title(device: DeviceReport) -> str:
    name = f", {device.name}" if device.name else ""
    return f"device {device.device}{name}, process {device.process.removeprefix('process ')}"


def _contents(report: Report, devices: list[DeviceReport]) -> Html:
    links = [
        el("li", head.badge(_outcome(report, d)), " ", el("a", _title(d), href=f"#device-{n}"))
        for n, d in enumerate(devices)
    ]
    return el("nav", el("ol", *links), aria_label="devices")


def _device(report: Report, device: DeviceReport, number: int, devices: int) -> Html:
    key = head.key_of(device)
    outcome = _outcome(report, device)
    findings = [found for found in report.findings if found.device == key]
    title = el("h2", _title(device))
    window = el("p", head.window_text(device.window, device.window_ns), cls="window")
    content = html(
        window,
        el("p", device.pace.told, cls="window") if device.pace and device.pace.told else None,
        head.figures(device),
        *(el("p", f"Note: {note}", cls="note") for note in device.notes),
        head.checks_table(report.verdict.of_device(key).checks),
        timeline_block(device, number),
        _streams(report, device),
        causes.ledger_block(device, number),
        causes.findings_block(findings),
        tables(device),
    )
    facts = {"cls": "device", "id": f"device-{number}", "data_device": str(number)}
    if devices == 1:
        return el("section", title, content, **facts)
    folded = el("summary", head.badge(outcome), title)
    return el("details", folded, content, **facts, open=number < _OPEN_DEVICES)


def _data(report: Report, device: DeviceReport) -> dict[str, Any] | None:
    """What the script draws of a device; None without a timeline."""
    if device.timeline is None:
        return None
    key = head.key_of(device)
    own = (found.cause for found in report.findings if found.device == key)
    rank = {cause: number for number, cause in enumerate(own, 1)}
    data = timeline_data(device.timeline, rank)
    graph = streams.graph_of(report.streams, device.process)
    if graph is not None:
        data["instances"] += wait_instances(graph, device.timeline)
    return data


def _streams(report: Report, device: DeviceReport) -> Html | None:
    graph = streams.graph_of(report.streams, device.process)
    if report.streams is None or graph is None:
        return None
    return streams.streams_block(report.streams, graph, device.timeline)


def _footer(report: Report) -> str:
    checks = count_of(len(report.verdict.checks), "check")
    schema = report.capture.schema_version or "unknown"
    return f"overlapcheck {report.tool_version}, {checks}; export schema {schema}"


RENDERER = HtmlRenderer()
