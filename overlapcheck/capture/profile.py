"""Running a program under nsys so that it notices nothing and its report is never lost."""

from __future__ import annotations

import contextlib
import os
import shutil
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import datetime
from pathlib import Path

from overlapcheck.capture import report_place, start_hook
from overlapcheck.capture.discovery import Nsys, flags_of
from overlapcheck.capture.importer import STREAM_SUFFIX, import_stream, importer_for
from overlapcheck.capture.recording import Recording, record
from overlapcheck.capture.scratch import CAPTURE_NEEDS_BYTES, capture_candidates, scratch_directory
from overlapcheck.capture.spec import CaptureSpec, missing_flags, profile_argv, uses_mpi
from overlapcheck.capture.watch import Watch
from overlapcheck.capture.why_no_report import why_no_report
from overlapcheck.captured import DURATION, CapturedReport
from overlapcheck.errors import CaptureFailed, OutputUnwritable, ReportDamaged

SESSION_VARIABLE = "NSYS_PROFILING_SESSION_ID"
MAX_LIVING = 3
"""Processes left behind that are named."""


def profile(
    spec: CaptureSpec,
    command: Sequence[str],
    nsys: Nsys,
    *,
    progress: Callable[[str], None] = lambda _: None,
    warn: Callable[[str], None] = lambda _: None,
) -> CapturedReport:
    """Run a command under nsys.

    The program has our standard streams, our terminal, and the signals that we receive. It runs
    in nsys's session, so signals are handed on; a Ctrl-C that ends it does not end the recording.

    Args:
        spec: what to record, and where to leave it.
        command: program and arguments.
        nsys: the one to record with.
        progress: told what begins.
        warn: told at once what the user should know.

    Raises:
        CaptureFailed: no usable report, or the program ran for too long; the message says why, and
            how the program ended.
        OutputUnwritable: the place of the report is taken or cannot take it.
        Interrupted: a second signal gave the recording up.
    """
    _require_outside_nsys()
    program = _require_program(command)
    flags = flags_of(nsys, "profile")
    spec = replace(spec, mpi=spec.mpi or uses_mpi(command, os.environ))
    warnings = [
        f"nsys {nsys.release} has no {flag}: recording without it"
        for flag in missing_flags(spec, flags)
    ]
    wanted, place_warning = (spec.exactly, "") if spec.exactly else _place(spec, command)
    warnings += [place_warning] if place_warning else []
    try:
        with scratch_directory(capture_candidates(wanted.parent), CAPTURE_NEEDS_BYTES) as scratch:
            output = scratch / f"report{report_place.REPORT_SUFFIX}"
            recording = record(
                lambda start: profile_argv(
                    nsys.path, spec, flags, output, [*start, program, *command[1:]]
                ),
                scratch,
                spec.environment | start_hook.environment(spec, scratch, os.environ),
                Watch(scratch, progress, warn, spec.limit_s),
            )
            if recording.overran:
                raise CaptureFailed(f"{command[0]} had not ended after {spec.limit_s:.0f} s")
            kept = None
            if not recording.not_started:
                kept = _keep_what_is_left(
                    scratch, wanted, nsys, progress, replaceable=spec.replace_report
                )
            if kept is None:
                raise why_no_report(recording, spec, nsys, command[0])
            hook_warnings = start_hook.keep_logs(spec, scratch, kept.path)
    finally:
        # The folder made for the report, where no report came.
        if place_warning:
            with contextlib.suppress(OSError):
                wanted.parent.rmdir()
    warnings += [kept.warning] if kept.warning else []
    warnings += hook_warnings
    if recording.lost_launcher:
        warnings.append(
            f"nsys's launcher was killed while {command[0]} ran: how that ended is not known"
        )
    warnings += _lived_on(recording, command)
    stopped_by = recording.stopped_by or _ended_by_duration(spec, recording)
    return CapturedReport(
        kept.path,
        recording.exit_code,
        stopped_by,
        tuple(warnings),
        seconds=recording.program_seconds,
    )


def _lived_on(recording: Recording, command: Sequence[str]) -> list[str]:
    if not recording.lived_on or recording.stopped_by:
        return []
    told = ", ".join(recording.lived_on[:MAX_LIVING])
    more = len(recording.lived_on) - MAX_LIVING
    also = f" and {more} more" if more > 0 else ""
    return [
        f"{command[0]} ended and what it started lives on: {told}{also}; what that does since is"
        " not in the report (--nsys-args=--wait=all records it to its end)"
    ]


def _require_outside_nsys() -> None:
    if SESSION_VARIABLE in os.environ:
        raise CaptureFailed(
            "already running inside nsys, which cannot profile itself",
            "leave out the outer nsys: overlapcheck starts its own",
        )


def _require_program(command: Sequence[str]) -> str:
    """The program's name as it can be started, found the way a shell finds it."""
    name = command[0]
    if "/" not in name:
        if shutil.which(name) is None:
            raise CaptureFailed(f"{name}: command not found", "check its name and PATH")
        return name
    if not Path(name).exists():
        raise CaptureFailed(f"{name}: no such file")
    if Path(name).is_dir():
        raise CaptureFailed(f"{name}: a directory, not a program")
    if not os.access(name, os.X_OK):
        raise CaptureFailed(f"{name}: not executable", f"chmod +x {name}, or name its interpreter")
    return name


def _place(spec: CaptureSpec, command: Sequence[str]) -> tuple[Path, str]:
    """Where the report goes, decided before the program runs, and a warning about it."""
    directory = spec.keep_in or Path()
    if spec.keep_in is not None:
        try:
            spec.keep_in.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise CaptureFailed(f"--keep {spec.keep_in}: {error.strerror}") from error
    name = report_place.report_name(command, datetime.now(), os.environ)
    wanted = report_place.wanted_path(spec.keep_as, name, os.environ, directory)
    report_place.require_free(wanted, replaceable=spec.replace_report)
    if report_place.is_writable(wanted.parent):
        return wanted, ""
    try:
        elsewhere = report_place.private_directory(report_place.fallback_directory())
    except OSError as error:
        raise OutputUnwritable(
            f"{wanted.parent.resolve()} is not writable, nor is the temporary directory"
            f" ({error.strerror or error})",
            "name a folder for the report: --keep DIR",
        ) from error
    return (
        elsewhere / wanted.name,
        f"{wanted.parent.resolve()} is not writable: report goes to {elsewhere}",
    )


def _keep_what_is_left(
    scratch: Path,
    wanted: Path,
    nsys: Nsys,
    progress: Callable[[str], None],
    *,
    replaceable: bool,
) -> report_place.KeptFile | None:
    """The report in its place, imported where nsys did not get to it; None where nothing is."""
    reports = _largest_first(scratch, (report_place.REPORT_SUFFIX, ".qdrep"))
    if reports:
        place = wanted.with_suffix(reports[0].suffix)
        return report_place.keep(reports[0], place, scratch.parent, replaceable=replaceable)
    streams = _largest_first(scratch, (STREAM_SUFFIX,))
    if not streams:
        return None
    progress(f"importing {wanted.name}")
    imported = scratch / f"imported{report_place.REPORT_SUFFIX}"
    try:
        importer = _importer_for(streams[0], wanted, scratch.parent, nsys)
        import_stream(streams[0], imported, importer)
    except ReportDamaged:
        return None
    return report_place.keep(imported, wanted, scratch.parent, replaceable=replaceable)


def _importer_for(stream: Path, wanted: Path, last_resort: Path, nsys: Nsys) -> Path:
    """The importer to use; without one the recording itself is kept."""
    try:
        return importer_for(stream, nsys)
    except CaptureFailed as error:
        kept = report_place.keep(stream, wanted.with_suffix(STREAM_SUFFIX), last_resort).path
        hint = f"{error.hint}, then: overlapcheck analyze {kept}"
        raise CaptureFailed(f"{kept}: {error.message}", hint) from error


def _largest_first(directory: Path, suffixes: tuple[str, ...]) -> list[Path]:
    found = [path for path in directory.rglob("*") if path.suffix in suffixes and path.is_file()]
    whole = [path for path in found if path.stat().st_size]
    return sorted(whole, key=lambda path: (-path.stat().st_size, path.name))


def _ended_by_duration(spec: CaptureSpec, recording: Recording) -> str:
    over = recording.program_seconds >= spec.delay_s + spec.duration_s
    return f"{DURATION}{spec.duration_s}" if spec.duration_s and over else ""
