"""The one-line reason why nsys left nothing."""

from __future__ import annotations

import signal

from overlapcheck.capture.discovery import Nsys
from overlapcheck.capture.recording import Recording
from overlapcheck.capture.spec import CaptureSpec
from overlapcheck.errors import CaptureFailed
from overlapcheck.redaction import message_text

_AGENT_LOST = "Connection to Agent lost"
_DOCTOR = "overlapcheck doctor shows what is wrong"


def why_no_report(
    recording: Recording, spec: CaptureSpec, nsys: Nsys, program: str
) -> CaptureFailed:
    """Explain a recording that left neither report nor stream."""
    if recording.not_started:
        return CaptureFailed(f"{program}: cannot be run: {recording.not_started}")
    last = _last_words(recording)
    if not recording.started:
        if spec.extra and (refused := _refused(recording)):
            return CaptureFailed(
                f"nsys {nsys.release} does not take --nsys-args: {refused}",
                f"the options that it has: {nsys.path} profile --help",
            )
        return CaptureFailed(f"nsys {nsys.release} did not start the program: {last}", _DOCTOR)
    if recording.outlived_nsys or recording.exit_code < 0 or _AGENT_LOST in last:
        return CaptureFailed(
            f"nsys died while {program} ran, and the recording with it: {last}",
            f"the program has been ended, too; run it again, or look: {_DOCTOR}",
        )
    if recording.lost_launcher:
        return CaptureFailed(
            f"nsys's launcher was killed while {program} ran, and left no usable report",
            "see that the program does not kill its own parent, then run it again",
        )
    ending = f"{program} ended with exit code {recording.exit_code}"
    if spec.nvtx_range:
        return CaptureFailed(
            f"nothing was recorded: no NVTX range {spec.nvtx_range} opened; {ending}",
            "check the name: --capture-range nvtx:RANGE[@DOMAIN]",
        )
    if spec.capture_range:
        return CaptureFailed(
            f"nothing was recorded: the program never called cudaProfilerStart(); {ending}",
            "call torch.cuda.profiler.start() before the steps to record, or leave out "
            "--capture-range",
        )
    if spec.delay_s:
        return CaptureFailed(
            f"nothing was recorded: the program was over before --delay {spec.delay_s} was; "
            f"{ending}",
            "choose a shorter --delay",
        )
    return CaptureFailed(f"nsys {nsys.release} left no usable report: {last}; {ending}", _DOCTOR)


def _refused(recording: Recording) -> str:
    """What nsys says of its command line before it shows how it is used; "" where it does not."""
    usage = [n for n, line in enumerate(recording.said) if line.lower().startswith("usage:")]
    return " ".join(recording.said[: usage[0]]) if usage else ""


def _last_words(recording: Recording) -> str:
    """The line of nsys's output that says most."""
    telling = [line for line in recording.said if _AGENT_LOST in line] or [
        line for line in recording.said if "http" not in line and "Please refer" not in line
    ]
    if telling:
        return message_text(telling[-1])
    if recording.exit_code < 0:
        return f"killed by {signal.Signals(-recording.exit_code).name}"
    return f"exit code {recording.exit_code}"
