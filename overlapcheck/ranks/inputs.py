"""Reports from what the user named: files, folders, quoted globs, @lists."""

from __future__ import annotations

import glob
import re
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from overlapcheck.errors import InputUnreadable

SUFFIXES = (".nsys-rep", ".qdrep", ".sqlite")
_OWN_EXPORT = ".overlapcheck.sqlite"
IsExport = Callable[[Path], bool]
"""Whether a folder holds the tables of one report."""
_TABLE_FOLDER = re.compile(r"[._](pqtdir|arwdir|parquetdir|arrowdir)$")
_HINT = "name reports, a folder of them, a quoted glob, or @FILE with one a line"


def _never(_: Path) -> bool:
    return False


def is_several(arguments: Sequence[str], is_export: IsExport = _never) -> bool:
    """Whether these arguments name more than the one report of a plain analysis.

    Args:
        arguments: as the user gave them.
        is_export: which folders are one report.
    """
    return len(arguments) > 1 or any(
        a.startswith("@") or _is_folder(Path(a), is_export) or _is_glob(a) for a in arguments
    )


def expand(arguments: Sequence[str], is_export: IsExport = _never) -> tuple[Path, ...]:
    """All reports that the arguments name, each once, in order of the numbers in their names.

    Args:
        arguments: as the user gave them.
        is_export: which folders are one report.

    Raises:
        InputUnreadable: an argument names nothing.
    """
    found = [path for argument in arguments for path in _expanded(argument, Path(), is_export)]
    distinct = {path.absolute(): path for path in reversed(found)}
    return tuple(sorted(distinct.values(), key=lambda path: natural(str(path.absolute()))))


def _expanded(argument: str, base: Path, is_export: IsExport) -> list[Path]:
    if argument.startswith("@"):
        return list(_listed(base / argument[1:], is_export))
    path = base / argument
    if _is_folder(path, is_export):
        inside = [
            inner
            for inner in sorted(path.rglob("*"))
            if not _hidden(inner, path)
            and (is_export(inner) or (inner.name.endswith(SUFFIXES) and inner.is_file()))
        ]
        inside = _one_of_each(inside, is_export)
        if not inside:
            raise InputUnreadable(f"{path}: a folder with no report in it", _HINT)
        return inside
    if _is_glob(argument) and not path.exists():
        # Path.glob takes no absolute pattern.
        matches = [Path(m) for m in sorted(glob.glob(str(path), recursive=True))]  # noqa: PTH207
        if not matches:
            raise InputUnreadable(f"{argument}: no file matches", _HINT)
        found = [m for m in matches if not _is_folder(m, is_export)]
        for folder in (m for m in matches if _is_folder(m, is_export)):
            found += _expanded(str(folder), Path(), is_export)
        return _one_of_each(found, is_export)
    return [path]


def _listed(path: Path, is_export: IsExport) -> Iterator[Path]:
    """Reports of a list file; relative ones lie beside it."""
    try:
        lines = path.read_text(encoding="utf-8", errors="surrogateescape").splitlines()
    except OSError as error:
        raise InputUnreadable(f"@{path}: cannot be read: {error.strerror}", _HINT) from error
    named = [line.strip() for line in lines if line.strip() and not line.strip().startswith("#")]
    if not named:
        raise InputUnreadable(f"@{path}: names no report", _HINT)
    for line in named:
        yield from _expanded(line, path.parent, is_export)


def _is_folder(path: Path, is_export: IsExport) -> bool:
    try:
        return path.is_dir() and not is_export(path)
    except PermissionError:
        # Whoever reads it as a report says so, and can only lose this one.
        return False


def _one_of_each(paths: Sequence[Path], is_export: IsExport) -> list[Path]:
    """Of a report and its exports only one export, unless the report is newer."""
    groups: dict[Path, tuple[list[Path], list[Path]]] = {}
    for path in paths:
        if path.name.endswith(_OWN_EXPORT):
            continue
        folder = is_export(path)
        reports, exports = groups.setdefault(_stem(path, folder), ([], []))
        if path.suffix == SUFFIXES[2] and not folder:
            exports.insert(0, path)
        elif folder:
            # Behind SQLite, which holds more of the recording.
            exports.append(path)
        else:
            reports.append(path)
    kept = []
    for reports, exports in groups.values():
        fresh = [e for e in exports if not any(_newer(report, e) for report in reports)]
        kept += fresh[:1] or reports
    return kept


def _stem(path: Path, folder: bool) -> Path:
    """What a report and its exports have in common."""
    if folder:
        return path.with_name(_TABLE_FOLDER.sub("", path.name) or path.name)
    return path.with_suffix("") if path.suffix in SUFFIXES else path


def _newer(one: Path, other: Path) -> bool:
    try:
        return one.stat().st_mtime_ns > other.stat().st_mtime_ns
    except OSError:
        return False


def _hidden(path: Path, folder: Path) -> bool:
    return any(part.startswith(".") for part in path.relative_to(folder).parts)


def _is_glob(text: str) -> bool:
    return any(sign in text for sign in "*?[") and not Path(text).exists()


def natural(text: str) -> list[tuple[int, str]]:
    """Key to sort by: numbers count by value, rank_2 before rank_10."""
    parts = re.split(r"(\d+)", text)
    return [(int(part), "") if part.isdigit() else (-1, part) for part in parts]
