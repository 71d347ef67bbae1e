"""The ledger as a bar whose parts choose among the causes, and the causes with their evidence."""

from __future__ import annotations

from collections.abc import Iterable

from overlapcheck.device_report import DeviceReport, LedgerEntry
from overlapcheck.finding import MATERIAL_SHARE, Finding, SourceLine
from overlapcheck.quantities import duration, percent
from overlapcheck.renderers._cause_looks import number_of
from overlapcheck.renderers._html_markup import Html, el, html
from overlapcheck.renderers._plain_text import removing_text


def slots(ledgers: Iterable[tuple[LedgerEntry, ...]]) -> dict[str, int]:
    """Number of each cause's look, see `_cause_looks`, the costliest cause of all ledgers first."""
    total: dict[str, int] = {}
    for ledger in ledgers:
        for entry in ledger:
            total[entry.cause] = total.get(entry.cause, 0) + entry.ns
    ranked = sorted(total, key=lambda cause: (-total[cause], cause))
    return {cause: number_of(cause) for cause in ranked}


def ledger_block(device: DeviceReport, number: int) -> Html | None:
    """Idle time by cause: a bar, and a legend that reads as a sum.

    Args:
        device: whose idle time.
        number: its place in the report.
    """
    parts = [entry for entry in device.ledger if entry.ns > 0]
    conclusion = el("p", device.conclusion, cls="conclusion") if device.conclusion else None
    if not parts:
        return conclusion
    title = f"{duration(device.idle_ns)} of {duration(device.window_ns)} without compute, by cause"
    bar = el(
        "div",
        *(
            el(
                "span",
                cls=f"part sw c{number_of(entry.cause)}",
                style=f"flex-grow:{entry.ns}",
                title=f"{entry.cause} {duration(entry.ns)}",
                data_cause=entry.cause,
            )
            for entry in parts
        ),
        cls="bar",
        aria_hidden="true",
    )
    chips = [
        el(
            "button",
            el("span", cls=f"sw c{number_of(entry.cause)}"),
            el("span", entry.cause, cls="chip-name"),
            el("span", duration(entry.ns), cls="num"),
            el("span", percent(entry.ns / max(device.idle_ns, 1)), cls="num dim"),
            type="button",
            cls="chip",
            aria_pressed="false",
            data_cause=entry.cause,
        )
        for entry in parts
    ]
    every = el("button", "all causes", type="button", cls="chip every", aria_pressed="true")
    return el(
        "div",
        el("h3", title, id=f"ledger-{number}"),
        bar,
        el("div", *chips, every, cls="chips", role="group", aria_labelledby=f"ledger-{number}"),
        conclusion,
        cls="ledger",
    )


def findings_block(findings: list[Finding]) -> Html | None:
    """The causes of one device, costliest first; those that cost little are folded."""
    if not findings:
        return None
    material = [f for f in findings if f.share >= MATERIAL_SHARE]
    shown = [_finding(rank, found, small=False) for rank, found in enumerate(material, 1)]
    first = len(shown) + 1
    rest = [
        _finding(rank, found, small=True)
        for rank, found in enumerate((f for f in findings if f.share < MATERIAL_SHARE), first)
    ]
    return el("div", *shown, *rest, cls="findings")


def _finding(rank: int, found: Finding, *, small: bool) -> Html:
    head = el(
        "summary",
        el("span", rank, cls="rank num"),
        el("span", cls=f"sw c{number_of(found.cause)}"),
        el("span", found.cause, cls="cause"),
        el("span", found.cost_text, cls="cost num"),
        el("span", f"{percent(found.share)} of the window", cls="share num"),
        el("span", found.confidence.value, cls="sure dim"),
    )
    saves = removing_text(found) if found.predicted or found.saves_at_most_ns > 0 else ""
    show = el(
        "button", "show worst", el("span", "", cls="turn"), type="button", cls="show",
        data_cause=found.cause,
    )  # fmt: skip
    return el(
        "details",
        head,
        el("p", found.title, " \u00b7 " if found.title and saves else "", saves, show, cls="title"),
        el("ul", *(el("li", fact) for fact in found.evidence), cls="evidence"),
        advice_list(found.source, found.advice, found.caveat),
        cls="finding",
        data_cause=found.cause,
        open=not small,
    )


def advice_list(source: tuple[SourceLine, ...], advice: str, caveat: str) -> Html:
    """Where it is, what to do, and when not."""
    return el(
        "dl",
        *_advice("at", html(*(_place(place) for place in source))),
        *_advice("do", advice),
        *_advice("unless", caveat),
        cls="advice",
    )


def _advice(label: str, text: str) -> list[Html]:
    return [el("div", el("dt", label), el("dd", text))] if text else []


def _place(place: SourceLine) -> Html:
    where = el("code", f"{place.file}:{place.line}" if place.line else place.file)
    return el("span", where, f" {place.function}" if place.function else None, cls="place")
