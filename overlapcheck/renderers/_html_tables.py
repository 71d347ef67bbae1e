"""The numbers of one device: copies, steps, gaps, blocking calls, streams."""

from __future__ import annotations

from overlapcheck.device_report import CopySummary, DeviceReport, GapSummary, Spread, StepSummary
from overlapcheck.quantities import bandwidth, count_of, duration, percent, seconds, size
from overlapcheck.renderers._html_markup import Child, Html, el, table

_WITHIN_DEVICE = "d2d"
"""Uses no link, so it has nothing to hide: listed without overlap and ceiling."""
_NONE = "\u2013"
MAX_GAPS = 10
"""The report has more; after ten they repeat themselves."""


def tables(device: DeviceReport) -> Html:
    """All tables; a table without rows is left out."""
    found = (
        copy_table(device),
        _steps(device.steps) if device.steps else None,
        _blocking(device),
        _gaps(device),
        _streams(device),
    )
    return el("div", *found, cls="tables")


def copy_table(device: DeviceReport) -> Html:
    """Copies by direction, what of them was hidden, and how much could be."""
    if not device.copies and not device.migrations.count:
        return el("p", "No copies in the window.", cls="dim")
    head = (
        "copies",
        "count",
        "size",
        "time",
        "hidden",
        "exposed",
        "overlap",
        "ceiling",
        "GB/s",
        "pageable",
    )
    rows = [_copies(direction, copies) for direction, copies in device.copies.items()]
    moved = device.migrations
    if moved.count:
        speed = bandwidth(moved.bytes, moved.busy_ns).removesuffix(" GB/s")
        numbers = (str(moved.count), size(moved.bytes), duration(moved.busy_ns))
        rows.append(("unified memory", *numbers, *(_NONE,) * 4, speed, _NONE))
    return table(head, rows, "lrrrrrrrrr", "Copies by direction")


def _copies(direction: str, copies: CopySummary) -> tuple[Child, ...]:
    judged = direction != _WITHIN_DEVICE
    link: tuple[Child, ...] = (
        duration(copies.hidden_ns),
        duration(copies.exposed_ns),
        percent(copies.overlap),
        percent(copies.ceiling),
        bandwidth(copies.bytes, copies.copy_ns).removesuffix(" GB/s"),
    )
    return (
        el("b", direction),
        str(copies.count),
        size(copies.bytes),
        duration(copies.copy_ns),
        *(link if judged else (_NONE,) * len(link)),
        str(copies.pageable_count),
    )


def _steps(steps: StepSummary) -> Html:
    rows = [
        (name, *_spread(spread))
        for name, spread in (
            ("length", steps.step),
            ("compute", steps.compute),
            ("no compute", steps.idle),
            ("exposed copy", steps.exposed_copy),
        )
    ]
    head = ("per step", "median", "p95", "worst", "worst is")
    return table(head, rows, "lrrrl", f"Per step, of {count_of(steps.count, 'step')}")


def _spread(spread: Spread) -> tuple[str, str, str, str]:
    worst = f"step {spread.worst_step}" if spread.worst_ns else _NONE
    return duration(spread.median_ns), duration(spread.p95_ns), duration(spread.worst_ns), worst


def _blocking(device: DeviceReport) -> Html | None:
    rows: list[tuple[Child, ...]] = [
        (
            el("code", call.api),
            call.thread or str(call.tid),
            str(call.count),
            duration(call.total_ns),
            duration(call.idle_ns) if call.idle_ns else _NONE,
            duration(call.longest_ns),
        )
        for call in device.blocking
    ]
    head = ("call", "thread", "calls", "held", "no compute", "longest")
    caption = _titled("Calls that held a thread", len(rows), device.blocking_total)
    return table(head, rows, "nnrrrr", caption) if rows else None


def _gaps(device: DeviceReport) -> Html | None:
    rows = [_gap(gap, device) for gap in device.gaps[:MAX_GAPS]]
    head = ("gap", "at", "copying", "after kernel", "before kernel")
    caption = _titled("Largest gaps without compute", len(rows), device.gaps_total)
    return table(head, rows, "rrrnn", caption) if rows else None


def _gap(gap: GapSummary, device: DeviceReport) -> tuple[Child, ...]:
    # Graph launches recorded as a whole have no kernel name.
    first, last = gap.start_ns <= device.window.start_ns, gap.end_ns >= device.window.end_ns
    before = gap.before or ("(window begins)" if first else "(graph launch)")
    after = gap.after or ("(window ends)" if last else "(graph launch)")
    return (
        duration(gap.end_ns - gap.start_ns),
        seconds(gap.start_ns),
        duration(gap.copy_ns) if gap.copy_ns else _NONE,
        el("code", before),
        el("code", after),
    )


def _streams(device: DeviceReport) -> Html | None:
    rows: list[tuple[Child, ...]] = [
        (
            el("b", f"s{stream.stream_id}"),
            {"communication": "collectives"}.get(stream.role, stream.role),
            stream.kind,
            str(stream.priority) if stream.priority is not None else _NONE,
            str(stream.kernels),
            duration(stream.busy_ns),
            duration(stream.compute_ns) if stream.compute_ns else _NONE,
            duration(stream.communication_ns) if stream.communication_ns else _NONE,
            " ".join(f"{d} {duration(ns)}" for d, ns in stream.copy_ns.items() if ns) or _NONE,
        )
        for stream in device.streams
    ]
    head = (
        "stream",
        "role",
        "kind",
        "priority",
        "kernels",
        "busy",
        "compute",
        "collectives",
        "copies",
    )
    caption = _titled("Streams", len(rows), device.streams_total)
    return table(head, rows, "lllrrrrrl", caption) if rows else None


def _titled(what: str, shown: int, total: int) -> str:
    return f"{what} ({shown} of {total})" if total > shown else what
