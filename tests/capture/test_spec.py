"""Options become nsys's command line; what an nsys does not list is never passed."""

from __future__ import annotations

from pathlib import Path

import pytest

from overlapcheck.capture.spec import (
    CaptureSpec,
    control_spec,
    missing_flags,
    parse_nsys_args,
    profile_argv,
    uses_mpi,
)
from overlapcheck.errors import ExitCode, PolicyInvalid

# What `nsys profile --help` of each version lists, as far as it matters here.
IN_2020 = frozenset(
    {
        "--trace",
        "--sample",
        "--cpuctxsw",
        "--cudabacktrace",
        "--capture-range",
        "--nvtx-capture",
        "--delay",
        "--duration",
        "--kill",
        "--wait",
        "--force-overwrite",
        "--export",
        "--mpi-impl",
        "--output",
    }
)
IN_2023 = IN_2020 | {"--cuda-graph-trace", "--capture-range-end", "--python-backtrace"}
IN_2025 = IN_2023 | {"--cuda-event-trace"}
COMMAND = ["python3", "train.py", "--sample", "x"]


def argv(spec: CaptureSpec, flags: frozenset[str] = IN_2025) -> list[str]:
    return profile_argv(Path("/n/nsys"), spec, flags, Path("/s/r.nsys-rep"), COMMAND)


def test_defaults() -> None:
    assert argv(CaptureSpec()) == [
        "/n/nsys",
        "profile",
        "--trace=cuda,nvtx,osrt",
        "--cuda-graph-trace=node",
        "--cuda-event-trace=false",
        "--wait=primary",
        "--kill=none",
        "--force-overwrite=true",
        "--export=none",
        "--output=/s/r.nsys-rep",
        "--sample=none",
        "--cpuctxsw=none",
        *COMMAND,
    ]


def test_mpi_is_traced_where_a_launcher_starts_the_program() -> None:
    assert uses_mpi(["/usr/bin/mpirun", "-np", "4", "./app"], {})
    assert uses_mpi(["srun", "./app"], {})
    assert uses_mpi(["./app"], {"OMPI_COMM_WORLD_RANK": "3"})
    assert not uses_mpi(["python3", "mpirun"], {"SLURM_JOB_ID": "7"})


def test_a_light_recording_leaves_out_what_no_verdict_needs() -> None:
    light, full = argv(CaptureSpec(light=True)), argv(CaptureSpec())

    assert set(full) - set(light) == {"--trace=cuda,nvtx,osrt"}
    assert set(light) - set(full) == {"--trace=cuda,nvtx"}
    assert "--trace=cuda,nvtx" in argv(CaptureSpec(light=True, mpi=True))


def test_a_control_records_ranges_and_nothing_else() -> None:
    asked = CaptureSpec(
        event_trace=True, backtrace=True, sync_debug=True, light=True, mpi=True, duration_s=3
    )
    words = argv(control_spec(asked))

    assert {"--trace=nvtx", "--sample=none", "--cpuctxsw=none", "--cuda-event-trace=false"} <= set(
        words
    )
    assert {"--duration=3", "--kill=sigterm", "--wait=primary"} <= set(words)
    assert not any(word.startswith(("--cudabacktrace", "--cuda-graph")) for word in words)


@pytest.mark.parametrize(
    ("extra", "kept"),
    [
        ("-e A=1 --env-var=B=2 --run-as me", "-e A=1 --env-var=B=2 --run-as me"),
        ("--gpu-metrics-device all --wait all -t cuda", "--wait all"),
        ("-eA=1 --sample=process-tree -s cpu", "-eA=1"),
    ],
)
def test_a_control_keeps_what_says_how_the_program_runs(extra: str, kept: str) -> None:
    spec = control_spec(CaptureSpec(extra=parse_nsys_args(extra)))

    assert list(spec.extra) == kept.split()


def test_mpi_is_left_to_an_nsys_that_knows_it() -> None:
    assert "--trace=cuda,nvtx,osrt,mpi" in argv(CaptureSpec(mpi=True))
    assert "--trace=cuda,nvtx,osrt" in argv(CaptureSpec(mpi=True), IN_2025 - {"--mpi-impl"})


@pytest.mark.parametrize("flags", [IN_2020, IN_2023, IN_2025])
@pytest.mark.parametrize(
    "spec",
    [
        CaptureSpec(),
        CaptureSpec(backtrace=True),
        CaptureSpec(event_trace=True, delay_s=1, duration_s=2),
        CaptureSpec(capture_range="nvtx:step"),
    ],
)
def test_only_listed_options_are_passed(spec: CaptureSpec, flags: frozenset[str]) -> None:
    ours = [word.partition("=")[0] for word in argv(spec, flags)[2 : -len(COMMAND)]]
    assert set(ours) <= flags
    assert len(set(ours)) == len(ours)


def test_backtrace_needs_sampling() -> None:
    words = argv(CaptureSpec(backtrace=True))
    assert {"--cudabacktrace=all:0", "--python-backtrace=cuda"} <= set(words)
    assert not any(word.startswith("--sample=") for word in words)


def test_event_trace() -> None:
    assert "--cuda-event-trace=true" in argv(CaptureSpec(event_trace=True))


def test_delay_and_duration() -> None:
    words = argv(CaptureSpec(delay_s=5, duration_s=30))
    assert {"--delay=5", "--duration=30", "--kill=sigterm"} <= set(words)


def test_profiler_api_range_leaves_the_program_running() -> None:
    words = argv(CaptureSpec(capture_range="cudaProfilerApi"))
    assert {"--capture-range=cudaProfilerApi", "--capture-range-end=stop", "--kill=none"} <= set(
        words
    )
    assert not any(word.startswith("--nvtx-capture") for word in words)


@pytest.mark.parametrize(
    ("given", "passed"),
    [
        ("nvtx:step", "step@*"),
        ("nvtx:step@torch", "step@torch"),
        (r"nvtx:a\@b", r"a\@b@*"),
        ("nvtx:train step 3", "train step 3@*"),
    ],
)
def test_nvtx_range(given: str, passed: str) -> None:
    spec = CaptureSpec(capture_range=given)
    assert f"--nvtx-capture={passed}" in argv(spec)
    assert "--capture-range=nvtx" in argv(spec)
    assert spec.environment == {"NSYS_NVTX_PROFILER_REGISTER_ONLY": "0"}


def test_no_range_changes_no_environment() -> None:
    assert CaptureSpec().environment == {}
    assert CaptureSpec(capture_range="cudaProfilerApi").environment == {}


@pytest.mark.parametrize(
    ("extra", "gone"),
    [
        ("--sample=process-tree", "--sample=none"),
        ("-s process-tree", "--sample=none"),
        ("-t cuda", "--trace=cuda,nvtx,osrt"),
        ("--kill=sigkill", "--kill=none"),
    ],
)
def test_nsys_args_win_over_ours(extra: str, gone: str) -> None:
    assert gone in argv(CaptureSpec())
    words = argv(CaptureSpec(extra=parse_nsys_args(extra)))
    assert gone not in words
    assert words[-len(COMMAND) - len(extra.split()) : -len(COMMAND)] == extra.split()


@pytest.mark.parametrize("extra", ["-o x", "--output=x", "-ox"])
def test_nsys_args_must_not_move_the_report(extra: str) -> None:
    with pytest.raises(PolicyInvalid, match=r"-o FILE\.nsys-rep"):
        CaptureSpec(extra=parse_nsys_args(extra))


@pytest.mark.parametrize("kind", ["nvtx:", "nvtx", "cudaProfiler", "hotkey"])
def test_unknown_range(kind: str) -> None:
    with pytest.raises(PolicyInvalid, match="unknown kind of range") as caught:
        CaptureSpec(capture_range=kind)
    assert caught.value.exit_code is ExitCode.USAGE


def test_unbalanced_quotes() -> None:
    with pytest.raises(PolicyInvalid, match="--nsys-args"):
        parse_nsys_args("--x='a")


def test_what_was_asked_for_and_is_not_there() -> None:
    assert missing_flags(CaptureSpec(), IN_2020) == ()
    assert missing_flags(CaptureSpec(backtrace=True), IN_2020) == ("--python-backtrace",)
    assert missing_flags(CaptureSpec(event_trace=True), IN_2023) == ("--cuda-event-trace",)
    assert missing_flags(CaptureSpec(event_trace=True), IN_2025) == ()
