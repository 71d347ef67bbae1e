"""Columns of Arrow data as whole numbers, or as what SQLite can hold."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from overlapcheck.columns import Ints, Mask, compact, constant

if TYPE_CHECKING:
    import pyarrow as pa


def is_whole(kind: pa.DataType) -> bool:
    """Whether a column of this type holds whole numbers, flags or nothing."""
    from pyarrow import types

    return bool(types.is_integer(kind) or types.is_boolean(kind) or types.is_null(kind))


def is_text(kind: pa.DataType) -> bool:
    """Whether a column of this type holds texts or bytes, once each or not."""
    from pyarrow import types

    if types.is_dictionary(kind):
        kind = kind.value_type
    checks = (types.is_string, types.is_large_string, types.is_binary, types.is_large_binary)
    return any(check(kind) for check in checks)


def text_bytes(column: pa.Array) -> int:
    """Bytes of all texts of a column, however they are stored.

    Args:
        column: of a type that `is_text`.

    Raises:
        ArrowInvalid: the data is damaged.
    """
    from pyarrow import compute, types

    if types.is_dictionary(column.type):
        lengths = compute.binary_length(_dictionary(column)).take(column.indices)
    else:
        lengths = compute.binary_length(_as_bytes(column))
    return int(compute.sum(lengths.cast("int64")).as_py() or 0)


def whole(column: pa.Array, null: int) -> Ints:
    """A column as int64; larger numbers wrap, as they do in SQLite exports.

    Args:
        column: of a type that `is_whole`.
        null: what NULL becomes.

    Raises:
        ArrowInvalid: the data is damaged.
    """
    from pyarrow import types

    column.validate()
    if column.null_count == len(column):
        return constant(null, len(column))
    valid, data = column.buffers()
    rows = slice(column.offset, column.offset + len(column))
    if types.is_boolean(column.type):
        values = _bits(data, rows).astype(np.int64)
    else:
        # Not to_numpy(), which imports pandas for it.
        kind = "u" if types.is_unsigned_integer(column.type) else "i"
        stored = np.frombuffer(data, dtype=f"{kind}{column.type.bit_width // 8}")
        values = stored[rows].astype(np.int64)
    if column.null_count:
        values[~_bits(valid, rows)] = null
    return compact(values)


def _bits(buffer: pa.Buffer, rows: slice) -> Mask:
    packed = np.frombuffer(buffer, dtype=np.uint8)
    return np.unpackbits(packed, count=rows.stop, bitorder="little")[rows].astype(np.bool_)


def storable_type(kind: pa.DataType) -> pa.DataType:
    """The type in which SQLite can hold a column of this type."""
    import pyarrow
    from pyarrow import types

    if types.is_dictionary(kind):
        kind = kind.value_type
    if types.is_uint64(kind):
        return pyarrow.int64()
    if types.is_binary(kind):
        return pyarrow.string()
    return pyarrow.large_string() if types.is_large_binary(kind) else kind


def storable(column: pa.Array) -> pa.Array:
    """The column in its `storable_type`; texts keep their bytes.

    Raises:
        ArrowInvalid: the data is damaged.
    """
    from pyarrow import types

    if types.is_dictionary(column.type):
        column = _dictionary(column).take(column.indices)
    return _as_bytes(column).view(storable_type(column.type))


def _dictionary(column: pa.DictionaryArray) -> pa.Array:
    """The texts that a column points to, as bytes; all its pointers are sound."""
    import pyarrow
    from pyarrow import compute

    texts, indices = _as_bytes(column.dictionary), column.indices
    indices.validate(full=True)
    ends = compute.min_max(indices)
    lowest, highest = ends["min"].as_py(), ends["max"].as_py()
    if lowest is not None and not 0 <= lowest <= highest < len(texts):
        raise pyarrow.ArrowInvalid("a text that its dictionary lacks")
    return texts


def _as_bytes(column: pa.Array) -> pa.Array:
    """Texts as bytes, for they need not be UTF-8; the driver trusts where each text ends.

    Raises:
        ArrowInvalid: the data is damaged.
    """
    import pyarrow
    from pyarrow import types

    if types.is_string(column.type):
        column = column.view(pyarrow.binary())
    elif types.is_large_string(column.type):
        column = column.view(pyarrow.large_binary())
    column.validate(full=True)
    return column
