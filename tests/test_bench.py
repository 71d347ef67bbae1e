"""What the benchmark says of what it measured; how long anything takes is not tested."""

from __future__ import annotations

import json
import os
import sqlite3
import sys
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from bench import __main__ as bench
from bench import budget, contestants, inputs, measured, table, training_run
from bench.budget import PER_ROW, START_UP, TENFOLD, TO_SCAN, Limits
from bench.contest import DidNotFinish, Ratio, Runs, Usage, contest, ratio, usage
from bench.contestants import HTA, NSYS, OURS, PANDAS, SCAN, Contestant
from bench.inputs import INPUTS, KERNEL, LARGE, RUNTIME, Input, write
from bench.measured import Measured
from overlapcheck.capture.discovery import Nsys
from overlapcheck.errors import NsysNotFound

by_name = pytest.mark.parametrize("one", INPUTS, ids=lambda one: one.name)


def runs(who: str, *seconds: float) -> Runs:
    return Runs(who, [Usage(wall, 10.0 * number) for number, wall in enumerate(seconds, 1)])


def python(code: str, who: str = "python", **options: bool | tuple[int, ...]) -> Contestant:
    return Contestant(who, (sys.executable, "-S", "-c", code), **options)  # type: ignore[arg-type]


class TestRatios:
    def test_rounds_are_paired_before_they_are_summed_up(self) -> None:
        found = ratio(runs("a", 2.0, 12.0, 9.0), runs("b", 1.0, 2.0, 3.0))

        assert found == Ratio(median=3.0, low=2.0, high=6.0, rounds=3)

    def test_one_that_ran_once_is_compared_with_that_round(self) -> None:
        assert ratio(runs("slow", 60.0), runs("scan", 2.0, 1.0, 1.0)) == Ratio(30.0, 30.0, 30.0, 1)

    def test_memory_is_that_of_the_worst_run_and_time_the_median(self) -> None:
        found = runs("a", 3.0, 1.0, 2.0)

        assert (found.rss_mib, found.wall_s) == (30.0, 2.0)


class TestRunning:
    def test_contestants_take_turns_and_slow_ones_run_once(self, tmp_path: Path) -> None:
        log = tmp_path / "log"
        log.touch()

        def writes(who: str, *, once: bool = False) -> Contestant:
            return python(f"open({str(log)!r}, 'a').write({who!r})", who, once=once)

        found = contest([writes("a"), writes("b"), writes("c", once=True)], 3)

        assert log.read_text() == "abcabab"
        assert {who: len(one.usages) for who, one in found.items()} == {"a": 3, "b": 3, "c": 1}

    def test_memory_is_the_contestants_not_that_of_who_started_it(self) -> None:
        held = bytearray(os.urandom(1) * (200 << 20))

        assert usage(python("pass")).rss_mib < 100 < len(held) / 2**20
        assert usage(python("held = bytearray(b'x' * (150 << 20))")).rss_mib > 150

    @pytest.mark.parametrize(
        ("code", "finished"),
        [
            ("import sys; sys.exit('no such table')", (0,)),
            ("raise RuntimeError('no such table')", (0, 1, 3)),
        ],
        ids=["an exit code", "a traceback, though the exit code may be a judgement"],
    )
    def test_half_the_work_is_no_time(self, code: str, finished: tuple[int, ...]) -> None:
        with pytest.raises(DidNotFinish, match=r"python ended with exit code 1: .*no such table"):
            usage(python(code, finished=finished))

    def test_a_judgement_is_an_end(self) -> None:
        assert usage(python("import sys; sys.exit(3)", finished=(0, 1, 3))).wall_s > 0

    def test_a_peer_that_fails_drops_out(self, capsys: pytest.CaptureFixture[str]) -> None:
        found = contest([python("pass", SCAN), python("import absent", "peer", peer=True)], 2)

        assert [len(one.usages) for one in found.values()] == [2, 0]
        assert capsys.readouterr().err.count("No module named 'absent'") == 1


class TestContestants:
    @pytest.fixture
    def install(self, monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
        def only(*who: str) -> None:
            def find_nsys() -> Nsys:
                if NSYS not in who:
                    raise NsysNotFound("none", "")
                return Nsys(Path("/there/nsys"), "2025.3.1")

            modules = {"pandas": PANDAS in who, "hta": HTA in who}
            monkeypatch.setattr(contestants, "find_nsys", find_nsys)
            monkeypatch.setattr(
                "importlib.util.find_spec", lambda name: object() if modules[name] else None
            )

        return only

    @pytest.mark.parametrize("who", [(), (PANDAS,), (NSYS, HTA), (NSYS, PANDAS, HTA)])
    def test_those_installed_take_part(
        self, install: Callable[..., None], who: tuple[str, ...]
    ) -> None:
        install(*who)
        found = contestants.peers(Path("a.sqlite"), Path("kineto"))

        assert {one.who for one in found} == set(who)
        assert all(one.peer and not one.once for one in found)
        assert set(contestants.absent()) == {NSYS, PANDAS, HTA} - set(who)

    def test_hta_reads_no_export(self, install: Callable[..., None]) -> None:
        install(NSYS, PANDAS, HTA)
        found = contestants.peers(Path("a.sqlite"), once=True)

        assert [one.who for one in found] == [NSYS, PANDAS]
        assert all(one.once for one in found)
        assert found[0].command[0] == "/there/nsys"

    def test_every_peer_can_be_got(self, install: Callable[..., None]) -> None:
        install()

        assert set(contestants.absent()) == set(contestants.HOW_TO_GET)

    @pytest.mark.parametrize(
        ("asked", "scale", "wanted"),
        [(None, 1, True), (None, 5, False), (True, 5, True), (False, 1, False), (None, 0.1, True)],
    )
    def test_beyond_the_full_size_peers_have_to_be_asked_for(
        self, asked: bool | None, scale: float, wanted: bool
    ) -> None:
        assert bench.peers_wanted(asked, scale) is wanted


class TestInputs:
    @by_name
    def test_has_the_rows_it_promises(self, one: Input, tmp_path: Path) -> None:
        path = write(tmp_path / "made.sqlite", one.make(12_345))
        with closing(sqlite3.connect(path)) as connection:
            (count,) = connection.execute(f"SELECT count(*) FROM {one.table}").fetchone()
            (kernels,) = connection.execute(f"SELECT count(*) FROM {KERNEL}").fetchone()

        assert count == 12_345
        assert kernels >= 2_000

    @by_name
    def test_what_it_is_about_is_scanned(self, one: Input) -> None:
        assert one.table in one.scanned

    def test_the_scan_of_steps_is_of_two_tables(self) -> None:
        scanned = {one.name: one.scanned for one in INPUTS}

        assert scanned.pop("steps") == (KERNEL, RUNTIME)
        assert set(scanned.values()) == {LARGE}

    def test_sizes_follow_the_scale_down_to_what_can_be_measured(self) -> None:
        steps = INPUTS[0]

        assert [steps.rows_at(scale) for scale in (1, 5, 0.2, 0.0001)] == [
            2_000_000,
            10_000_000,
            400_000,
            10_000,
        ]

    def test_no_row_is_lost_between_blocks(self, tmp_path: Path) -> None:
        path = write(tmp_path / "made.sqlite", INPUTS[0].make(150_000))
        with closing(sqlite3.connect(path)) as connection:
            query = f'SELECT count(*), count(DISTINCT correlationId), max("end") FROM {KERNEL}'
            count, ids, end = connection.execute(query).fetchone()

        assert count == ids == 150_000 > inputs.BLOCK
        assert end == 1_000_000 + 149_999 * 10_000 + 7_000 - 149_999 % 5 * 100

    def test_the_training_run_is_seen_by_both(self, tmp_path: Path) -> None:
        run = training_run.unpack(tmp_path)
        events = json.loads((run.kineto / "pageable.json").read_text())["traceEvents"]

        assert run.export.is_file()
        assert run.kernels == 601
        assert sum(event.get("cat") == "kernel" for event in events) == 480
        assert sum(event["name"].startswith("Memcpy HtoD (Pageable") for event in events) == 12


class TestBudget:
    NAMES = ("steps", "copies")

    def test_goals_and_guards_are_apart(self) -> None:
        text = "[goal.to-scan]\nother = 6\n[guard.to-scan]\nother = 9.5\nsteps = 7"
        found = budget.parse(text, self.NAMES)

        assert [found.goals.limit(TO_SCAN, name) for name in self.NAMES] == [6, 6]
        assert [found.guards.limit(TO_SCAN, name) for name in self.NAMES] == [7, 9.5]
        assert found.guards.limit(TENFOLD, "steps") is None

    def test_only_what_is_over_its_limit_breaks_it(self) -> None:
        limits = Limits({TO_SCAN: {"other": 6.0}, TENFOLD: {"steps": 11.0}})

        assert limits.broken("steps", {TO_SCAN: 6.0, TENFOLD: 11.51, PER_ROW: 1e9}) == [
            "steps: tenfold 11.51 > 11"
        ]
        assert limits.broken("copies", {TO_SCAN: 7.25, TENFOLD: 99.0}) == [
            "copies: to-scan 7.25 > 6"
        ]

    @pytest.mark.parametrize(
        ("text", "message"),
        [
            ("[limit.to-scan]\nother = 1", "limit: neither goal nor guard"),
            ("[goal.seconds]\nother = 1", "goal.seconds: measures are to-scan, tenfold"),
            ("[guard.tenfold]\nstep = 1", "guard.tenfold.step: no such input"),
            ("[guard.tenfold]\nsteps = 0", "guard.tenfold.steps: 0 is no limit"),
            ("[guard.tenfold]\nsteps = '9'", "guard.tenfold.steps: '9' is no limit"),
            ("[guard.tenfold]\nsteps = true", "guard.tenfold.steps: True is no limit"),
        ],
    )
    def test_says_what_is_wrong(self, text: str, message: str) -> None:
        with pytest.raises(ValueError, match=message):
            budget.parse(text, self.NAMES)

    def test_ours_guards_everything_that_is_measured(self) -> None:
        found = budget.parse(budget.FILE.read_text(encoding="utf-8"), bench.budget_names())
        pairs = [(measure, one.name) for one in INPUTS for measure in (TO_SCAN, TENFOLD, PER_ROW)]

        assert all(found.guards.limit(*pair) for pair in pairs)
        assert found.guards.limit(START_UP, training_run.NAME)
        assert found.goals.limit(TO_SCAN, "steps")


class TestTable:
    def test_shows_spread_single_runs_and_failures_within_80_columns(self) -> None:
        one = Measured(
            "steps",
            "launch-bound steps",
            10_000_000,
            [
                runs(OURS, 212.2, 212.4, 209.0),
                runs(SCAN, 1.0, 2.0, 1.0),
                runs(NSYS, 65.04),
                runs(HTA),
            ],
            {TENFOLD: Ratio(10.04, 9.949, 11.06, 3)},
            600.0,
        )

        assert table.full_rows(one) == [
            "launch-bound steps         10,000,000 overlapcheck          209 (106-212)     30",
            "                                      SQLite scan                 = 1.0 s     30",
            "                                      nsys analyze             65.0 (n=1)     10",
            "                                      HTA                  did not finish",
            "                                        10x the rows    10.0 (9.9-11.1) x",
        ]
        assert all(len(line) <= table.WIDTH for line in [*table.full_rows(one), table.FULL_HEAD])

    def test_a_check_shows_each_value_beside_its_limit(self) -> None:
        limits = Limits({TO_SCAN: {"other": 8.5}, PER_ROW: {"other": 1200.0}})
        found = {TO_SCAN: Ratio(5.04, 4.96, 5.2, 3), TENFOLD: Ratio(2.5, 2.5, 2.6, 3)}
        row = table.check_row(Measured("steps", "", 1, [], found, 599.6), limits)

        assert " ".join(row.split()) == "steps 5.0 (5.0-5.2) 8.5 2.5 (2.5-2.6) 600 1200"
        assert len(row) == len(table.CHECK_HEAD) <= table.WIDTH

    def test_a_recorded_run_has_no_tenth(self) -> None:
        limits = Limits({START_UP: {"training-run": 40.0}})
        one = Measured("training-run", "", 1, [], {START_UP: Ratio(24.0, 21.0, 26.0, 3)}, None)

        assert table.check_row(one, limits).split() == ["training-run", "24.0", "(21.0-26.0)", "40"]

    @pytest.mark.parametrize("with_peers", [True, False])
    def test_the_notes_name_the_scan_and_who_is_absent(self, with_peers: bool) -> None:
        said = table.notes([HTA], with_peers=with_peers)

        assert "sums start, end and correlationId" in said
        assert ("HTA (pip install HolisticTraceAnalysis)" in said) is with_peers
        assert max(map(len, said.splitlines())) <= table.WIDTH


class TestCommand:
    SMALL = ("--only", "training-run", "chain", "--scale", "0.01", "--rounds", "1")

    def test_runs_what_is_asked_for(self, capsys: pytest.CaptureFixture[str]) -> None:
        assert bench.main([*self.SMALL, "--no-peers"]) == 0
        said = capsys.readouterr().out

        assert "1 round in turns, sizes x 0.01" in said
        assert [said.count(who) for who in (OURS, "SQLite scan  ", PANDAS)] == [2, 2, 0]
        assert "one gap, a chain of copies" in said
        assert "10x the rows" in said
        assert max(map(len, said.splitlines())) <= table.WIDTH

    @pytest.mark.parametrize(("limit", "code"), [(1e9, 0), (1e-9, 1)])
    def test_the_check_fails_over_a_guard_whatever_the_goals(
        self,
        limit: float,
        code: int,
        tmp_path: Path,
        monkeypatch: pytest.MonkeyPatch,
        capsys: pytest.CaptureFixture[str],
    ) -> None:
        file = tmp_path / "budget.toml"
        file.write_text(
            f"[goal.start-up]\nother = 1e-9\n[guard.start-up]\ntraining-run = {limit!r}"
        )
        monkeypatch.setattr(bench, "FILE", file)

        assert bench.main(["--check", "--only", "training-run", "--rounds", "1"]) == code
        assert capsys.readouterr().out.endswith("within the budget\n") is (code == 0)

    def test_an_analysis_that_fails_is_no_benchmark(
        self, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
    ) -> None:
        monkeypatch.setattr(measured, "ours", lambda export: python("import absent", OURS))

        assert bench.main(["--only", "training-run", "--rounds", "1", "--no-peers"]) == 2
        assert "bench: overlapcheck ended with exit code 1" in capsys.readouterr().err

    def test_inputs_are_asked_for_by_name(self, capsys: pytest.CaptureFixture[str]) -> None:
        with pytest.raises(SystemExit):
            bench.main(["--only", "step"])
        assert "'steps'" in capsys.readouterr().err
