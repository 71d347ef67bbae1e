"""What PyTorch's sanitizer says, beside what the recording proves: the check `sanitizer`."""

from __future__ import annotations

from dataclasses import replace

from overlapcheck.quantities import count_of
from overlapcheck.report import Report
from overlapcheck.sanitizer_run import SanitizerRun
from overlapcheck.verdict import Check, Outcome

NAME = "sanitizer"
_SEES = "it sees PyTorch's own operators only"


def with_second_opinion(report: Report, run: SanitizerRun) -> Report:
    """The report with the sanitizer's answer as a check, and its reports beside the audit."""
    streams = replace(report.streams, sanitizer=run) if report.streams is not None else None
    verdict = report.verdict.with_checks((_check(report, run),))
    return replace(report, streams=streams, verdict=verdict)


def _check(report: Report, run: SanitizerRun) -> Check:
    outcome, reason, settle = _answer(run)
    key = report.devices[0].key if report.devices else None
    return Check(NAME, key, outcome, None, None, reason, settle_with=settle,
                 limit_from="--sanitizer")  # fmt: skip


def _answer(run: SanitizerRun) -> tuple[Outcome, str, str]:
    if run.found:
        more = f" ({count_of(len(run.found) - 1, 'more report')})" if len(run.found) > 1 else ""
        return Outcome.FAIL, f"{run.found[0].text}{more}", ""
    if run.program_exit and not run.stopped_by:
        return (
            Outcome.INCONCLUSIVE,
            f"under it the program ended with exit code {run.program_exit} and no report",
            "run the program with TORCH_CUDA_SANITIZER=1 and read its error",
        )
    until = f" in {run.stopped_by}" if run.stopped_by else ""
    return Outcome.PASS, f"PyTorch's CUDA sanitizer reported nothing{until}: {_SEES}", ""
