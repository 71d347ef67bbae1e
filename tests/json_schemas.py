"""The published JSON Schemas, made from the types that are saved and what is said beside them."""

from __future__ import annotations

import ast
import inspect
import json
import re
from dataclasses import is_dataclass
from types import ModuleType
from typing import Any

import msgspec

from overlapcheck import (
    brief,
    collective_speed,
    comparison,
    device_report,
    excerpt,
    finding,
    fleet,
    fleet_comparison,
    predicted,
    report,
    report_result,
    saved_comparison,
    saved_fields,
    saved_fleet,
    saved_fleet_comparison,
    saved_report,
    saved_separate,
    saved_what_if,
    separate,
    verdict,
)
from tests.conftest import ROOT

FOLDER = ROOT / "overlapcheck" / "schema"
FORMS: dict[str, type] = {
    "report": saved_report.SavedReport,
    "comparison": saved_comparison.SavedComparison,
    "fleet": saved_fleet.SavedFleetReport,
    "fleet-comparison": saved_fleet_comparison.SavedFleetComparison,
    "separate-reports": saved_separate.SavedSeparateReports,
    "whatif": saved_what_if.SavedWhatIf,
    "brief": brief.Brief,
}
VERSIONS = {
    "report": report.SCHEMA,
    "comparison": comparison.SCHEMA,
    "fleet": fleet.FLEET_SCHEMA,
    "fleet-comparison": fleet_comparison.SCHEMA,
    "separate-reports": separate.SCHEMA,
    "whatif": predicted.SCHEMA,
    "brief": brief.SCHEMA,
}
# The saved form says what differs from its noun, so it comes last.
MODULES = (
    *(
        collective_speed,
        excerpt,
        finding,
        verdict,
        device_report,
        report,
        comparison,
        report_result,
        fleet,
        fleet_comparison,
        predicted,
        separate,
    ),
    *(saved_fields, saved_report, saved_comparison, saved_fleet),
    *(saved_separate, saved_fleet_comparison, saved_what_if, brief),
)


def published(name: str) -> dict[str, Any]:
    """A schema as it ships with the package."""
    found: dict[str, Any] = json.loads((FOLDER / file_name(name)).read_text(encoding="utf-8"))
    return found


def file_name(name: str) -> str:
    return f"overlapcheck-{name}.schema.json"


def made(name: str) -> str:
    """A schema as the types say it now."""
    root = FORMS[name].__name__
    _, defined = msgspec.json.schema_components([FORMS[name]], ref_template="#/$defs/{name}")
    words = _words()
    for kind, schema in defined.items():
        if "description" in schema:
            schema["description"] = _sentence(schema["description"])
        for field, about in schema.get("properties", {}).items():
            if (kind.removeprefix("Saved"), field) in words:
                about["description"] = words[kind.removeprefix("Saved"), field]
    document = {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": f"urn:overlapcheck:{name}:{VERSIONS[name]}",
        **defined.pop(root),
        "$defs": dict(sorted(defined.items())),
    }
    text = json.dumps(document, indent=2, ensure_ascii=False)
    return re.sub(r"(?<=[\"/])Saved(?=[A-Z])", "", text) + "\n"


def _words() -> dict[tuple[str, str], str]:
    """What stands below a field, by class and field."""
    return {
        (node.name.removeprefix("Saved"), field.target.id): _sentence(below.value.value)
        for module in MODULES
        for node in ast.parse(inspect.getsource(module)).body
        if isinstance(node, ast.ClassDef) and _is_saved(module, node.name)
        for field, below in zip(node.body, node.body[1:], strict=False)
        if isinstance(field, ast.AnnAssign)
        and isinstance(field.target, ast.Name)
        and isinstance(below, ast.Expr)
        and isinstance(below.value, ast.Constant)
        and isinstance(below.value.value, str)
    }


def _is_saved(module: ModuleType, name: str) -> bool:
    kind = getattr(module, name)
    return is_dataclass(kind) or issubclass(kind, msgspec.Struct)


def _sentence(text: str) -> str:
    text = re.sub(r"^None\b", "Null", " ".join(text.split()))
    return re.sub(r"\bNone\b", "null", text)
