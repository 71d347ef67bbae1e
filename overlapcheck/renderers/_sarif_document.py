"""SARIF 2.1.0 around the results of a run: rules, places, messages that are no markup."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from overlapcheck.finding import SourceLine
from overlapcheck.renderers._plain_text import MAX_SOURCE, place_text, plain
from overlapcheck.renderers._source_path import uri

MOST_RESULTS = 1000
"""Code scanning shows 5000 of an upload; a thousand are more than anybody reads."""

_SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"

Result = tuple[dict[str, Any], dict[str, Any]]
"""A rule and a result of it."""


@dataclass(frozen=True)
class Run:
    """One run of the tool."""

    tool_version: str
    category: str
    """Results of a later run of the same category replace these."""
    exit_code: int
    results: list[Result]
    properties: dict[str, Any]


def sarif_text(run: Run) -> str:
    """The whole file: one rule for each kind of result, as many results as anybody reads."""
    rules: dict[str, dict[str, Any]] = {}
    for rule, _ in run.results:
        rules.setdefault(rule["id"], rule)
    order = {name: number for number, name in enumerate(rules)}
    driver = {"name": "overlapcheck", "version": run.tool_version, "rules": list(rules.values())}
    document = {
        "$schema": _SCHEMA,
        "version": "2.1.0",
        "runs": [
            {
                "tool": {"driver": driver},
                "automationDetails": {"id": run.category},
                "invocations": [{"executionSuccessful": True, "exitCode": run.exit_code}],
                "columnKind": "unicodeCodePoints",
                "results": [
                    {"ruleId": rule["id"], "ruleIndex": order[rule["id"]], **result}
                    for rule, result in run.results[:MOST_RESULTS]
                ],
                "properties": {**run.properties, "resultsTotal": len(run.results)},
            }
        ],
    }
    return json.dumps(document, indent=2, ensure_ascii=False, allow_nan=False) + "\n"


def cause_rule(name: str, title: str, advice: str, caveat: str) -> dict[str, Any]:
    """The rule of a cause, of cleaned texts; what to do is its help."""
    return {
        "id": f"cause/{name}",
        "name": name,
        "shortDescription": {"text": title},
        "help": {"text": advice_text(advice or title, caveat)},
    }


def advice_text(advice: str, caveat: str) -> str:
    """What to do, and on a line of its own when not."""
    return f"{advice}\nUnless {caveat}" if caveat else advice


def locations(places: tuple[SourceLine, ...], root: str) -> list[dict[str, Any]]:
    """Places in the program, as URIs where they are below the root, else in words."""
    return [_location(place, root) for place in places[:MAX_SOURCE]]


def _location(place: SourceLine, root: str) -> dict[str, Any]:
    inside = uri(place.file, root)
    if inside:
        physical: dict[str, Any] = {"artifactLocation": {"uri": inside}}
        if place.line > 0:
            physical["region"] = {"startLine": place.line}
        location: dict[str, Any] = {"physicalLocation": physical}
    else:
        location = {"message": message([place_text(place)])}
    if place.function:
        location["logicalLocations"] = [{"name": plain(place.function, 160)}]
    return location


def message(lines: list[str]) -> dict[str, str]:
    """A text in which braces are no placeholder and brackets no link (SARIF 3.11.5, 3.11.6)."""
    text = "\n".join(lines).replace("{", "{{").replace("}", "}}")
    return {"text": text.replace("](", "] (")}
