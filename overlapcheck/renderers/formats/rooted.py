"""What the formats that tools on a repository read share."""

from __future__ import annotations


class RootedFormat:
    """A format that names source files.

    Args:
        root: folder of the repository; source files below it are named relative to it.
    """

    def __init__(self, *, root: str = "") -> None:
        self._root = root
