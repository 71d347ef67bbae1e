"""Which policy file holds: the nearest one, from the working directory up to the repository's root.

What lies above the repository, above the home folder or on another file system belongs to somebody
else, and so may a file further down: one of another owner is used only where it is named.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from overlapcheck.errors import PolicyInvalid
from overlapcheck.policy.document import MOST_BYTES, read_document, shown

OWN_FILE = "overlapcheck.toml"
PROJECT_FILE = "pyproject.toml"
TABLE = "tool.overlapcheck"
_ROOT_MARK = ".git"
_ADMINISTRATOR = 0


@dataclass(frozen=True)
class PolicyFile:
    """The settings of one file, not yet looked at."""

    path: Path
    prefix: str
    """Where in the file they stand: "tool.overlapcheck", or "" for the top."""
    table: Mapping[str, Any]


def find_policy_file(start: Path) -> PolicyFile | None:
    """The nearest file upward that has settings; overlapcheck.toml before pyproject.toml.

    Raises:
        PolicyInvalid: a file that is or may be the policy cannot be read, or is somebody else's.
    """
    for folder in _upward(start):
        try:
            found = _in_folder(folder)
        except OSError as error:
            raise PolicyInvalid(
                f"{folder}: cannot be searched for a policy: {error.strerror or error}",
                "name the file: --config FILE, or judge without one: --no-config",
            ) from error
        if found is not None:
            return found
    return None


def _in_folder(folder: Path) -> PolicyFile | None:
    own, project = folder / OWN_FILE, folder / PROJECT_FILE
    if own.exists():
        _require_own(own)
        if not (own.is_file() or own.is_dir()):
            # What was only found may be a pipe that nobody writes to.
            raise PolicyInvalid(
                f"{shown(own)}: the policy is no regular file",
                "name a file: --config FILE, or judge without it: --no-config",
            )
        return _own(own)
    if project.is_file() and (found := _in_project(project)) is not None:
        _require_own(project)
        return PolicyFile(project, TABLE, found)
    return None


def open_policy_file(path: Path) -> PolicyFile:
    """The settings of a file that the user names.

    Raises:
        PolicyInvalid: it cannot be read, or the settings are not where they belong.
    """
    if path.name != PROJECT_FILE:
        return _own(path)
    found = _table_of(read_document(path))
    if found is None:
        raise PolicyInvalid(f"{shown(path)}: has no [{TABLE}]", f"add the table, or use {OWN_FILE}")
    return PolicyFile(path, TABLE, found)


def _upward(start: Path) -> Iterator[Path]:
    """Folders up to the root of a repository, the home folder or the end of the file system."""
    home = os.path.expanduser("~")  # noqa: PTH111  # Path.home() raises where there is none
    device = None
    for folder in (start, *start.parents):
        try:
            here = folder.stat().st_dev
        except OSError:
            return
        if device not in (None, here):
            return
        device = here
        yield folder
        if str(folder) == home or os.path.lexists(folder / _ROOT_MARK):
            return


def _require_own(path: Path) -> None:
    """Refuse a file that another user has put there, or a link of theirs.

    Raises:
        PolicyInvalid: naming the file, and how to use it all the same.
    """
    try:
        owners = {path.lstat().st_uid, path.stat().st_uid}
    except OSError:
        return  # Reading it says why.
    for owner in owners - {os.geteuid(), _ADMINISTRATOR}:
        raise PolicyInvalid(
            f"{shown(path)}: the policy belongs to another user (uid {owner})",
            f"use it by name: --config {shown(path)}, or judge without it: --no-config",
        )


def _own(path: Path) -> PolicyFile:
    document = read_document(path)
    if _table_of(document) is not None:
        raise PolicyInvalid(
            f"{shown(path)}: [{TABLE}] belongs in {PROJECT_FILE}",
            "here the settings stand at the top, in no table",
        )
    return PolicyFile(path, "", document)


def _in_project(path: Path) -> Any:
    # Somebody else's broken pyproject.toml further up is no business of ours.
    try:
        with path.open("rb") as file:
            ours = b"overlapcheck" in file.read(MOST_BYTES)
    except OSError:
        ours = True
    return _table_of(read_document(path)) if ours else None


def _table_of(document: Mapping[str, Any]) -> Any:
    tool = document.get("tool")
    return tool.get("overlapcheck") if isinstance(tool, Mapping) else None
