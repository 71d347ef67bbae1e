"""One export → one `Trace`."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import TYPE_CHECKING, TypeVar

import numpy as np

from overlapcheck.columns import ABSENT, Ints, constant
from overlapcheck.errors import PolicyInvalid
from overlapcheck.grouping import distinct
from overlapcheck.program_name import with_program_names
from overlapcheck.redaction import thread_text
from overlapcheck.sources.nsys.columnar import open_folder
from overlapcheck.sources.nsys.database import Database, open_database
from overlapcheck.sources.nsys.excerpt import Excerpt, Launched
from overlapcheck.sources.nsys.memory import require_room
from overlapcheck.sources.nsys.processes import ANY_PROCESS, Numbering
from overlapcheck.sources.nsys.recording import NSYS
from overlapcheck.sources.nsys.schemas import (
    backtraces,
    device_work,
    host_calls,
    metadata,
    nccl,
    nvtx,
    programming_models,
    target,
    unified_memory,
)
from overlapcheck.sources.nsys.schemas.select import NotWholeNumbers, decoded, integers, text
from overlapcheck.trace import Missing, Strings, Trace
from overlapcheck.trace_tables import ApiCalls, Copies, Kernels, Memsets

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path


Table = TypeVar("Table", Kernels, Copies, Memsets)


def read_trace(path: Path, window_ns: tuple[int, int] | None = None) -> Trace:
    """Read an nsys export of any schema since 2020.

    Args:
        path: a SQLite file, or a folder of Parquet or Arrow tables; it is opened read-only and
            never changed.
        window_ns: read only the rows that this part of the trace, [start, end), is judged by.

    Raises:
        InputUnreadable, ReportDamaged, NotAReport, TooLarge: naming the file and what to do.
        PolicyInvalid: no kernel runs in the window.
    """
    with open_folder(path) if path.is_dir() else open_database(path) as db:
        try:
            return _read(db, Excerpt(*window_ns) if window_ns else None)
        except NotWholeNumbers as error:
            why = f"column {error} holds something other than whole numbers"
            raise db.damaged(why) from error


def _read(db: Database, excerpt: Excerpt | None) -> Trace:
    require_room(db, excerpt)
    work, api_calls = _events(db, excerpt)
    os_calls = host_calls.read_os_calls(db, api_calls, excerpt.host_time if excerpt else None)
    mpi_calls = programming_models.read_mpi_calls(db, excerpt.host_time if excerpt else None)
    directives = programming_models.read_directives(db, excerpt.host_time if excerpt else None)
    overheads = host_calls.read_overheads(db)
    ranges, inline_texts = nvtx.read_ranges(db, _first_free_id(db))
    kernels = _of_sole_process(work.kernels, api_calls)
    copies = _of_sole_process(work.copies, api_calls)
    memsets = _of_sole_process(work.memsets, api_calls)
    syncs, event_records = host_calls.read_syncs(db), host_calls.read_event_records(db)
    nccl_calls, page_faults = nccl.read_nccl_calls(db), unified_memory.read_page_faults(db)
    streams, contexts = target.read_streams(db), target.read_contexts(db)
    marks, stacks = backtraces.read_python_backtraces(db)
    active = (kernels, copies, memsets, api_calls, ranges)
    pids = Numbering(active).shifted
    thread_name_ids = target.read_thread_name_ids(db, pids)

    named = (kernels, api_calls, os_calls, mpi_calls, directives, overheads, ranges)
    used = [table.name_id for table in named if not isinstance(table, Missing)]
    if not isinstance(directives, Missing):
        used.append(directives.file_id)
    used.append(np.array(list(thread_name_ids.values()), dtype=np.int64))
    names = texts_of(db, used) | inline_texts
    if not isinstance(api_calls, Missing):
        api_calls, plain = _with_plain_names(api_calls, names)
        names |= plain
    info = metadata.read_capture_info(db, work.untimed, work.backward)
    people = metadata.people_and_machines(db)
    process_names = {
        key: thread_text(name, people) for key, name in target.read_process_names(db, pids).items()
    }
    thread_names = {
        key: thread_text(names.get(i, ""), people) for key, i in thread_name_ids.items()
    }
    on_device = (syncs, event_records, page_faults, streams, contexts)
    on_host = (nccl_calls, os_calls, mpi_calls, directives, overheads, marks)
    by = Numbering((*active, *on_device, *on_host))
    return Trace(
        info=info,
        strings=Strings(names, "StringIds"),
        gpus=target.read_gpus(db),
        gpu_of=target.read_gpu_of(db, pids),
        processes=by.processes(with_program_names(process_names, info.program)),
        thread_names={
            (number, tid): name
            for (shifted, tid), name in with_program_names(thread_names, info.program).items()
            if (number := by.number(shifted)) is not None
        },
        kernels=by.numbered(kernels),
        copies=by.numbered(copies),
        memsets=by.numbered(memsets),
        api_calls=by.numbered(api_calls),
        syncs=by.numbered(syncs),
        event_records=by.numbered(event_records),
        ranges=by.numbered(ranges),
        nccl_calls=by.numbered(nccl_calls),
        os_calls=by.numbered(os_calls),
        mpi_calls=by.numbered(mpi_calls),
        directives=by.numbered(directives),
        overheads=by.numbered(overheads),
        page_faults=by.numbered(page_faults),
        streams=by.numbered(streams),
        contexts=by.numbered(contexts),
        backtraces=by.numbered(marks),
        stacks=stacks,
        call_sites={} if stacks else backtraces.read_call_sites(db),
        single_kernels=work.single_kernels,
        recorder=NSYS,
    )


def _events(
    db: Database, excerpt: Excerpt | None
) -> tuple[device_work.DeviceWork, ApiCalls | Missing]:
    """The large tables."""
    if excerpt is not None:
        work = device_work.read_device_work(db, excerpt)
        _check_window(db, excerpt, work)
        tables = [
            table
            for table in (work.kernels, work.copies, work.memsets)
            if not isinstance(table, Missing)
        ]
        none = np.empty(0, dtype=np.int64)
        pid = np.concatenate([none, *(table.process for table in tables)])
        ids = np.concatenate([none, *(table.correlation_id for table in tables)])
        return work, host_calls.read_api_calls(db, excerpt.calls(Launched(pid, ids)))
    # Side by side: numpy lets go of the interpreter while it decodes.
    with ThreadPoolExecutor(1) as beside:
        reading_calls = beside.submit(host_calls.read_api_calls, db)
        return device_work.read_device_work(db), reading_calls.result()


def _check_window(db: Database, excerpt: Excerpt, work: device_work.DeviceWork) -> None:
    if isinstance(work.kernels, Missing) or len(work.kernels):
        return
    span = device_work.span_ns(db)
    if span is not None:
        window = f"{excerpt.start_ns / 1e9:g}..{excerpt.end_ns / 1e9:g}"
        raise PolicyInvalid(
            f"window {window}: no kernel runs there",
            f"kernels run from {span[0] / 1e9:.3f} to {span[1] / 1e9:.3f} seconds of the trace",
        )


def _of_sole_process(table: Table | Missing, calls: ApiCalls | Missing) -> Table | Missing:
    """Give device rows without a process to the only process that called CUDA, if there is one."""
    if (
        isinstance(table, Missing)
        or isinstance(calls, Missing)
        or (table.process != ANY_PROCESS).any()
    ):
        return table
    callers = distinct(calls.process)
    if callers.size != 1:
        return table
    return replace(table, process=constant(int(callers[0]), len(table)))


def _first_free_id(db: Database) -> int:
    """An id from which on there are none, but for damaged ones beyond all counting."""
    if not db.has("StringIds", "id"):
        return 0
    last = db.query(f"SELECT ifnull(max(id), -1) AS id FROM StringIds WHERE id < {1 << 62}")
    return int(integers(last, "id")[0]) + 1


def texts_of(db: Database, used: Iterable[Ints]) -> dict[int, str]:
    """Texts of the ids that rows refer to; an export holds many more."""
    wanted = distinct(np.concatenate([distinct(ids) for ids in used]))
    wanted = wanted[wanted != ABSENT]
    if not db.has("StringIds", "id", "value") or wanted.size == 0:
        return {}
    rows = db.query(
        f"SELECT id, {text('value')} AS value FROM StringIds"
        f" WHERE id BETWEEN {wanted[0]} AND {wanted[-1]}"
    )
    ids = integers(rows, "id")
    kept = np.isin(ids, wanted)
    column = rows.column("value")
    return {int(ids[row]): decoded(column[row].as_py()) for row in np.flatnonzero(kept).tolist()}


def _with_plain_names(calls: ApiCalls, names: dict[int, str]) -> tuple[ApiCalls, dict[int, str]]:
    ids, plain = host_calls.merge_api_names(calls.name_id, names)
    return host_calls.without_repeats(replace(calls, name_id=ids)), plain
