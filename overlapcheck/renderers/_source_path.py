"""Names of source files as tools on the repository expect them."""

from __future__ import annotations

from pathlib import PurePosixPath
from posixpath import normpath
from urllib.parse import quote

from overlapcheck.renderers._plain_text import plain


def relative_path(file: str, root: str) -> str:
    """A file's name relative to the repository; "" where it is none of a file in it."""
    name = PurePosixPath(plain(file, 400))
    if root and name.is_relative_to(root):
        name = name.relative_to(root)
    # As text, for the file need not be here.
    inside = normpath(name)
    outside = inside in (".", "..") or inside.startswith(("/", "../")) or "\\" in inside
    return "" if outside else inside


def uri(file: str, root: str) -> str:
    """The same as a relative URI reference."""
    return quote(relative_path(file, root), safe="/~", errors="replace")
