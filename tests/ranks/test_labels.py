"""Which source names the ranks, where several could."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from overlapcheck.ranks.labels import Labels, label
from overlapcheck.ranks.naming import rank_pattern
from overlapcheck.ranks.work import Judged, judge_content
from overlapcheck.report_result import ReportResult, Task
from tests.pictures import picture
from tests.ranks import fleets

ONE = """
p{p} gpu{g} s7 kernel k   |.{a}{a}.{b}{b}.|
p{p} t1 cudaLaunchKernel  |{a}..{b}...|
p{p} t1 nvtx {name}       |nnnnnnn|
"""
NAMED = ("rank_0.sqlite", "rank_1.sqlite")
PLAIN = ("a.sqlite", "b.sqlite")
NUMBERED = ("report.7.sqlite", "report.8.sqlite")


def told(found: Labels) -> tuple[tuple[tuple[str, ...], ...], str]:
    """Labels, and how they were found as people read it."""
    return found.labels, found.how


def result(
    folder: Path, processes: Mapping[int, str], environment: Mapping[str, str]
) -> ReportResult:
    """Of a report whose processes have NVTX ranges of these names."""
    drawing = "".join(
        ONE.format(p=p, g=p - 1, name=name, a="ac"[p - 1], b="bd"[p - 1])
        for p, name in processes.items()
    )
    path = folder / "report.sqlite"
    picture(drawing, column_us=10, environment=environment).export(path)
    judged = judge_content(fleets.judge, False, Task(0, path))
    assert isinstance(judged, Judged), judged
    return judged.result


def labels(
    folder: Path,
    names: tuple[str, ...],
    nvtx: tuple[Mapping[int, str], ...],
    environments: tuple[Mapping[str, str], ...] = ({}, {}),
    pattern: str | None = None,
) -> Labels:
    results = {
        n: result(folder, said, environment)
        for n, (said, environment) in enumerate(zip(nvtx, environments, strict=True))
    }
    paths = [Path("/data") / name for name in names]
    return label(paths, results, rank_pattern(pattern) if pattern else None)


SILENT = ({1: "forward"}, {1: "forward"})
TOLD = ({1: "rank 5"}, {1: "rank 4"})
SET = ({"RANK": "3", "LOCAL_RANK": "1"}, {"RANK": "2", "LOCAL_RANK": "1"})


@pytest.mark.parametrize(
    ("names", "nvtx", "environments", "expected", "how"),
    [
        (NAMED, TOLD, SET, ("0", "1"), "report names"),
        (PLAIN, TOLD, SET, ("3", "2"), "the environment (RANK)"),
        (NUMBERED, TOLD, SET, ("3", "2"), "the environment (RANK)"),
        (PLAIN, TOLD, ({}, {}), ("5", "4"), "NVTX names"),
        (NUMBERED, TOLD, ({}, {}), ("5", "4"), "NVTX names"),
        (NUMBERED, SILENT, ({}, {}), ("7", "8"), "the numbers in report names"),
        (PLAIN, SILENT, ({}, {}), ("0", "1"), "order of the reports"),
        # What does not tell all apart tells nothing.
        (PLAIN, SILENT, ({"RANK": "0"}, {"RANK": "0"}), ("0", "1"), "order of the reports"),
        (PLAIN, ({1: "rank 1"}, {1: "rank 1"}), ({}, {}), ("0", "1"), "order of the reports"),
        (PLAIN, SILENT, ({"RANK": "1"}, {}), ("0", "1"), "order of the reports"),
        (
            PLAIN,
            SILENT,
            ({"RANK": "0", "LOCAL_RANK": "4"}, {"RANK": "0", "LOCAL_RANK": "6"}),
            ("4", "6"),
            "the environment (LOCAL_RANK)",
        ),
    ],
)
def test_the_first_source_that_tells_all_apart_counts(
    tmp_path: Path,
    names: tuple[str, ...],
    nvtx: tuple[Mapping[int, str], ...],
    environments: tuple[Mapping[str, str], ...],
    expected: tuple[str, ...],
    how: str,
) -> None:
    found = labels(tmp_path, names, nvtx, environments)

    assert told(found) == (tuple((rank,) for rank in expected), how)


def test_the_users_pattern_counts_before_all(tmp_path: Path) -> None:
    found = labels(tmp_path, NUMBERED, TOLD, SET, pattern=r"\.(?P<rank>\d)")

    assert told(found) == ((("7",), ("8",)), "--rank-pattern")


def test_processes_of_one_report_are_ranks_of_their_own(tmp_path: Path) -> None:
    nodes = ({1: "rank 8", 2: "rank 9"}, {1: "rank 0", 2: "rank 1"})

    found = labels(tmp_path, NAMED, nodes, SET)

    # The report's name and the launcher's environment are of the node.
    assert told(found) == ((("8", "9"), ("0", "1")), "NVTX names")


def test_processes_that_do_not_say_go_by_report_and_device(tmp_path: Path) -> None:
    nodes = ({1: "forward", 2: "rank 9"}, {1: "rank 0", 2: "rank 1"})

    found = labels(tmp_path, NAMED, nodes)

    assert told(found) == ((("0.0", "0.1"), ("1.0", "1.1")), "report names")


def test_one_report_of_several_processes_by_what_they_say(tmp_path: Path) -> None:
    path = [Path("/data/job.sqlite")]
    said = {0: result(tmp_path, {1: "rank 5", 2: "rank 4"}, {"RANK": "0"})}
    silent = {0: result(tmp_path, {1: "forward", 2: "forward"}, {"RANK": "0"})}

    assert told(label(path, said)) == ((("5", "4"),), "NVTX names")
    assert told(label(path, silent)) == ((("0", "1"),), "the devices of one report")


def test_a_lost_report_renames_nobody(tmp_path: Path) -> None:
    found = label([Path("a.sqlite"), Path("b.sqlite")], {1: result(tmp_path, {1: "rank 4"}, {})})

    assert told(found) == (((), ("4",)), "NVTX names")


def test_the_environment_line_of_a_report_does_not_show_ranks(tmp_path: Path) -> None:
    found = result(tmp_path, {1: "forward"}, {"RANK": "1", "NCCL_NVLS_ENABLE": "0"})

    assert found.settings.environment == {"NCCL_NVLS_ENABLE": "0"}
    assert found.variables == {"RANK": "1"}
