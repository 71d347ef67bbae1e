"""The table of rules: each has a picture that it decides, and the documentation is the table."""

from __future__ import annotations

import os
from dataclasses import fields, replace
from typing import Any

import numpy as np
import pytest

from overlapcheck.causes import causes
from overlapcheck.ledger import Reason
from overlapcheck.measurements import Measurements
from overlapcheck.passes.ledger import device_reasons, held_calls, host_lateness, overlay
from overlapcheck.passes.ledger.rule_page import page
from overlapcheck.passes.ledger.rules import RULES, Rules
from tests.conftest import ROOT
from tests.pictures import Picture, load_pictures

USERS = (device_reasons, held_calls, host_lateness, overlay)
"""Modules that apply rules."""
TABLE = [(stage.name, rule) for stage in fields(Rules) for rule in getattr(RULES, stage.name)]
SELECTION_KEYS = ("skip", "device")
PAGE = ROOT / "docs" / "how-a-reason-is-chosen.md"
OWN = load_pictures(ROOT / "fixtures" / "rules.toml", ("us",))


def picture_of(name: str) -> Picture:
    file, section = name.split("/")
    if file == "rules":
        return OWN[section]
    return load_pictures(ROOT / "fixtures" / "causes" / f"{file}.toml", (*SELECTION_KEYS, "bug"))[
        section
    ]


def measured(drawing: Picture) -> Measurements:
    given = {k: drawing.options[k] for k in SELECTION_KEYS if k in drawing.options}
    return drawing.measure(**given)


def ledgers(found: Measurements) -> list[Any]:
    """Pieces with reason and call, of all devices."""
    columns = ("start_ns", "end_ns", "reason", "call_start_ns")
    return [[getattr(d.ledger, name).tolist() for name in columns] for d in found.devices]


@pytest.mark.parametrize(("stage", "rule"), [pytest.param(*row, id=row[1].name) for row in TABLE])
def test_without_a_rule_its_picture_is_explained_otherwise(
    stage: str, rule: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    drawing = picture_of(rule.picture)
    whole = ledgers(measured(drawing))
    others = tuple(other for other in getattr(RULES, stage) if other is not rule)
    less = replace(RULES, **{stage: others})
    for user in USERS:
        monkeypatch.setattr(user, "RULES", less)

    assert ledgers(measured(drawing)) != whole


@pytest.mark.parametrize("name", OWN)
def test_the_ledger_of_a_rules_own_picture_is_as_drawn(name: str) -> None:
    (device,) = measured(OWN[name]).devices
    ledger = device.ledger
    total = np.bincount(
        ledger.reason, weights=ledger.end_ns - ledger.start_ns, minlength=len(Reason)
    )

    found = {Reason(i).cause: int(ns) // 1000 for i, ns in enumerate(total.tolist()) if ns}
    assert found == OWN[name].options["us"]


def test_rules_have_names_of_their_own_and_give_known_causes() -> None:
    names = [rule.name for _, rule in TABLE]
    words = {word for _, rule in TABLE for word in rule.gives.replace(",", " ").split()}

    assert len(set(names)) == len(names)
    assert {word for word in words if word in causes()} >= {"same-stream", "launch-bound"}


def test_the_page_prints_the_table() -> None:
    if os.environ.get("UPDATE_GOLDEN"):
        PAGE.write_text(page(), encoding="utf-8")

    assert PAGE.read_text(encoding="utf-8") == page()
