"""The user's own cache folder, into which nobody else can put anything."""

from __future__ import annotations

import contextlib
import os
import secrets
import stat
import tempfile
from collections.abc import Mapping
from pathlib import Path

from overlapcheck.errors import OutputUnwritable

NAME = "overlapcheck"
_BY_OTHERS = 0o022
_PRIVATE = 0o700
_KEY_NAME = "key"
_KEY_BYTES = 32


def cache_folder(environment: Mapping[str, str] = os.environ) -> Path:
    """`overlapcheck` in XDG_CACHE_HOME, else in ~/.cache; made, 0700, where it is missing.

    Raises:
        OutputUnwritable: there is none that only this user can write to.
    """
    named = environment.get("XDG_CACHE_HOME", "")
    # A relative one is invalid by its specification.
    base = Path(named) if Path(named).is_absolute() else Path(os.path.expanduser("~/.cache"))  # noqa: PTH111  # Path raises where no home is known
    if not base.is_absolute():
        raise OutputUnwritable("no cache folder: there is no home folder", "set XDG_CACHE_HOME")
    folder = base / NAME
    try:
        folder.mkdir(mode=_PRIVATE, parents=True, exist_ok=True)
        found = folder.lstat()
    except OSError as error:
        raise _unusable(folder, error.strerror or str(error)) from error
    if not stat.S_ISDIR(found.st_mode):
        raise _unusable(folder, "a link, or no folder")
    if why := not_private(found):
        raise _unusable(folder, why)
    if stat.S_IMODE(found.st_mode) != _PRIVATE:
        folder.chmod(_PRIVATE)
    return folder


def user_key(folder: Path | None = None) -> bytes:
    """A secret by which results that this user has kept anywhere are told from planted ones.

    Raises:
        OutputUnwritable: there is none that only this user can know.
    """
    folder = folder or cache_folder()
    place = folder / _KEY_NAME
    try:
        if not os.path.lexists(place):
            with tempfile.NamedTemporaryFile(dir=folder, prefix=".key-") as made:
                made.write(secrets.token_bytes(_KEY_BYTES))
                made.flush()
                # Whole or not at all; of two processes the first one's counts.
                with contextlib.suppress(FileExistsError):
                    os.link(made.name, place)
        found = place.lstat()
        if not stat.S_ISREG(found.st_mode) or found.st_size != _KEY_BYTES:
            raise _unusable(place, "it is no key")
        if why := not_private(found):
            raise _unusable(place, why)
        return place.read_bytes()
    except OSError as error:
        raise _unusable(place, error.strerror or str(error)) from error


def not_private(found: os.stat_result) -> str:
    """Why others may have written what lies there; empty where only this user can have."""
    if found.st_uid != os.geteuid():
        return "it belongs to another user"
    return "others can write to it" if found.st_mode & _BY_OTHERS else ""


def _unusable(folder: Path, why: str) -> OutputUnwritable:
    return OutputUnwritable(
        f"{folder}: not used: {why}",
        "remove it, or set XDG_CACHE_HOME to a folder of your own",
    )
