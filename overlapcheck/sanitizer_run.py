"""What PyTorch's own CUDA sanitizer said of a program, in a run of its own without a profiler.

It follows tensors by their memory and streams by their clocks, so it sees which buffer an operator
touches, which no recording does; and it sees PyTorch's operators alone.
"""

from __future__ import annotations

from dataclasses import dataclass

from overlapcheck.finding import SourceLine


@dataclass(frozen=True)
class Access:
    """One operator's use of a tensor."""

    stream: int
    """PyTorch's number of the stream: its handle, 0 for the default one."""
    operator: str
    """"aten::mul.out"."""
    how: str
    """"writing to argument(s) self, out, and to the output"."""
    place: SourceLine | None
    """Innermost line of the user's own code; None where there is none."""

    @property
    def text(self) -> str:
        """The access in words."""
        stream = f"stream {self.stream:#x}" if self.stream else "the default stream"
        at = f" at {self.place.file}:{self.place.line}" if self.place else ""
        return f"{self.operator} on {stream}, {self.how}{at}"


@dataclass(frozen=True)
class Unordered:
    """Two uses of a tensor that no wait orders."""

    current: Access
    previous: Access
    allocated: SourceLine | None
    """Where the tensor's memory was allocated, as far as the sanitizer saw it."""

    @property
    def text(self) -> str:
        """Both in one clause."""
        return f"no wait orders {self.current.text}, behind {self.previous.text}"


@dataclass(frozen=True)
class SanitizerRun:
    """One run of a program under the sanitizer, which ends it where it has something to say."""

    found: tuple[Unordered, ...]
    program_exit: int
    """Exit code of the program; 128 plus the number of the signal that ended it."""
    stopped_by: str = ""
    """What ended it early and is no fault of it."""
