"""Where a finished report goes, and putting it there without losing it."""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import count
from pathlib import Path

from overlapcheck.errors import OutputUnwritable

# Set per process by torchrun, Open MPI, MPICH and Slurm; the first one set counts.
RANK_VARIABLES = ("RANK", "OMPI_COMM_WORLD_RANK", "PMI_RANK", "SLURM_PROCID")
REPORT_SUFFIX = ".nsys-rep"


@dataclass(frozen=True)
class KeptFile:
    """A file in its final place."""

    path: Path
    warning: str
    """Why it is not where it was meant to be; empty when it is."""


def report_name(command: Sequence[str], started: datetime, environment: Mapping[str, str]) -> str:
    """A name that says what was profiled, when, and in which rank."""
    script = next((word for word in command[1:] if word.endswith(".py")), command[0])
    program = re.sub(r"[^A-Za-z0-9._+-]", "_", Path(script).name.removesuffix(".py")) or "program"
    return f"overlapcheck-{program[:60]}-{started:%Y%m%d-%H%M%S}{_rank(environment)}{REPORT_SUFFIX}"


def wanted_path(
    keep_as: Path | None, default_name: str, environment: Mapping[str, str], directory: Path
) -> Path:
    """The path asked for, told apart by rank, or the default name in directory."""
    if keep_as is None:
        return directory / default_name
    return keep_as.with_name(f"{keep_as.stem}{_rank(environment)}{keep_as.suffix}")


def require_free(path: Path, *, replaceable: bool = False) -> None:
    """Refuse a report path before the program has run for nothing.

    Args:
        path: where the report is to go.
        replaceable: whether a file that is there may be replaced.

    Raises:
        OutputUnwritable: it exists, or its directory does not.
    """
    if path.exists() and not (replaceable and path.is_file()):
        raise OutputUnwritable(f"{path} exists already", "choose another name, or --force")
    if not path.parent.is_dir():
        raise OutputUnwritable(f"{path.parent}: no such directory", "create it first")


def fallback_directory() -> Path:
    """Where reports go, in a private folder each, that cannot go where they should."""
    return Path(tempfile.gettempdir())


def private_directory(parent: Path) -> Path:
    """A new folder that is closed to other users.

    A report holds the program's whole environment, and a temporary directory is everybody's.
    """
    return Path(tempfile.mkdtemp(prefix="overlapcheck-report-", dir=parent))


def is_writable(directory: Path) -> bool:
    """Whether a file can be made there; asked by making one, for root may lack a file system."""
    try:
        # Root may write anywhere; a directory closed to its owner is still meant to stay as it is.
        if not directory.stat().st_mode & 0o222:
            return False
        with tempfile.TemporaryFile(dir=directory):
            return True
    except OSError:
        return False


def keep(finished: Path, wanted: Path, last_resort: Path, *, replaceable: bool = False) -> KeptFile:
    """Move a finished file to its place, never over another file that may not be replaced.

    Where that fails it goes into a private folder in the temporary directory, else in last_resort,
    which is on its own file system and so takes no room; the warning says so.

    Raises:
        OutputUnwritable: there is no room anywhere; the file is still at `finished`.
    """
    if replaceable:
        with contextlib.suppress(OSError):
            wanted.unlink()
    reasons = []
    for parent in (None, fallback_directory(), last_resort):
        try:
            kept = _move(finished, wanted) if parent is None else _hide(finished, wanted, parent)
        except OSError as error:
            reasons.append(f"{parent or wanted.parent}: {error.strerror or error}")
        else:
            if reasons:
                return KeptFile(kept, f"cannot write the report into {reasons[0]}")
            taken = f"{wanted} was taken meanwhile" if kept != wanted else ""
            return KeptFile(kept, taken)
    raise OutputUnwritable(f"cannot keep the report: {', '.join(reasons)}", "free some room")


def _hide(source: Path, wanted: Path, parent: Path) -> Path:
    """Move a file into a private folder of its own."""
    folder = private_directory(parent)
    try:
        return _move(source, folder / wanted.name)
    except BaseException:
        with contextlib.suppress(OSError):
            folder.rmdir()
        raise


def _move(source: Path, wanted: Path) -> Path:
    place = _reserve(wanted)
    try:
        if wanted.parent.stat().st_mode & 0o077 == 0:
            for file in (source, place):
                file.chmod(0o600)
        try:
            source.replace(place)
        except OSError:
            # Another file system: copy, and only then let go of the original.
            shutil.copyfile(source, place)
            source.unlink()
    except BaseException:
        with contextlib.suppress(OSError):
            place.unlink()
        raise
    return place


def _reserve(wanted: Path) -> Path:
    """Create the file, or the first numbered sibling that is free."""
    for number in count(2):
        name = wanted.name if number == 2 else f"{wanted.stem}-{number - 1}{wanted.suffix}"
        place = wanted.with_name(name)
        with contextlib.suppress(FileExistsError):
            os.close(os.open(place, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o666))
            return place
    raise AssertionError("unreachable")


def _rank(environment: Mapping[str, str]) -> str:
    rank = next((environment[name] for name in RANK_VARIABLES if environment.get(name)), "")
    return f"-rank{rank}" if rank.isdigit() else ""
