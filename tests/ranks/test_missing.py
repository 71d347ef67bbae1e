"""A rank without a report is one that cannot be judged: never PASS, said with which and why."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from overlapcheck.errors import InputUnreadable
from overlapcheck.fleet import FleetReport
from overlapcheck.job import Job
from overlapcheck.ranks.inputs import Inputs, expand
from overlapcheck.ranks.job_reports import JobReports
from overlapcheck.ranks.merge import merge
from overlapcheck.ranks.work import Judged, judge_content
from overlapcheck.renderers.fleet import fleet_renderer
from overlapcheck.report_result import LostReport, ReportResult, Task
from overlapcheck.thresholds import with_values
from overlapcheck.verdict import Outcome, Policy
from tests.pictures import picture
from tests.ranks import fleets

P, F, U = Outcome.PASS, Outcome.FAIL, Outcome.INCONCLUSIVE
LOST = LostReport("rank.sqlite", "unreadable", "record it again")


@pytest.fixture(scope="module")
def one(tmp_path_factory: pytest.TempPathFactory) -> ReportResult:
    path = fleets.write_rank(fleets.USUAL, tmp_path_factory.mktemp("one") / "rank_0.sqlite", 1)
    judged = judge_content(fleets.judge, False, Task(0, path))
    assert isinstance(judged, Judged), judged
    found = judged.result
    return replace(found, rows=tuple(replace(row, outcome=P) for row in found.rows), checks=())


def merged(
    one: ReportResult,
    names: Sequence[str],
    environments: Sequence[Mapping[str, int]] = (),
    lost: Sequence[int] = (),
    **policy: object,
) -> FleetReport:
    """Of passing reports with these names; an environment is a rank and a size by variable."""
    results = {
        n: one
        if not environments
        else replace(
            one,
            variables={k: str(v) for k, v in environments[n].items() if not k.startswith("of ")},
            world_sizes={k[3:]: v for k, v in environments[n].items() if k.startswith("of ")},
        )
        for n in range(len(names))
        if n not in lost
    }
    pattern = policy.pop("pattern", None)
    reports = JobReports(
        [Path("/job") / name for name in names],
        job=Job(rank_pattern=str(pattern) if pattern else None),
        policy=Policy(**policy),  # type: ignore[arg-type]
    )
    return merge(reports, results, dict.fromkeys(lost, LOST))


def told(variable: str, *ranks: int, of: int) -> list[dict[str, int]]:
    return [{variable: rank, f"of {variable}": of} for rank in ranks]


AB = ("a.sqlite", "b.sqlite")


@pytest.mark.parametrize(
    ("names", "environments", "count", "labels"),
    [
        # names that say how many there are
        (("0-of-4.sqlite", "1-of-4.sqlite", "3-of-4.sqlite"), (), 1, ("2",)),
        (("1of3.sqlite", "2of3.sqlite", "3of3.sqlite"), (), 0, ()),
        (("1of3.sqlite", "3of3.sqlite"), (), 1, ("2",)),
        # 0 or 4 may be the last one
        (("1of4.sqlite", "2of4.sqlite", "3of4.sqlite"), (), 1, ()),
        (("0of3.sqlite", "1of3.sqlite", "copy/1of3.sqlite"), (), 1, ("2",)),
        (("0of3.sqlite", "1of3.sqlite", "other.sqlite"), (), 1, ("2",)),
        (("0of2.sqlite", "1of2.sqlite", "x/0of3.sqlite", "x/1of3.sqlite"), (), 1, ("2",)),
        # gaps
        (("rank_0.sqlite", "rank_1.sqlite", "rank_3.sqlite"), (), 1, ("2",)),
        (("rank_1.sqlite", "rank_2.sqlite"), (), 1, ("0",)),
        (("rank_0/x.sqlite", "rank_3/x.sqlite"), (), 2, ("1", "2")),
        (("rank_0.sqlite", "rank_1.sqlite"), (), 0, ()),
        # numbers that may be anything
        (("r535.sqlite", "r550.sqlite"), (), 0, ()),
        (("report1.sqlite", "report3.sqlite"), (), 0, ()),
        (AB, (), 0, ()),
        # the environment
        (AB, told("RANK", 0, 1, of=4), 2, ("2", "3")),
        (AB, told("OMPI_COMM_WORLD_RANK", 0, 2, of=3), 1, ("1",)),
        (AB, told("SLURM_PROCID", 1, 0, of=2), 0, ()),
        (AB, told("SLURM_PROCID", 1, 0, of=3), 1, ("2",)),
        (("rank_0.sqlite", "rank_1.sqlite"), told("RANK", 0, 1, of=4), 2, ("2", "3")),
        # a script of a job hands its own on to all that it starts
        (AB, told("SLURM_PROCID", 0, 0, of=4), 0, ()),
        # a gap without a size
        (AB, [{"RANK": 0}, {"RANK": 2}], 1, ("1",)),
        (AB, [{"LOCAL_RANK": 0}, {"LOCAL_RANK": 2}], 0, ()),
        # twice the same
        (AB, told("RANK", 1, 1, of=2), 1, ("0",)),
        (("a/rank_0.sqlite", "b/rank_0.sqlite"), (), 1, ()),
        (("lora_rank8/a.sqlite", "lora_rank8/b.sqlite"), (), 0, ()),
        # what tells all apart counts
        (("a/rank_0.sqlite", "b/rank_0.sqlite"), told("RANK", 0, 1, of=2), 0, ()),
    ],
)
def test_what_says_how_many_there_are_is_heard(
    one: ReportResult,
    names: Sequence[str],
    environments: Sequence[Mapping[str, int]],
    count: int,
    labels: tuple[str, ...],
) -> None:
    answer = merged(one, names, environments)

    assert answer.outcome is (U if count else P)
    assert (answer.missing.count if answer.missing else 0) == count
    assert (answer.missing.labels if answer.missing else ()) == labels


def test_the_users_pattern_says_ranks(one: ReportResult) -> None:
    names = ("w0.sqlite", "w2.sqlite")

    assert merged(one, names).outcome is P
    assert merged(one, names, pattern=r"w(?P<rank>\d)").outcome is U


def test_a_lost_report_may_be_the_missing_one(one: ReportResult) -> None:
    names = ("a.sqlite", "b.sqlite", "c.sqlite")

    assert merged(one, names, told("RANK", 0, 1, 2, of=3), lost=[1]).missing is None
    half = merged(one, names, told("RANK", 0, 1, 2, of=4), lost=[1]).missing
    assert half is not None
    assert (half.count, half.labels) == (1, ())
    named = merged(one, ("rank_0.sqlite", "rank_1.sqlite", "rank_3.sqlite"), lost=[1]).missing
    assert named is not None
    assert named.labels == ("2",)


@pytest.mark.parametrize(("expected", "outcome"), [(2, P), (3, P), (4, U), (100_000_000, U)])
def test_a_word_says_how_many_there_are_to_be(
    one: ReportResult, expected: int, outcome: Outcome
) -> None:
    answer = merged(one, ("0of9.sqlite", "1of9.sqlite", "4of9.sqlite"), expect_ranks=expected)

    assert answer.outcome is outcome
    if answer.missing:
        assert answer.missing.count == expected - 3
        assert answer.missing.hint.endswith("judge these alone: --expect-ranks 3")


def test_a_rank_that_fails_decides_and_a_share_may_be_missing(one: ReportResult) -> None:
    failing = replace(one, rows=tuple(replace(row, outcome=F) for row in one.rows))
    paths = [Path("0of3.sqlite"), Path("1of3.sqlite")]

    assert merge(JobReports(paths), {0: one, 1: failing}, {}).outcome is F
    assert merge(JobReports(paths), {0: one, 1: one}, {}).outcome is U
    assert (
        merge(JobReports(paths, policy=Policy(max_failing_ranks=0.4)), {0: one, 1: one}, {}).outcome
        is P
    )


def test_the_report_of_many_ranks_says_which_thresholds_were_moved(one: ReportResult) -> None:
    paths = [Path("a.sqlite"), Path("b.sqlite")]
    moved = JobReports(paths, limits=with_values({"outlier-ratio": 2.0}))

    assert "moved thresholds: outlier-ratio = 2" in merge(moved, {0: one, 1: one}, {}).notes
    assert not any("moved" in note for note in merge(JobReports(paths), {0: one}, {}).notes)


@pytest.mark.parametrize("name", ["terminal", "json", "html"])
def test_every_format_says_which_are_missing_and_why(one: ReportResult, name: str) -> None:
    answer = merged(one, ("0-of-4.sqlite", "3-of-4.sqlite"))
    text = " ".join(fleet_renderer(name).render(answer).split())

    assert "names of reports say that there are 4" in text
    assert "--expect-ranks 2" in text
    assert ("ranks 1, 2" if name != "json" else '"labels": ["1", "2"]') in text
    assert "2 ranks missing" in text or name == "json"


def test_many_missing_ranks_are_a_line(one: ReportResult) -> None:
    answer = merged(one, AB, told("RANK", 0, 1, of=9_999_999))
    text = fleet_renderer("terminal").render(answer)

    assert answer.outcome is U
    assert "and 99990 more" in text
    assert max(map(len, text.splitlines())) <= 80


def test_processes_of_one_report_are_ranks(tmp_path: Path) -> None:
    drawing = """
    p1 gpu0 s7 kernel k      |.aa.bb.|
    p1 t1 cudaLaunchKernel   |a..b...|
    p2 gpu1 s7 kernel k      |.cc.dd.|
    p2 t1 cudaLaunchKernel   |c..d...|
    """
    environment = {"SLURM_PROCID": "0", "SLURM_NTASKS": "2"}
    path = tmp_path / "job.sqlite"
    picture(drawing, column_us=10, environment=environment).export(path)
    judged = judge_content(fleets.judge, False, Task(0, path))
    assert isinstance(judged, Judged), judged
    found = judged.result

    assert found.world_sizes == {"SLURM_PROCID": 2}
    assert merge(JobReports([path]), {0: found}, {}).missing is None
    assert merge(JobReports([path], policy=Policy(expect_ranks=2)), {0: found}, {}).missing is None
    assert (
        merge(JobReports([path], policy=Policy(expect_ranks=3)), {0: found}, {}).missing is not None
    )


# ---- what lies in folders


def names(found: Inputs) -> list[str]:
    return [path.name for path in found.reports]


def unread(found: Inputs) -> list[str]:
    return [one.report for one in found.unread]


@pytest.fixture
def job(tmp_path: Path) -> Path:
    folder = tmp_path / "job"
    folder.mkdir()
    for rank in range(2):
        (folder / f"rank_{rank}.sqlite").touch()
    return folder


@pytest.mark.parametrize("suffix", ["sqlite", "nsys-rep", "qdrep", "qdstrm"])
def test_whatever_is_called_a_report_is_looked_at(suffix: str, job: Path) -> None:
    (job / f"rank_2.{suffix}").symlink_to("gone")
    os.mkfifo(job / f"rank_3.{suffix}")
    (job / f"rank_4.{suffix}").touch()

    assert names(expand([str(job)]))[2:] == [f"rank_{n}.{suffix}" for n in (2, 3, 4)]


def test_a_recording_beside_its_report_counts_once(job: Path) -> None:
    for name in ("rank_2.nsys-rep", "rank_2.qdstrm", "rank_3.qdstrm"):
        (job / name).touch()

    assert names(expand([str(job)]))[2:] == ["rank_2.nsys-rep", "rank_3.qdstrm"]


def test_links_to_folders_are_followed_once(job: Path, tmp_path: Path) -> None:
    (tmp_path / "far").mkdir()
    (tmp_path / "far" / "rank_2.sqlite").touch()
    (tmp_path / "far" / "back").symlink_to(job)
    for name in ("rank_2", "again"):
        (job / name).symlink_to(tmp_path / "far")
    (job / "self").symlink_to(job)
    (job / "up").symlink_to(tmp_path)

    assert names(expand([str(job)])) == ["rank_2.sqlite", "rank_0.sqlite", "rank_1.sqlite"]


@pytest.mark.parametrize("argument", ["job", "job/*", "@list.txt", "j*/*/x.sqlite"])
def test_a_link_that_leads_nowhere_may_have_been_a_rank(
    argument: str, job: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (job / "rank_2").symlink_to("/nowhere/rank_2")
    (job / "notes.txt").symlink_to("gone.txt")
    (tmp_path / "list.txt").write_text("job\n")

    found = expand([argument])

    assert "rank_2" in [*unread(found), *names(found)]
    assert "notes.txt" not in unread(found)


@pytest.mark.parametrize(
    "argument", ["job", "@list.txt", "job/*", "job/*/*.sqlite", "job/**/*.sqlite"]
)
def test_a_folder_that_cannot_be_entered_may_hold_a_rank(
    argument: str, job: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (job / "rank_2").mkdir()
    (job / "rank_2" / "x.sqlite").touch()
    (job / "rank_3").mkdir()
    (job / "rank_3" / "x.sqlite").touch()
    (tmp_path / "list.txt").write_text("job\n")
    _close(job / "rank_2", monkeypatch)

    found = expand([argument])

    assert unread(found) == ["rank_2"]
    assert "cannot be entered: Permission denied" in found.unread[0].why


def test_a_folder_that_a_pattern_only_passes_through_need_not_be_readable(
    job: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _close(job.parent, monkeypatch)

    assert unread(expand([str(job / "*.sqlite")])) == []


def test_a_closed_folder_alone_is_no_empty_one(job: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _close(job, monkeypatch)

    assert expand([str(job)]) == Inputs((), expand([str(job)]).unread)
    assert unread(expand([str(job)])) == ["job"]
    with pytest.raises(InputUnreadable, match="cannot be entered"):
        from overlapcheck import Reading, analyze_ranks

        analyze_ranks([job], reading=Reading(jobs=1))


def _close(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Root may enter any folder; the tests run as root, too."""
    real_list, real_scan = os.listdir, os.scandir

    def refused(path: object) -> bool:
        return isinstance(path, str | os.PathLike) and Path(path).absolute() == folder

    def listdir(path: str = ".") -> list[str]:
        if refused(path):
            raise PermissionError(13, "Permission denied", str(path))
        return real_list(path)

    def scandir(path: str = ".") -> os.ScandirIterator[str]:  # type: ignore[name-defined]
        if refused(path):
            raise PermissionError(13, "Permission denied", str(path))
        return real_scan(path)

    monkeypatch.setattr("os.listdir", listdir)
    monkeypatch.setattr("os.scandir", scandir)
