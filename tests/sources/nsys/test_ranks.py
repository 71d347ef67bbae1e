"""Ranks that a report names, and nothing else of the environment."""

from __future__ import annotations

from pathlib import Path

import pytest

from overlapcheck.rank_hints import RankHints
from overlapcheck.sources.nsys.read import read_trace
from overlapcheck.sources.nsys.schemas.ranks import rank_in
from tests.export import edit
from tests.pictures import device_of, picture, shifted_pid_of

TWO = """
p1 s7 kernel k          |.aa.|
p2 gpu1 s7 kernel k     |.bb.|
p1 t1 cudaLaunchKernel  |a...|
p2 t1 cudaLaunchKernel  |b...|
"""


@pytest.mark.parametrize(
    ("name", "rank"),
    [
        ("rank 3", "3"),
        ("rank_3", "3"),
        ("rank:3", "3"),
        ("Rank=3", "3"),
        ("RANK: 3", "3"),
        ("rank03", "3"),
        ("MPI Rank 0", "0"),
        ("[rank 3] forward", "3"),
        ("global_rank_12/step 4", "12"),
        ("rank 3/8", "3"),
        ("rank 3, still rank 3", "3"),
        ("ranks 3", None),
        ("rank 0-3", None),
        ("rank 3.5", None),
        ("crank 4", None),
        ("rank 3x", None),
        ("rank 1 and rank 2", None),
        ("send to rank 1", None),
        ("recv(peer rank 1)", None),
        ("local_rank 1", None),
        ("lora rank 8", None),
        ("ncclCommInitRankConfig", None),
        ("rank", None),
    ],
)
def test_a_name_says_the_rank_of_its_process(name: str, rank: str | None) -> None:
    assert rank_in(name) == rank


def hints(path: Path, *statements: str, **options: object) -> RankHints:
    exported = picture(TWO, column_us=10, **options).export(path / "report.sqlite")
    return read_trace(edit(exported, *statements)).info.ranks


def said(process: int, name: str, kind: int = 34) -> str:
    """SQL for an NVTX mark, thread name or domain."""
    return (
        "INSERT INTO NVTX_EVENTS (start, eventType, text, globalTid, domainId)"
        f" VALUES (1, {kind}, '{name}', {shifted_pid_of(process) << 24 | 5}, 0)"
    )


NVTX = (
    "CREATE TABLE IF NOT EXISTS NVTX_EVENTS (start INTEGER, end INTEGER, eventType INTEGER,"
    " text TEXT, globalTid INTEGER, textId INTEGER, domainId INTEGER)"
)


@pytest.mark.parametrize("kind", [34, 39, 59, 75])
def test_marks_ranges_threads_and_domains_tell_the_rank_of_a_process(
    kind: int, tmp_path: Path
) -> None:
    found = hints(tmp_path, NVTX, said(1, "rank 4", kind), said(2, "rank 5", kind))

    assert found.names == {device_of(1).process: "4", device_of(2).process: "5"}


def test_registered_names_and_names_of_threads_count_too(tmp_path: Path) -> None:
    found = hints(
        tmp_path,
        NVTX,
        "INSERT INTO StringIds VALUES (9001, 'rank 6'), (9002, 'rank_7')",
        said(1, "other").replace("text,", "textId,").replace("'other'", "9001"),
        f"INSERT INTO ThreadNames (nameId, globalTid) VALUES (9002, {shifted_pid_of(2) << 24 | 1})",
    )

    assert found.names == {device_of(1).process: "6", device_of(2).process: "7"}


def test_a_process_that_names_two_ranks_has_told_none(tmp_path: Path) -> None:
    found = hints(
        tmp_path, NVTX, said(1, "rank 0"), said(1, "rank 1"), said(2, "rank 1"), said(2, "rank 1")
    )

    assert found.names == {device_of(2).process: "1"}


def test_only_numbers_of_rank_variables_are_kept_the_most_telling_first(tmp_path: Path) -> None:
    found = hints(
        tmp_path,
        environment={
            "LOCAL_RANK": "1",
            "RANK": "9",
            "SLURM_PROCID": "xyz-token",
            "PMI_RANK": "",
            "MY_RANK": "3",
            "RANK_TOKEN": "4",
            "rank": "5",
        },
    )

    assert list(found.variables.items()) == [("RANK", "9"), ("LOCAL_RANK", "1")]
