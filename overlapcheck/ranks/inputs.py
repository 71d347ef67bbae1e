"""Reports from what the user named: files, folders, quoted globs, @lists."""

from __future__ import annotations

import glob
import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from overlapcheck.errors import InputUnreadable

SUFFIXES = (".nsys-rep", ".qdrep", ".sqlite")
_OWN_EXPORT = ".overlapcheck.sqlite"
_HINT = "name reports, a folder of them, a quoted glob, or @FILE with one a line"


def is_several(arguments: Sequence[str]) -> bool:
    """Whether these arguments name more than the one report of a plain analysis."""
    return len(arguments) > 1 or any(
        a.startswith("@") or Path(a).is_dir() or _is_glob(a) for a in arguments
    )


def expand(arguments: Sequence[str]) -> tuple[Path, ...]:
    """All reports that the arguments name, each once, in order of the numbers in their names.

    Raises:
        InputUnreadable: an argument names nothing.
    """
    found = [path for argument in arguments for path in _expanded(argument, Path())]
    distinct = {path.absolute(): path for path in reversed(found)}
    return tuple(sorted(distinct.values(), key=_natural))


def _expanded(argument: str, base: Path) -> list[Path]:
    if argument.startswith("@"):
        return list(_listed(base / argument[1:]))
    path = base / argument
    if path.is_dir():
        inside = [
            found
            for found in sorted(path.rglob("*"))
            if found.name.endswith(SUFFIXES) and not _hidden(found, path) and found.is_file()
        ]
        inside = _one_of_each(inside)
        if not inside:
            raise InputUnreadable(f"{path}: a folder with no report in it", _HINT)
        return inside
    if _is_glob(argument) and not path.exists():
        # Path.glob takes no absolute pattern.
        matches = [Path(m) for m in sorted(glob.glob(str(path), recursive=True))]  # noqa: PTH207
        if not matches:
            raise InputUnreadable(f"{argument}: no file matches", _HINT)
        folders = [inner for m in matches if m.is_dir() for inner in _expanded(str(m), Path())]
        return _one_of_each([m for m in matches if not m.is_dir()] + folders)
    return [path]


def _listed(path: Path) -> Iterator[Path]:
    """Reports of a list file; relative ones lie beside it."""
    try:
        lines = path.read_text(encoding="utf-8", errors="surrogateescape").splitlines()
    except OSError as error:
        raise InputUnreadable(f"@{path}: cannot be read: {error.strerror}", _HINT) from error
    named = [line.strip() for line in lines if line.strip() and not line.strip().startswith("#")]
    if not named:
        raise InputUnreadable(f"@{path}: names no report", _HINT)
    for line in named:
        yield from _expanded(line, path.parent)


def _one_of_each(paths: Sequence[Path]) -> list[Path]:
    """Of a report and its export only the export, unless the report is newer."""
    known = set(paths)
    kept = []
    for path in paths:
        if path.name.endswith(_OWN_EXPORT):
            continue
        export = path.with_suffix(".sqlite")
        if path != export and export in known and not _newer(path, export):
            continue
        reports = [path.with_suffix(suffix) for suffix in SUFFIXES[:2]]
        if path == export and any(r in known and _newer(r, path) for r in reports):
            continue
        kept.append(path)
    return kept


def _newer(one: Path, other: Path) -> bool:
    try:
        return one.stat().st_mtime_ns > other.stat().st_mtime_ns
    except OSError:
        return False


def _hidden(path: Path, folder: Path) -> bool:
    return any(part.startswith(".") for part in path.relative_to(folder).parts)


def _is_glob(text: str) -> bool:
    return any(sign in text for sign in "*?[") and not Path(text).exists()


def _natural(path: Path) -> list[tuple[int, str]]:
    """Numbers sort by value: rank_2 before rank_10."""
    parts = re.split(r"(\d+)", str(path.absolute()))
    return [(int(part), "") if part.isdigit() else (-1, part) for part in parts]
