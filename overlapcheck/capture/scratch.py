"""A private directory for one capture or export, with room in it, and gone afterwards."""

from __future__ import annotations

import contextlib
import os
import shutil
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from overlapcheck.errors import CaptureFailed

PREFIX = "overlapcheck-"
# NOTE: nsys 2023.4.4 hangs for ever when its temporary directory is full.
CAPTURE_NEEDS_BYTES = 256 << 20
# nsys makes sockets in its temporary directory; their paths end at 108 bytes.
LONGEST_SOCKET_DIRECTORY = 70


def free_bytes(directory: Path) -> int:
    """Room that we may use in a directory; 0 where it cannot be asked."""
    try:
        return shutil.disk_usage(directory).free
    except OSError:
        return 0


@contextmanager
def scratch_directory(candidates: Iterable[Path], needs_bytes: int = 0) -> Iterator[Path]:
    """Make a private directory in the first candidate with room, and remove it afterwards.

    Raises:
        CaptureFailed: no candidate is writable and has the room.
    """
    path = _make(list(candidates), needs_bytes)
    try:
        yield path
    finally:
        shutil.rmtree(path, ignore_errors=True)


def capture_candidates(beside: Path) -> list[Path]:
    """Where a capture may put its temporary files: the usual place, else beside the report."""
    usual = Path(tempfile.gettempdir())
    places = [usual, Path("/tmp"), Path("/var/tmp"), beside.resolve()]
    short = [place for place in places if len(os.fsencode(place)) <= LONGEST_SOCKET_DIRECTORY]
    return list(dict.fromkeys(short))


def _make(candidates: list[Path], needs_bytes: int) -> Path:
    refused = []
    for parent in candidates:
        free = free_bytes(parent)
        if free < needs_bytes:
            refused.append(f"{parent} has {free >> 20} MB free")
            continue
        with contextlib.suppress(OSError):
            return Path(tempfile.mkdtemp(prefix=PREFIX, dir=parent))
        refused.append(f"{parent} is not writable")
    raise CaptureFailed(
        f"no place for temporary files: {', '.join(refused)}",
        f"free {needs_bytes >> 20} MB there, or set TMPDIR to a directory with room",
    )
