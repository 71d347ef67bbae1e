"""Turning a report into SQLite with the real `nsys export`: whole or not at all."""

from __future__ import annotations

import atexit
import errno
import os
import shutil
import tempfile
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Self

from overlapcheck.capture.discovery import Nsys, find_nsys, flags_of
from overlapcheck.capture.export_cache import EXPORT_NAME, ExportCache, digest, is_whole_sqlite
from overlapcheck.capture.export_failures import Remedy, explain, not_whole
from overlapcheck.capture.importer import import_stream, importer_for, is_stream
from overlapcheck.capture.interruption import interruptible
from overlapcheck.capture.scratch import PREFIX
from overlapcheck.capture.tool import run_tool
from overlapcheck.errors import (
    CaptureFailed,
    ExportFailed,
    InputUnreadable,
    NsysNotFound,
    OutputUnwritable,
    OverlapcheckError,
)
from overlapcheck.reading import Progress, Reading

WORK_PREFIX = ".overlapcheck-"
IMPORTED_NAME = "imported.nsys-rep"
# Python backtraces of CUDA calls; payloads of NVTX ranges, in which NCCL says sizes. From 2024 on.
_CONTENT = ("--include-json", "--include-blobs")
_DEFAULTS = Reading()


@dataclass(frozen=True)
class ExportedReport:
    """A SQLite export; as a context manager it removes itself when it is temporary."""

    path: Path
    cached: bool
    """It was there before: nsys did not run."""
    temporary: bool
    """It lies in a temporary directory, which goes with the block or with the process."""
    lock: int = -1
    """Descriptor that holds it in the cache until the block ends; -1 for none."""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self.temporary:
            shutil.rmtree(self.path.parent, ignore_errors=True)
        if self.lock >= 0:
            os.close(self.lock)


class _UnsuitablePlace(Exception):
    """This directory cannot take the export; another may."""

    def __init__(self, reason: OverlapcheckError) -> None:
        super().__init__(str(reason))
        self.reason = reason


@dataclass(frozen=True)
class _Snapshot:
    """A report as it was when it was looked at."""

    report: Path
    state: tuple[int, ...]
    """Changes with every write to the report, and when it is replaced."""
    content: str
    """Digest of its content; "" where no cache asks for it."""

    @classmethod
    def of(cls, report: Path, *, digested: bool) -> _Snapshot:
        try:
            return cls(report, _state(report), digest(report) if digested else "")
        except OSError as error:
            raise InputUnreadable(f"{report}: cannot be read: {error.strerror}") from error

    @property
    def still_holds(self) -> bool:
        return _state(self.report) == self.state


def export_sqlite(report: Path, reading: Reading = _DEFAULTS) -> ExportedReport:
    """Export a report, or find the export made before.

    The result is kept in the user's cache folder, or where the caller says, otherwise in a
    temporary directory. Nothing of the user's is overwritten, and nothing partial stays behind,
    whatever happens. Only the user can read it: it holds the whole environment of the program.

    Args:
        report: a .nsys-rep or .qdrep file, or a .qdstrm, which is imported first.
        reading: the nsys to export with, whether to look into the cache and to leave the export
            there, or where else; told what begins, what is kept, and what is not believed.

    Raises:
        NsysNotFound: nothing to export with, and no export from before.
        ExportFailed, ReportDamaged, Interrupted: nothing was left behind.
        InputUnreadable: the report cannot be read.
    """
    warn, keep_as = reading.warn, reading.keep_export
    kept = _cache(warn) if reading.cache and keep_as is None else None
    before = _Snapshot.of(report, digested=kept is not None)
    if keep_as is not None and _left_beside.get(keep_as) == (before.state, _state_or_none(keep_as)):
        return ExportedReport(keep_as, cached=True, temporary=False)
    try:
        nsys = find_nsys(reading.nsys)
    except NsysNotFound:
        found = kept.find(before.content, None, warn) if kept and reading.nsys is None else None
        if found is None:
            raise
        return ExportedReport(found.path, cached=True, temporary=False, lock=found.lock)
    if kept and (found := kept.find(before.content, nsys.release, warn)):
        return ExportedReport(found.path, cached=True, temporary=False, lock=found.lock)
    reading.progress(
        f"exporting {report.name} ({report.stat().st_size >> 20} MB) with nsys {nsys.release}"
    )
    with interruptible(f"exporting {report}", "run the same command again"):
        try:
            if keep_as is not None:
                beside = _export_beside(report, nsys, keep_as)
                _left_beside[keep_as] = (before.state, _state_or_none(keep_as))
                return beside
            if kept is not None:
                return _export_to_cache(kept, before, nsys, warn)
        except _UnsuitablePlace:
            pass
        return _export_temporarily(report, nsys)


def _cache(warn: Progress) -> ExportCache | None:
    try:
        return ExportCache()
    except OutputUnwritable as error:
        warn(f"{error}; the export is not kept")
    except OSError as error:
        warn(f"the export is not kept: {error.filename}: {error.strerror}")
    return None


def _state(report: Path) -> tuple[int, ...]:
    found = report.stat()
    return (found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns)


def _state_or_none(path: Path) -> tuple[int, ...] | None:
    try:
        return _state(path)
    except OSError:
        return None


_left_beside: dict[Path, tuple[tuple[int, ...], tuple[int, ...] | None]] = {}
"""Exports that this process has left where they were wanted: of which report, and as what."""


def _export_to_cache(
    cache: ExportCache, before: _Snapshot, nsys: Nsys, warn: Progress
) -> ExportedReport:
    report = before.report
    try:
        work = cache.work_folder()
    except OSError as error:
        raise _UnsuitablePlace(InputUnreadable(f"{cache.folder}: {error.strerror}")) from error
    try:
        whole = _export_into(work, report, nsys)
        # What was replaced meanwhile has another digest.
        kept = cache.keep(whole, before.content, nsys.release) if before.still_holds else None
    except BaseException:
        shutil.rmtree(work, ignore_errors=True)
        raise
    if kept is None:
        atexit.register(shutil.rmtree, work, ignore_errors=True)
        return ExportedReport(whole, cached=False, temporary=True)
    warn(
        f"the export of {report.name} ({kept.path.stat().st_size >> 20} MB) is kept in "
        f"{cache.folder} for the next time; --no-cache keeps none, overlapcheck cache --clear "
        "removes them"
    )
    return ExportedReport(kept.path, cached=False, temporary=False, lock=kept.lock)


def _export_beside(report: Path, nsys: Nsys, keep_as: Path) -> ExportedReport:
    try:
        # Root may write anywhere; a directory closed to its owner is still meant to stay as it is.
        if not keep_as.parent.stat().st_mode & 0o222:
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
        work = Path(tempfile.mkdtemp(prefix=WORK_PREFIX, dir=keep_as.parent))
    except OSError as error:
        raise _UnsuitablePlace(InputUnreadable(f"{keep_as.parent}: {error.strerror}")) from error
    try:
        # Renamed only when whole, so that another process never finds half of it.
        whole = _export_into(work, report, nsys)
        whole.chmod(0o600)
        os.close(os.open(keep_as, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
        whole.replace(keep_as)
    except FileExistsError as error:
        raise _UnsuitablePlace(InputUnreadable(f"{keep_as}: exists already")) from error
    finally:
        shutil.rmtree(work, ignore_errors=True)
    return ExportedReport(keep_as, cached=False, temporary=False)


def _export_temporarily(report: Path, nsys: Nsys) -> ExportedReport:
    try:
        work = Path(tempfile.mkdtemp(prefix=PREFIX))
    except OSError as error:
        raise InputUnreadable(
            f"{report}: no place to export it to: {error.strerror}",
            "set TMPDIR to a writable directory with room",
        ) from error
    atexit.register(shutil.rmtree, work, ignore_errors=True)
    try:
        return ExportedReport(_export_into(work, report, nsys), cached=False, temporary=True)
    except _UnsuitablePlace as unsuitable:
        shutil.rmtree(work, ignore_errors=True)
        raise unsuitable.reason from None
    except BaseException:
        shutil.rmtree(work, ignore_errors=True)
        raise


def _export_into(work: Path, report: Path, nsys: Nsys) -> Path:
    target = work / EXPORT_NAME
    argv = [str(nsys.path), "export", "--type=sqlite", "--force-overwrite=true"]
    known = flags_of(nsys, "export")
    argv += [f"{option}=true" for option in _CONTENT if option in known]
    source = _imported(work, report, nsys) if is_stream(report) else report.absolute()
    try:
        done = run_tool([*argv, f"--output={target}", str(source)], fills=work)
    except CaptureFailed as error:
        raise ExportFailed(
            f"{report}: {error.message}", "pass another one with --nsys PATH"
        ) from error
    if done.exit_code == 0 and is_whole_sqlite(target):
        (work / IMPORTED_NAME).unlink(missing_ok=True)
        return target
    said = "\n".join(done.said)
    reason, remedy = explain(said, report, nsys, work.parent)
    if done.exit_code == 0 and remedy is Remedy.NONE:
        raise _UnsuitablePlace(not_whole(report, work.parent))
    if remedy is Remedy.ANOTHER_PLACE:
        raise _UnsuitablePlace(reason)
    raise reason


def _imported(work: Path, stream: Path, nsys: Nsys) -> Path:
    try:
        importer = importer_for(stream, nsys)
    except CaptureFailed as error:
        raise ExportFailed(f"{stream}: {error.message}", error.hint) from error
    target = work / IMPORTED_NAME
    import_stream(stream, target, importer)
    return target
