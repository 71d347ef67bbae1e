"""Ranks that a report names: in the environment of the program, and in names of NVTX.

META_DATA_CAPTURE holds the whole environment, tokens included: of it only these variables are read,
and only where their value is a plain number.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from overlapcheck.rank_hints import RankHints
from overlapcheck.sources.nsys.processes import ANY_PROCESS, process_key
from overlapcheck.sources.nsys.schemas.select import integers, process, text, texts

if TYPE_CHECKING:
    from overlapcheck.sources.nsys.database import Database

# The most telling first: a local rank is one only where all ranks are on one machine.
RANK_VARIABLES = ("RANK", "OMPI_COMM_WORLD_RANK", "PMI_RANK", "SLURM_PROCID", "LOCAL_RANK")
_SIZES = {
    "WORLD_SIZE": "RANK",
    "OMPI_COMM_WORLD_SIZE": "OMPI_COMM_WORLD_RANK",
    "PMI_SIZE": "PMI_RANK",
    "SLURM_NTASKS": "SLURM_PROCID",
    "SLURM_NPROCS": "SLURM_PROCID",
}
"""Variables of how many ranks there are, and of which rank one is among them."""
_VALUE = re.compile(r'([A-Z_]+)="?(\d{1,7})"?')
# "rank 3", "MPI Rank 3", "[rank_3] forward", "Rank=3"; not "rank 3.5", "rank 0-3" or "ranks 3".
_NAMED = re.compile(
    r"(?<![^\W_])rank(?:[\s_#-]|\s*[:=]\s*)?(\d{1,7})(?![^\W_]|\.\d|\s*-\s*\d)", re.IGNORECASE
)
# Names of a message, of a node's own count, or of a matrix: not the rank of whoever uses them.
_OF_OTHERS = re.compile(
    r"(?<![^\W_])(to|from|peer|src|dst|source|dest(ination)?|root|local|node|next|prev(ious)?"
    r"|send(ing)?|recv|receiv(e|ing)|wait(ing)?|lora|tensor|matrix)(?![^\W_])",
    re.IGNORECASE,
)
NVTX = "NVTX_EVENTS"
MOST_ROWS = 200_000
"""Rows of NVTX looked at: a program that tells its rank does so early or all the time."""


def read_rank_hints(db: Database) -> RankHints:
    """Ranks by variable, the most telling first, and by process."""
    told: dict[int, set[str]] = {}
    for pid, name in _names(db):
        rank = rank_in(name)
        if rank is not None:
            told.setdefault(pid, set()).add(rank)
    told.pop(ANY_PROCESS, None)
    names = {
        process_key(shifted): ranks.pop() for shifted, ranks in told.items() if len(ranks) == 1
    }
    values = rank_variables(db)
    return RankHints(
        {name: str(values[name]) for name in RANK_VARIABLES if name in values},
        {rank: values[size] for size, rank in _SIZES.items() if size in values},
        names,
    )


def rank_in(name: str) -> str | None:
    """The one rank that a name says its process has."""
    found = {str(int(number)) for number in _NAMED.findall(name)}
    if len(found) != 1 or _OF_OTHERS.search(name):
        return None
    return found.pop()


def rank_variables(db: Database) -> dict[str, int]:
    """Variables that tell ranks and how many there are; no other leaves the database."""
    table = "META_DATA_CAPTURE"
    if not db.has(table, "name", "value"):
        return {}
    wanted = " OR ".join(f"value GLOB '{name}=*'" for name in (*RANK_VARIABLES, *_SIZES))
    rows = db.query(
        f'SELECT {text("value")} AS value FROM "{db.resolve(table)}"'
        f" WHERE name LIKE '%ENVIRONMENT_VARIABLE%' AND ({wanted})"
    )
    found = (_VALUE.fullmatch(value) for value in texts(rows, "value"))
    return {match[1]: int(match[2]) for match in found if match}


def _names(db: Database) -> Iterator[tuple[int, str]]:
    """Names with "rank" in them, with the process that uses them."""
    registered = _registered(db)
    if db.has(NVTX, "globalTid"):
        pid = process(db, NVTX, thread=True)
        if db.has(NVTX, "text"):
            some = f'(SELECT globalTid, text FROM "{db.resolve(NVTX)}" LIMIT {MOST_ROWS})'
            rows = db.query(
                f"SELECT DISTINCT {pid} AS pid, {text('text')} AS name FROM {some}"
                " WHERE text LIKE '%rank%'"
            )
            yield from zip(integers(rows, "pid").tolist(), texts(rows, "name"), strict=True)
        if registered and db.has(NVTX, "textId"):
            yield from _users(db, NVTX, "textId", registered)
    if registered and db.has("ThreadNames", "nameId", "globalTid"):
        yield from _users(db, "ThreadNames", "nameId", registered)
    if db.has("PROCESSES", "globalPid", "name"):
        rows = db.query(
            f"SELECT ifnull(globalPid >> 24, {ANY_PROCESS}) AS pid, {text('name')} AS name"
            " FROM PROCESSES WHERE name LIKE '%rank%'"
        )
        # A folder is named by whoever made it.
        names = (name.rsplit("/", 1)[-1] for name in texts(rows, "name"))
        yield from zip(integers(rows, "pid").tolist(), names, strict=True)


def _registered(db: Database) -> dict[int, str]:
    """Texts by id that say a rank."""
    if not db.has("StringIds", "id", "value"):
        return {}
    rows = db.query(f"SELECT id, {text('value')} AS value FROM StringIds WHERE value LIKE '%rank%'")
    pairs = zip(integers(rows, "id").tolist(), texts(rows, "value"), strict=True)
    return {number: name for number, name in pairs if rank_in(name) is not None}


def _users(
    db: Database, table: str, column: str, registered: dict[int, str]
) -> Iterable[tuple[int, str]]:
    ids = ", ".join(map(str, registered))
    rows = db.query(
        f"SELECT DISTINCT {process(db, table, thread=True)} AS pid, {column} AS id"
        f' FROM (SELECT * FROM "{db.resolve(table)}" LIMIT {MOST_ROWS}) WHERE {column} IN ({ids})'
    )
    pairs = zip(integers(rows, "pid").tolist(), integers(rows, "id").tolist(), strict=True)
    return ((pid, registered[number]) for pid, number in pairs)
