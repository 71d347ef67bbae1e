"""Exports kept beside their report, found again only for the very same content.

The name holds everything that must agree: `step.nsys-rep.<digest of the report>-<nsys
release>.overlapcheck.sqlite`. A report that was replaced has another digest, whatever its time
stamps say; a user's own `step.sqlite` is never looked at.
"""

from __future__ import annotations

import contextlib
import hashlib
from pathlib import Path

from overlapcheck.capture.discovery import release_key

CACHE_SUFFIX = ".overlapcheck.sqlite"
DIGEST_CHARACTERS = 16

_SQLITE_MAGIC = b"SQLite format 3\0"
_HEADER_BYTES = 100


def digest(report: Path) -> str:
    """Digest of the whole content."""
    with report.open("rb") as content:
        return hashlib.file_digest(content, "blake2b").hexdigest()[:DIGEST_CHARACTERS]


def cached_path(report: Path, report_digest: str, release: str) -> Path:
    """Where the export of this content by this nsys release is kept."""
    return report.with_name(f"{report.name}.{report_digest}-{release}{CACHE_SUFFIX}")


def find_cached(report: Path, report_digest: str) -> list[Path]:
    """Whole exports of exactly this content, newest nsys first."""
    found = [
        path
        for path in _siblings(report)
        if path.name.startswith(f"{report.name}.{report_digest}-") and is_whole_sqlite(path)
    ]
    return sorted(found, key=lambda path: _release_in(report, path), reverse=True)


def drop_stale(report: Path, report_digest: str) -> None:
    """Remove our exports of what this report was before it was replaced."""
    for path in _siblings(report):
        if not path.name.startswith(f"{report.name}.{report_digest}-"):
            with contextlib.suppress(OSError):
                path.unlink()


def is_whole_sqlite(path: Path) -> bool:
    """Whether a file is a SQLite database of the length that its header promises.

    NOTE: nsys export ends with exit code 0 and an empty file when the disk is full.
    """
    try:
        with path.open("rb") as file:
            header = file.read(_HEADER_BYTES)
        size = path.stat().st_size
    except OSError:
        return False
    if len(header) < _HEADER_BYTES or not header.startswith(_SQLITE_MAGIC):
        return False
    page_bytes = int.from_bytes(header[16:18], "big")
    pages = int.from_bytes(header[28:32], "big")
    return size > 0 and size == pages * (65536 if page_bytes == 1 else page_bytes)


def _siblings(report: Path) -> list[Path]:
    length = DIGEST_CHARACTERS
    with contextlib.suppress(OSError):
        return [
            path
            for path in report.parent.iterdir()
            if path.name.startswith(f"{report.name}.")
            and path.name.endswith(CACHE_SUFFIX)
            and path.name[len(report.name) + 1 + length : len(report.name) + 2 + length] == "-"
        ]
    return []


def _release_in(report: Path, path: Path) -> tuple[int, ...]:
    skipped = len(report.name) + 2 + DIGEST_CHARACTERS
    return release_key(path.name[skipped : -len(CACHE_SUFFIX)])
