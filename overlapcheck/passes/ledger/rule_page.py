"""The table of rules in print: docs/how-a-reason-is-chosen.md."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from overlapcheck.passes.ledger.rule import Rule
from overlapcheck.passes.ledger.rules import RULES

_HEAD = """\
# How a reason is chosen

Every nanosecond in which a device computes nothing gets exactly one reason. First each piece of
idle time is walked backwards, from the kernel that ends it to what that kernel had to wait for, to
what *that* had to wait for, and so on to the beginning of the piece. The walk cuts the piece into
parts: an operation **had not been submitted** yet, an operation **ran** that compute waited for, or
**nothing** ran. Each kind of part has a list of rules; the tables below are those lists, in the
order in which the rules are asked. Numbers in them ("long", "a few microseconds") are thresholds:
`overlapcheck explain CAUSE` lists those of a cause with their reasons, and
[thresholds.md](thresholds.md) lists all.

Each rule names a picture that it decides: a small timeline in
[fixtures/causes](../fixtures/causes) or [fixtures/rules.toml](../fixtures/rules.toml).

This page is printed from the table in `overlapcheck/passes/ledger/rules.py` (`make golden`).
"""
_STAGES = (
    (
        "held",
        "Which calls hold a thread",
        "Asked of every CUDA call; the first rule that fits decides. A call that none fits only"
        " hands work over. Of nested calls the outermost counts.",
    ),
    (
        "lock",
        "Calls that other calls hold",
        "Afterwards, of the calls that none of these fits:",
    ),
    (
        "spans",
        "What else holds a thread",
        "Looked for beside the calls; of what lies inside one another, the outermost counts.",
    ),
    (
        "host",
        "The operation had not been submitted yet",
        "The time is cut along what the launching thread did. Of each piece, the first rule that"
        " fits decides.",
    ),
    (
        "restart",
        "The host's own share",
        "Afterwards, of the pieces that *restart* decided:",
    ),
    (
        "fill",
        "An operation ran that compute waited for",
        'The first rule that fits decides. "It" is the operation. What no rule speaks for is'
        " unexplained.",
    ),
    (
        "queue",
        "Copies in a row",
        "Afterwards copies between host and device, or between devices, look at the copy before"
        " them in the same piece, unless they are pageable or synchronous, or follow a late host:",
    ),
    (
        "wait",
        "Nothing ran",
        "The operation that follows had been submitted, and what it had to wait for on its device"
        " was done. The first rule that fits decides; what no rule speaks for is unexplained.",
    ),
    (
        "meanwhile",
        "What ran meanwhile",
        "At last, in this order, each rule changes the time in which it holds:",
    ),
)


def page() -> str:
    """The page as Markdown."""
    parts = [_HEAD]
    for number, (stage, title, how) in enumerate(_STAGES, 1):
        parts += [f"\n## {number}. {title}\n\n{how}\n\n", _table(getattr(RULES, stage))]
    return "".join(parts)


def _table(rules: Sequence[Rule[Any, Any]]) -> str:
    lines = ["| | rule | if | reason | picture |\n", "|---|---|---|---|---|\n"]
    lines += [
        f"| {n} | {rule.name} | {rule.when} | {rule.gives} | `{rule.picture}` |\n"
        for n, rule in enumerate(rules, 1)
    ]
    return "".join(lines)
