"""What part of a report is measured, and what counts as communication."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from overlapcheck.thresholds import Thresholds
from overlapcheck.user_patterns import user_pattern

COMMUNICATION = (
    r"nccl|nvshmem|all_?reduce|allgather|all_gather|reduce_?scatter|cross_device_reduce"
    r"|alltoall|all_to_all|all2all|^(cached_)?(notify_)?(dispatch|combine)$"
)
"""Short names of kernels that move data between devices."""


@dataclass(frozen=True)
class Selection:
    """Choices that change what is measured, never how it is judged."""

    steps: str | None = None
    """NVTX range family ("my step #") or regular expression; None finds step-like names."""
    skip: int | None = None
    """Leading steps to leave out; None leaves out warm-up, 0 keeps all."""
    window_ns: tuple[int, int] | None = None
    """Fixed window, trace time; overrides steps."""
    device: int | None = None
    """Only this device number; None measures all."""
    communication: tuple[str, ...] = ()
    """Further regular expressions for communication kernels."""
    ranges: tuple[str, ...] = ()
    """Names of NVTX ranges to measure apart, * for any letters."""
    stream_waits: bool = False
    """Whether to find out which stream waits for which, too."""
    step_time_ns: float | None = None
    """Length of a step when nothing records, where it is known; None takes that of a control."""
    thresholds: Thresholds = field(default_factory=Thresholds)
    """The numbers that decide; others than the usual ones are for studies."""
    origins: Mapping[str, str] = field(default_factory=dict, compare=False)
    """Where a choice was made, by its name here, unless on the command line."""

    def told(self, name: str) -> str:
        """A choice as it was made: "--skip 3", "skip = 3 in pyproject.toml"."""
        value = getattr(self, name)
        origin = self.origins.get(name)
        return f"{name} = {value!r} in {origin}" if origin else f"--{name} {value!r}"

    def is_communication(self, kernel_name: str) -> bool:
        """Whether a kernel of this short name is communication."""
        return bool(re.search(COMMUNICATION, kernel_name, re.IGNORECASE)) or any(
            user_pattern(text, "--comm-pattern").search(kernel_name) for text in self.communication
        )
