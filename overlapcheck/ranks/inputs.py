"""Reports from what the user named: files, folders, quoted globs, @lists.

A single report is judged without the nouns of ranks, so these are imported where they are used.
"""

from __future__ import annotations

import glob
import os
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from overlapcheck.errors import InputUnreadable

if TYPE_CHECKING:
    from overlapcheck.report_result import LostReport

_EXPORT, _STREAM = ".sqlite", ".qdstrm"
SUFFIXES = (".nsys-rep", ".qdrep", _EXPORT, _STREAM)
IsExport = Callable[[Path], bool]
"""Whether a folder holds the tables of one report."""
_TABLE_FOLDER = re.compile(r"[._](pqtdir|arwdir|parquetdir|arrowdir)$")
_LONGEST_LIST = 16 << 20
_HINT = "name reports, a folder of them, a quoted glob, or @FILE with one a line"


@dataclass(frozen=True)
class Inputs:
    """What the arguments name."""

    reports: tuple[Path, ...]
    """Each once, in order of the numbers in their names; some may turn out to be none."""
    unread: tuple[LostReport, ...] = ()
    """Folders that cannot be entered and links that lead nowhere: there may be more reports."""


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


def expand(arguments: Sequence[str], is_export: IsExport = _never) -> Inputs:
    """All reports that the arguments name, and what could hold more of them.

    Args:
        arguments: as the user gave them.
        is_export: which folders are one report.

    Raises:
        InputUnreadable: an argument names nothing.
    """
    unread: dict[Path, LostReport] = {}
    search = _Search(is_export, unread)
    found = [path for argument in arguments for path in search.expanded(argument, Path())]
    distinct = {path.absolute(): path for path in reversed(found)}
    reports = sorted(distinct.values(), key=lambda path: natural(str(path.absolute())))
    return Inputs(tuple(reports), tuple(unread[path] for path in sorted(unread)))


@dataclass(frozen=True)
class _Search:
    is_export: IsExport
    unread: dict[Path, LostReport]
    """By where it is; filled."""
    lists: frozenset[str] = frozenset()
    """Places of the lists that are being read."""

    def expanded(self, argument: str, base: Path) -> list[Path]:
        """The reports of one argument.

        Raises:
            InputUnreadable: it names nothing.
        """
        if argument.startswith("@"):
            return list(self._listed(base / argument[1:]))
        path = base / argument
        if self._is_folder(path):
            known = len(self.unread)
            inside = _one_of_each(list(self._inside(path, {_place(path)})), self.is_export)
            if not inside and len(self.unread) == known:
                raise InputUnreadable(f"{path}: a folder with no report in it", _HINT)
            return inside
        if _is_glob(argument) and not path.exists():
            return self._matching(path, argument)
        return [path]

    def _matching(self, pattern: Path, argument: str) -> list[Path]:
        known = len(self.unread)
        for below in (pattern, *pattern.parents):
            above = str(below.parent)
            # Globbing passes over folders that it cannot look into; the others it need not.
            if glob.has_magic(below.name) or glob.has_magic(above):
                for place in glob.glob(above, recursive=True):  # noqa: PTH207
                    self._look_into(Path(place))
        # Path.glob takes no absolute pattern.
        matches = [Path(m) for m in sorted(glob.glob(str(pattern), recursive=True))]  # noqa: PTH207
        if not matches and len(self.unread) == known:
            raise InputUnreadable(f"{argument}: no file matches", _HINT)
        found = [m for m in matches if not self._is_folder(m)]
        for folder in (m for m in matches if self._is_folder(m)):
            found += self.expanded(str(folder), Path())
        return _one_of_each(found, self.is_export)

    def _listed(self, path: Path) -> Iterator[Path]:
        """Reports of a list file; relative ones lie beside it."""
        if _place(path) in self.lists:
            raise InputUnreadable(f"@{path}: a list that names itself", _HINT)
        try:
            with path.open("rb") as file:
                content = file.read(_LONGEST_LIST + 1)
        except (OSError, ValueError) as error:
            why = getattr(error, "strerror", None) or error
            raise InputUnreadable(f"@{path}: cannot be read: {why}", _HINT) from error
        if len(content) > _LONGEST_LIST:
            raise InputUnreadable(f"@{path}: too long for a list of reports", _HINT)
        lines = content.decode("utf-8", "surrogateescape").splitlines()
        named = [line.strip() for line in lines if line.strip() and line.strip()[0] != "#"]
        if not named:
            raise InputUnreadable(f"@{path}: names no report", _HINT)
        within = replace(self, lists=self.lists | {_place(path)})
        for line in named:
            yield from within.expanded(line, path.parent)

    def _inside(self, folder: Path, entered: set[str]) -> Iterator[Path]:
        """Everything below a folder that is called a report, links to folders included."""
        linked = []
        for path in self._look_into(folder):
            if path.name.startswith("."):
                continue
            if self._is_folder(path):
                if path.is_symlink():
                    linked.append(path)
                    continue
                entered.add(_place(path))
                yield from self._inside(path, entered)
            elif path.name.endswith(SUFFIXES) or self._is_table_folder(path):
                # Whatever it is: what cannot be read is said where it is read.
                yield path
            elif path.is_symlink() and not path.exists() and _may_be_folder(path):
                self._lose(path, "a link to a missing file", "mend the link, or remove it")
        for path in linked:
            place = _place(path)
            # A folder that is looked into anyway is no further one, nor is one around it.
            if not any(_within(one, place) or _within(place, one) for one in entered):
                entered.add(place)
                yield from self._inside(path, entered)

    def _look_into(self, folder: Path) -> list[Path]:
        try:
            return sorted(folder.iterdir())
        except NotADirectoryError:
            return []
        except FileNotFoundError:
            if folder.is_symlink() and _may_be_folder(folder):
                self._lose(folder, "a link to a missing folder", "mend the link, or remove it")
        except OSError as error:
            hint = "make it readable, or name the reports one by one"
            self._lose(folder, f"the folder cannot be entered: {error.strerror}", hint)
        return []

    def _lose(self, path: Path, why: str, hint: str) -> None:
        from overlapcheck.report_result import LostReport

        self.unread[path.absolute()] = LostReport(path.name or str(path), why, hint)

    def _is_folder(self, path: Path) -> bool:
        return _is_folder(path, self._is_table_folder)

    def _is_table_folder(self, path: Path) -> bool:
        try:
            return self.is_export(path)
        except OSError:
            return False  # Looking into it says why.


def _place(folder: Path) -> str:
    return os.path.realpath(folder)


def _within(inner: str, outer: str) -> bool:
    return inner == outer or inner.startswith(outer.rstrip(os.sep) + os.sep)


def _may_be_folder(link: Path) -> bool:
    """Whether a link that leads nowhere may have led to reports: to a folder, or to a report."""
    target = link.readlink()
    return not link.suffix or not target.suffix or target.name.endswith(SUFFIXES)


def _is_folder(path: Path, is_export: IsExport) -> bool:
    try:
        return path.is_dir() and not is_export(path)
    except PermissionError:
        # Whoever reads it as a report says so, and can only lose this one.
        return False


def _one_of_each(paths: Sequence[Path], is_export: IsExport) -> list[Path]:
    """Of a recording, its report and its exports only one export, unless the report is newer."""
    from overlapcheck.captured import first_run_of

    groups: dict[Path, tuple[list[Path], list[Path]]] = {}
    imported = {path.with_suffix("") for path in paths if path.suffix in SUFFIXES[:2]}
    for path in paths:
        if path.suffix == _STREAM and path.with_suffix("") in imported:
            continue
        folder = is_export(path)
        reports, exports = groups.setdefault(_stem(path, folder), ([], []))
        if path.suffix == _EXPORT and not folder:
            exports.insert(0, path)
        elif folder:
            # Behind SQLite, which holds more of the recording.
            exports.append(path)
        else:
            reports.append(path)
    kept = []
    for stem, (reports, exports) in groups.items():
        if first_run_of(stem) in groups:
            continue  # the same program once more, as a control: no further rank
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


def _is_glob(text: str) -> bool:
    return any(sign in text for sign in "*?[") and not Path(text).exists()


def natural(text: str) -> list[tuple[int, str]]:
    """Key to sort by: numbers count by value, rank_2 before rank_10."""
    parts = re.split(r"(\d+)", text)
    return [(int(part), "") if part.isdigit() else (-1, part) for part in parts]
