"""Regular expressions that users give, which must not search for ever.

`(a+)+$` takes twice as long for each letter of a name that it does not fit, and names are whatever
a program called its kernels and ranges. Python's own engine cannot be stopped; `regex` reads the
same expressions and takes a time limit.
"""

from __future__ import annotations

import time
from functools import lru_cache
from typing import Any

from overlapcheck.errors import PolicyInvalid

_PATIENCE_S = 5.0
"""For all names together."""
_AT_ONCE_S = 0.001
"""What a search may take without counting; a sound one takes microseconds."""
_LONGEST_SHOWN = 40


class UserPattern:
    """A regular expression, and the option that it comes from.

    Attributes:
        text: as the user wrote it.
    """

    def __init__(self, text: str, option: str, *, ignore_case: bool = True) -> None:
        """Compile it.

        Raises:
            ValueError: it is none; says why.
        """
        # Not before somebody gives one: its import takes longer than many a report.
        import regex

        self.text = text
        self._option = option
        try:
            self._compiled = regex.compile(text, regex.IGNORECASE if ignore_case else 0)
        except (regex.error, OverflowError, RecursionError) as error:
            raise ValueError(str(error) or "nested too deeply") from error
        self._spent_s = 0.0

    @property
    def groups(self) -> frozenset[str]:
        """Names of its groups."""
        return frozenset(self._compiled.groupindex)

    def search(self, name: str) -> Any:
        """First match in a name, as of `re`, or None.

        Raises:
            PolicyInvalid: it takes too long.
        """
        begun = time.thread_time()
        try:
            found = self._compiled.search(name, timeout=_PATIENCE_S - self._spent_s)
        except TimeoutError:
            self._spent_s = 0.0
            raise self._too_slow(name) from None
        spent = time.thread_time() - begun
        if spent > _AT_ONCE_S:
            self._spent_s += spent
            if self._spent_s >= _PATIENCE_S:
                self._spent_s = 0.0
                raise self._too_slow(name)
        return found

    def _too_slow(self, name: str) -> PolicyInvalid:
        shown = name if len(name) <= _LONGEST_SHOWN else f"{name[:_LONGEST_SHOWN]}..."
        return PolicyInvalid(
            f"{self._option} {self.text!r} searches for ever in {shown!r}",
            "write it without a repeat inside a repeat, such as (a+)+",
        )


@lru_cache(maxsize=64)
def user_pattern(text: str, option: str) -> UserPattern:
    """An expression that has been compiled before, letters of either case alike."""
    return UserPattern(text, option)
