"""Which policy file holds: the nearest one, from the working directory upward."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from overlapcheck.errors import PolicyInvalid
from overlapcheck.policy.document import read_document, shown

OWN_FILE = "overlapcheck.toml"
PROJECT_FILE = "pyproject.toml"
TABLE = "tool.overlapcheck"


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
        PolicyInvalid: a file that is or may be the policy cannot be read.
    """
    for folder in (start, *start.parents):
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
        return _own(own)
    if project.is_file() and (found := _in_project(project)) is not None:
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
        ours = b"overlapcheck" in path.read_bytes()
    except OSError:
        ours = True
    return _table_of(read_document(path)) if ours else None


def _table_of(document: Mapping[str, Any]) -> Any:
    tool = document.get("tool")
    return tool.get("overlapcheck") if isinstance(tool, Mapping) else None
