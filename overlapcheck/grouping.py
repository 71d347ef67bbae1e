"""Rows by what they hold: distinct values numbered, equal rows grouped, all rows ordered."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import TypeVar

import numpy as np

from overlapcheck.columns import Columns, Index, Ints, Mask, Whole, constant, is_constant, is_in

_Table = TypeVar("_Table", bound=Columns)

# numpy's own sort takes advantage of values that mostly ascend.
_RANDOM = 0.3
_LOW_FIRST = (0, 1) if sys.byteorder == "little" else (1, 0)


def distinct(values: Whole) -> Ints:
    """The distinct values, ascending."""
    reach = _reach(values)
    if reach is None:
        return np.unique(values)
    return np.flatnonzero(_seen(values, *reach)) + reach[0]


def numbered(values: Whole) -> tuple[Ints, Ints]:
    """The distinct values, ascending, and for each row the position of its value among them."""
    if is_constant(values):
        return values[:1].copy(), constant(0, values.size)
    reach = _reach(values)
    if reach is None:
        found, position = np.unique(values, return_inverse=True)
        return found, position.astype(np.int64, copy=False)
    seen = _seen(values, *reach)
    lookup = np.cumsum(seen) - 1
    return np.flatnonzero(seen) + reach[0], lookup[values - reach[0]]


def repeated(values: Whole) -> Index:
    """Rows whose value another row holds, too."""
    # Numbers that are given one after another mostly ascend, which this kind takes advantage of.
    in_order = np.sort(values, kind="stable")
    again = in_order[1:][in_order[1:] == in_order[:-1]]
    return np.flatnonzero(is_in(values, distinct(again))) if again.size else np.empty(0, np.intp)


def first_rows(values: Whole) -> Index:
    """The first row of each distinct value, in the order of the values."""
    order = ordered(values)
    opens = np.ones(order.size, dtype=np.bool_)
    np.not_equal(values[order[1:]], values[order[:-1]], out=opens[1:])
    return order[opens]


def groups(*keys: Whole) -> tuple[Index, Ints]:
    """Rows that agree in all keys.

    Returns:
        The first row of each group, in the order of the keys' values, and each row's group.
    """
    group = numbered(keys[0])[1]
    for key in keys[1:]:
        found, code = numbered(key)
        if found.size > 1:
            both = group * found.size + code
            group = code if is_constant(group) else numbered(both)[1]
    if is_constant(group):
        return np.zeros(1, dtype=np.intp), group
    count = int(group.max()) + 1 if group.size else 0
    first = np.empty(count, dtype=np.intp)
    first[group[::-1]] = np.arange(group.size - 1, -1, -1)
    return first, group


def by_group(group: Whole, count: int) -> tuple[Index, Index]:
    """Rows by group, in row order within each: group g has `order[bounds[g] : bounds[g + 1]]`."""
    if is_constant(group):
        return np.arange(group.size), np.array([0, group.size])
    bounds = np.concatenate(([0], np.cumsum(np.bincount(group, minlength=count))))
    return ordered(group), bounds


def ordered(*keys: Whole) -> Index:
    """Row numbers sorted by the first key, then the next; equal rows keep their order."""
    first, more = keys[0], keys[1:]
    if _in_order(keys):
        return np.arange(first.size)
    order = np.arange(first.size) if more and _in_order(keys[:1]) else _order(first)
    if more:
        values = first[order]
        same = values[1:] == values[:-1]
        # Only among rows with equal first keys do the others decide.
        tied = np.append(same, False)
        tied[1:] |= same
        rows = np.sort(order[tied])
        order[tied] = rows[np.lexsort([key[rows] for key in (*more[::-1], first)])]
    return order


def sorted_by(table: _Table, *keys: Whole) -> _Table:
    """The rows in the order of the keys; the table itself where they are in it already."""
    return table if _in_order(keys) else table.rows(ordered(*keys))


def _in_order(keys: Sequence[Whole]) -> bool:
    in_order = np.ones(max(keys[0].size - 1, 0), dtype=np.bool_)
    for key in reversed(keys):
        if not is_constant(key):
            in_order &= key[1:] == key[:-1]
            in_order |= key[1:] > key[:-1]
    return bool(in_order.all())


def _order(values: Whole) -> Index:
    """Stable order; numpy sorts 16 bits many times faster than 64."""
    low = int(values.min())
    width = int(values.max()) - low
    descents = np.count_nonzero(values[1:] < values[:-1])
    if width >= 1 << 32 or descents < _RANDOM * values.size:
        return np.argsort(values, kind="stable")
    digits = (values - low).astype(np.uint32).view(np.uint16).reshape(-1, 2)
    low_digit, high_digit = (digits[:, i] for i in _LOW_FIRST)
    order = np.argsort(low_digit, kind="stable")
    if width < 1 << 16:
        return order
    return order[np.argsort(high_digit[order], kind="stable")]


def _reach(values: Whole) -> tuple[int, int] | None:
    """Lowest value and width of the values where a table of all values between is small."""
    if values.size == 0 or is_constant(values):
        return (int(values[0]), 1) if values.size else None
    low, high = int(values.min()), int(values.max())
    width = high - low + 1
    return (low, width) if width <= 4 * values.size + 4096 else None


def _seen(values: Whole, low: int, width: int) -> Mask:
    seen = np.zeros(width, dtype=np.bool_)
    seen[0 if is_constant(values) else values - low] = True
    return seen
