"""The one codec: reports, comparisons, fleet reports and partial results ↔ their saved form.

`saved_report.py`, `saved_comparison.py` and `saved_fleet.py` define what is saved; a partial
result is saved as the noun that it is. Texts are cleaned on their way out and on their way in.

Two things of a report are not saved: what is for memory only (fields that take no part in
comparing), and where the time of a finding lay (`Finding.blamed` comes back as one piece).
"""

from __future__ import annotations

import zlib
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, get_args

import msgspec
import numpy as np
from msgspec import ValidationError

from overlapcheck.clean import clean
from overlapcheck.errors import NotAReport
from overlapcheck.redaction import names_no_one
from overlapcheck.report import SCHEMA, Report
from overlapcheck.saved_report import SavedReport

if TYPE_CHECKING:
    from overlapcheck.columns import Codes
    from overlapcheck.comparison import Comparison
    from overlapcheck.excerpt import Excerpt
    from overlapcheck.fleet import FleetReport
    from overlapcheck.fleet_comparison import FleetComparison
    from overlapcheck.predicted import WhatIf
    from overlapcheck.report_result import ReportResult
    from overlapcheck.separate import SeparateReports

_LARGEST = (1 << 63) - 1
"""Of nanoseconds, bytes and rows; no other number is larger."""


def report_document(report: Report) -> dict[str, Any]:
    """A report as dictionaries, lists, clean texts and numbers, in the order of its saved form."""
    return _document(SavedReport.of(report))


def comparison_document(comparison: Comparison) -> dict[str, Any]:
    """A comparison, as `report_document` gives a report."""
    from overlapcheck.saved_comparison import SavedComparison

    return _document(SavedComparison.of(comparison))


def fleet_comparison_document(found: FleetComparison) -> dict[str, Any]:
    """A comparison of two jobs, as `report_document` gives a report."""
    from overlapcheck.saved_fleet_comparison import SavedFleetComparison

    return _document(SavedFleetComparison.of(found))


def separate_document(found: SeparateReports) -> dict[str, Any]:
    """Reports judged each alone, as `report_document` gives a report."""
    from overlapcheck.saved_separate import SavedSeparateReports

    return _document(SavedSeparateReports.of(found))


def what_if_document(found: WhatIf) -> dict[str, Any]:
    """What repairs would win, as `report_document` gives a report."""
    from overlapcheck.saved_what_if import SavedWhatIf

    return _document(SavedWhatIf.of(found))


def fleet_document(report: FleetReport) -> dict[str, Any]:
    """A fleet report, as `report_document` gives a report."""
    from overlapcheck.saved_fleet import SavedFleetReport

    return _document(SavedFleetReport.of(report))


def restored(text: str, name: str = "result") -> Report:
    """The report that a JSON text holds.

    Args:
        text: what the json format wrote.
        name: what to call it in an error.

    Raises:
        NotAReport: the text is no JSON, no result of ours, or from a newer overlapcheck; or it is
            of many ranks.
    """
    found = any_restored(text, name)
    if isinstance(found, Report):
        return found
    raise NotAReport(f"{name}: a result of many ranks", "give the result of one report")


def any_restored(text: str, name: str = "result") -> Report | FleetReport:
    """The report, of one recording or of many ranks, that a JSON text holds.

    Args:
        text: what the json format wrote.
        name: what to call it in an error.

    Raises:
        NotAReport: the text is no JSON, no result of ours, or from a newer overlapcheck.
    """
    try:
        document = msgspec.json.decode(text)
    except (ValueError, RecursionError) as error:
        # Of what has no names yet, the place says nothing.
        what = str(error).partition(" - at ")[0]
        raise not_a_report(name, f"it is no JSON ({what})") from error
    found = set(document) if isinstance(document, dict) else set()
    schema = next((key for key in ("schema", "fleet_schema") if key in found), None)
    if schema is None or not {"tool", "verdict"} <= found:
        raise not_a_report(name, "it is JSON of something else")
    try:
        _require_bounded(document)
        made = _report if schema == "schema" else _fleet
        return made(document, name)
    except (ValidationError, RecursionError) as error:
        raise not_a_report(name, _told(error)) from error


def _report(document: dict[str, Any], name: str) -> Report:
    _check_schema(document["schema"], SCHEMA, name)
    saved = msgspec.convert(_mapped(document, names_no_one), SavedReport)
    _require_drawable(saved)
    return saved.noun()


def _fleet(document: dict[str, Any], name: str) -> FleetReport:
    from overlapcheck.fleet import FLEET_SCHEMA
    from overlapcheck.saved_fleet import SavedFleetReport

    _check_schema(document["fleet_schema"], FLEET_SCHEMA, name)
    return msgspec.convert(_mapped(document, names_no_one), SavedFleetReport).noun()


def not_a_report(name: str, why: str) -> NotAReport:
    """The error for a file that is no saved report.

    Args:
        name: of the file.
        why: one clause.
    """
    return NotAReport(
        f"{name}: not a saved result of overlapcheck: {why}",
        "give a file that -o FILE.json wrote",
    )


def _check_schema(found: Any, known: int, name: str) -> None:
    if type(found) is not int or found < 1:
        raise not_a_report(name, "its schema number is none")
    if found > known:
        raise NotAReport(
            f"{name}: written by a newer overlapcheck (schema {found}, this one reads {known})",
            "upgrade overlapcheck, or analyze the trace again",
        )


def _require_drawable(report: SavedReport) -> None:
    for number, device in enumerate(report.devices):
        rows = device.picture.rows
        columns = max((len(row.cells) for row in rows), default=0)
        fits = all(0 <= column <= columns for column, _ in device.picture.ticks)
        if not fits or not all(0 <= cell <= 1 for row in rows for cell in row.cells):
            raise ValidationError(f"devices[{number}].picture is none that can be drawn")


# ---- a partial result, and what it depends on


def encoded_result(result: ReportResult) -> bytes:
    """A partial result as JSON."""
    return msgspec.json.encode(_document(result))


def decoded_result(text: bytes) -> ReportResult:
    """The partial result that `encoded_result` wrote.

    Raises:
        ValueError: it is none.
    """
    from overlapcheck.report_result import ReportResult

    try:
        document = msgspec.json.decode(text)
        _require_bounded(document)
        return msgspec.convert(_mapped(document, clean), ReportResult, dec_hook=_column)
    except RecursionError as error:
        raise ValueError("nested too deeply") from error


def packed(excerpt: Excerpt) -> Codes:
    """An excerpt in a tenth of its room, as bytes."""
    text = zlib.compress(msgspec.json.encode(excerpt))
    return np.frombuffer(text, dtype=np.int8)


def unpacked(codes: Codes) -> Excerpt:
    """The excerpt that `packed` made small.

    Raises:
        ValueError: it is none.
    """
    from overlapcheck.excerpt import Excerpt

    try:
        return msgspec.json.decode(zlib.decompress(codes.tobytes()), type=Excerpt)
    except zlib.error as error:
        raise ValueError("no packed excerpt") from error


def stable(*nouns: Any) -> list[Any]:
    """Nouns as plain values that are the same for equal nouns: sets and mappings are sorted."""
    found: list[Any] = msgspec.to_builtins(nouns, order="deterministic")
    return found


def _column(kind: Any, values: Any) -> np.ndarray:
    """An array of the kind that an annotation such as `Ints` names."""
    (scalar,) = get_args(get_args(kind)[1])
    element = {"b": bool, "i": int, "f": float}[np.dtype(scalar).kind]
    return np.array(msgspec.convert(values, list[element]), dtype=scalar)  # type: ignore[valid-type]


# ---- nouns and plain values


def _document(saved: Any) -> dict[str, Any]:
    found: dict[str, Any] = _mapped(msgspec.to_builtins(saved, enc_hook=_without_numpy), clean)
    return found


def _without_numpy(value: Any) -> Any:
    if isinstance(value, np.ndarray | np.generic):
        return value.tolist()
    raise NotImplementedError(f"{type(value)} has no saved form")


def _mapped(node: Any, text: Callable[[str], str]) -> Any:
    """Plain values with every text and key replaced."""
    if isinstance(node, str):
        return text(node)
    if isinstance(node, dict):
        return {text(key): _mapped(item, text) for key, item in node.items()}
    if isinstance(node, list | tuple):
        return [_mapped(item, text) for item in node]
    return node


def _require_bounded(node: Any, name: str = "it") -> None:
    """Refuse numbers that no saved form has: JSON's may have any number of digits."""
    if isinstance(node, dict):
        for key, item in node.items():
            _require_bounded(item, key)
    elif isinstance(node, list):
        for item in node:
            _require_bounded(item, name)
    elif isinstance(node, int | float) and not -_LARGEST <= node <= _LARGEST:
        raise ValidationError(f"{clean(name, 100)} is larger than any number of a result")


def _told(error: Exception) -> str:
    """What a document lacks, its place first: "devices[0].idle_ns: expected `int`, got `str`"."""
    what, _, place = str(error).rpartition(" - at `$")
    what, place = (what, f"{place.strip('.`')}: ") if what else (place, "")
    return f"{place}{what[:1].lower()}{what[1:]}"
