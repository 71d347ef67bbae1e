"""What to record, as options of `nsys profile`. Pure: the probed flags come in, argv goes out."""

from __future__ import annotations

import math
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from overlapcheck.errors import PolicyInvalid

PROFILER_API = "cudaProfilerApi"
NVTX_PREFIX = "nvtx:"

_MPI_LAUNCHERS = frozenset(
    ("mpirun", "mpiexec", "mpiexec.hydra", "orterun", "prterun", "srun", "jsrun", "aprun")
)
# Set by the launcher (or by srun's PMI) in each rank that it starts.
_MPI_RANK_VARIABLES = ("OMPI_COMM_WORLD_RANK", "PMI_RANK", "PMIX_RANK", "MV2_COMM_WORLD_RANK")
_MPI_OPTION = "--mpi-impl"
"""An nsys that lists it can trace MPI."""

# Short names of the options that we set ourselves, so that --nsys-args can override them.
_SHORT_NAMES = {
    "-t": "--trace",
    "-s": "--sample",
    "-c": "--capture-range",
    "-p": "--nvtx-capture",
    "-y": "--delay",
    "-d": "--duration",
    "-f": "--force-overwrite",
    "-o": "--output",
}

# Options of nsys that change how the program runs, and so belong to a control, too.
_RUN_OPTIONS = frozenset(
    (
        *("--env-var", "-e", "--inherit-environment", "-n", "--run-as"),
        *("--wait", "--kill", "--stop-on-exit", "-x"),
        *("--trace-fork-before-exec", "--nvtx-domain-include", "--nvtx-domain-exclude"),
    )
)


@dataclass(frozen=True)
class CaptureSpec:
    """What a capture records, and where it stays; the defaults disturb least and prove the most."""

    event_trace: bool = False
    """Device timestamps of CUDA events; NVIDIA warns of false dependencies between streams."""
    backtrace: bool = False
    """Source lines of CUDA calls; needs CPU sampling."""
    sync_debug: bool = False
    """PyTorch's own warnings about synchronising operations, with their lines."""
    sanitizer: bool = False
    """Whether the program runs once more, unrecorded, under PyTorch's own CUDA sanitizer."""
    mark_steps: bool = False
    """NVTX ranges around the steps of a PyTorch program that has none of its own."""
    pin_memory: bool = False
    """PyTorch's copies to the device made from pinned memory, and not waited for."""
    light: bool = False
    """The least that a verdict needs: no calls of the operating system, none of MPI."""
    mpi: bool = False
    """Calls of MPI, for programs that an MPI launcher starts."""
    ranges_only: bool = False
    """NVTX ranges and nothing else: a control, see `control_spec`."""
    delay_s: int = 0
    duration_s: int = 0
    """0 records to the end; otherwise the program is stopped when it is over."""
    capture_range: str = ""
    """"", cudaProfilerApi, or nvtx:RANGE[@DOMAIN]."""
    extra: tuple[str, ...] = ()
    """Further nsys options, which win over ours."""
    keep_as: Path | None = None
    """Report file to leave; None takes a name that says program and time."""
    replace_report: bool = False
    """Whether the report may take the place of one that is there."""
    keep_in: Path | None = None
    """Folder for the report and its export; None is the current one, without export."""
    exactly: Path | None = None
    """Report file to leave, whatever the two before and the rank say."""
    limit_s: float = math.inf
    """How long the program may run; then it is ended, and nothing is left."""
    variables: Mapping[str, str] = field(default_factory=dict)
    """To add to the program's environment."""

    def __post_init__(self) -> None:
        known = self.capture_range in ("", PROFILER_API) or self.nvtx_range
        if not known:
            raise PolicyInvalid(
                f"--capture-range {self.capture_range}: unknown kind of range",
                f"use {PROFILER_API} or {NVTX_PREFIX}RANGE[@DOMAIN]",
            )
        if self.delay_s < 0 or self.duration_s < 0:
            raise PolicyInvalid("--delay and --duration must not be negative")
        if "--output" in _option_names(self.extra):
            raise PolicyInvalid(
                "--nsys-args must not set nsys's output file", "use -o FILE.nsys-rep instead"
            )

    @property
    def nvtx_range(self) -> str:
        """Range that opens the capture, in nsys's notation; empty when none does."""
        if not self.capture_range.startswith(NVTX_PREFIX):
            return ""
        name = self.capture_range.removeprefix(NVTX_PREFIX)
        return name if not name or "@" in name.replace(r"\@", "") else f"{name}@*"

    @property
    def environment(self) -> dict[str, str]:
        """What is added to the program's environment, some of it for nsys's injected library."""
        # NOTE: without it nsys matches registered strings only, which PyTorch does not use.
        own = {"NSYS_NVTX_PROFILER_REGISTER_ONLY": "0"} if self.nvtx_range else {}
        return {**self.variables, **own}


def control_spec(spec: CaptureSpec) -> CaptureSpec:
    """The same run, recorded so that it is hardly slowed: NVTX ranges, of the same part.

    nsys knows of cudaProfilerStart from recording CUDA calls alone: where that opens the capture,
    a control records all of the program.
    """
    return CaptureSpec(
        ranges_only=True,
        mark_steps=spec.mark_steps,
        pin_memory=spec.pin_memory,
        variables=spec.variables,
        delay_s=spec.delay_s,
        duration_s=spec.duration_s,
        capture_range=spec.capture_range if spec.nvtx_range else "",
        extra=_about_the_run(spec.extra),
    )


def uses_mpi(command: Sequence[str], environment: Mapping[str, str]) -> bool:
    """Whether an MPI launcher starts the command, or has started us as one of its ranks.

    Args:
        command: program and arguments.
        environment: ours.
    """
    launched = Path(command[0]).name in _MPI_LAUNCHERS
    return launched or any(name in environment for name in _MPI_RANK_VARIABLES)


def parse_nsys_args(text: str) -> tuple[str, ...]:
    """Split the value of --nsys-args as a shell would."""
    try:
        return tuple(shlex.split(text))
    except ValueError as error:
        raise PolicyInvalid(f"--nsys-args {text!r}: {error}") from error


def missing_flags(spec: CaptureSpec, flags: frozenset[str]) -> tuple[str, ...]:
    """Options asked for by the user that this nsys does not have."""
    asked = [name for name, wanted in _asked_flags(spec) if wanted and name not in flags]
    return tuple(asked)


def profile_argv(
    nsys: Path, spec: CaptureSpec, flags: frozenset[str], output: Path, command: Sequence[str]
) -> list[str]:
    """The whole command line; an option of ours is left out where this nsys does not list it.

    Args:
        nsys: the executable.
        spec: what to record.
        flags: what `nsys profile --help` lists.
        output: report file to write, in a directory of its own.
        command: program and arguments.
    """
    overridden = _option_names(spec.extra)
    if _MPI_OPTION not in flags:
        spec = replace(spec, mpi=False)
    options = [
        f"{name}={value}"
        for name, value in _options(spec, output)
        if name in flags and name not in overridden
    ]
    return [str(nsys), "profile", *options, *spec.extra, *command]


def every_flag(spec: CaptureSpec) -> frozenset[str]:
    """What an nsys must list to take all of `profile_argv`."""
    return frozenset(name for name, _ in _options(spec, Path())) | {_MPI_OPTION}


def _options(spec: CaptureSpec, output: Path) -> list[tuple[str, str]]:
    options = [
        ("--trace", ",".join(_traced(spec))),
        # Graph granularity hides the kernels and copies inside a CUDA graph.
        ("--cuda-graph-trace", "" if spec.ranges_only else "node"),
        ("--cuda-event-trace", "true" if spec.event_trace else "false"),
        # The program and what it leaves running are none of the profiler's business.
        ("--wait", "primary"),
        ("--kill", "sigterm" if spec.duration_s else "none"),
        ("--force-overwrite", "true"),
        ("--export", "none"),
        ("--output", str(output)),
    ]
    if spec.backtrace:
        options += [("--cudabacktrace", "all:0"), ("--python-backtrace", "cuda")]
    else:
        options += [("--sample", "none"), ("--cpuctxsw", "none")]
    if spec.capture_range:
        kind = "nvtx" if spec.nvtx_range else PROFILER_API
        options += [
            ("--capture-range", kind),
            # The default ends the program together with the range.
            ("--capture-range-end", "stop"),
            ("--nvtx-capture", spec.nvtx_range),
        ]
    if spec.delay_s:
        options.append(("--delay", str(spec.delay_s)))
    if spec.duration_s:
        options.append(("--duration", str(spec.duration_s)))
    return [(name, value) for name, value in options if value]


def _traced(spec: CaptureSpec) -> list[str]:
    if spec.ranges_only:
        return ["nvtx"]
    if spec.light:
        return ["cuda", "nvtx"]
    return ["cuda", "nvtx", "osrt", *(["mpi"] if spec.mpi else [])]


def _asked_flags(spec: CaptureSpec) -> list[tuple[str, bool]]:
    return [
        ("--cuda-event-trace", spec.event_trace),
        ("--cudabacktrace", spec.backtrace),
        ("--python-backtrace", spec.backtrace),
        ("--capture-range-end", bool(spec.capture_range)),
        ("--nvtx-capture", bool(spec.nvtx_range)),
        ("--delay", bool(spec.delay_s)),
        ("--duration", bool(spec.duration_s)),
    ]


def _about_the_run(extra: Sequence[str]) -> tuple[str, ...]:
    """Of further nsys options those that say how the program runs, not what is recorded."""
    kept: list[str] = []
    keeping = False
    for argument in extra:
        if argument.startswith("-"):
            name = argument.partition("=")[0]
            keeping = name in _RUN_OPTIONS or argument[:2] in _RUN_OPTIONS
        if keeping:
            kept.append(argument)
    return tuple(kept)


def _option_names(extra: Sequence[str]) -> frozenset[str]:
    names = set()
    for argument in extra:
        if argument.startswith("--"):
            names.add(argument.partition("=")[0])
        elif argument.startswith("-"):
            names.add(_SHORT_NAMES.get(argument[:2], argument[:2]))
    return frozenset(names)
