"""Repairs that need no change of the program: variables of its environment, and a start-up hook."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from overlapcheck.capture.spec import CaptureSpec
from overlapcheck.errors import PolicyInvalid

_ALLOCATOR = ("PYTORCH_ALLOC_CONF", "PYTORCH_CUDA_ALLOC_CONF")
"""PyTorch 2.9 and later read the first one before the second."""
_EXPANDABLE = "expandable_segments"


@dataclass(frozen=True)
class OutsideRepair:
    """How a program is run without a cause."""

    cause: str
    what: str
    """As a clause."""
    variable: tuple[str, str] | None = None
    pins_memory: bool = False

    def into(self, spec: CaptureSpec, environment: Mapping[str, str]) -> CaptureSpec:
        """The same recording of the repaired program.

        Args:
            spec: what is recorded.
            environment: ours.
        """
        if self.variable is None:
            return replace(spec, pin_memory=self.pins_memory)
        name, value = self.variable
        if name in _ALLOCATOR:
            name = next((one for one in _ALLOCATOR if one in environment), name)
            value = _added(environment.get(name, ""), value)
        return replace(spec, variables={**spec.variables, name: value})


_REPAIRS = (
    # Unset and "0" mean the same, and "0" can be handed to nsys as any other variable.
    OutsideRepair("launch-blocking", "CUDA_LAUNCH_BLOCKING unset", ("CUDA_LAUNCH_BLOCKING", "0")),
    OutsideRepair(
        "hardware-queue",
        "CUDA_DEVICE_MAX_CONNECTIONS=32",
        ("CUDA_DEVICE_MAX_CONNECTIONS", "32"),
    ),
    OutsideRepair(
        "allocation",
        f"PyTorch's allocator with {_EXPANDABLE}",
        (_ALLOCATOR[-1], f"{_EXPANDABLE}:True"),
    ),
    OutsideRepair("module-load", "CUDA_MODULE_LOADING=EAGER", ("CUDA_MODULE_LOADING", "EAGER")),
    OutsideRepair(
        "pageable-copy", "PyTorch's copies from pinned memory, non-blocking", pins_memory=True
    ),
)


def outside_repairs(causes: Sequence[str]) -> tuple[OutsideRepair, ...]:
    """The repairs of these causes, each once.

    Raises:
        PolicyInvalid: a cause cannot be repaired from outside, or is none.
    """
    known = {repair.cause: repair for repair in _REPAIRS}
    for cause in causes:
        if cause not in known:
            raise PolicyInvalid(
                f"--prove {cause}: it cannot be repaired from outside", f"use {', '.join(known)}"
            )
    return tuple(known[cause] for cause in dict.fromkeys(causes))


def _added(settings: str, setting: str) -> str:
    """Settings such as a:1,b:2 with one more, in the place of its like."""
    others = [one for one in settings.split(",") if one and not one.strip().startswith(_EXPANDABLE)]
    return ",".join([*others, setting])
