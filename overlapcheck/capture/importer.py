"""Importing a .qdstrm, which is all that nsys leaves when its importer did not run."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from overlapcheck.capture.discovery import Nsys, installed, release_of
from overlapcheck.capture.export_failures import made_by
from overlapcheck.capture.tool import run_tool
from overlapcheck.errors import CaptureFailed, ReportDamaged

IMPORTER = "QdstrmImporter"
STREAM_SUFFIX = ".qdstrm"
STREAM_MAGIC = b"NVIDIA Nsight Systems Stream "
STREAM_HEADER_BYTES = 64
LOOKUP_TIMEOUT_S = 60.0
MOST_LISTED = 4

# Where an importer lies, seen from the directory above nsys's own; the second one is the layout
# of the nsys inside Nsight Compute.
_BESIDE_TARGET = ("host-linux-*", "linux-desktop-*")
# Debian splits the tree over two directories, and nsys does not find its own other half.
_DEBIAN_HOST = Path("/usr/lib/nsight-systems/host-linux-x64")
_DEBIAN_PACKAGES = {
    "libssh.so": "libssh-4",
    "libglib-2.0.so": "libglib2.0-0",
    "libgthread-2.0.so": "libglib2.0-0",
    "libgssapi_krb5.so": "libgssapi-krb5-2",
    "libpfm.so": "libpfm4",
    "libcurl.so": "libcurl4",
    "libdw.so": "libdw1",
    "libelf.so": "libelf1",
    "libbz2.so": "libbz2-1.0",
    "liblzma.so": "liblzma5",
    "libstdc++.so": "libstdc++6",
}


def importers(nsys: Nsys) -> Iterator[Path]:
    """Importers of this machine, the one beside nsys first, each file once."""
    tools = (nsys.path, *installed())
    seen: set[Path] = set()
    for tool in tools:
        root = tool.resolve().parent.parent
        beside = [place for name in _BESIDE_TARGET for place in sorted(root.glob(name))]
        for directory in (*beside, _DEBIAN_HOST):
            path = directory / IMPORTER
            if path.is_file() and path.resolve() not in seen:
                seen.add(path.resolve())
                yield path


def importer_release(importer: Path) -> str:
    """Release of an importer; empty when it does not run."""
    try:
        answer = run_tool([str(importer), "--version"], timeout_s=LOOKUP_TIMEOUT_S)
    except CaptureFailed:
        return ""
    return release_of(answer.output) if answer.exit_code == 0 else ""


def missing_libraries(binary: Path) -> tuple[str, ...]:
    """Shared libraries that the loader does not find for a binary."""
    try:
        answer = run_tool(["ldd", str(binary)], timeout_s=LOOKUP_TIMEOUT_S)
    except CaptureFailed:
        return ()
    return tuple(sorted(set(re.findall(r"^\s*(\S+) => not found", answer.output, re.MULTILINE))))


def how_to_install(libraries: tuple[str, ...]) -> str:
    """What brings shared libraries back."""
    known = {
        library: package
        for library in libraries
        for name, package in _DEBIAN_PACKAGES.items()
        if library.startswith(name)
    }
    if unknown := [library for library in libraries if library not in known]:
        return f"install what has {listed(unknown)}, or reinstall nsys where they are its own"
    return f"apt-get install {' '.join(sorted(set(known.values())))}"


def listed(names: Sequence[str]) -> str:
    """The first few names, and how many more there are."""
    rest = f" and {len(names) - MOST_LISTED} more" if len(names) > MOST_LISTED else ""
    return ", ".join(names[:MOST_LISTED]) + rest


def is_beside(importer: Path, nsys: Nsys) -> bool:
    """Whether an importer belongs to the installation of an nsys."""
    return importer.resolve().is_relative_to(nsys.path.resolve().parent.parent)


def importer_for(stream: Path, nsys: Nsys) -> Path:
    """The importer of the release that wrote a recording.

    Args:
        stream: the recording.
        nsys: the one whose own importer is right for its own recordings.

    Raises:
        CaptureFailed: there is none that runs; says which library or package is missing.
    """
    release = made_by(stream)
    found = list(importers(nsys))
    for path in found:
        has = importer_release(path)
        # NOTE: the importer in Nsight Compute 2025.3.1 gives another version than its nsys.
        if has and (has == release or (release == nsys.release and is_beside(path, nsys))):
            return path
    raise _no_importer(release, found)


def import_stream(stream: Path, target: Path, importer: Path) -> None:
    """Turn a .qdstrm into a report.

    Raises:
        ReportDamaged: the importer refuses the recording; no target is left.
    """
    done = run_tool(
        [str(importer), "-i", str(stream.absolute()), "-o", str(target.absolute())],
        fills=target.parent,
    )
    if done.exit_code != 0 or not target.is_file() or not target.stat().st_size:
        target.unlink(missing_ok=True)
        said = f"{IMPORTER} cannot import it: {done.last_words}"
        raise ReportDamaged(f"{stream}: {said}", "record it again")


def is_stream(path: Path) -> bool:
    """Whether a file is a recording that has not been imported."""
    with path.open("rb") as file:
        return STREAM_MAGIC in file.read(STREAM_HEADER_BYTES)


def _no_importer(release: str, found: list[Path]) -> CaptureFailed:
    for path in found:
        if libraries := missing_libraries(path):
            return CaptureFailed(
                f"not imported yet, and {path} cannot run: it lacks {listed(libraries)}",
                how_to_install(libraries),
            )
    other = ", ".join(sorted({importer_release(path) for path in found} - {""}))
    have = f"the ones here are of {other}" if other else "there is none here"
    return CaptureFailed(
        f"not imported yet, which takes the {IMPORTER} of nsys {release or 'its version'}; {have}",
        f"install the whole nsight-systems {release}, not only its target part",
    )
