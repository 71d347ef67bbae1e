"""`Measurements` → ranked `Finding`s: one cause, one file, found by walking this folder.

To add a cause, add a file with a `CAUSE`; its docstring is the page that `overlapcheck explain`
prints. A cause reads measurements only: if it needs more, a pass must measure it. The policy never
reaches it.
"""

from __future__ import annotations

import pkgutil
import textwrap
from collections.abc import Sequence
from functools import cache
from importlib import import_module
from types import ModuleType

from overlapcheck.causes._base import Cause
from overlapcheck.causes._page import MAX_WIDTH, filled, paragraph
from overlapcheck.errors import PolicyInvalid
from overlapcheck.nearest import nearest
from overlapcheck.quantities import figure
from overlapcheck.recorder import Recorder
from overlapcheck.thresholds import USUAL


@cache
def _modules() -> dict[str, ModuleType]:
    modules = (
        import_module(f"{__name__}.{found.name}")
        for found in pkgutil.iter_modules(__path__)
        if not found.name.startswith("_") and not found.ispkg
    )
    return {module.CAUSE.id: module for module in modules}


def causes() -> dict[str, Cause]:
    """All causes by id."""
    return {cause_id: module.CAUSE for cause_id, module in _modules().items()}


def manual(cause_id: str, recorders: Sequence[Recorder] = ()) -> str:
    """The page of one cause.

    Args:
        cause_id: which.
        recorders: those whose words tell how to record what the cause lacks.

    Raises:
        PolicyInvalid: there is no such cause; names the nearest one.
    """
    check_known((cause_id,))
    page = filled((_modules()[cause_id].__doc__ or "").rstrip())
    return f"{cause_id}\n\n{page}\n{_recording(cause_id, recorders)}{_numbers(cause_id)}"


def _recording(cause_id: str, recorders: Sequence[Recorder]) -> str:
    lacks = causes()[cause_id].lacks
    known = [one for one in recorders if lacks in one.commands]
    if lacks is None or not known:
        return ""
    lines = ["", f"How to record {lacks}"]
    for one in known:
        text = f"{one.name}: {one.record_again(lacks)}"
        lines += paragraph(text, " " * 4, hang=" " * 8)
    return "\n".join(lines) + "\n"


def _numbers(cause_id: str) -> str:
    """The thresholds that decide about a cause, and why they are what they are."""
    mine = [one for one in USUAL.described() if cause_id in one.causes]
    if not mine:
        return ""
    lines = ["", "Numbers that decide"]
    for one in mine:
        lines += paragraph(f"{one.name} = {figure(one.value)}: {one.reason}", " " * 4, " " * 8)
        lines += paragraph(f"If wrong: {one.if_wrong}", " " * 8)
    lines.append("    Try others under [thresholds] in the policy file; the report then says so.")
    return "\n".join(lines) + "\n"


def manual_index() -> str:
    """All causes with the first line of their pages."""
    width = max(map(len, _modules()))
    lines = [
        line
        for cause_id, module in sorted(_modules().items())
        for line in textwrap.wrap(
            (module.__doc__ or "").splitlines()[0].rstrip("."),
            width=MAX_WIDTH,
            initial_indent=f"{cause_id:<{width}}  ",
            subsequent_indent=" " * (width + 2),
        )
    ]
    return "\n".join(lines) + "\n\nRead one: overlapcheck explain CAUSE\n"


def check_known(cause_ids: tuple[str, ...] | frozenset[str]) -> None:
    """Refuse ids that name no cause.

    Raises:
        PolicyInvalid: names the nearest known id.
    """
    for cause_id in sorted(cause_ids):
        if cause_id not in _modules():
            near = nearest(cause_id, _modules())
            hint = f"did you mean {near[0]}?" if near else "list them: overlapcheck explain"
            raise PolicyInvalid(f"{cause_id!r} is no cause", hint)
