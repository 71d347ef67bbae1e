"""A comparison as one self-contained page: the numbers of both sides, and their steps as bars."""

from __future__ import annotations

from overlapcheck.comparison import Change, Comparison, DeviceComparison, Quantity
from overlapcheck.quantities import duration, percent
from overlapcheck.renderers._html_head import definitions
from overlapcheck.renderers._html_markup import Child, Html, el, html, table
from overlapcheck.renderers._html_page import header, page, verdict
from overlapcheck.renderers._html_shared_axis import SHARED_AXIS_SCRIPTS
from overlapcheck.renderers.comparison import _words as words
from overlapcheck.renderers.comparison._html_causes import causes_block, ledger_table, steps_block
from overlapcheck.renderers.comparison._html_timelines import timelines_block, timelines_data

_CLASSES = {
    Change.BETTER: "pass",
    Change.WORSE: "fail",
    Change.NONE: "same",
    Change.UNKNOWN: "same",
}
_ORDER = (Change.WORSE, Change.BETTER, Change.NONE)
_OPEN_DEVICES = 2
"""Devices shown unfolded where there are several, the worst first."""


class ComparisonHtml:
    """See `ComparisonRenderer`."""

    name = "html"
    suffix = ".html"

    def render(self, comparison: Comparison, /) -> str:
        """See `ComparisonRenderer.render`."""
        first = comparison.devices[0]
        word = words.HEADLINES[comparison.change]
        return page(
            f"{word} {first.base.report} against {first.new.report}",
            _body(comparison),
            styles=("style.css", "shared_axis.css", "comparison.css"),
            scripts=("theme.js", *SHARED_AXIS_SCRIPTS, "axes.js"),
            data=[timelines_data(device) for device, _ in _titled(comparison)],
        )


def _titled(comparison: Comparison) -> list[tuple[DeviceComparison, str]]:
    """Devices and their titles, the worst first."""
    titled = zip(comparison.devices, words.titles(comparison), strict=True)
    return sorted(titled, key=lambda pair: _ORDER.index(pair[0].change))


def _body(comparison: Comparison) -> Html:
    titled = _titled(comparison)
    code = f"exit code {int(comparison.exit_code)}"
    judged = words.outcome(comparison)
    first = comparison.devices[0]
    return html(
        header(
            comparison.tool_version,
            f"{first.base.report} against {first.new.report}",
            verdict(
                _badge(comparison.change, large=True),
                words.headline(comparison),
                f"{judged}, {code}" if judged else code,
            ),
            _sides(first),
        ),
        el(
            "main",
            _remarks(comparison),
            _contents(titled) if len(titled) > 1 else None,
            *(_device(*one, n, len(titled)) for n, one in enumerate(titled)),
        ),
        el("footer", el("p", f"Noise: {comparison.noise_rule}.", cls="dim")),
    )


def _badge(change: Change, *, large: bool = False) -> Html:
    size = " badge-large" if large else ""
    return el("span", words.HEADLINES[change], cls=f"badge {_CLASSES[change]}{size}")


def _sides(device: DeviceComparison) -> Html:
    """Report and program of both sides, which are the same for all devices."""
    pairs: list[tuple[str, Child]] = [
        (name, html(side.report, el("span", f" {side.program}", cls="dim")))
        for name, side in (("base", device.base), ("new", device.new))
    ]
    return definitions(pairs, cls="facts sides")


def _remarks(comparison: Comparison) -> Html | None:
    said: list[Child] = [
        f"not comparable, compared all the same: {o}" for o in comparison.objections
    ]
    said += [el("b", clause, cls="fail") for clause in comparison.too_bad]
    said += [el("b", clause) for clause in comparison.too_noisy]
    return el("ul", *(el("li", one) for one in said), cls="remarks") if said else None


def _contents(titled: list[tuple[DeviceComparison, str]]) -> Html:
    links = [
        el("li", _badge(device.change), " ", el("a", title, href=f"#device-{n}"))
        for n, (device, title) in enumerate(titled)
    ]
    return el("nav", el("ol", *links), aria_label="devices")


def _device(device: DeviceComparison, title: str, number: int, devices: int) -> Html:
    heading = el("h2", f"{title}, {words.gpu(device)}")
    content = html(
        _quantities(device),
        _divided(device),
        steps_block(device),
        timelines_block(device, number),
        ledger_table(device),
        causes_block(device),
    )
    facts = {"cls": "device", "id": f"device-{number}"}
    if devices == 1:
        return el("section", heading, content, **facts)
    folded = el("summary", _badge(device.change), heading)
    return el("details", folded, content, **facts, open=number < _OPEN_DEVICES)


def _quantities(device: DeviceComparison) -> Html:
    head = ("", "base", "new", "change", "noise", "")
    rows = [_row(device, quantity) for quantity in device.quantities]
    return table(head, rows, "lrrrrl", "What changed")


def _row(device: DeviceComparison, quantity: Quantity) -> tuple[Child, ...]:
    word = words.verdict(device, quantity)
    if quantity.too_bad:
        word += ", over the limit"
    return (
        el("b", quantity.name),
        words.value(quantity, quantity.base),
        words.value(quantity, quantity.new),
        words.difference(quantity),
        words.noise(quantity),
        el("span", word, cls=f"mark {_CLASSES[quantity.change]}"),
    )


def _divided(device: DeviceComparison) -> Html:
    rows: list[tuple[Child, ...]] = []
    for name, side in (("base", device.base), ("new", device.new)):
        window_ns = max(side.window_ns, 1)
        idle_ns = side.window_ns - side.compute_ns
        rows.append(
            (
                el("b", name),
                words.steps(side),
                duration(side.window_ns),
                html(duration(side.compute_ns), _share(side.compute_ns / window_ns)),
                html(duration(idle_ns), _share(idle_ns / window_ns)),
            )
        )
    head = ("", "steps", "window", "compute", "no compute")
    return table(head, rows, "lnrrr", "What was compared")


def _share(share: float) -> Html:
    return el("span", f" {percent(share)}", cls="dim")


RENDERER = ComparisonHtml()
