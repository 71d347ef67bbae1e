"""Whether a capture would work on this machine, and what to do where it would not."""

from __future__ import annotations

import contextlib
import os
import shutil
import tempfile
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from overlapcheck.capture.discovery import HOW_TO_GET, Nsys, find_nsys, flags_of
from overlapcheck.capture.importer import (
    how_to_install,
    importer_release,
    importers,
    is_beside,
    listed,
    missing_libraries,
)
from overlapcheck.capture.profile import SESSION_VARIABLE, profile
from overlapcheck.capture.report_place import is_writable
from overlapcheck.capture.scratch import CAPTURE_NEEDS_BYTES, capture_candidates, free_bytes
from overlapcheck.capture.spec import CaptureSpec
from overlapcheck.capture.tool import run_tool
from overlapcheck.errors import CaptureFailed, NsysNotFound, OverlapcheckError

LOOKUP_TIMEOUT_S = 30.0
PARANOID_FOR_SAMPLING = 2
# Programs that hold CUPTI, of which a process or a GPU has only one.
_CUPTI_USERS = ("nv-hostengine", "ncu", "nsys", "dcgm-exporter")


class State(StrEnum):
    """How bad it is."""

    OK = "ok"
    NOTE = "note"
    """A capture works, with less in it."""
    PROBLEM = "problem"
    """No capture would work."""


@dataclass(frozen=True)
class HealthCheck:
    """One thing looked at."""

    name: str
    state: State
    found: str
    fix: str = ""
    """The command that makes it right."""


@dataclass(frozen=True)
class Health:
    """Everything looked at, in the order in which a capture needs it."""

    checks: tuple[HealthCheck, ...]

    @property
    def usable(self) -> bool:
        """Whether a capture would work."""
        return all(check.state is not State.PROBLEM for check in self.checks)


def examine(explicit: Path | None = None) -> Health:
    """Look at everything that a capture needs, and try one on `true`."""
    checks: list[HealthCheck] = []
    try:
        nsys = find_nsys(explicit)
    except NsysNotFound as error:
        checks.append(HealthCheck("nsys", State.PROBLEM, error.message, error.hint))
    else:
        checks.append(HealthCheck("nsys", State.OK, f"{nsys.version} at {nsys.path}"))
        checks += [check_importer(nsys), check_trial(nsys), check_backtrace(nsys)]
    checks += [check_inside_nsys(os.environ), check_gpu(), check_places(Path())]
    checks += check_cupti_users(os.environ)
    return Health(tuple(checks))


def check_importer(nsys: Nsys) -> HealthCheck:
    """The importer of the same release, with all its libraries."""
    found = list(importers(nsys))
    for path in found:
        if missing := missing_libraries(path):
            problem = f"{path} lacks {listed(missing)}"
            return HealthCheck("importer", State.PROBLEM, problem, how_to_install(missing))
    fitting = [
        path
        for path in found
        if (has := importer_release(path)) and (has == nsys.release or is_beside(path, nsys))
    ]
    if not fitting:
        return HealthCheck(
            "importer",
            State.PROBLEM,
            f"no QdstrmImporter of nsys {nsys.release}: this is a target-only installation",
            f"apt-get install nsight-systems={nsys.release}*, or {HOW_TO_GET}",
        )
    return _beside_or_elsewhere(nsys, fitting[0])


def _beside_or_elsewhere(nsys: Nsys, importer: Path) -> HealthCheck:
    if is_beside(importer, nsys):
        return HealthCheck("importer", State.OK, str(importer))
    root = nsys.path.resolve().parent.parent
    return HealthCheck(
        "importer",
        State.NOTE,
        f"in the other half of a split tree, {importer}; overlapcheck imports by itself",
        f"ln -s {importer.parent} {root / importer.parent.name}",
    )


def check_trial(nsys: Nsys) -> HealthCheck:
    """A capture of a program that does nothing, from start to report."""
    if SESSION_VARIABLE in os.environ:
        return HealthCheck("trial", State.NOTE, "not tried inside nsys")
    with tempfile.TemporaryDirectory(prefix="overlapcheck-") as directory:
        try:
            taken = profile(CaptureSpec(keep_in=Path(directory)), ["true"], nsys)
        except OverlapcheckError as error:
            # The recording that the message names goes with this directory.
            reason = error.message.rpartition(".qdstrm: ")[2]
            return HealthCheck("trial", State.PROBLEM, reason, error.hint.partition(", then:")[0])
        size = taken.report.stat().st_size
    return HealthCheck("trial", State.OK, f"recorded `true`: a report of {size >> 10} kB")


def check_backtrace(nsys: Nsys) -> HealthCheck:
    """What `run --backtrace` needs beyond a plain capture."""
    if "--python-backtrace" not in flags_of(nsys, "profile"):
        found = f"nsys {nsys.release} records no Python source lines"
        return HealthCheck("backtrace", State.NOTE, found, f"a newer one: {HOW_TO_GET}")
    setting = Path("/proc/sys/kernel/perf_event_paranoid")
    level = setting.read_text(encoding="ascii").strip() if setting.exists() else ""
    if level.lstrip("-").isdigit() and int(level) <= PARANOID_FOR_SAMPLING:
        return HealthCheck("backtrace", State.OK, f"perf_event_paranoid is {level}")
    found = f"perf_event_paranoid is {level or 'unknown'}: --backtrace may record no lines"
    return HealthCheck("backtrace", State.NOTE, found, "sysctl kernel.perf_event_paranoid=2")


def check_inside_nsys(environment: Mapping[str, str]) -> HealthCheck:
    """Nobody profiles us already."""
    if SESSION_VARIABLE not in environment:
        return HealthCheck("session", State.OK, "not inside nsys")
    found = f"already inside nsys ({SESSION_VARIABLE} is set)"
    return HealthCheck("session", State.PROBLEM, found, "leave out the outer nsys")


def check_gpu(run: Callable[[], tuple[str, ...]] | None = None) -> HealthCheck:
    """A GPU and its driver."""
    found = (run or _gpus)()
    if found:
        return HealthCheck("gpu", State.OK, "; ".join(found))
    version = Path("/proc/driver/nvidia/version")
    if version.exists():
        line = version.read_text(encoding="utf-8").splitlines()[0]
        return HealthCheck("gpu", State.OK, f"driver only: {line}")
    return HealthCheck(
        "gpu",
        State.PROBLEM,
        "no NVIDIA GPU or driver: nvidia-smi finds none, and there is no /proc/driver/nvidia",
        "run on a GPU machine, in a container with --gpus all; analyze works without",
    )


def check_places(directory: Path) -> HealthCheck:
    """Room and permission for temporary files and for the report."""
    roomy = [
        place
        for place in capture_candidates(directory)
        if free_bytes(place) >= CAPTURE_NEEDS_BYTES and is_writable(place)
    ]
    if not roomy:
        found = f"no temporary directory with {CAPTURE_NEEDS_BYTES >> 20} MB free"
        return HealthCheck("places", State.PROBLEM, found, "export TMPDIR=DIRECTORY_WITH_ROOM")
    room = f"{free_bytes(roomy[0]) >> 30} GB free in {roomy[0]}"
    if is_writable(directory):
        return HealthCheck("places", State.OK, room)
    place = f"a folder in {tempfile.gettempdir()}"
    found = f"{directory.resolve()} is not writable: reports go into {place}"
    return HealthCheck("places", State.NOTE, found, "overlapcheck run --keep DIR ...")


def check_cupti_users(environment: Mapping[str, str]) -> list[HealthCheck]:
    """Others that may hold CUPTI, so that no GPU work would be recorded."""
    injected = environment.get("CUDA_INJECTION64_PATH", "")
    checks = []
    if injected and SESSION_VARIABLE not in environment:
        found = f"CUDA_INJECTION64_PATH={injected} loads another tool"
        checks.append(HealthCheck("cupti", State.NOTE, found, "unset CUDA_INJECTION64_PATH"))
    for pid, name in _running(_CUPTI_USERS):
        found = f"{name} runs (process {pid}) and may hold CUPTI: then no GPU work is recorded"
        fix = "dcgmi profile --pause" if "dcgm" in name or "nv-host" in name else f"kill {pid}"
        checks.append(HealthCheck("cupti", State.NOTE, found, fix))
    return checks or [HealthCheck("cupti", State.OK, "no other user seen")]


def _gpus() -> tuple[str, ...]:
    tool = shutil.which("nvidia-smi")
    if tool is None:
        return ()
    query = [tool, "--query-gpu=name,driver_version", "--format=csv,noheader"]
    with contextlib.suppress(CaptureFailed):
        answer = run_tool(query, timeout_s=LOOKUP_TIMEOUT_S)
        if answer.exit_code == 0:
            return tuple(line.replace(",", ", driver") for line in answer.said)
    return ()


def _running(names: tuple[str, ...]) -> Iterator[tuple[int, str]]:
    for entry in Path("/proc").iterdir():
        with contextlib.suppress(OSError):
            if entry.name.isdigit() and (name := (entry / "comm").read_text().strip()) in names:
                state = (entry / "stat").read_text(errors="replace").rpartition(")")[2].split()[0]
                if state not in "ZX":
                    yield int(entry.name), name
