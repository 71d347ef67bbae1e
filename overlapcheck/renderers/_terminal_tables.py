"""The numbers of one device: copies, steps, gaps, blocking calls, streams."""

from __future__ import annotations

from rich.text import Text

from overlapcheck.device_report import (
    BlockingSummary,
    CopySummary,
    DeviceReport,
    GapSummary,
    Spread,
    StepSummary,
    StreamSummary,
)
from overlapcheck.quantities import bandwidth, count_of, duration, percent, seconds, size
from overlapcheck.renderers._terminal_text import (
    DIM,
    INDENT,
    Cell,
    clip_middle,
    paragraph,
    styled,
    table,
    text_of,
)
from overlapcheck.renderers.formats.page import most

MAX_ROWS = 3
MAX_STREAMS = 8

_LABEL = 9
_WITHIN_DEVICE = "d2d"
"""Uses no link, so it has nothing to hide: listed without overlap and ceiling."""


def time_lines(device: DeviceReport) -> list[Text]:
    """How the window divides."""
    parts = [f"compute {duration(device.compute_ns)}", f"no compute {duration(device.idle_ns)}"]
    if device.opaque_ns:
        parts[0] += f" (opaque graphs {duration(device.opaque_ns)})"
    if device.stalled_ns:
        parts[0] += f", in {duration(device.stalled_ns)} of it kernels wait for pages"
    if device.communication_ns:
        parts.append(
            f"collectives {duration(device.communication_ns)}, of which "
            f"{duration(device.communication_hidden_ns)} under compute"
        )
    return paragraph(styled("time", DIM), "; ".join(parts), hang=_LABEL)


def copy_line(device: DeviceReport) -> list[Text]:
    """All copies in a line, for a report that has nothing to complain of."""
    said = [
        f"{copies.count} {direction} ({size(copies.bytes)} in {duration(copies.copy_ns)}"
        f"{_speed(direction, copies)}{_pageable(copies)})"
        for direction, copies in device.copies.items()
    ]
    text = ", ".join(said) or "none in the window"
    return paragraph(styled("copies", DIM), text, hang=_LABEL)


def _speed(direction: str, copies: CopySummary) -> str:
    speed = bandwidth(copies.bytes, copies.copy_ns)
    # A few bytes say nothing about a link.
    return "" if direction == _WITHIN_DEVICE or speed.startswith("0.0 ") else f", {speed}"


def _pageable(copies: CopySummary) -> str:
    return f", {copies.pageable_count} pageable" if copies.pageable_count else ""


def copy_table(device: DeviceReport) -> list[Text]:
    """Copies by direction, what of them was hidden, and how much could be."""
    if not device.copies:
        return copy_line(device)
    head = ("copies", "count", "size", "time", "hidden", "overlap", "ceiling", "GB/s", "pageable")
    rows: list[tuple[Cell, ...]] = [head]
    for direction, copies in device.copies.items():
        judged = direction != _WITHIN_DEVICE
        rows.append(
            (
                direction,
                str(copies.count),
                size(copies.bytes),
                duration(copies.copy_ns),
                duration(copies.hidden_ns) if judged else "-",
                percent(copies.overlap) if judged else "-",
                percent(copies.ceiling) if judged else "-",
                bandwidth(copies.bytes, copies.copy_ns).removesuffix(" GB/s") if judged else "-",
                str(copies.pageable_count),
            )
        )
    return table(rows, "lrrrrrrrr")


def migration_lines(device: DeviceReport) -> list[Text]:
    """Unified-memory traffic, where there is any."""
    moved = device.migrations
    if not moved.count:
        return []
    text = (
        f"memory migrated {count_of(moved.count, 'time')}: {size(moved.bytes)} in "
        f"{duration(moved.busy_ns)}; not part of any overlap"
    )
    return paragraph(styled("unified", DIM), text, hang=_LABEL)


def step_table(steps: StepSummary) -> list[Text]:
    """Median, 95th percentile and worst of the steps."""
    rows: list[tuple[Cell, ...]] = [("per step", "median", "p95", "worst", "worst is")]
    for name, spread in (
        ("length", steps.step),
        ("compute", steps.compute),
        ("no compute", steps.idle),
        ("exposed copy", steps.exposed_copy),
    ):
        rows.append((name, *_spread(spread)))
    return table(rows, "lrrrl")


def _spread(spread: Spread) -> tuple[str, str, str, str]:
    return (
        duration(spread.median_ns),
        duration(spread.p95_ns),
        duration(spread.worst_ns),
        f"step {spread.worst_step}" if spread.worst_ns else "-",
    )


def gap_table(device: DeviceReport) -> list[Text]:
    """The longest times without compute and the kernels around them."""
    if not device.gaps:
        return []
    head = ("gap", "at", "copying", "after kernel", "before kernel")
    rows: list[tuple[Cell, ...]] = [head]
    rows += [_gap(gap, device) for gap in device.gaps[: most(MAX_ROWS)]]
    return [
        _title(
            "largest gaps without compute", min(most(MAX_ROWS), len(device.gaps)), device.gaps_total
        ),
        *table(rows, "rrrll", flexible=(3, 4)),
    ]


def _gap(gap: GapSummary, device: DeviceReport) -> tuple[Cell, ...]:
    # Graph launches recorded as a whole have no kernel name.
    before = gap.before or (
        "(window begins)" if gap.start_ns <= device.window.start_ns else "(graph launch)"
    )
    after = gap.after or (
        "(window ends)" if gap.end_ns >= device.window.end_ns else "(graph launch)"
    )
    return (
        duration(gap.end_ns - gap.start_ns),
        seconds(gap.start_ns),
        duration(gap.copy_ns) if gap.copy_ns else "-",
        before,
        after,
    )


def blocking_table(device: DeviceReport) -> list[Text]:
    """The calls that held a thread longest while the device had nothing to do."""
    if not device.blocking:
        return []
    rows: list[tuple[Cell, ...]] = [
        ("call", "thread", "calls", "held", "no compute", "longest"),
        *(_call(call) for call in device.blocking[: most(MAX_ROWS)]),
    ]
    shown = min(most(MAX_ROWS), len(device.blocking))
    return [
        _title("costliest blocking calls", shown, device.blocking_total),
        *table(rows, "llrrrr", flexible=(0, 1)),
    ]


def _call(call: BlockingSummary) -> tuple[Cell, ...]:
    return (
        clip_middle(call.api, 36),
        clip_middle(call.thread, 16) or str(call.tid),
        str(call.count),
        duration(call.total_ns),
        duration(call.idle_ns) if call.idle_ns else "-",
        duration(call.longest_ns),
    )


def stream_table(device: DeviceReport) -> list[Text]:
    """Streams, what they do, and how they relate to the null stream."""
    if not device.streams:
        return []
    rows: list[tuple[Cell, ...]] = [("stream", "role", "kind", "priority", "kernels", "busy")]
    rows += [_stream(stream) for stream in device.streams[: most(MAX_STREAMS)]]
    lines = table(rows, "lllrrr")
    hidden = device.streams_total - min(most(MAX_STREAMS), len(device.streams))
    if hidden > 0:
        lines.append(text_of(" " * INDENT, styled(f"and {count_of(hidden, 'more stream')}", DIM)))
    return lines


def _stream(stream: StreamSummary) -> tuple[Cell, ...]:
    directions = " ".join(d for d, ns in stream.copy_ns.items() if ns and d != _WITHIN_DEVICE)
    role = {"communication": "collectives"}.get(stream.role, stream.role)
    return (
        f"s{stream.stream_id}",
        f"{role} {directions}" if stream.role == "copy" and directions else role,
        f"{stream.kind} stream" if stream.kind == "null" else stream.kind,
        str(stream.priority) if stream.priority is not None else "-",
        str(stream.kernels),
        duration(stream.busy_ns),
    )


def _title(what: str, shown: int, total: int) -> Text:
    rest = f" ({shown} of {total})" if total > shown else ""
    return text_of(" " * INDENT, styled(what + rest, DIM))
