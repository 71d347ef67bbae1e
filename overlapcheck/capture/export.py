"""Turning a report into SQLite with the real `nsys export`: whole or not at all."""

from __future__ import annotations

import atexit
import errno
import os
import shutil
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Self

from overlapcheck.capture.discovery import Nsys, find_nsys, flags_of
from overlapcheck.capture.export_cache import (
    cached_path,
    digest,
    drop_stale,
    find_cached,
    is_whole_sqlite,
)
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
    OverlapcheckError,
)

WORK_PREFIX = ".overlapcheck-"
# Python backtraces of CUDA calls; payloads of NVTX ranges, in which NCCL says sizes. From 2024 on.
_CONTENT = ("--include-json", "--include-blobs")


@dataclass(frozen=True)
class ExportedReport:
    """A SQLite export; as a context manager it removes itself when it is temporary."""

    path: Path
    cached: bool
    """It was there before: nsys did not run."""
    temporary: bool
    """It lies in a temporary directory, which goes with the block or with the process."""

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


class _UnsuitablePlace(Exception):
    """This directory cannot take the export; another may."""

    def __init__(self, reason: OverlapcheckError) -> None:
        super().__init__(str(reason))
        self.reason = reason


def export_sqlite(
    report: Path,
    *,
    nsys: Nsys | Path | None = None,
    progress: Callable[[str], None] = lambda _: None,
) -> ExportedReport:
    """Export a report, or find the export made before.

    The result is kept beside the report where that is possible, under a name of ours, otherwise
    in a temporary directory. Nothing of the user's is overwritten, and nothing partial stays
    behind, whatever happens.

    Args:
        report: a .nsys-rep or .qdrep file, or a .qdstrm, which is imported first.
        nsys: the one to export with, or its path; None finds one when it is needed.
        progress: told what begins.

    Raises:
        NsysNotFound: nothing to export with, and no export from before.
        ExportFailed, ReportDamaged, Interrupted: nothing was left behind.
        InputUnreadable: the report cannot be read.
    """
    try:
        content = digest(report)
    except OSError as error:
        raise InputUnreadable(f"{report}: cannot be read: {error.strerror}") from error
    cached = find_cached(report, content)
    try:
        chosen = nsys if isinstance(nsys, Nsys) else find_nsys(nsys)
    except NsysNotFound:
        if not cached or nsys is not None:
            raise
        return ExportedReport(cached[0], cached=True, temporary=False)
    kept = cached_path(report, content, chosen.release)
    if kept in cached:
        return ExportedReport(kept, cached=True, temporary=False)
    progress(
        f"exporting {report.name} ({report.stat().st_size >> 20} MB) with nsys {chosen.release}"
    )
    with interruptible(f"exporting {report}", "run the same command again"):
        try:
            exported = _export_beside(report, chosen, kept)
        except _UnsuitablePlace:
            return _export_temporarily(report, chosen)
    drop_stale(report, content)
    return exported


def _export_beside(report: Path, nsys: Nsys, kept: Path) -> ExportedReport:
    try:
        # Root may write anywhere; a directory closed to its owner is still meant to stay as it is.
        if not report.parent.stat().st_mode & 0o222:
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
        work = Path(tempfile.mkdtemp(prefix=WORK_PREFIX, dir=report.parent))
    except OSError as error:
        raise _UnsuitablePlace(InputUnreadable(f"{report.parent}: {error.strerror}")) from error
    try:
        # Renamed only when whole, so that another process never finds half of it.
        whole = _export_into(work, report, nsys)
        whole.replace(kept)
    finally:
        shutil.rmtree(work, ignore_errors=True)
    return ExportedReport(kept, cached=False, temporary=False)


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
    target = work / "export.sqlite"
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
    target = work / "imported.nsys-rep"
    import_stream(stream, target, importer)
    return target
