"""The check `streams` of a verdict: one for each process, on the first of its judged devices."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from overlapcheck.measurements import Measurements
from overlapcheck.quantities import duration
from overlapcheck.stream_changes import Change, StreamCheck
from overlapcheck.stream_graph import Example
from overlapcheck.verdict import Check, Policy

NAME = "streams"
MOST_TOLD = 3
"""Changes that find room in a clause; `overlapcheck streams --check` tells them all."""


def stream_checks(
    measured: Measurements, found: Sequence[StreamCheck], policy: Policy
) -> tuple[Check, ...]:
    """What the contract says of each process, as checks.

    Args:
        measured: the report.
        found: the comparison of each process with the contract.
        policy: which names the contract.
    """
    return tuple(_checks(measured, found, policy))


def _checks(
    measured: Measurements, found: Sequence[StreamCheck], policy: Policy
) -> Iterator[Check]:
    place = policy.streams.place if policy.streams else ""
    for one in found:
        keys = [device.key for device in measured.devices if device.process == one.number]
        yield Check(
            NAME,
            keys[0] if keys else None,
            one.outcome,
            None,
            None,
            _reason(one, place),
            settle_with=one.settle_with,
            limit_from=policy.origin(NAME),
        )


def _reason(check: StreamCheck, place: str) -> str:
    if not check.changes:
        return f"{check.reason} in {place}"
    told = [_told(change) for change in check.changes[:MOST_TOLD]]
    if len(check.changes) > MOST_TOLD:
        told.append(f"{len(check.changes) - MOST_TOLD} more changes of {place}")
    return "; ".join(told)


def _told(change: Change) -> str:
    example = change.example
    return f"{change.text} ({_where(example)})" if example is not None else change.text


def _where(example: Example) -> str:
    operations = [one.text for one in (example.before, example.after) if one is not None]
    text = (
        f"step {example.step}: {' → '.join(operations)}" if operations else f"step {example.step}"
    )
    between = example.between_ns
    if between is None:
        return text
    if between < 0:
        return f"{text}, {duration(-between)} before its end"
    return f"{text}, {duration(between)} apart"
