"""A comparison of jobs as one self-contained page of tables."""

from __future__ import annotations

from overlapcheck.comparison import Change, Quantity
from overlapcheck.fleet_comparison import CauseChange, FleetComparison, JobQuantity, RankComparison
from overlapcheck.renderers._html_causes import advice_list
from overlapcheck.renderers._html_head import definitions
from overlapcheck.renderers._html_markup import Child, Html, el, html, table
from overlapcheck.renderers._html_page import header, page, verdict
from overlapcheck.renderers.comparison.jobs import _words as words

_CLASSES = {
    Change.BETTER: "pass",
    Change.WORSE: "fail",
    Change.NONE: "same",
    Change.UNKNOWN: "same",
}
_MAX_ROWS = 1000


class FleetComparisonHtml:
    """See `FleetComparisonRenderer`."""

    name = "html"
    suffix = ".html"

    def render(self, found: FleetComparison, /) -> str:
        """See `FleetComparisonRenderer.render`."""
        return page(
            f"{words.HEADLINES[found.change]} {_both(found)}",
            _body(found),
            styles=("style.css", "comparison.css"),
            scripts=("theme.js", "axes.js"),
            data=[],
        )


def _both(found: FleetComparison) -> str:
    return f"{found.base.name} against {found.new.name}"


def _body(found: FleetComparison) -> Html:
    code = f"exit code {int(found.exit_code)}"
    judged = words.outcome(found)
    badge_class = f"badge {_CLASSES[found.change]} badge-large"
    sides: list[tuple[str, Child]] = [
        (name, html(words.side_text(side), el("span", f" {side.program}", cls="dim")))
        for name, side in (("base", found.base), ("new", found.new))
    ]
    return html(
        header(
            found.tool_version,
            _both(found),
            verdict(
                el("span", words.HEADLINES[found.change], cls=badge_class),
                words.headline(found),
                f"{judged}, {code}" if judged else code,
            ),
            definitions(sides, cls="facts sides"),
        ),
        el(
            "main",
            _remarks(found),
            el("section", el("h2", "The job"), _job(found), cls="device"),
            _causes(found),
            _collectives(found),
            el("section", el("h2", "Ranks"), _ranks(found), cls="device"),
        ),
        el("footer", el("p", f"Noise: {found.noise_rule}.", cls="dim")),
    )


def _remarks(found: FleetComparison) -> Html | None:
    said: list[Child] = [f"not comparable, compared all the same: {o}" for o in found.objections]
    said += words.alone_texts(found)
    said += [el("b", clause, cls="fail") for clause in found.too_bad]
    said += [el("b", clause) for clause in found.too_noisy]
    return el("ul", *(el("li", one) for one in said), cls="remarks") if said else None


def _job(found: FleetComparison) -> Html:
    head = ("", "base", "new", "change", "noise", "rank", "")
    rows = [_job_row(one) for one in found.quantities]
    return table(head, rows, "lrrrrnl", "What changed, by the worst rank of either side")


def _job_row(one: JobQuantity) -> tuple[Child, ...]:
    over = ", over the limit" if one.quantity.too_bad else ""
    rank = words.worst_rank(one).removeprefix("rank ")
    return (
        el("b", one.quantity.name),
        *_numbers(one.quantity),
        rank,
        _mark(one.quantity.change, over),
    )


def _numbers(quantity: Quantity) -> tuple[str, ...]:
    return (
        words.value(quantity, quantity.base),
        words.value(quantity, quantity.new),
        words.difference(quantity),
        words.noise(quantity),
    )


def _mark(change: Change, more: str = "") -> Html:
    return el("span", change.value + more, cls=f"mark {_CLASSES[change]}")


def _ranks(found: FleetComparison) -> Html:
    head = (
        *("rank", "step: base", "new", "change", "noise"),
        *("own part: base", "new", "change", "noise", "", "grew most"),
    )
    rows = [_rank(one) for one in found.ranks[:_MAX_ROWS]]
    left = len(found.ranks) - len(rows)
    return html(
        table(head, rows, "nrrrrrrrrln", "What grew most by itself first"),
        el("p", f"and {left} more: see the JSON", cls="dim") if left else None,
    )


def _rank(one: RankComparison) -> tuple[Child, ...]:
    step = one.device.step_time
    return (
        el("b", one.rank),
        *(_numbers(step) if step else ("-",) * 4),
        *_numbers(one.own_part),
        _mark(one.change),
        words.grown_text(one),
    )


def _causes(found: FleetComparison) -> Html | None:
    if not found.causes:
        return None
    told = [_cause(one, found, first=n == 0) for n, one in enumerate(found.causes)]
    return html(el("h2", "Causes that changed"), el("div", *told, cls="findings"))


def _cause(one: CauseChange, found: FleetComparison, *, first: bool) -> Html:
    head = el(
        "summary",
        el("span", "+" if one.grew else "\u2212", cls="rank num"),
        el("span", one.cause, cls="cause"),
        el("span", words.cause_text(one, found), cls="cost num"),
    )
    told = advice_list((), one.advice, one.caveat) if one.grew else None
    title = el("p", one.title, cls="title") if one.title else None
    return el("details", head, title, told, cls="finding", open=first)


def _collectives(found: FleetComparison) -> Html | None:
    if not found.collectives:
        return None
    rows = [
        (el("b", one.kind), f"{one.base_count:.3g}", f"{one.new_count:.3g}",
         *_numbers(one.length), *_numbers(one.exposed), _mark(one.exposed.change))
        for one in found.collectives
    ]  # fmt: skip
    head = (
        *("collectives", "count: base", "new", "length: base", "new", "change", "noise"),
        *("exposed: base", "new", "change", "noise", ""),
    )
    caption = "Of the median rank, per step"
    return el(
        "section",
        el("h2", "Collectives"),
        table(head, rows, "lrrrrrrrrrrl", caption),
        cls="device",
    )


RENDERER = FleetComparisonHtml()
