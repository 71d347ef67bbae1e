"""Putting results into files: whole, as private as what they replace, and over no input."""

from __future__ import annotations

import contextlib
import errno
import os
import stat
import sys
import tempfile
from collections.abc import Callable, Iterable
from pathlib import Path

from overlapcheck.errors import OutputUnwritable, PolicyInvalid


def spare_inputs(outputs: Iterable[Path], inputs: Iterable[Path]) -> None:
    """Refuse to write over what is read.

    Args:
        outputs: files to be written.
        inputs: reports, exports (files or folders of tables) and results.

    Raises:
        PolicyInvalid: an output is an input, under whatever name, or a file in one.
    """
    read = {identity for path in inputs for identity in _identities(path)}
    for path in outputs:
        if read.intersection(_identities(path)):
            raise PolicyInvalid(
                f"{path}: is what is read, and would be lost", "write to another file"
            )


def _identities(path: Path) -> list[tuple[int, int]]:
    """Device and number of a file, or of the files in a folder."""
    found = []
    with contextlib.suppress(OSError, ValueError):
        files = [path, *path.iterdir()] if path.is_dir() else [path]
        for file in files:
            status = file.stat()
            # A pipe, a terminal or /dev/null loses nothing by being written to.
            if stat.S_ISREG(status.st_mode):
                found.append((status.st_dev, status.st_ino))
    return found


def require_writable(
    outputs: Iterable[Path], folder: Path | None, yet_to_be_made: Path | None = None
) -> None:
    """Find out that results could not be written before what they tell has cost its time.

    Args:
        outputs: files to be written later; none is touched.
        folder: of further files, made later where it is missing.
        yet_to_be_made: a folder that will be there.

    Raises:
        OutputUnwritable: naming the first one that could not.
    """
    for path in outputs:
        if path.parent == yet_to_be_made and not path.parent.exists():
            continue
        try:
            _try(path)
        except OSError as error:
            raise _unwritable(path, error) from error
    if folder is not None:
        try:
            _try(next(one for one in (folder, *folder.absolute().parents) if one.exists()) / "_")
        except OSError as error:
            raise _unwritable(folder, error, "--tables") from error


def _try(path: Path) -> None:
    before = _status(path)
    if before is None or stat.S_ISREG(before.st_mode):
        with tempfile.TemporaryFile(dir=Path(os.path.realpath(path)).parent):
            return
    if stat.S_ISDIR(before.st_mode):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
    if not os.access(path, os.W_OK):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))


def write(path: Path, text: str) -> None:
    """Replace a file as a whole: a reader never sees half a report.

    Raises:
        OutputUnwritable: naming the file.
    """
    write_bytes(path, text.encode("utf-8", "replace"))


def write_bytes(path: Path, content: bytes) -> None:
    """Replace a file as a whole, see `write`."""

    def fill(temporary: Path) -> None:
        temporary.write_bytes(content)

    replace(path, fill)


def replace(path: Path, fill: Callable[[Path], None]) -> None:
    """Replace a file by one that `fill` writes.

    A link stays one: what it leads to is replaced. The mode of a file that was there stays. What is
    no file (a pipe, a terminal, our own stdout) is written to.

    Raises:
        OutputUnwritable: naming the file.
    """
    try:
        target = Path(os.path.realpath(path))
        before = _status(path)
        if before is None or (stat.S_ISREG(before.st_mode) and not _is_open_here(before)):
            _replace(target, fill, before)
        else:
            _pour(path, fill, before)
    except OSError as error:
        raise _unwritable(path, error) from error


def _unwritable(path: Path, error: OSError, option: str = "-o") -> OutputUnwritable:
    return OutputUnwritable(
        f"{path}: cannot write the result ({error.strerror or error})",
        f"give {option} a place that exists and is writable",
    )


def _replace(target: Path, fill: Callable[[Path], None], before: os.stat_result | None) -> None:
    descriptor, name = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name[:100]}.")
    os.close(descriptor)
    temporary = Path(name)
    try:
        fill(temporary)
        if before is None:
            temporary.chmod(0o666 & ~_umask())
        else:
            _take_over(temporary, before)
        temporary.replace(target)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


def _take_over(file: Path, before: os.stat_result) -> None:
    """Give a file the owner and the mode of the one that it replaces."""
    mode = stat.S_IMODE(before.st_mode) & 0o777
    own = file.stat()
    if (own.st_uid, own.st_gid) != (before.st_uid, before.st_gid):
        try:
            os.chown(file, before.st_uid, before.st_gid)
        except OSError:
            # Another group may not see what the group before could.
            mode &= 0o707 if own.st_gid != before.st_gid else 0o777
    file.chmod(mode)


def _pour(path: Path, fill: Callable[[Path], None], before: os.stat_result) -> None:
    """Write into what is no ordinary file, or is open as stdout or stderr."""
    with tempfile.TemporaryDirectory(prefix="overlapcheck-") as folder:
        whole = Path(folder) / "result"
        fill(whole)
        content = whole.read_bytes()
    with contextlib.suppress(OSError, ValueError):
        sys.stdout.flush()
    stream = _is_open_here(before)
    # Opened anew, a redirected stdout would be written from its begin.
    descriptor = os.dup(stream) if stream else os.open(path, os.O_WRONLY | os.O_CLOEXEC)
    with os.fdopen(descriptor, "wb") as file:
        file.write(content)


def _is_open_here(status: os.stat_result) -> int | None:
    """The descriptor of stdout or stderr, where that is the file."""
    for stream in (1, 2):
        with contextlib.suppress(OSError):
            if os.path.samestat(os.fstat(stream), status):
                return stream
    return None


def _status(path: Path) -> os.stat_result | None:
    try:
        return path.stat()
    except FileNotFoundError:
        return None


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
