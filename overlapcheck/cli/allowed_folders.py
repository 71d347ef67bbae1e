"""Folders that a program which asks for files may have read, and no others."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from overlapcheck.errors import InputUnreadable


class AllowedFolders:
    """Keeps paths below some folders, wherever links in them lead.

    Args:
        folders: below which everything may be read.
    """

    def __init__(self, folders: Sequence[Path]) -> None:
        self._folders = tuple(folder.resolve() for folder in folders)

    def path(self, text: str) -> Path:
        """The file or folder of a name, relative ones taken from the first folder.

        Raises:
            InputUnreadable: it does not exist, or lies elsewhere.
        """
        try:
            found = (self._folders[0] / text).resolve(strict=True)
        except (OSError, ValueError, RuntimeError) as error:
            # Whether it exists elsewhere is not told either.
            raise self._refused(text) from error
        self.require(found)
        return found

    def require(self, path: Path) -> None:
        """Refuse a path that leads out of the folders.

        Raises:
            InputUnreadable: it does.
        """
        resolved = path.resolve()
        if not any(resolved.is_relative_to(folder) for folder in self._folders):
            raise self._refused(path.name)

    @staticmethod
    def _refused(name: str) -> InputUnreadable:
        return InputUnreadable(
            f"{name}: not found below the folders that may be read",
            "name a file below them, or start the server with --root DIR",
        )
