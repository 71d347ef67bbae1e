"""What a failed `nsys export` means, in one line."""

from __future__ import annotations

import re
from enum import Enum, auto
from pathlib import Path

from overlapcheck.capture.discovery import Nsys, release_key, release_of
from overlapcheck.errors import ExportFailed, OverlapcheckError, ReportDamaged
from overlapcheck.redaction import message_text

_HEADER_BYTES = 200
_VERSION_IN_HEADER = re.compile(
    rb"NVIDIA (?:Tegra Profiler Report|Nsight Systems Stream) (\d{4}[@.]\d+[@.]\d+[@.]\d+)"
)
_DISK_FULL = ("database or disk is full", "no space left on device")
_PLACE_UNSUITABLE = ("database is locked", "unable to open database file", "disk i/o error")
_DAMAGED = (
    "magic number mismatch",
    "lz4 decompression failed",
    "version tag is not found",
    "cannot read from stream",
    "file is corrupted",
)
_TOO_NEW = ("newer than your current version", "version number is invalid")
_UNKNOWN_CONTENT = ("protobufparseexception", "missing required fields")


class Remedy(Enum):
    """What may help after a failed export."""

    ANOTHER_PLACE = auto()
    NONE = auto()


def made_by(report: Path) -> str:
    """Release that wrote a report or stream, from its header; empty when it does not say."""
    try:
        with report.open("rb") as file:
            found = _VERSION_IN_HEADER.search(file.read(_HEADER_BYTES))
    except OSError:
        return ""
    return release_of(found.group(1).decode("ascii")) if found else ""


def explain(output: str, report: Path, nsys: Nsys, place: Path) -> tuple[OverlapcheckError, Remedy]:
    """The error for what nsys printed, and whether exporting elsewhere may help."""
    text = output.lower()
    if any(phrase in text for phrase in _DISK_FULL):
        return _disk_full(report, place), Remedy.ANOTHER_PLACE
    if any(phrase in text for phrase in _PLACE_UNSUITABLE):
        message = f"{report}: nsys cannot write a database into {place}"
        return ExportFailed(message, "set TMPDIR to a local directory"), Remedy.ANOTHER_PLACE
    made = made_by(report)
    newer = bool(made) and release_key(made) > release_key(nsys.version)
    if any(phrase in text for phrase in _TOO_NEW) or (
        newer and any(phrase in text for phrase in _UNKNOWN_CONTENT)
    ):
        return _too_new(report, made, nsys), Remedy.NONE
    if any(phrase in text for phrase in _DAMAGED + _UNKNOWN_CONTENT):
        hint = "copy it again from where it was made, or record it again"
        return ReportDamaged(f"{report}: the report is truncated or corrupt", hint), Remedy.NONE
    last = message_text(output.strip().splitlines()[-1]) if output.strip() else "it says nothing"
    return (
        ExportFailed(
            f"{report}: nsys {nsys.release} cannot export it: {last}",
            f"try it by hand: {nsys.path} export --type=sqlite {report}",
        ),
        Remedy.NONE,
    )


def not_whole(report: Path, place: Path) -> OverlapcheckError:
    """The error for an export that claims success and is incomplete."""
    return ExportFailed(
        f"{report}: nsys export left an incomplete database in {place}",
        "check the free space there, or set TMPDIR to a directory with room",
    )


def _disk_full(report: Path, place: Path) -> ExportFailed:
    megabytes = max(1, 4 * report.stat().st_size >> 20)
    return ExportFailed(
        f"{report}: disk full while exporting into {place}",
        f"an export needs several times the report's size, here about {megabytes} MB; free some "
        "room or set TMPDIR to a directory that has it",
    )


def _too_new(report: Path, made: str, nsys: Nsys) -> ExportFailed:
    return ExportFailed(
        f"{report}: made by nsys {made or 'of a newer version'}, which nsys {nsys.release} at "
        f"{nsys.path} cannot read",
        f"pass a newer one with --nsys PATH, or export it where it was made (nsys export "
        f"--type=sqlite {report.name}) and analyze the .sqlite",
    )
