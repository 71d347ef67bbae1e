"""The terminal report: what it says, and that nothing in a trace can break its 80 columns."""

from __future__ import annotations

import os
import re
from dataclasses import replace
from pathlib import Path

import pytest
from rich.cells import cell_len

from overlapcheck.clean import clean
from overlapcheck.device_report import (
    BlockingSummary,
    CopySummary,
    DeviceReport,
    GapSummary,
    LedgerEntry,
    MigrationSummary,
    Picture,
    PictureRow,
    Spread,
    StepSummary,
    StreamSummary,
    WindowSummary,
)
from overlapcheck.finding import Confidence, Finding, SourceLine
from overlapcheck.intervals import Intervals
from overlapcheck.kinds import DeviceKey
from overlapcheck.renderers import renderers
from overlapcheck.renderers._terminal_text import clip, clip_middle, wrap
from overlapcheck.renderers.terminal import TerminalRenderer
from overlapcheck.report import CaptureSummary, Report
from overlapcheck.verdict import Check, Outcome, Verdict

GOLDEN = Path(__file__).parents[2] / "fixtures" / "golden" / "terminal"
ANSI = re.compile(r"\x1b\[[0-9;]*m")
MS = 1_000_000
FIRST = DeviceKey(1, 0)
HOSTILE = (
    "[bold]x[/bold] [red]",
    "two\nlines\tand\ra tab",
    "\x1b[31mred\x1b[0m \x1b]0;title\x07 \x9b2J",
    "漢字カーネル名" * 12,
    "k" * 500,
    "word " * 100,
    "\u202eright to left\u202c and \u200bnothing",
    "e\u0301" * 90,
    "👩‍👩‍👧‍👧" * 30,
    ":smile: {} %s",
)


def a_check(
    name: str = "recoverable",
    outcome: Outcome = Outcome.PASS,
    measured: float | None = 0.02,
    limit: float | None = 0.10,
    reason: str = "5.0 ms of 250.0 ms",
    *,
    device: DeviceKey | None = FIRST,
    at_least: bool = False,
    settle_with: str = "",
) -> Check:
    return Check(name, device, outcome, measured, limit, reason, at_least, settle_with)


def passing(device: int = 0) -> tuple[Check, ...]:
    key = DeviceKey(1, device)
    return (
        a_check("capture", measured=None, limit=None, reason="complete", device=key),
        a_check(
            "overlap h2d", Outcome.PASS, 0.977, 0.8, "ceiling 100.0 %", device=key, at_least=True
        ),
        a_check(device=key),
    )


def failing(device: int = 0) -> tuple[Check, ...]:
    key = DeviceKey(1, device)
    reason = "pageable copies get no relief (ceiling 100.0 %)"
    return (
        a_check("capture", measured=None, limit=None, reason="complete", device=key),
        a_check("overlap h2d", Outcome.FAIL, 0.788, 0.8, reason, device=key, at_least=True),
        a_check(outcome=Outcome.FAIL, measured=0.185, reason="46.3 ms of 250.0 ms", device=key),
    )


def inconclusive(device: int = 0) -> tuple[Check, ...]:
    capture = a_check(
        "capture",
        Outcome.INCONCLUSIVE,
        None,
        None,
        "graph launches of unknown content fill 99.6 % of the window",
        device=DeviceKey(1, device),
        settle_with="record with --cuda-graph-trace=node (overlapcheck run does)",
    )
    return (capture, *passing(device)[1:])


def a_picture(name: str = "python3") -> Picture:
    busy = (1.0, 1.0, 0.98, 0.8, 0.3, 0.01, 0.0, 0.0) * 5
    held = (0.0, 0.2, *(1.0,) * 17, 0.3) * 2
    rows = (
        PictureRow("s7", "compute", "", busy, "busy 81.4 %"),
        PictureRow("s17", "communication", "", busy[::-1], "busy 19.0 %"),
        PictureRow("s13", "copy", "h2d", (0.0, 0.2, 0.9, 1.0) * 10, "7.2 GB/s pageable"),
        PictureRow(name, "host", "cudaMemcpyAsync", held, "inside 78.7 %"),
    )
    return Picture(0, 65 * MS, rows, ((0, "step 9"), (13, "step 10"), (27, "step 11")))


def a_spread(ms: float) -> Spread:
    return Spread(ms * MS, ms * 1.1 * MS, int(ms * 1.2 * MS), 7)


def a_device(device: int = 0, name: str = "", copies: bool = True) -> DeviceReport:
    kernel = name or "multi_tensor_apply_kernel"
    moved = CopySummary(11, 11 << 27, 204 * MS, 161 * MS, 43 * MS, 11, 0.788, 1.0)
    within = CopySummary(12, 3 << 30, 1_500_000, 0, 1_500_000, 0, 0.0, 1.0)
    return DeviceReport(
        pid=1,
        process=f"{name or 'python3'} (1527)",
        device=device,
        name=name or "NVIDIA H200",
        window=WindowSummary(
            0, 250 * MS, "nvtx-steps", "warm-up: 3 skipped", f"step # {name}".strip(), 12, 3
        ),
        window_ns=250 * MS,
        compute_ns=203_700_000,
        opaque_ns=0,
        idle_ns=46_300_000,
        communication_ns=12 * MS,
        communication_hidden_ns=9 * MS,
        bound_ns=203_700_000,
        recoverable=0.185,
        copies={"h2d": moved, "d2d": within} if copies else {},
        migrations=MigrationSummary(0, 0, 0) if copies else MigrationSummary(9, 9 << 20, MS),
        streams=tuple(
            StreamSummary(1, number, role, kind, 0, 480, 200 * MS, 200 * MS, 0, {"h2d": moves})
            for number, role, kind, moves in (
                (7, "compute", "null", 0),
                (13, "copy", "non-blocking", 204 * MS),
                (17, "communication", name or "non-blocking", 0),
            )
        ),
        streams_total=12,
        gaps=(
            GapSummary(0, 5_400_000, None, "", kernel, 4_900_000),
            GapSummary(40 * MS, 44 * MS, None, kernel, f"{kernel}_2", 0),
            GapSummary(90 * MS, 93 * MS, None, "", kernel, MS),
            GapSummary(97 * MS, 98 * MS, None, "never", "shown", 0),
        ),
        gaps_total=958,
        blocking=(
            BlockingSummary(
                name or "cudaMemcpyAsync", name, 1527, 11, 206 * MS, 43 * MS, 20 * MS, 0
            ),
        ),
        blocking_total=1,
        steps=StepSummary(12, a_spread(21.8), a_spread(17.5), a_spread(4.6), a_spread(4.1)),
        picture=a_picture(name or "python3"),
    )


def a_report(
    checks: tuple[Check, ...],
    devices: tuple[DeviceReport, ...] | None = None,
    findings: tuple[Finding, ...] = (),
    **capture: object,
) -> Report:
    facts: dict[str, object] = {
        "report": "train.nsys-rep",
        "program": "python3 train.py pageable",
        "nsys_version": "2025.3.1",
        "schema_version": "3.20.3",
        "driver_version": "580.159.04",
        "graph_granularity": "node",
        "environment": {},
        "problems": (),
        "messages": (),
    }
    summary = CaptureSummary(**{**facts, **capture})  # type: ignore[arg-type]
    return Report("0.1.0", summary, Verdict(checks), devices or (a_device(),), findings)


def a_finding(cause: str = "pageable-copy", share: float = 0.175, text: str = "") -> Finding:
    return Finding(
        cause=cause,
        title=text or "11 H2D copies of 128.0 MiB from pageable memory held thread python3",
        device=DeviceKey(1, 0),
        blamed=Intervals.span(0, int(share * 250 * MS)),
        share=share,
        per_step_ns=share * 250 * MS / 12,
        saves_at_most_ns=share * 240 * MS,
        confidence=Confidence.SURE,
        evidence=(
            text or "cudaMemcpyAsync on stream 13 held thread python3 18.6 ms each time",
            text or "the device drained behind every one (worst: step 7, 5.4 ms without compute)",
        ),
        advice=text
        or "pin the source: DataLoader(pin_memory=True) or tensor.pin_memory(), and keep"
        " non_blocking=True",
        caveat=text or "the buffer is rewritten while the copy runs: then double-buffer it first",
        source=(SourceLine(text or "train.py", 104, text or "prefetch"),),
    )


def with_findings(text: str = "") -> Report:
    ledger = (
        LedgerEntry("pageable-copy", 43_700_000),
        LedgerEntry("device-copy", 2_100_000),
        LedgerEntry("launch-latency", 400_000),
        LedgerEntry("module-load", 60_000),
        LedgerEntry("unexplained", 40_000),
        LedgerEntry("host-sync", 0),
    )
    findings = (
        a_finding(text=text),
        a_finding("host-sync", 0.03, text),
        a_finding("launch-latency", 0.002, text),
    )
    return a_report(failing(), (replace(a_device(), ledger=ledger),), findings)


def two_devices() -> Report:
    return a_report((*passing(0), *failing(1)), (a_device(0), a_device(1)))


def nothing_recorded() -> Report:
    problem = "1116 kernel launches, but not one kernel row (recorded: 30868 CUDA calls)"
    check = a_check(
        "capture",
        Outcome.INCONCLUSIVE,
        None,
        None,
        problem,
        device=None,
        settle_with="the GPU side of the trace failed (WSL2, old nsys): overlapcheck doctor",
    )
    report = a_report((check,), problems=(problem, "a second fault"))
    return replace(report, devices=())


GOLDENS = {
    "pass": a_report(passing()),
    "fail": a_report(failing()),
    "inconclusive": a_report(inconclusive()),
    "two_devices": two_devices(),
    "no_copies": a_report(failing()[2:], (a_device(copies=False),)),
    "with_findings": with_findings(),
    "nothing_recorded": nothing_recorded(),
}


def hostile_report(name: str) -> Report:
    checks = (
        a_check(name, Outcome.FAIL, 0.5, 0.1, name),
        a_check("capture", Outcome.INCONCLUSIVE, None, None, name, settle_with=name),
        a_check("capture", Outcome.INCONCLUSIVE, None, None, name, device=None),
    )
    findings = (*with_findings(name).findings, a_finding(name, 0.1, name))
    ledger = (LedgerEntry(name, 46 * MS), LedgerEntry("unexplained", 300_000))
    return a_report(
        checks,
        (replace(a_device(name=name), ledger=ledger),),
        findings,
        report=name,
        program=name,
        environment={"NCCL_X": name},
        problems=(name,) * 5,
    )


EVERY = [*GOLDENS.values(), *map(hostile_report, HOSTILE)]


def render(report: Report) -> str:
    return TerminalRenderer().render(report)


@pytest.mark.parametrize("name", GOLDENS)
def test_golden(name: str) -> None:
    path = GOLDEN / f"{name}.txt"
    text = render(GOLDENS[name])
    if os.environ.get("UPDATE_GOLDEN"):
        path.write_text(text, encoding="utf-8")
    assert text == path.read_text(encoding="utf-8")


@pytest.mark.parametrize("report", EVERY)
def test_no_line_is_wider_than_a_terminal_or_steers_it(report: Report) -> None:
    text = render(report)
    for line in text.split("\n"):
        assert cell_len(line) <= 80, line
        assert clean(line) == line
        assert line == line.rstrip()
    assert text.endswith("\n")


@pytest.mark.parametrize("report", EVERY)
def test_the_verdict_is_first_and_last(report: Report) -> None:
    lines = render(report).splitlines()
    assert lines[0] == lines[-1]
    assert lines[0].startswith(report.verdict.outcome.value + "  ")


@pytest.mark.parametrize("report", EVERY)
def test_color_changes_nothing_but_color(report: Report) -> None:
    colored = TerminalRenderer(color=True).render(report)
    assert "\x1b[" in colored
    assert ANSI.sub("", colored) == render(report)


def test_markup_is_text() -> None:
    assert "[bold]x[/bold] [red]" in render(hostile_report(HOSTILE[0]))
    assert ":smile:" in render(hostile_report(HOSTILE[-1]))


def test_passing_is_short() -> None:
    text = render(GOLDENS["pass"])
    assert len(text.splitlines()) <= 20
    for absent in ("gap", "blocking", "stream", "│"):
        assert absent not in text


def test_passing_names_no_cause_of_its_own() -> None:
    device = replace(a_device(), ledger=(LedgerEntry("launch-latency", 46_300_000),))
    text = render(a_report(passing(), (device,)))
    assert "launch-latency 46.3 ms" in text
    assert "saves at most" not in text


def test_inconclusive_says_what_to_do_right_under_the_check() -> None:
    lines = render(GOLDENS["inconclusive"]).splitlines()
    row = next(i for i, line in enumerate(lines) if line.startswith("  capture"))
    assert any("--cuda-graph-trace=node" in line for line in lines[row : row + 4])


def test_a_near_miss_shows_the_digits_that_tell() -> None:
    check = a_check(outcome=Outcome.FAIL, measured=0.10047)
    assert "10.05 %  <=  10.0 %  FAIL" in render(a_report((check,)))


def test_what_passes_below_its_limit_was_not_judged() -> None:
    check = a_check("overlap d2h", Outcome.PASS, 0.0, 0.8, "not judged", at_least=True)
    assert "n/a" in render(a_report((check,)))


def test_failing_devices_come_first_and_at_most_eight_in_full() -> None:
    devices = tuple(map(a_device, range(12)))
    checks = tuple(c for i in range(12) for c in (failing(i) if i == 11 else passing(i)))
    lines = render(a_report(checks, devices)).splitlines()
    rules = [line for line in lines if line.startswith("──")]
    assert len(rules) == 8
    assert rules[0].startswith("── FAIL  device 11,")
    assert sum(line.startswith("  PASS          device") for line in lines) == 4
    assert "on device 11" in lines[0]


def test_small_causes_are_named_only() -> None:
    lines = render(with_findings()).splitlines()
    assert any(line.startswith("  smaller  launch-latency 0.2 %") for line in lines)
    assert lines[0].endswith("; first cause: pageable-copy")


def test_causes_that_round_to_nothing_are_only_counted() -> None:
    report = with_findings()
    tiny = (a_finding("host-sync", 0.00049), a_finding("allocation", 0.0001))
    report = replace(report, findings=(*report.findings, *tiny))
    assert "  smaller  launch-latency 0.2 %, 2 below 0.1 %" in render(report).splitlines()


def test_a_long_line_of_failed_checks_keeps_the_first_cause() -> None:
    report = with_findings()
    failed = next(check for check in failing() if check.outcome is Outcome.FAIL)
    checks = tuple(replace(failed, name=f"check {n} of a long name") for n in range(5))
    first = render(replace(report, verdict=replace(report.verdict, checks=checks))).splitlines()[0]
    assert len(first) == 80
    assert first.endswith("…; first cause: pageable-copy")


def test_ledger_bar_is_full() -> None:
    bars = [line for line in render(with_findings()).splitlines() if line.startswith("  │")]
    assert [len(bar.strip(" │")) for bar in bars] == [60]


def test_it_is_found() -> None:
    assert renderers()["terminal"].suffix == ".txt"


@pytest.mark.parametrize("text", HOSTILE)
@pytest.mark.parametrize("width", [1, 2, 7, 8, 20, 79])
def test_cutting_and_wrapping_keep_the_width(text: str, width: int) -> None:
    assert cell_len(clip(text, width)) <= width
    assert cell_len(clip_middle(text, width)) <= width
    if width > 1:
        assert all(cell_len(line) <= width for line in wrap(text, width))


def test_wrapping_loses_no_word_and_parts_no_number_from_its_unit() -> None:
    text = "idle for 48.6 ms of the 262.2 ms, which is 18.5 % " + "x" * 30
    for width in range(10, 40):
        lines = wrap(text, width)
        assert "".join(lines).replace(" ", "") == text.replace(" ", "")
        assert not any(line.startswith(("ms", "%")) for line in lines)
