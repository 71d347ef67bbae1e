"""A saved JSON result → `Report`, so that it can be shown again without its trace.

What comes back renders like the report that was saved, in every format that does not draw from the
full tables. Two things are not in a result: `Report.measurements`, and where the time of a finding
lay (`Finding.blamed` is one piece of the right length).
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import MISSING, Field, fields, is_dataclass
from enum import Enum
from functools import cache
from importlib.resources import files
from pathlib import Path
from types import NoneType, UnionType
from typing import Any, NoReturn, TypeVar, Union, get_args, get_origin, get_type_hints

from overlapcheck.errors import InputUnreadable, NotAReport
from overlapcheck.finding import Finding
from overlapcheck.intervals import Intervals
from overlapcheck.kinds import DeviceKey
from overlapcheck.report import SCHEMA, CaptureSummary, DeviceReport, Report
from overlapcheck.reporting.cleaned import cleaned
from overlapcheck.verdict import Check, Verdict

_Noun = TypeVar("_Noun")
_NEVER_DRAWN = {"start_ns": 0, "end_ns": 0, "rows": [], "ticks": []}
"""Picture of a result saved before results held one."""


_LARGEST = (1 << 63) - 1
"""Of nanoseconds, bytes and rows; no other number is larger."""


class _Unexpected(Exception):
    """A value that no result has in this place."""


def read_result(path: Path) -> Report:
    """The report saved in a file.

    Raises:
        InputUnreadable: the file cannot be read.
        NotAReport: see `restored`.
    """
    try:
        with path.open("rb") as stream:
            begin = stream.read(1024)
            # Traces are large, and no result begins like one.
            content = begin + stream.read() if begin.lstrip()[:1] == b"{" else b""
    except OSError as error:
        raise InputUnreadable(
            f"{path}: cannot be read ({error.strerror or error})",
            "give the result that -o FILE.json wrote",
        ) from error
    if not content:
        what = "it is empty" if not begin else "it is no JSON"
        if begin.startswith(b"SQLite format 3\0") or path.suffix in (".nsys-rep", ".qdrep"):
            raise NotAReport(
                f"{path}: a trace, not a saved result",
                f"judge it first: overlapcheck analyze {path}",
            )
        _refuse(str(path), what)
    try:
        return restored(content.decode("utf-8"), str(path))
    except UnicodeDecodeError:
        _refuse(str(path), "it is no UTF-8 text")


def restored(text: str, name: str = "result") -> Report:
    """The report that a JSON text holds.

    Args:
        text: what the json format wrote.
        name: what to call it in an error.

    Raises:
        NotAReport: the text is no JSON, no result of ours, or from a newer overlapcheck.
    """
    try:
        document = json.loads(text, parse_constant=_no_constant)
    except (ValueError, RecursionError, _Unexpected) as error:
        where = f" (line {error.lineno})" if isinstance(error, json.JSONDecodeError) else ""
        _refuse(name, f"it is no JSON{where}")
    if not isinstance(document, dict) or not {"schema", "tool", "verdict"} <= set(document):
        _refuse(name, "it is JSON of something else")
    _check_schema(document["schema"], name)
    try:
        return cleaned(_report(document))
    except _Unexpected as error:
        _refuse(name, str(error))


@cache
def json_schema() -> dict[str, Any]:
    """The JSON Schema (2020-12) of a result, as shipped with the package."""
    source = files("overlapcheck.reporting") / "schema" / "overlapcheck-report.schema.json"
    found: dict[str, Any] = json.loads(source.read_text(encoding="utf-8"))
    return found


def _check_schema(found: Any, name: str) -> None:
    if type(found) is not int or found < 1:
        _refuse(name, "its schema number is none")
    if found > SCHEMA:
        raise NotAReport(
            f"{name}: written by a newer overlapcheck (schema {found}, this one reads {SCHEMA})",
            "upgrade overlapcheck, or analyze the trace again",
        )


def _refuse(name: str, why: str) -> NoReturn:
    raise NotAReport(
        f"{name}: not a saved result of overlapcheck: {why}",
        "give a file that -o FILE.json wrote",
    )


def _no_constant(name: str) -> NoReturn:
    raise _Unexpected(f"{name} is no JSON")


def _report(document: dict[str, Any]) -> Report:
    tool = _object(document["tool"], "tool")
    verdict = _object(document["verdict"], "verdict")
    return Report(
        tool_version=_value(str, tool.get("version"), "tool.version"),
        capture=_noun(CaptureSummary, document.get("capture"), "capture"),
        verdict=Verdict(
            tuple(
                _noun(Check, _with_key(row, place), place)
                for row, place in _rows(verdict.get("checks"), "verdict.checks")
            )
        ),
        devices=tuple(
            _drawable(
                _noun(DeviceReport, {"picture": _NEVER_DRAWN} | _object(row, place), place), place
            )
            for row, place in _rows(document.get("devices"), "devices")
        ),
        findings=tuple(
            _noun(Finding, _with_blame(_with_key(row, place), place), place)
            for row, place in _rows(document.get("findings"), "findings")
        ),
        **_additions(document),
    )


def _drawable(device: DeviceReport, at: str) -> DeviceReport:
    """The device, if its picture can be drawn."""
    columns = max((len(row.cells) for row in device.picture.rows), default=0)
    cells = (cell for row in device.picture.rows for cell in row.cells)
    ticks = (column for column, _ in device.picture.ticks)
    if not all(0 <= cell <= 1 for cell in cells) or not all(0 <= at <= columns for at in ticks):
        raise _Unexpected(f"{at}.picture is none that can be drawn")
    return device


def _additions(document: dict[str, Any]) -> dict[str, Any]:
    """Further fields of the report, where the result has them."""
    known = {"tool_version", "capture", "verdict", "devices", "findings", "measurements"}
    hints = get_type_hints(Report)
    return {
        field.name: _value(hints[field.name], document[field.name], field.name)
        for field in fields(Report)
        if field.name not in known and field.name in document
    }


def _rows(node: Any, at: str) -> list[tuple[Any, str]]:
    if not isinstance(node, list):
        raise _Unexpected(f"{at} is no list")
    return [(row, f"{at}[{number}]") for number, row in enumerate(node)]


def _object(node: Any, at: str) -> dict[str, Any]:
    if not isinstance(node, dict):
        raise _Unexpected(f"{at} is no object")
    return node


def _with_key(node: Any, at: str) -> dict[str, Any]:
    """`pid`, `host` and `device` put together as the key that they are in memory."""
    row = dict(_object(node, at))
    pid, device, host = row.pop("pid", None), row.pop("device", None), row.pop("host", None)
    whole = pid is None and device is None
    row["device"] = (
        None
        if whole
        else DeviceKey(
            _value(int, pid, f"{at}.pid"),
            _value(int, device, f"{at}.device"),
            _value(int, host or 0, f"{at}.host"),
        )
    )
    return row


def _with_blame(row: dict[str, Any], at: str) -> dict[str, Any]:
    blamed_ns = _value(int, row.get("blamed_ns"), f"{at}.blamed_ns")
    return row | {"blamed": Intervals.span(0, blamed_ns)}


def _noun(kind: type[_Noun], node: Any, at: str) -> _Noun:
    """An object as the frozen struct that it was; fields that we do not know are left out."""
    row = _object(node, at)
    hints = get_type_hints(kind)
    values = {}
    for field in fields(kind):  # type: ignore[arg-type]  # every caller passes a dataclass
        if field.name in row:
            place = f"{at}.{field.name}"
            values[field.name] = _value(hints[field.name], row[field.name], place)
        elif not _has_default(field):
            raise _Unexpected(f"{at} has no {field.name}")
    return kind(**values)


def _has_default(field: Field[Any]) -> bool:
    return field.default is not MISSING or field.default_factory is not MISSING


def _value(hint: Any, node: Any, at: str) -> Any:
    """A value of the type that a field asks for."""
    origin, inner = get_origin(hint), get_args(hint)
    if origin in (Union, UnionType):
        if node is None and NoneType in inner:
            return None
        (hint,) = (part for part in inner if part is not NoneType)
        return _value(hint, node, at)
    if origin is tuple:
        return _tuple(inner, node, at)
    if origin is frozenset:
        return frozenset(_value(inner[0], row, place) for row, place in _rows(node, at))
    if origin is not None and issubclass(origin, Mapping):
        return {
            key: _value(inner[1], value, f"{at}.{key}") for key, value in _object(node, at).items()
        }
    if hint in (Intervals, DeviceKey) and isinstance(node, hint):
        return node
    if is_dataclass(hint) and isinstance(hint, type):
        return _noun(hint, node, at)
    return _leaf(hint, node, at)


def _tuple(inner: tuple[Any, ...], node: Any, at: str) -> tuple[Any, ...]:
    rows = _rows(node, at)
    if inner[-1] is Ellipsis:
        return tuple(_value(inner[0], row, place) for row, place in rows)
    if len(rows) != len(inner):
        raise _Unexpected(f"{at} has {len(rows)} values, not {len(inner)}")
    return tuple(_value(part, row, place) for part, (row, place) in zip(inner, rows, strict=True))


def _leaf(hint: Any, node: Any, at: str) -> Any:
    if isinstance(hint, type) and issubclass(hint, Enum):
        try:
            return hint(node)
        except ValueError:
            raise _Unexpected(f"{at} is {node!r}, which is none of its words") from None
    if hint in (float, int) and type(node) in (int, hint):
        if not -_LARGEST <= node <= _LARGEST:
            raise _Unexpected(f"{at} is larger than any number of a result")
        return node
    if hint in (str, bool) and type(node) is hint:
        return node
    raise _Unexpected(f"{at} is no {getattr(hint, '__name__', hint)}")
