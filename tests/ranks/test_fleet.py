"""A whole job: planted ranks come first, whatever the engine, and nobody takes others along."""

from __future__ import annotations

import contextlib
import importlib.util
import json
import os
import socket
import stat
import threading
from collections.abc import Callable
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator

from overlapcheck import pipeline
from overlapcheck.errors import InputUnreadable, OutputUnwritable
from overlapcheck.fleet import FleetReport
from overlapcheck.ranks.dask_cluster import DaskCluster
from overlapcheck.ranks.job_reports import JobReports
from overlapcheck.ranks.pool import LocalPool, ThisProcess
from overlapcheck.ranks.run import Engine, judge_fleet
from overlapcheck.ranks.store import FOLDER, Store
from overlapcheck.ranks.work import Analyze
from overlapcheck.renderers.fleet import fleet_renderer
from overlapcheck.report import Report
from overlapcheck.selection import Selection
from overlapcheck.verdict import Outcome, Policy
from tests.export import edit
from tests.json_schemas import published
from tests.ranks import fleets

RANKS = 20
LATE, PAGEABLE = 5, 18
KEY = b"known to one user"
needs_dask = pytest.mark.skipif(
    importlib.util.find_spec("distributed") is None, reason="pip install overlapcheck[dask]"
)
# Dask leaves sockets and loops to the garbage collector.
forgives_dask = pytest.mark.filterwarnings(
    "ignore::ResourceWarning",
    "ignore::DeprecationWarning",
    "ignore::pytest.PytestUnraisableExceptionWarning",
)


@pytest.fixture(scope="module")
def job(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    folder = tmp_path_factory.mktemp("job")
    return fleets.write_fleet(folder, RANKS, late=LATE, pageable=PAGEABLE)


@pytest.fixture(scope="module")
def answer(job: list[Path]) -> FleetReport:
    return judge_fleet(JobReports(job), fleets.judge, LocalPool(2))


def _json(answer: FleetReport) -> str:
    return fleet_renderer("json").render(answer)


def small(folder: Path) -> list[Path]:
    return fleets.write_fleet(folder, 6)


def test_the_planted_ranks_are_named_first(answer: FleetReport) -> None:
    assert answer.outcome is Outcome.FAIL
    assert [row.label for row in answer.rows] == [str(n) for n in range(RANKS)]
    (straggler,) = answer.stragglers
    assert (straggler.rank, straggler.ranks) == (str(LATE), fleets.PER_HOST)
    assert straggler.came_last == straggler.occasions == 5
    # 300 us in each of 5 steps, which the straggler computed.
    assert straggler.cost_ns == straggler.exposed_cost_ns == 1_500_000
    assert straggler.meanwhile == {"compute": 1_500_000}
    assert answer.causes[0].cause == "pageable-copy"
    assert answer.causes[0].outlier_ranks == (str(PAGEABLE),)
    assert {one.rank for one in answer.outliers} == {str(LATE), str(PAGEABLE)}


def test_ranks_meet_host_by_host(answer: FleetReport) -> None:
    assert answer.meetings_total == 3
    assert sorted(meeting.ranks for meeting in answer.meetings) == [4, 8, 8]
    assert answer.meetings[0].labels == tuple(str(n) for n in range(8))
    waits = {wait.rank: wait for wait in answer.meetings[0].waits}
    assert waits[str(LATE)].waiting_ns == 0
    assert waits["0"].waiting_ns == 1_500_000
    assert waits["0"].exposed_transfer_ns == 1_000_000


def test_the_text_names_them_and_fits_the_page(answer: FleetReport) -> None:
    text = fleet_renderer("terminal").render(answer)

    assert text.splitlines()[0].startswith("FAIL  20 of 20 ranks failed; waiting for rank 5; page")
    assert max(map(len, text.splitlines())) <= 80
    assert "and 4 more ranks" in text


def test_html_has_a_row_per_rank(answer: FleetReport) -> None:
    html = fleet_renderer("html").render(answer)

    assert html.count('<tr id="rank-') == RANKS
    assert html.count("<script") == 2  # its own


def test_json_is_one_line_per_rank_and_small(answer: FleetReport) -> None:
    text = _json(answer)
    rows = [
        line for line in text.splitlines() if line.startswith('    {"rank": "') and "pid" in line
    ]

    assert fleets.ranks_of(text) == [str(n) for n in range(RANKS)]
    assert len(rows) == RANKS
    assert max(map(len, rows)) < 2000


def test_json_fits_its_published_schema(answer: FleetReport) -> None:
    document = json.loads(_json(answer))
    Draft202012Validator(published("fleet")).validate(document)

    assert list(document) == list(published("fleet")["properties"])


def test_the_number_of_workers_changes_nothing(job: list[Path], answer: FleetReport) -> None:
    again = judge_fleet(JobReports(job), fleets.judge, LocalPool(1))

    assert _json(again) == _json(answer)


CROSSED = (
    ("|.....aaaaaaaaaaaa...|", "|.......bbbb.........|", "|kab..e..............|"),
    ("|...........aaaaaa...|", "|......bbbbb.........|", "|kba..e..............|"),
)


@pytest.mark.parametrize(("second", "crossed"), [(CROSSED[1], True), (CROSSED[0], False)])
def test_communicators_in_different_order_on_ranks_are_named(
    second: tuple[str, str, str], crossed: bool, tmp_path: Path
) -> None:
    paths = []
    for rank, (reduce, gather, launches) in enumerate((CROSSED[0], second)):
        drawing = f"""
        s7   kernel k                |..kkk.............ee|
        s20  kernel {fleets.ALL_REDUCE} {reduce}
        s24  kernel ncclDevKernel_AllGather_RING_LL {gather}
        t1   cudaLaunchKernel        {launches}
        t1   cudaEventRecord         |...r................|
        t1   cudaStreamWaitEvent     |....w...............|
        t1   nvtx step               |00000000000000000000|
        """
        waits = {
            "records": [{"call": "r", "stream": 20}],
            "waits": [{"call": "w", "stream": 7, "record": "r"}],
        }
        paths.append(fleets.write_rank(drawing, tmp_path / f"rank_{rank}.sqlite", 9, **waits))

    answer = judge_fleet(JobReports(paths), fleets.judge, ThisProcess())

    (cause,) = [one for one in answer.causes if one.cause == "exposed-collective"]
    said = [fact for fact in cause.evidence if fact.startswith("the order differs")]
    assert bool(said) is crossed
    for fact in said:
        first, then = ("20", "24") if "rank 0 began the all-reduce" in fact else ("24", "20")
        assert f"of stream {first} before" in fact
        assert f"of stream {then}, rank" in fact
        assert "in 5 of 5" in fact


@pytest.mark.parametrize(
    ("analyze", "lost"), [(fleets.die_once_at_3, 0), (fleets.die_always_at_3, 1)]
)
def test_a_killed_worker_costs_at_most_its_own_report(
    analyze: Analyze, lost: int, tmp_path: Path
) -> None:
    answer = judge_fleet(JobReports(small(tmp_path)), analyze, LocalPool(2))

    assert len(answer.rows) == 6 - lost
    assert [one.report for one in answer.lost] == ["rank_3.sqlite"] * lost
    assert all("killed" in one.why for one in answer.lost)
    # A rank keeps its number whoever is lost.
    assert answer.rows[-1].label == "5"


def test_unreadable_reports_lose_only_themselves(tmp_path: Path) -> None:
    paths = small(tmp_path)
    paths[1].write_bytes(b"SQLite format 3\0 and then nothing")
    paths[4].unlink()

    answer = judge_fleet(JobReports(paths), fleets.fail_at_3, LocalPool(2))

    assert [row.label for row in answer.rows] == ["0", "2", "5"]
    assert [one.report for one in answer.lost] == [
        "rank_1.sqlite",
        "rank_3.sqlite",
        "rank_4.sqlite",
    ]
    assert "ZeroDivisionError" in answer.lost[1].why


def test_a_lost_report_keeps_a_pass_from_being_one(tmp_path: Path) -> None:
    paths = [*small(tmp_path), tmp_path / "rank_6.sqlite"]

    answer = judge_fleet(JobReports(paths), _lenient, LocalPool(2))

    assert all(row.outcome is Outcome.PASS for row in answer.rows)
    assert answer.outcome is Outcome.INCONCLUSIVE


def _lenient(path: Path) -> Report:
    return pipeline.analyze(path, policy=Policy(max_recoverable=1.0))


def test_no_readable_report_at_all_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(InputUnreadable, match="none of 2 reports could be judged"):
        judge_fleet(
            JobReports([tmp_path / "a.sqlite", tmp_path / "b.sqlite"]), fleets.judge, LocalPool(1)
        )


# ---- going on where an earlier run stopped


def judged(folder: Path) -> list[str]:
    notes = folder / "judged"
    names = sorted(notes.read_text().split()) if notes.exists() else []
    notes.unlink(missing_ok=True)
    return names


def test_only_what_is_missing_or_changed_is_judged_again(tmp_path: Path) -> None:
    paths = small(tmp_path)
    store = Store.beside(tmp_path, Policy(), Selection(), KEY)

    def run(store: Store) -> FleetReport:
        return judge_fleet(JobReports(paths), fleets.judge_and_note, ThisProcess(), store=store)

    judge_fleet(JobReports(paths[:4]), fleets.judge_and_note, ThisProcess(), store=store)
    assert len(judged(tmp_path)) == 4
    fresh = run(store)
    assert judged(tmp_path) == ["rank_4.sqlite", "rank_5.sqlite"]

    fleets.write_rank(fleets.LATE, paths[2], 1_800_000_000_000_000_000)
    changed = run(store)
    assert judged(tmp_path) == ["rank_2.sqlite"]
    assert changed.stragglers[0].rank == "2"
    assert not fresh.stragglers

    again = run(store)
    assert judged(tmp_path) == []
    assert _json(again) == _json(changed)

    run(Store.beside(tmp_path, Policy(min_overlap=0.5), Selection(), KEY))
    assert len(judged(tmp_path)) == 6


def test_a_damaged_result_is_made_again(tmp_path: Path) -> None:
    paths = small(tmp_path)
    store = Store.beside(tmp_path, Policy(), Selection(), KEY)
    before = judge_fleet(JobReports(paths), fleets.judge, ThisProcess(), store=store)
    for number, kept in enumerate(sorted(store.folder.iterdir())):
        kept.write_text(('{"rows": 3}', "", "[]", kept.read_text()[:99])[number % 4])

    after = judge_fleet(JobReports(paths), fleets.judge, ThisProcess(), store=store)

    assert _json(after) == _json(before)


def _flip(path: Path) -> None:
    """Change the middle, keep size and times: FAIL becomes another text of the same length."""
    times = path.stat()
    content = path.read_bytes()
    assert b'"outcome":"FAIL"' in content
    path.write_bytes(content.replace(b'"outcome":"FAIL"', b'"outcome":"PASS"'))
    os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns))


def _deep(path: Path) -> None:
    path.write_text("[" * 200_000)


def _endless(path: Path) -> None:
    path.unlink()
    os.mkfifo(path)


def _huge(path: Path) -> None:
    with path.open("r+b") as stream:
        stream.truncate(1 << 34)


def _linked(path: Path) -> None:
    path.rename(path.with_suffix(".elsewhere"))
    path.symlink_to(path.with_suffix(".elsewhere"))


@pytest.mark.parametrize("alter", [_flip, _deep, _endless, _huge, _linked])
def test_an_altered_result_is_made_again(alter: Callable[[Path], None], tmp_path: Path) -> None:
    paths = small(tmp_path)
    store = Store.beside(tmp_path, Policy(), Selection(), KEY)
    before = judge_fleet(JobReports(paths), fleets.judge_and_note, ThisProcess(), store=store)
    judged(tmp_path)
    for kept in list(store.folder.iterdir()):
        alter(kept)

    after = judge_fleet(JobReports(paths), fleets.judge_and_note, ThisProcess(), store=store)

    assert len(judged(tmp_path)) == len(paths)
    assert _json(after) == _json(before)


def test_the_result_of_one_report_is_not_that_of_another(tmp_path: Path) -> None:
    paths = small(tmp_path)
    fleets.write_rank(fleets.LATE, paths[2], 1_800_000_000_000_000_000)
    store = Store.beside(tmp_path, Policy(), Selection(), KEY)
    before = judge_fleet(JobReports(paths), fleets.judge, ThisProcess(), store=store)
    kept = sorted(store.folder.iterdir())
    contents = [one.read_bytes() for one in kept]
    for one, content in zip(kept, contents[1:] + contents[:1], strict=True):
        one.write_bytes(content)

    assert _json(judge_fleet(JobReports(paths), fleets.judge, ThisProcess(), store=store)) == _json(
        before
    )


def test_results_that_came_along_with_the_reports_are_not_believed(tmp_path: Path) -> None:
    paths = small(tmp_path)
    planted = Store.beside(tmp_path, Policy(), Selection(), b"known to somebody else")
    judge_fleet(JobReports(paths), fleets.judge, ThisProcess(), store=planted)
    mine = Store.beside(tmp_path, Policy(), Selection(), KEY)

    judge_fleet(JobReports(paths), fleets.judge_and_note, ThisProcess(), store=mine)

    assert len(judged(tmp_path)) == len(paths)


def test_a_report_whose_middle_changed_is_judged_again(tmp_path: Path) -> None:
    paths = [fleets.write_rank(fleets.USUAL, tmp_path / f"rank_{n}.sqlite", n) for n in range(2)]
    for path in paths:  # Far more than what stands at its beginning and end.
        edit(path, "CREATE TABLE filler (x)", "INSERT INTO filler VALUES (zeroblob(4 << 20))")
    store = Store.beside(tmp_path, Policy(), Selection(), KEY)
    judge_fleet(JobReports(paths), fleets.judge_and_note, ThisProcess(), store=store)
    judged(tmp_path)
    times = paths[1].stat()
    with paths[1].open("r+b") as stream:
        stream.seek(times.st_size // 2)
        stream.write(b"x")
    os.utime(paths[1], ns=(times.st_atime_ns, times.st_mtime_ns))

    judge_fleet(JobReports(paths), fleets.judge_and_note, ThisProcess(), store=store)

    assert judged(tmp_path) == ["rank_1.sqlite"]


def _judge_and_touch(path: Path) -> Report:
    report = fleets.judge_and_note(path)
    os.utime(path)
    return report


def test_a_report_that_changes_while_it_is_judged_is_not_kept(tmp_path: Path) -> None:
    paths = small(tmp_path)
    store = Store.beside(tmp_path, Policy(), Selection(), KEY)

    judge_fleet(JobReports(paths), _judge_and_touch, ThisProcess(), store=store)

    assert store.is_empty


def test_kept_results_are_for_their_owner_alone(tmp_path: Path) -> None:
    store = Store.beside(tmp_path, Policy(), Selection(), KEY)
    judge_fleet(JobReports(small(tmp_path)), fleets.judge, ThisProcess(), store=store)

    assert stat.S_IMODE(store.folder.stat().st_mode) == 0o700
    assert {stat.S_IMODE(one.stat().st_mode) for one in store.folder.iterdir()} == {0o600}


def test_a_link_in_place_of_the_folder_is_refused(tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / FOLDER).symlink_to("elsewhere")

    with pytest.raises(OutputUnwritable, match="a link"):
        Store.beside(tmp_path, Policy(), Selection(), KEY)


# ---- Dask


@needs_dask
@forgives_dask
def test_a_dask_cluster_gives_the_same_json(job: list[Path], answer: FleetReport) -> None:
    from distributed import LocalCluster

    with LocalCluster(
        n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None
    ) as cluster:
        engine: Engine = DaskCluster(address=cluster.scheduler_address)
        again = judge_fleet(JobReports(job), fleets.judge, engine)

    assert _json(again) == _json(answer)


@needs_dask
@forgives_dask
def test_a_dask_worker_killed_in_mid_run_is_survived(tmp_path: Path) -> None:
    answer = judge_fleet(
        JobReports(small(tmp_path)), fleets.die_once_at_3, DaskCluster(local_workers=2)
    )

    assert (tmp_path / "died").exists()
    assert len(answer.rows) == 6
    assert not answer.lost


@needs_dask
@forgives_dask
def test_an_address_without_a_scheduler_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("overlapcheck.ranks.dask_cluster.CONNECT_TIMEOUT_S", 1)

    with pytest.raises(InputUnreadable, match="no scheduler answers there"):
        judge_fleet(
            JobReports(small(tmp_path)), fleets.judge, DaskCluster(address="tcp://127.0.0.1:9")
        )


@needs_dask
@forgives_dask
@pytest.mark.parametrize("says", [b"", b"HTTP/1.1 400 Bad Request\r\n\r\n", bytes(4096)])
def test_a_listener_that_is_no_scheduler_is_said(
    says: bytes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("overlapcheck.ranks.dask_cluster.CONNECT_TIMEOUT_S", 2)
    heard: list[socket.socket] = []

    def answer(listener: socket.socket) -> None:
        with contextlib.suppress(OSError):
            while True:
                heard.append(listener.accept()[0])
                heard[-1].sendall(says)

    with socket.create_server(("127.0.0.1", 0)) as listener:
        threading.Thread(target=answer, args=(listener,), daemon=True).start()
        address = f"tcp://127.0.0.1:{listener.getsockname()[1]}"
        with pytest.raises(InputUnreadable, match="no scheduler answers there") as caught:
            judge_fleet(JobReports(small(tmp_path)), fleets.judge, DaskCluster(address=address))
    for connection in heard:
        connection.close()

    assert "\n" not in str(caught.value)
