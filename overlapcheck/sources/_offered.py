"""Whether an installed package may offer a source, without loading what finds out which.

To load `importlib.metadata` and let it read the lists of all packages takes longer than to judge
many a recording, and next to nobody has such a package. So they are only looked through for the
name of the group; whatever may be packaged otherwise counts as an offer.
"""

from __future__ import annotations

import os
import sys
from importlib.machinery import PathFinder
from pathlib import Path

_INFORMATION = (".dist-info", ".egg-info", "egg-info")
"""Ends of the names of folders that say what a package is."""
_LIST = "entry_points.txt"


def may_be_offered(group: str) -> bool:
    """Whether a look at the entry points of a group may find any.

    Args:
        group: its name, as packages write it.
    """
    others = (finder for finder in sys.meta_path if finder is not PathFinder)
    if any(hasattr(finder, "find_distributions") for finder in others):
        return True
    return any(_may_name(place or os.curdir, group.encode()) for place in dict.fromkeys(sys.path))


def _may_name(place: str, group: bytes) -> bool:
    """Whether a package of a place where modules are found names the group."""
    try:
        names = os.listdir(place)  # noqa: PTH208 (paths are made of the few that matter)
    except FileNotFoundError:
        return False
    except OSError:
        return True  # an archive, which may hold packages
    folders = (name for name in names if name.lower().endswith(_INFORMATION))
    return any(group in _read(Path(place, folder, _LIST)) for folder in folders)


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError:
        return b""  # none, as of most packages
