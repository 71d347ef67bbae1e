"""A parsed picture → rows of an export."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from tests.export import NOT_APPLICABLE, VM, Export
from tests.pictures import (
    HOST_WORDS,
    Picture,
    PictureError,
    Piece,
    Row,
    shifted_pid_of,
    size_of,
    tid_of,
)

_COPY_KINDS = {"h2d": 1, "d2h": 2, "d2d": 8, "p2p": 10}
_MEMORY_KINDS = {
    name: number
    for number, name in enumerate(
        ("pageable", "pinned", "device", "array", "managed", "device-static", "managed-static")
    )
} | {"unknown": 7}
_UNIFIED_KINDS = {"h2d": 11, "d2h": 12, "d2d": 13}
_STREAM_FLAGS = {"unknown": 0, "blocking": 1, "non-blocking": 2, "null": 3}
_NEVER_RECORDED = 0

Values = dict[str, int | str | None]
"""A row, or part of one: value by column."""


class PictureWriter:
    """One picture → one export."""

    def __init__(self, drawing: Picture) -> None:
        self.picture = drawing
        self.options = drawing.options
        self.export = Export()
        self.repeats = int(self.options.get("repeat", 1))
        # Ids count per process, so that two processes share ids as in real reports.
        self.marks: dict[int, list[str]] = {}
        for row in drawing.rows:
            known = self.marks.setdefault(row.process, [])
            known += [
                piece.mark
                for piece in row.pieces
                if piece.mark.isalpha() and piece.mark not in known
            ]
        self.calls = {
            piece.mark: (row, piece)
            for row in drawing.rows
            if row.kind == "api"
            for piece in row.pieces
        }

    def write(self, path: Path) -> Path:
        """Write the file and return its path."""
        for repetition in range(self.repeats):
            for row in self.picture.rows:
                for piece in row.pieces:
                    self._operation(row, piece, repetition)
            self._events(repetition)
        self._target()
        self._metadata()
        if not self.options.get("event_rows", True):
            self._forget_events()
        return self.export.save(path)

    # ---- times and ids

    def _times(self, row: Row, piece: Piece, repetition: int) -> Values:
        exact = self.options.get("gpu_us" if row.thread is None else "host_us", {})
        origin = repetition * self.picture.length_ns
        if piece.mark in exact and row.kind not in HOST_WORDS:
            start, end = (round(us * 1000) for us in exact[piece.mark])
        else:
            start, end = self.picture.ns(piece.start), self.picture.ns(piece.end)
        return {"start": origin + start, "end": origin + end}

    def _correlation(self, process: int, mark: str, repetition: int) -> int:
        known = self.marks[process]
        return repetition * len(known) + known.index(mark) + 1

    def _global_pid(self, process: int) -> int:
        return shifted_pid_of(process) << 24

    def _global_tid(self, row: Row) -> int:
        return self._global_pid(row.process) | tid_of(row.process, row.thread or 1)

    # ---- rows

    def _operation(self, row: Row, piece: Piece, repetition: int) -> None:
        times = self._times(row, piece, repetition)
        if row.thread is not None:
            self._host(row, piece, repetition, times)
        elif row.kind == "uvm":
            self._unified(row, times)
        else:
            self._device(row, piece, repetition, times)

    def _host(self, row: Row, piece: Piece, repetition: int, times: Values) -> None:
        tid = self._global_tid(row)
        if row.kind == "nvtx":
            self.export.add(
                "NVTX_EVENTS", **times, text=self._range_name(row, piece, repetition), globalTid=tid
            )
        elif row.kind == "os":
            self.export.add(
                "OSRT_API", **times, globalTid=tid, nameId=self.export.text_id(row.rest)
            )
        elif row.kind == "mpi":
            self.export.add(
                "MPI_START_WAIT_EVENTS",
                **times,
                globalTid=tid,
                textId=self.export.text_id(row.rest),
            )
        elif row.kind == "acc":
            name, place = row.rest.rsplit(" ", 1)
            file, line = place.split(":")
            self.export.add(
                "CUPTI_ACTIVITY_KIND_OPENACC_OTHER",
                **times,
                globalTid=tid,
                nameId=self.export.text_id(name),
                srcFile=self.export.text_id(file),
                lineNo=int(line),
            )
        elif row.kind == "overhead":
            self.export.add(
                "PROFILER_OVERHEAD", **times, globalTid=tid, nameId=self.export.text_id(row.rest)
            )
        else:
            self.export.add(
                "CUPTI_ACTIVITY_KIND_RUNTIME",
                **times,
                eventClass=0 if row.what.startswith("cuda") else 1,
                globalTid=tid,
                correlationId=self._correlation(row.process, piece.mark, repetition),
                nameId=self.export.text_id(row.what),
                returnValue=2 if piece.mark in self.options.get("failed", ()) else 0,
            )

    def _range_name(self, row: Row, piece: Piece, repetition: int) -> str:
        if not piece.mark.isdigit():
            return row.rest
        per_repetition = 1 + max(int(p.mark) for p in row.pieces if p.mark.isdigit())
        return f"{row.rest} {int(piece.mark) + repetition * per_repetition}"

    def _device(self, row: Row, piece: Piece, repetition: int, times: Values) -> None:
        common = times | {
            "deviceId": row.gpu,
            "contextId": row.gpu + 1,
            "streamId": row.stream,
            "correlationId": self._correlation(row.process, piece.mark, repetition),
            "globalPid": self._global_pid(row.process),
        }
        if row.kind == "kernel":
            self._kernel(row, piece, common)
        elif row.kind in _COPY_KINDS:
            self.export.add("CUPTI_ACTIVITY_KIND_MEMCPY", **common, **self._copy(row))
        elif row.kind == "memset":
            self.export.add("CUPTI_ACTIVITY_KIND_MEMSET", **common, bytes=size_of(row.rest))
        elif row.kind == "graph":
            self.export.add("CUPTI_ACTIVITY_KIND_GRAPH_TRACE", **common)
        else:
            raise PictureError(f"{self.picture.name}: unknown kind of GPU row: {row.text}")

    def _kernel(self, row: Row, piece: Piece, common: Values) -> None:
        name = self.export.text_id(row.rest)
        call = self.calls.get(piece.mark)
        in_graph = call is not None and "GraphLaunch" in call[0].what
        self.export.add(
            "CUPTI_ACTIVITY_KIND_KERNEL",
            **common,
            demangledName=name,
            shortName=name,
            mangledName=name,
            gridX=int(self.options.get("grid", {}).get(piece.mark, 132)),
            gridY=1,
            gridZ=1,
            blockX=256,
            blockY=1,
            blockZ=1,
            graphNodeId=(2 << 32) + name if in_graph else None,
        )

    def _copy(self, row: Row) -> Values:
        words = row.rest.split()
        peer = next((int(w[3:]) for w in words if re.fullmatch(r"gpu\d+", w)), 1 - min(row.gpu, 1))
        outgoing = "to" in words
        words = [w for w in words if w not in ("to", "from") and not w.startswith("gpu")]
        size = size_of(words.pop())
        memory = _MEMORY_KINDS[words[0] if words else "device"]
        device = _MEMORY_KINDS["device"]
        ends = {"h2d": (memory, device), "d2h": (device, memory)}.get(row.kind, (device, device))
        copy: Values = {
            "bytes": size,
            "copyKind": _COPY_KINDS[row.kind],
            "srcKind": ends[0],
            "dstKind": ends[1],
        }
        if row.kind == "p2p":
            source, destination = (row.gpu, peer) if outgoing else (peer, row.gpu)
            copy |= {
                "srcDeviceId": source,
                "srcContextId": source + 1,
                "dstDeviceId": destination,
                "dstContextId": destination + 1,
            }
        return copy

    def _unified(self, row: Row, times: Values) -> None:
        direction, size = row.rest.split()
        self.export.add(
            "CUPTI_ACTIVITY_KIND_MEMCPY",
            **times,
            deviceId=row.gpu,
            contextId=0,
            streamId=0,
            correlationId=0,
            globalPid=self._global_pid(row.process),
            bytes=size_of(size),
            copyKind=_UNIFIED_KINDS[direction],
            srcKind=7,
            dstKind=7,
            migrationCause=2,
            virtualAddress=0x7F0000000000,
        )

    # ---- events

    def _events(self, repetition: int) -> None:
        records = self.options.get("records", ())
        numbers = {record["call"]: n for n, record in enumerate(records, start=1)}
        for record in records:
            row, _ = self._call(record["call"])
            number = numbers[record["call"]]
            gpu = int(record.get("gpu", 0))
            self.export.add(
                "CUPTI_ACTIVITY_KIND_CUDA_EVENT",
                deviceId=gpu,
                contextId=gpu + 1,
                greenContextId=0,
                streamId=int(record["stream"]),
                correlationId=self._correlation(row.process, record["call"], repetition),
                globalPid=self._global_pid(row.process),
                eventId=number,
                eventSyncId=repetition * len(records) + number,
            )
        for wait in self.options.get("waits", ()):
            self._wait(wait, numbers, repetition)

    def _wait(self, wait: Mapping[str, Any], numbers: Mapping[str, int], repetition: int) -> None:
        """A SYNCHRONIZATION row: of a wait-event, event, stream or device synchronisation."""
        row, piece = self._call(wait["call"])
        gpu = int(wait.get("gpu", 0))
        of_event = "Event" in row.what
        event = number = NOT_APPLICABLE
        if of_event:
            recorded = repetition - int(wait.get("back", 0))
            event = numbers[wait["record"]] if "record" in wait else len(numbers) + 1
            known = "record" in wait and recorded >= 0
            number = recorded * len(numbers) + event if known else _NEVER_RECORDED
        self.export.add(
            "CUPTI_ACTIVITY_KIND_SYNCHRONIZATION",
            **self._times(row, piece, repetition),
            deviceId=gpu,
            contextId=gpu + 1,
            greenContextId=0,
            streamId=int(wait.get("stream", NOT_APPLICABLE)),
            correlationId=self._correlation(row.process, wait["call"], repetition),
            globalPid=self._global_pid(row.process),
            syncType=1 if "EventSynchronize" in row.what else 2 if "Stream" in row.what else 0,
            eventId=event,
            eventSyncId=number,
        )

    def _call(self, mark: str) -> tuple[Row, Piece]:
        if mark not in self.calls:
            raise PictureError(f"{self.picture.name}: no call {mark!r} is drawn")
        return self.calls[mark]

    def _forget_events(self) -> None:
        """As up to 2023.4: no event rows, and synchronisations do not name their record."""
        self.export.connection.execute("DELETE FROM CUPTI_ACTIVITY_KIND_CUDA_EVENT")
        self.export.connection.execute(
            "ALTER TABLE CUPTI_ACTIVITY_KIND_SYNCHRONIZATION DROP COLUMN eventSyncId"
        )

    # ---- what ran where

    def _contexts(self) -> Iterator[tuple[int, int, list[int]]]:
        """(process, gpu, drawn streams) of each context."""
        found: dict[tuple[int, int], set[int]] = {}
        for row in self.picture.rows:
            if row.thread is None:
                streams = found.setdefault((row.process, row.gpu), set())
                if row.stream is not None:
                    streams.add(row.stream)
        for (process, gpu), streams in sorted(found.items()):
            yield process, gpu, sorted(streams)

    def _target(self) -> None:
        gpus = {row.gpu for row in self.picture.rows if row.thread is None} or {0}
        engines = self.options.get("copy_engines", 3)
        for gpu in sorted(gpus):
            self.export.add(
                "TARGET_INFO_GPU",
                vmId=VM,
                id=gpu,
                name="NVIDIA H200",
                asyncEngines=engines,
                cuDevice=gpu,
            )
        for process, gpu, streams in self._contexts():
            self._context(process, gpu, streams)
        for process in sorted({row.process for row in self.picture.rows}):
            self.export.add(
                "PROCESSES",
                globalPid=self._global_pid(process),
                pid=process * 1000,
                name="/usr/bin/python3",
            )
        names = self.options.get("threads", {})
        hosts = {(r.process, r.thread) for r in self.picture.rows if r.thread is not None}
        for process, thread in sorted(hosts):
            default = "python3" if thread == 1 else f"worker {thread}"
            name = names.get(f"p{process} t{thread}", names.get(f"t{thread}", default))
            self.export.add(
                "ThreadNames",
                nameId=self.export.text_id(name),
                priority=10,
                globalTid=self._global_pid(process) | tid_of(process, thread),
            )

    def _context(self, process: int, gpu: int, streams: list[int]) -> None:
        place = {"hwId": 0, "vmId": VM, "processId": process * 1000, "contextId": gpu + 1}
        self.export.add("TARGET_INFO_CUDA_DEVICE", gpuId=gpu, cudaId=gpu, pid=process * 1000)
        kinds = self._stream_kinds(process, gpu, streams)
        null = next((s for s, kind in kinds.items() if kind == "null"), 7)
        self.export.add("TARGET_INFO_CUDA_CONTEXT_INFO", **place, nullStreamId=null, deviceId=gpu)
        for stream, kind in kinds.items():
            priority = int(self.options.get("priorities", {}).get(str(stream), 0))
            self.export.add(
                "TARGET_INFO_CUDA_STREAM",
                **place,
                streamId=stream,
                priority=priority % (1 << 32),  # signed, but exported unsigned
                flag=_STREAM_FLAGS[kind],
            )

    def _stream_kinds(self, process: int, gpu: int, streams: list[int]) -> dict[int, str]:
        """Kind of each stream of a context, by `"p2 gpu1 s13"`, `"gpu1 s13"` or `13`."""
        given: Mapping[str, str] = self.options.get("streams", {})
        kinds = {s: "null" if s == 7 else "non-blocking" for s in streams}
        kinds |= {int(key): kind for key, kind in given.items() if key.isdigit()}
        for prefix in (f"gpu{gpu} s", f"p{process} gpu{gpu} s"):
            kinds |= {
                int(key.removeprefix(prefix)): kind
                for key, kind in given.items()
                if key.startswith(prefix)
            }
        return kinds

    def _metadata(self) -> None:
        words = str(self.options.get("program", "python3 train.py")).split()
        blocks = any(row.kind == "graph" for row in self.picture.rows)
        mode = str(self.options.get("graph_mode", "Graph" if blocks else "Node"))
        capture = [("CAPTURE_EVENT_TYPE", kind) for kind in ("OSRuntime", "NvtxEvents", "Cuda")]
        capture += [("PROCESS_0:COMMAND", words[0])]
        capture += [(f"PROCESS_0:ARGUMENT_{n}", word) for n, word in enumerate(words[1:])]
        capture += [("PROCESS_0:CUDA_GRAPH_TRACE_OPTIONS:MODE", mode)]
        capture += [
            ("PROCESS_0:ENVIRONMENT_VARIABLE", f'{name}="{value}"')
            for name, value in self.options.get("environment", {}).items()
        ]
        for name, value in capture:
            self.export.add("META_DATA_CAPTURE", name=name, value=value)
        for name, value in (
            ("EXPORT_PRODUCT_VERSION", "2025.3.2.0"),
            ("EXPORT_SCHEMA_VERSION", "3.20.3"),
        ):
            self.export.add("META_DATA_EXPORT", name=name, value=value)
        for message in self.options.get("diagnostics", ()):
            self.export.add("DIAGNOSTIC_EVENT", **message, globalPid=self._global_pid(1))
