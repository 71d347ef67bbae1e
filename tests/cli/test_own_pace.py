"""Controls and step times as their users meet them: the verdict at the program's own pace."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path
from xml.etree import ElementTree as Xml

import pytest

import overlapcheck
from overlapcheck.cli import main
from overlapcheck.renderers import renderers
from overlapcheck.saved import restored
from overlapcheck.verdict import Basis, Outcome, Policy
from tests.paces import AHEAD, MS, RECORDED_NS, control, program
from tests.pictures import picture

Analyze = Callable[..., tuple[int, str, str]]
SETTLES = "as recorded; to settle it: overlapcheck run --control always PROGRAM"


@pytest.fixture
def analyze(monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Analyze:
    """Run `overlapcheck analyze ARGUMENTS`: exit code, stdout, stderr."""

    def run(*arguments: object) -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "argv", ["overlapcheck", "analyze", *map(str, arguments)])
        with pytest.raises(SystemExit) as ended:
            main()
        out, err = capfd.readouterr()
        return int(ended.value.code or 0), out, err

    return run


@pytest.fixture
def report(tmp_path: Path) -> Path:
    return program().export(tmp_path / "train.sqlite")


def controls(folder: Path, *step_ms: float) -> list[Path]:
    return [control(ms).export(folder / f"control_{n}.sqlite") for n, ms in enumerate(step_ms)]


def first_lines(text: str, most: int = 2) -> list[str]:
    return text.splitlines()[:most]


def test_a_failure_of_a_late_host_alone_says_first_that_it_is_as_recorded(
    analyze: Analyze, report: Path
) -> None:
    code, out, _ = analyze(report)

    first, second = first_lines(out)
    assert (code, first) == (1, f"FAIL  {SETTLES}")
    assert "1 of 2 checks failed: recoverable; first cause: host-starved" in second
    said = " ".join(out.split())
    assert "30.0 ms of 65.0 ms, as recorded what to do: overlapcheck run --control always" in said
    assert "1 host-starved median 5.0 ms in 6 of 7 steps, 46.2 %" in said
    assert "likely" in out and " sure" not in out


def test_a_failure_of_another_cause_does_not(analyze: Analyze, tmp_path: Path) -> None:
    serial = """
    s7  kernel k          |.aaaa....|
    s7  h2d pinned 64MiB  |.....bbbb|
    t1  cudaLaunchKernel  |a........|
    t1  cudaMemcpyAsync   |.b.......|
    t1  nvtx step         |000000000|
    """
    code, out, _ = analyze(picture(serial, column_us=100, repeat=8).export(tmp_path / "s.sqlite"))

    assert code == 1
    assert "as recorded" not in out


def test_the_verdict_is_on_the_own_pace(analyze: Analyze, report: Path, tmp_path: Path) -> None:
    (one,) = controls(tmp_path, 5.2)

    code, out, err = analyze(report, "--control", one)

    assert (code, err) == (0, "")
    assert first_lines(out, 1) == ["PASS  all 2 checks passed at own pace"]
    said = " ".join(out.split())
    assert (
        "recorded 9.3 ms per step, own pace 5.2 ms (1 control run): 4.1 ms are the recording's"
    ) in said
    assert "3.8 % <= 10.0 % ok 1.4 ms of 36.4 ms" in said
    assert "profiler-overhead 28.6 ms" in said


def test_a_failure_at_the_own_pace_is_sure_of_its_causes(
    analyze: Analyze, report: Path, tmp_path: Path
) -> None:
    (one,) = controls(tmp_path, 7)

    code, out, _ = analyze(report, "--control", one)

    assert code == 1
    assert first_lines(out, 1)[0].startswith("FAIL  1 of 2 checks failed at own pace: recoverable")
    assert "as recorded" not in out
    said = " ".join(out.split())
    assert "1 host-starved median 2.3 ms in 6 of 7 steps, 28.6 %" in said
    assert "2 profiler-overhead median" in said  # behind what is the program's
    assert said.count("sure") >= 1 and "likely" not in said


def test_json_has_the_pace_and_the_basis(analyze: Analyze, report: Path, tmp_path: Path) -> None:
    arguments = [part for one in controls(tmp_path, 7, 6, 8) for part in ("--control", one)]

    _, out, _ = analyze(report, *arguments, "--format", "json")

    found = json.loads(out)
    (device,) = found["devices"]
    assert found["verdict"]["basis"] == "own pace"
    assert device["pace"] == {
        "recorded_ns": RECORDED_NS,
        "own_ns": 7 * MS,
        "low_ns": 6 * MS,
        "high_ns": 8 * MS,
        "source": "control",
        "controls": 3,
        "why": "",
    }
    assert (device["window_ns"], device["own_window_ns"]) == (65 * MS, 49 * MS)
    assert device["recoverable"] == pytest.approx(1 - 35 / 49)
    assert sum(entry["ns"] for entry in device["ledger"]) == device["idle_ns"] == 30 * MS
    (overhead,) = [f for f in found["findings"] if f["cause"] == "profiler-overhead"]
    (starved,) = [f for f in found["findings"] if f["cause"] == "host-starved"]
    assert (overhead["blamed_ns"], overhead["saves_at_most_ns"]) == (16 * MS, 0)
    assert starved["share"] == pytest.approx(14 / 49)
    assert found["wants_control"] is None


def test_json_as_recorded(analyze: Analyze, report: Path) -> None:
    _, out, _ = analyze(report, "--format", "json")

    found = json.loads(out)
    assert found["verdict"]["basis"] == "as recorded"
    assert found["verdict"]["settle_with"].startswith("overlapcheck run --control always")
    assert found["wants_control"] == (
        "time of a late host (host-starved, 46.2 % of the window) decides recoverable"
    )
    pace = found["devices"][0]["pace"]
    assert (pace["recorded_ns"], pace["own_ns"], pace["source"]) == (RECORDED_NS, None, None)
    assert restored(out).verdict.host_alone


def test_where_the_spread_straddles_a_limit_it_is_inconclusive(
    analyze: Analyze, report: Path, tmp_path: Path
) -> None:
    # At 5.4 ms 7.4 % can be won back, at 5.8 ms 13.8 %.
    one, other = controls(tmp_path, 5.4, 5.8)

    code, out, _ = analyze(report, "--control", one, "--control", other)

    assert code == 3
    said = " ".join(out.split())
    assert "the spread of the control runs, 5.4 ms to 5.8 ms per step, straddles the limit" in said
    assert "judge with more control recordings" in said


def test_a_step_time_that_is_known_does_what_a_control_does(analyze: Analyze, report: Path) -> None:
    code, out, _ = analyze(report, "--step-time", "5.2ms")

    assert code == 0
    assert "own pace 5.2 ms (step time as given, or what the device needs)" in " ".join(out.split())


def test_the_policy_file_may_know_it(
    analyze: Analyze, report: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "overlapcheck.toml").write_text('step-time = "5.2 ms"\n', encoding="utf-8")
    monkeypatch.chdir(tmp_path)

    assert analyze(report)[0] == 0
    assert analyze(report, "--step-time", "9 ms")[0] == 1


@pytest.mark.parametrize("text", ["20.6", "ms", "0ms", "-3ms", "3 weeks", "99999999s", "1e3ms"])
def test_what_is_no_step_time(analyze: Analyze, report: Path, text: str) -> None:
    code, out, err = analyze(report, f"--step-time={text}")

    assert (code, out) == (2, "")
    assert f"--step-time {text}: " in err and "write --step-time 20.6ms" in err


def test_a_recording_with_cuda_is_no_control_and_the_verdict_stays(
    analyze: Analyze, report: Path
) -> None:
    code, out, _ = analyze(report, "--control", report)

    assert code == 1
    assert first_lines(out, 1) == [f"FAIL  {SETTLES}"]
    said = " ".join(out.split())
    assert "own pace not known: train.sqlite: CUDA was recorded in it too, so it is no" in said


def test_a_control_that_is_not_there(analyze: Analyze, report: Path, tmp_path: Path) -> None:
    code, _, err = analyze(report, "--control", tmp_path / "none.sqlite")

    assert code == 4
    assert "none.sqlite" in err


def test_a_control_is_not_written_over(analyze: Analyze, report: Path, tmp_path: Path) -> None:
    (one,) = controls(tmp_path, 6)
    before = one.read_bytes()
    target = tmp_path / "control.json"
    target.symlink_to(one)

    code, _, _ = analyze(report, "--control", one, "-o", target)

    assert code == 2
    assert one.read_bytes() == before


def test_a_program_that_its_device_bounds_wants_no_control(tmp_path: Path) -> None:
    path = program(AHEAD).export(tmp_path / "ahead.sqlite")

    assert overlapcheck.analyze(path, policy=Policy(max_recoverable=0.2)).wants_control is None


def test_a_late_host_that_decides_nothing_but_holds_much_wants_one(report: Path) -> None:
    found = overlapcheck.analyze(report, policy=Policy(max_recoverable=0.9))

    assert found.verdict.outcome is Outcome.PASS
    assert found.wants_control == "a late host (host-starved) holds 46.2 % of the window"


def test_causes_that_the_policy_forbids_are_judged_at_the_own_pace(
    report: Path, tmp_path: Path
) -> None:
    policy = Policy(max_recoverable=None, fail_on=frozenset({"host-starved"}))
    (one,) = controls(tmp_path, 5)

    recorded = overlapcheck.analyze(report, policy=policy)
    own = overlapcheck.analyze(report, policy=policy, control=[one])

    assert (recorded.verdict.outcome, recorded.verdict.host_alone) == (Outcome.FAIL, True)
    assert (own.verdict.outcome, own.verdict.basis) == (Outcome.PASS, Basis.OWN_PACE)


def test_every_format_says_it(report: Path, tmp_path: Path) -> None:
    (one,) = controls(tmp_path, 7)
    recorded, own = overlapcheck.analyze(report), overlapcheck.analyze(report, control=[one])

    for name in ("html", "markdown", "github", "sarif"):
        assert "as recorded (to settle it: overlapcheck run" in renderers()[name].render(recorded)
        assert "at own pace" in renderers()[name].render(own), name
    for name in ("html", "markdown"):
        assert "own pace 7.0 ms (1 control run)" in renderers()[name].render(own)
    suite = Xml.fromstring(renderers()["junit"].render(own))
    properties = {p.get("name"): p.get("value") for p in suite.iter("property")}
    assert properties["basis"] == "own pace"
    assert "own pace 7.0 ms" in (properties["pace"] or "")
    assert "overlapcheck run --control always" in renderers()["junit"].render(recorded)


def test_a_saved_report_keeps_it(report: Path, tmp_path: Path) -> None:
    (one,) = controls(tmp_path, 7)
    own = overlapcheck.analyze(report, control=[one])

    back = restored(renderers()["json"].render(own))

    assert (back.verdict, back.devices[0].pace) == (own.verdict, own.devices[0].pace)
    assert renderers()["terminal"].render(back) == renderers()["terminal"].render(own)


# ---- ranks


@pytest.fixture
def job(tmp_path: Path) -> list[Path]:
    return [program().export(tmp_path / f"rank_{n}.sqlite") for n in range(3)]


def test_one_control_stands_for_all_ranks(analyze: Analyze, job: list[Path]) -> None:
    (one,) = controls(job[0].parent, 5.2)

    code, out, _ = analyze(*job, "--control", one, "--jobs", 1, "--format", "json")

    assert code == 0
    found = json.loads(out)
    assert [rank["pace"]["own_ns"] for rank in found["ranks"]] == [5.2 * MS] * 3
    assert "3 ranks judged at the own pace" in found["notes"]


def test_ranks_that_may_fail_by_the_recording_alone_are_told_of(
    analyze: Analyze, job: list[Path]
) -> None:
    code, out, _ = analyze(*job, "--jobs", 1)

    assert code == 1
    said = " ".join(out.split())
    assert "3 ranks fail as recorded, by a late host alone; to settle it: overlapcheck run" in said


def test_or_each_has_its_own_in_the_order_of_the_numbers(analyze: Analyze, job: list[Path]) -> None:
    each = controls(job[0].parent, 5.2, 7, 6)

    code, out, _ = analyze(
        *job, *(part for one in reversed(each) for part in ("--control", one)), "--format", "json"
    )

    assert code == 1
    own = [rank["pace"]["own_ns"] for rank in json.loads(out)["ranks"]]
    assert own == [5.2 * MS, 7 * MS, 6 * MS]


def test_some_for_all_are_a_mistake(analyze: Analyze, job: list[Path]) -> None:
    one, other = controls(job[0].parent, 5, 6)

    code, _, err = analyze(*job, "--control", one, "--control", other)

    assert code == 2
    assert "--control: 2 for 3 reports; give one that stands for all ranks" in " ".join(err.split())


def test_kept_results_of_another_control_are_not_reused(analyze: Analyze, job: list[Path]) -> None:
    one, other = controls(job[0].parent, 5.2, 7)
    output = ("-o", job[0].parent / "fleet.json", "--resume", "--jobs", 1)

    assert analyze(*job, "--control", one, *output)[0] == 0
    assert analyze(*job, "--control", other, *output)[0] == 1
