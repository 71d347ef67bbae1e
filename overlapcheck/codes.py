"""Small whole numbers that columns hold in a byte, by name."""

from __future__ import annotations

from enum import IntEnum
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np


class Code(IntEnum):
    """An enumeration whose members numpy takes for plain numbers.

    Left alone, it takes them for whole numbers of eight bytes, and widens a column of bytes to
    compare it with one of them: twenty times the work.
    """

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **options: Any) -> Any:
        """What numpy calls for arithmetic and comparisons with a member."""
        plain = (int(one) if isinstance(one, Code) else one for one in inputs)
        return getattr(ufunc, method)(*plain, **options)
