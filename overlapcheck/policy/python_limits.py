"""Limits as Python gives them, shares of one → as the policy file has them, percentages."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from overlapcheck.policy.resolve import SHARES
from overlapcheck.verdict import check_share

_DIGITS = 12
"""0.29 is 29 %, and not 28.999999999999996."""


def in_percent(settings: Mapping[str, Any], caller: str, *, all_shares: bool = False) -> Any:
    """Settings by the keys of the policy file, shares of one turned into percentages.

    Args:
        settings: values as Python has them; of limits by direction or range, mappings.
        caller: who gives them, for the error.
        all_shares: whether every number is a share, as of "overlap".

    Raises:
        PolicyInvalid: a limit is not a share of one.
    """
    return {
        key: _turned(key, value, caller, is_share=all_shares or key in SHARES)
        for key, value in settings.items()
    }


def _turned(key: str, value: Any, caller: str, *, is_share: bool) -> Any:
    if key in ("overlap", "ranges") and isinstance(value, Mapping):
        return in_percent(value, caller, all_shares=key == "overlap")
    if isinstance(value, Mapping):
        # One range.
        return in_percent(value, caller)
    if not is_share or isinstance(value, bool) or not isinstance(value, int | float):
        return value
    check_share(f"{caller}: {key.replace('-', '_')}", value)
    return round(value * 100, _DIGITS)
