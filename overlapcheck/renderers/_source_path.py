"""Names of source files as tools on the repository expect them."""

from __future__ import annotations

from pathlib import PurePosixPath
from urllib.parse import quote

from overlapcheck.renderers._plain_text import plain


class RootedFormat:
    """A format that names source files.

    Args:
        root: folder of the repository; source files below it are named relative to it.
    """

    def __init__(self, *, root: str = "") -> None:
        self._root = root


def relative_path(file: str, root: str) -> str:
    """A file's name relative to the repository, where it lies in it; else as the trace has it."""
    name = PurePosixPath(plain(file, 400))
    return str(name.relative_to(root) if root and name.is_relative_to(root) else name)


def uri(file: str, root: str) -> str:
    """The same as a URI reference: relative, or file:///."""
    path = relative_path(file, root)
    quoted = quote(path, safe="/~", errors="replace")
    return f"file://{quoted}" if path.startswith("/") else quoted
