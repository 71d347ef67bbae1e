"""Options of `run` that say what to record and where the report goes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from overlapcheck.cli.option_types import FileName, Number
from overlapcheck.errors import PolicyInvalid

if TYPE_CHECKING:
    from overlapcheck.capture.spec import CaptureSpec

Command = TypeVar("Command", bound=Callable[..., Any])
_SECONDS = Number(min=0)
_DIRECTORY = FileName(file_okay=False, path_type=Path)


@dataclass(frozen=True)
class Recording:
    """What the user asked for: what to record, where to leave the report, and with what."""

    spec: CaptureSpec
    nsys: Path | None
    control: str
    prove: tuple[str, ...]


_OPTIONS = (
    click.option(
        "--nsys",
        type=FileName(path_type=Path),
        metavar="PATH",
        help="The nsys to record with; default: the one on PATH, else the newest installed.",
    ),
    click.option(
        "--keep",
        "keep_in",
        type=_DIRECTORY,
        metavar="DIR",
        help="Leave the report in DIR, and its SQLite export beside it.",
    ),
    click.option(
        "--force",
        is_flag=True,
        help="Replace the report that is there under the name of -o FILE.nsys-rep.",
    ),
    click.option(
        "--delay", type=_SECONDS, default=0, metavar="S", help="Begin to record after S seconds."
    ),
    click.option(
        "--duration",
        type=_SECONDS,
        default=0,
        metavar="S",
        help="Record S seconds, then stop the program.",
    ),
    click.option(
        "--capture-range",
        default="",
        metavar="KIND",
        help="Record only inside cudaProfilerApi or nvtx:RANGE[@DOMAIN].",
    ),
    click.option(
        "--backtrace", is_flag=True, help="Record the source lines of CUDA calls; slows it down."
    ),
    click.option(
        "--sync-debug",
        is_flag=True,
        help="PyTorch: name the lines of operations that synchronise.",
    ),
    click.option(
        "--sanitizer",
        is_flag=True,
        help="PyTorch: run once more under its CUDA sanitizer, which tells buffers apart.",
    ),
    click.option(
        "--light",
        is_flag=True,
        help="Record the least that a verdict needs: no calls of the operating system.",
    ),
    click.option(
        "--control",
        default="auto",
        show_default=True,
        metavar="WHEN",
        help="Run the program once more at its own pace, recording NVTX alone, and judge by that:"
        " auto (where it would settle something), always, never, or how many times.",
    ),
    click.option(
        "--prove",
        multiple=True,
        metavar="CAUSE,...",
        help="Run once more with this cause repaired from outside, and measure what that wins:"
        " launch-blocking, hardware-queue, allocation, module-load, pageable-copy (PyTorch).",
    ),
    click.option(
        "--mark-steps",
        is_flag=True,
        help="PyTorch: mark steps that have no NVTX ranges, at optimizer steps or module calls.",
    ),
    click.option(
        "--event-trace/--no-event-trace",
        default=False,
        show_default=True,
        help="Record device times of CUDA events; may make streams wait for each other.",
    ),
    click.option(
        "--nsys-args", default="", metavar="ARGS", help="Further options of nsys, in one word."
    ),
)

_NAMES = (
    "nsys",
    "keep_in",
    "force",
    "delay",
    "duration",
    "capture_range",
    "backtrace",
    "sync_debug",
    "sanitizer",
    "light",
    "control",
    "prove",
    "mark_steps",
    "event_trace",
    "nsys_args",
)


def recording_options(command: Command) -> Command:
    """Add the options; the command receives them as one `recording` argument.

    An `-o` file that is a report to leave is taken out of the result files.
    """

    @wraps(command)
    def with_recording(**options: Any) -> Any:
        outputs: tuple[Path, ...] = options.pop("outputs")
        reports = [path for path in outputs if path.suffix in (".nsys-rep", ".qdrep")]
        results = tuple(path for path in outputs if path not in reports)
        recording = _recording(reports, **{name: options.pop(name) for name in _NAMES})
        return command(recording=recording, outputs=results, **options)

    for option in reversed(_OPTIONS):
        with_recording = option(with_recording)
    return with_recording  # type: ignore[return-value]  # wraps keeps the signature for click


def _recording(reports: list[Path], **o: Any) -> Recording:
    from overlapcheck.capture.outside_repair import outside_repairs
    from overlapcheck.capture.second_run import ControlPlan
    from overlapcheck.capture.spec import CaptureSpec, parse_nsys_args

    ControlPlan.of(o["control"])
    prove = tuple(cause.strip() for asked in o["prove"] for cause in asked.split(","))
    outside_repairs(prove)
    if len(reports) > 1:
        raise PolicyInvalid(f"-o {reports[1]}: there is one report, and it goes to {reports[0]}")
    if o["keep_in"] and o["keep_in"].suffix == ".nsys-rep":
        raise PolicyInvalid(
            f"--keep {o['keep_in']}: names a folder, this is a report's name",
            f"name the report itself: -o {o['keep_in']}",
        )
    if reports and o["keep_in"]:
        raise PolicyInvalid("--keep and -o FILE.nsys-rep both say where the report goes")
    spec = CaptureSpec(
        event_trace=o["event_trace"],
        backtrace=o["backtrace"],
        sync_debug=o["sync_debug"],
        sanitizer=o["sanitizer"],
        light=o["light"],
        mark_steps=o["mark_steps"],
        delay_s=o["delay"],
        duration_s=o["duration"],
        capture_range=o["capture_range"],
        extra=parse_nsys_args(o["nsys_args"]),
        keep_as=reports[0] if reports else None,
        replace_report=o["force"],
        keep_in=o["keep_in"],
    )
    return Recording(spec, o["nsys"], o["control"], prove)
