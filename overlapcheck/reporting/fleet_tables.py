"""What is known of many ranks as data frames: a row for each rank, and what it consists of."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

import pandas as pd

from overlapcheck.fleet import FleetReport
from overlapcheck.redaction import names_no_one
from overlapcheck.report_result import CollectiveSummary, RankRow

Row = dict[str, Any]
"""Values by column; the first column says which rank, where it is of one."""


def fleet_tables(report: FleetReport) -> dict[str, pd.DataFrame]:
    """Every table by name; times are nanoseconds, shares are of one.

    ranks        one row per rank: where it ran, its outcome and its totals
    checks       every check of every rank
    causes       every cause that matters on a rank
    idle         idle time of every rank by cause; adds up to its idle_ns
    collectives  of every rank by kind and stream, or communicator
    waits        waiting and moving data of the ranks that met, by meeting
    stragglers   ranks that the others wait for
    outliers     ranks unlike the others
    lost         reports without a result
    """
    return {name: fleet_table(report, name) for name in _TABLES}


def fleet_table(report: FleetReport, name: str) -> pd.DataFrame:
    """One of the tables, see `fleet_tables`."""
    columns, rows = _TABLES[name]
    return _frame(columns, rows(report))


def fleet_table_names() -> tuple[str, ...]:
    """Names of all tables."""
    return tuple(_TABLES)


def _frame(columns: str, rows: Iterable[Row]) -> pd.DataFrame:
    """A frame whose columns have the same types whatever is in them."""
    kinds = dict(column.rsplit(":", 1) for column in columns.split())
    listed = list(rows)
    return pd.DataFrame(
        {name: _column([row.get(name) for row in listed], kind) for name, kind in kinds.items()}
    )


def _column(values: list[Any], kind: str) -> pd.Series[Any]:
    if kind == "text":
        # Bytes of a file's name that are no text have no place in a column of texts.
        values = [None if value is None else names_no_one(value) for value in values]
    column: pd.Series[Any] = pd.Series(values, dtype=_KINDS[kind])
    return column


_KINDS: dict[str, Any] = {"text": "string", "whole": "Int64", "real": "float64", "bool": "boolean"}


def _ranks(report: FleetReport) -> Iterator[Row]:
    for row in report.rows:
        yield {
            **{name: getattr(row, name) for name in _OF_A_ROW},
            "rank": row.label,
            "outcome": row.outcome.value,
            **{f"overlap_{direction}": row.overlap.get(direction) for direction in _DIRECTIONS},
            "recorded_step_ns": row.pace.recorded_ns if row.pace else None,
            "own_step_ns": row.pace.own_ns if row.pace else None,
            "first_cause": row.causes[0].cause if row.causes else None,
        }


_OF_A_ROW = (
    *("report", "pid", "host", "device", "gpu", "window_ns", "steps", "step_median_ns"),
    *("compute_ns", "idle_ns", "communication_ns", "communication_exposed_ns", "recoverable"),
)
_DIRECTIONS = ("h2d", "d2h", "p2p")


def _checks(report: FleetReport) -> Iterator[Row]:
    for row in report.rows:
        for check in row.checks:
            yield {
                "rank": row.label,
                "check": check.name,
                "outcome": check.outcome.value,
                "measured": check.measured,
                "limit": check.limit,
                "at_least": check.at_least,
                "reason": check.reason,
            }


def _causes(report: FleetReport) -> Iterator[Row]:
    for row in report.rows:
        for cause in row.causes:
            yield {
                "rank": row.label,
                "cause": cause.cause,
                "share": cause.share,
                "blamed_ns": cause.blamed_ns,
                "title": cause.title,
            }


def _idle(report: FleetReport) -> Iterator[Row]:
    for row in report.rows:
        for cause, ns in row.ledger.items():
            yield {"rank": row.label, "cause": cause, "ns": ns}


def _collectives(report: FleetReport) -> Iterator[Row]:
    for row in report.rows:
        for one in row.collectives:
            yield _collective(row, one)


def _collective(row: RankRow, one: CollectiveSummary) -> Row:
    speed = one.speed
    return {
        "rank": row.label,
        "kind": one.kind,
        "stream_id": one.stream_id,
        "communicator": one.communicator or None,
        "count": one.count,
        "total_ns": one.total_ns,
        "exposed_ns": one.exposed_ns,
        "last_exposed_ns": one.last_exposed_ns,
        "on_compute_stream": one.on_compute_stream,
        "bytes": speed.bytes if speed else None,
        "bus_gbs": speed.bus_gbs if speed else None,
    }


def _waits(report: FleetReport) -> Iterator[Row]:
    for number, meeting in enumerate(report.meetings):
        for wait in meeting.waits:
            yield {
                "rank": wait.rank,
                "meeting": number,
                "ranks": meeting.ranks,
                "occasions": meeting.occasions,
                "came_last": wait.came_last,
                "waiting_ns": wait.waiting_ns,
                "exposed_waiting_ns": wait.exposed_waiting_ns,
                "transfer_ns": wait.transfer_ns,
                "exposed_transfer_ns": wait.exposed_transfer_ns,
            }


def _stragglers(report: FleetReport) -> Iterator[Row]:
    for one in report.stragglers:
        what, ns = next(iter(one.meanwhile.items()), (None, None))
        yield {**vars(one), "meanwhile": what, "meanwhile_ns": ns}


def _outliers(report: FleetReport) -> Iterator[Row]:
    yield from map(vars, report.outliers)


def _lost(report: FleetReport) -> Iterator[Row]:
    yield from map(vars, report.lost)


_TABLES: dict[str, tuple[str, Callable[[FleetReport], Iterable[Row]]]] = {
    "ranks": (
        "rank:text report:text pid:whole host:whole device:whole gpu:text outcome:text"
        " window_ns:whole steps:whole step_median_ns:real compute_ns:whole idle_ns:whole"
        " communication_ns:whole communication_exposed_ns:whole recoverable:real overlap_h2d:real"
        " overlap_d2h:real overlap_p2p:real recorded_step_ns:whole own_step_ns:whole"
        " first_cause:text",
        _ranks,
    ),
    "checks": (
        "rank:text check:text outcome:text measured:real limit:real at_least:bool reason:text",
        _checks,
    ),
    "causes": ("rank:text cause:text share:real blamed_ns:whole title:text", _causes),
    "idle": ("rank:text cause:text ns:whole", _idle),
    "collectives": (
        "rank:text kind:text stream_id:whole communicator:text count:whole total_ns:whole"
        " exposed_ns:whole last_exposed_ns:whole on_compute_stream:bool bytes:whole bus_gbs:real",
        _collectives,
    ),
    "waits": (
        "rank:text meeting:whole ranks:whole occasions:whole came_last:whole waiting_ns:whole"
        " exposed_waiting_ns:whole transfer_ns:whole exposed_transfer_ns:whole",
        _waits,
    ),
    "stragglers": (
        "rank:text ranks:whole came_last:whole occasions:whole cost_ns:whole"
        " exposed_cost_ns:whole share:real meanwhile:text meanwhile_ns:whole",
        _stragglers,
    ),
    "outliers": (
        "rank:text measure:text value:real median:real deviations:real share:real unit:text",
        _outliers,
    ),
    "lost": ("report:text why:text hint:text", _lost),
}
"""Columns and their kinds, and what fills them."""
