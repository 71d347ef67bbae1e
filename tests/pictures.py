"""Pictures: timelines drawn in text, one character per `column_us`, made into real exports.

    [the_copy_waits_for_the_kernel]
    column_us = 100
    streams = { 7 = "null", 13 = "non-blocking" }
    picture = '''
    s7   kernel fwd               |aaaa....bbbb....|
    s13  h2d pageable 64MiB       |....cccc........|
    t1   cudaLaunchKernel         |a...b...........|
    t1   cudaMemcpyAsync          |..cccccc........|
    '''

fixtures/README.md documents the format. A picture becomes an SQLite file in the real schema, which
is then read like any other: there is no second way of making a Trace.
"""

from __future__ import annotations

import re
import tempfile
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from itertools import groupby
from pathlib import Path
from typing import Any

from overlapcheck.kinds import DeviceKey
from overlapcheck.measurements import DeviceMeasurements, Measurements
from overlapcheck.passes.measure import measure
from overlapcheck.selection import Selection
from overlapcheck.sources.nsys.read import read_trace
from overlapcheck.trace import Trace
from tests.export import VM

KEYS = frozenset(
    {
        "picture",
        "column_us",
        "scale",
        "repeat",
        "streams",
        "priorities",
        "environment",
        "records",
        "waits",
        "event_rows",
        "failed",
        "gpu_us",
        "host_us",
        "grid",
        "threads",
        "diagnostics",
        "program",
        "graph_mode",
        "copy_engines",
        "expect",
        "never",
        "note",
    }
)
_ROW = re.compile(
    r"(?:p(?P<process>\d+)\s+)?(?:gpu(?P<gpu>\d+)\s+)?"
    r"(?:s(?P<stream>\d+)\s+|t(?P<thread>\d+)\s+|(?=uvm\s))"
    r"(?P<what>.*?)\s*\|(?P<cells>[^|]*)\|\s*"
)
_SIZE = re.compile(r"(\d+(?:\.\d+)?)\s*(B|KiB|MiB|GiB|KB|MB|GB)?")
HOST_WORDS = ("nvtx", "os", "mpi", "acc", "overhead")
"""First words of host rows that are no CUDA calls."""
_UNITS = {"B": 1, "KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30} | {
    "KB": 10**3,
    "MB": 10**6,
    "GB": 10**9,
}

drawn: list[Picture] = []
"""Pictures that the running test used; printed when it fails."""


class PictureError(ValueError):
    """A picture that cannot be read, naming the row."""


@dataclass(frozen=True)
class Piece:
    """A maximal run of one mark."""

    mark: str
    start: int
    """First column."""
    end: int
    """First column after it."""


@dataclass(frozen=True)
class Row:
    """One line of a picture."""

    text: str
    process: int
    gpu: int
    stream: int | None
    """None for host rows and unified memory."""
    thread: int | None
    """None for GPU rows."""
    what: str
    """`kernel fwd`, `h2d pageable 64MiB`, `cudaMemcpyAsync`, `nvtx step` ..."""
    pieces: tuple[Piece, ...]
    width: int

    @property
    def kind(self) -> str:
        """First word for GPU rows and those of `HOST_WORDS`; `api` for calls."""
        word = self.what.split(maxsplit=1)[0]
        return word if self.thread is None or word in HOST_WORDS else "api"

    @property
    def rest(self) -> str:
        """What follows the first word."""
        return self.what.split(maxsplit=1)[1] if " " in self.what else ""


@dataclass(frozen=True)
class Picture:
    """A parsed picture; `options` are its keys as written."""

    name: str
    rows: tuple[Row, ...]
    options: Mapping[str, Any] = field(repr=False)

    def __str__(self) -> str:
        keys = "".join(f"{k} = {v!r}\n" for k, v in self.options.items() if k != "picture")
        ruler = f"one column = {self.column_ns:g} ns"
        return f"[{self.name}] {ruler}\n{keys}{str(self.options['picture']).strip(chr(10))}\n"

    @property
    def column_ns(self) -> float:
        """Length of one column, ns."""
        return float(self.options.get("column_us", 1)) * 1000 / float(self.options.get("scale", 1))

    @property
    def width(self) -> int:
        """Columns of one repetition."""
        return self.rows[0].width

    @property
    def length_ns(self) -> int:
        """Length of one repetition, ns."""
        return round(self.width * self.column_ns)

    def export(self, path: Path) -> Path:
        """Write it as an SQLite export."""
        from tests.picture_writer import PictureWriter

        drawn.append(self)
        return PictureWriter(self).write(path)

    def trace(self) -> Trace:
        """Write it and read it back."""
        with tempfile.TemporaryDirectory() as folder:
            return read_trace(self.export(Path(folder) / f"{self.name}.sqlite"))

    def measure(self, **selection: Any) -> Measurements:
        """All passes; `selection` are the fields of `Selection`, nothing skipped by default."""
        return _measure(self.trace(), selection)

    def device(self, **selection: Any) -> DeviceMeasurements:
        """The measurements of its only device."""
        (device,) = self.measure(**selection).devices
        return device

    def ns(self, columns: float) -> int:
        """Columns as nanoseconds."""
        return round(columns * self.column_ns)


def picture(text: str, **options: Any) -> Picture:
    """A picture drawn inside a test."""
    return parse("picture", {"picture": text, **options})


def measure_file(path: Path, **selection: Any) -> Measurements:
    """All passes over an export; nothing skipped by default."""
    return _measure(read_trace(path), selection)


def _measure(trace: Trace, selection: Mapping[str, Any]) -> Measurements:
    return measure(trace, Selection(**({"skip": 0} | dict(selection))))


def load_pictures(path: Path, extra_keys: Iterable[str] = ()) -> dict[str, Picture]:
    """All pictures of a TOML file; keys before the first table hold for all of them.

    Args:
        path: the file.
        extra_keys: keys that the caller gives a meaning to.
    """
    document = tomllib.loads(path.read_text(encoding="utf-8"))
    common = {k: v for k, v in document.items() if not _is_picture(v)}
    found = {k: v for k, v in document.items() if _is_picture(v)}
    return {name: parse(name, common | table, extra_keys) for name, table in found.items()}


def _is_picture(value: object) -> bool:
    return isinstance(value, dict) and "picture" in value


def parse(name: str, options: Mapping[str, Any], extra_keys: Iterable[str] = ()) -> Picture:
    """Check a picture and split it into rows.

    Raises:
        PictureError: saying which row or key is wrong.
    """
    unknown = set(options) - KEYS - set(extra_keys)
    if unknown:
        raise PictureError(f"{name}: unknown keys {sorted(unknown)}; known: {sorted(KEYS)}")
    lines = (line.strip() for line in str(options["picture"]).splitlines())
    rows = tuple(_row(name, line) for line in lines if line and not line.startswith("#"))
    if not rows or len({row.width for row in rows}) > 1:
        widths = {row.text: row.width for row in rows}
        raise PictureError(f"{name}: rows of different or no width: {widths}")
    _check_marks(name, rows)
    return Picture(name, rows, dict(options))


def _row(name: str, line: str) -> Row:
    match = _ROW.fullmatch(line)
    if match is None:
        raise PictureError(f"{name}: not `s7 kernel NAME |aa..|` or `t1 API |a...|`: {line}")
    pieces = []
    column = 0
    for mark, run in groupby(match["cells"]):
        length = len(list(run))
        if mark not in ". ":
            pieces.append(Piece(mark, column, column + length))
        column += length
    stream, thread = match["stream"], match["thread"]
    return Row(
        text=line,
        process=int(match["process"] or 1),
        gpu=int(match["gpu"] or 0),
        stream=int(stream) if stream else None,
        thread=int(thread) if thread else None,
        what=match["what"],
        pieces=tuple(pieces),
        width=column,
    )


def _check_marks(name: str, rows: Iterable[Row]) -> None:
    seen: dict[str, list[Row]] = {}
    for row in rows:
        if row.kind in ("os", "overhead", "nvtx"):
            continue
        for piece in row.pieces:
            if not piece.mark.isalpha():
                raise PictureError(
                    f"{name}: operations are letters, not {piece.mark!r}: {row.text}"
                )
            seen.setdefault(piece.mark, []).append(row)
    for mark, uses in seen.items():
        on_gpu = [row for row in uses if row.thread is None]
        calls = [row for row in uses if row.kind == "api"]
        graph = any("GraphLaunch" in row.what for row in calls)
        if len(calls) > 1 or (len(on_gpu) > 1 and not graph):
            raise PictureError(f"{name}: {mark!r} is drawn more than once")
        if len({row.process for row in uses}) > 1:
            raise PictureError(f"{name}: {mark!r} links two processes")


def device_of(process: int, device_id: int = 0) -> DeviceKey:
    """Identity of a device of p1, p2 ..."""
    return DeviceKey(process * 1000, device_id, VM)


def shifted_pid_of(process: int) -> int:
    """`globalPid >> 24` of p1, p2 ... in an export."""
    return VM << 24 | process * 1000


def tid_of(process: int, thread: int) -> int:
    """Thread id of t1, t2 ... of a process; t1 is its main thread."""
    return process * 1000 + thread - 1


def size_of(text: str) -> int:
    """Bytes of `64MiB`, `4B`, `12.5MB`, `4096`."""
    match = _SIZE.fullmatch(text.strip())
    if match is None:
        raise PictureError(f"not a size: {text!r}")
    return round(float(match[1]) * _UNITS[match[2] or "B"])
