"""Finding nsys, and asking it what it can do."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from overlapcheck.capture.tool import run_tool
from overlapcheck.errors import CaptureFailed, NsysNotFound

# In order of preference; within one pattern the newest version first.
INSTALL_PATTERNS = (
    "/opt/nvidia/nsight-systems/*/bin/nsys",
    "/opt/nvidia/nsight-systems/*/target-linux-*/nsys",
    "/opt/nvidia/nsight-systems-cli/*/bin/nsys",
    "/opt/nvidia/nsight-systems-cli/*/target-linux-*/nsys",
    "/opt/nsight-systems*/bin/nsys",
    "/usr/local/cuda*/bin/nsys",
    "/usr/local/cuda*/nsight-systems*/bin/nsys",
    "/usr/lib/*-linux-gnu/nsight-systems/target-linux-*/nsys",
    "~/nsight-systems*/bin/nsys",
    "~/.local/nsight-systems*/bin/nsys",
    "/opt/nvidia/nsight-compute/*/host/target-linux-*/nsys",
    "/usr/local/cuda*/nsight-compute*/host/target-linux-*/nsys",
)
HOW_TO_GET = (
    "install the package nsight-systems-cli of NVIDIA's apt or yum repository, or take it from "
    "https://developer.nvidia.com/nsight-systems, or name it with --nsys PATH"
)
VERSION_TIMEOUT_S = 60.0

_VERSION = re.compile(r"version\s+(\d{4}(?:\.\d+)+\S*)")
_FLAG = re.compile(r"^\s*(?:\([A-Za-z]+\)\s*)?(?:-\w,\s*)?(--[a-z][a-z0-9-]*)", re.MULTILINE)


@dataclass(frozen=True)
class Nsys:
    """A Nsight Systems command line that runs on this machine."""

    path: Path
    version: str
    """As it reports it, such as 2023.4.4.54-234433681190v0."""

    @property
    def release(self) -> str:
        """The version people use: the first three numbers."""
        return release_of(self.version)


def release_of(version: str) -> str:
    """The first three numbers of a version, whatever separates them."""
    return ".".join(re.findall(r"\d+", version)[:3])


def release_key(version: str) -> tuple[int, ...]:
    """A version as something that sorts by age."""
    return _numbers(version)[:3]


def find_nsys(
    explicit: Path | None = None,
    *,
    environment: Mapping[str, str] = os.environ,
    patterns: tuple[str, ...] = INSTALL_PATTERNS,
) -> Nsys:
    """The nsys to use: the one named, else the one on PATH, else the newest installed.

    Raises:
        NsysNotFound: there is none, or none that runs; says where it was looked for.
    """
    broken: list[str] = []
    for path in _named(explicit) if explicit else _candidates(environment, patterns):
        try:
            return probe(path)
        except CaptureFailed as error:
            broken.append(f"{path} ({error.message})")
    if broken:
        raise NsysNotFound(f"found nsys, but it does not run: {', '.join(broken)}", HOW_TO_GET)
    if explicit:
        raise NsysNotFound(f"{explicit}: no nsys there", HOW_TO_GET)
    looked = ", ".join(dict.fromkeys(_fixed_part(pattern) for pattern in patterns))
    raise NsysNotFound(f"nsys not found: looked on PATH and in {looked}", HOW_TO_GET)


def probe(path: Path) -> Nsys:
    """Ask an nsys for its version.

    Raises:
        CaptureFailed: it cannot be run or names no version.
    """
    answer = run_tool([str(path), "--version"], timeout_s=VERSION_TIMEOUT_S)
    found = _VERSION.search(answer.output)
    if answer.exit_code != 0 or found is None:
        raise CaptureFailed(f"nsys --version failed: {answer.last_words}")
    return Nsys(path, found.group(1))


@lru_cache(maxsize=16)
def flags_of(nsys: Nsys, command: str) -> frozenset[str]:
    """Long options that `nsys COMMAND --help` lists; they differ from version to version."""
    answer = run_tool([str(nsys.path), command, "--help"], timeout_s=VERSION_TIMEOUT_S)
    flags = frozenset(_FLAG.findall(answer.output))
    if not flags:
        raise CaptureFailed(f"{nsys.path} {command} --help lists no options: {answer.last_words}")
    return flags


def installed(environment: Mapping[str, str] = os.environ) -> tuple[Path, ...]:
    """Every nsys of this machine, in order of preference, each real file once."""
    unique = {path.resolve(): path for path in reversed(list(_candidates(environment)))}
    return tuple(reversed(unique.values()))


def _named(explicit: Path) -> Iterator[Path]:
    places = (
        explicit,
        explicit / "bin/nsys",
        explicit / "nsys",
        explicit / "target-linux-x64/nsys",
    )
    yield from (place for place in places if place.is_file())


def _candidates(
    environment: Mapping[str, str], patterns: tuple[str, ...] = INSTALL_PATTERNS
) -> Iterator[Path]:
    if on_path := shutil.which("nsys", path=environment.get("PATH", "")):
        yield Path(on_path)
    for pattern in patterns:
        expanded = Path(pattern).expanduser()
        found = Path(expanded.anchor).glob(str(expanded.relative_to(expanded.anchor)))
        usable = [path for path in found if os.access(path, os.X_OK) and path.is_file()]
        yield from sorted(usable, key=lambda path: (_numbers(str(path)), str(path)), reverse=True)


def _fixed_part(pattern: str) -> str:
    """The directory before the first wildcard: what a person would look into."""
    return pattern.partition("*")[0].rpartition("/")[0] if "*" in pattern else pattern


def _numbers(text: str) -> tuple[int, ...]:
    return tuple(int(number) for number in re.findall(r"\d+", text))
