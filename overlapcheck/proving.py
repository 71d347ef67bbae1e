"""The order of the stages of a proof: predict a repair, run the program with it, measure."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import replace
from pathlib import Path

from overlapcheck.capture.outside_repair import OutsideRepair
from overlapcheck.capture.second_run import SecondRuns
from overlapcheck.captured import CapturedReport
from overlapcheck.errors import CaptureFailed, Interrupted, OverlapcheckError
from overlapcheck.passes.pace.control import control_of
from overlapcheck.passes.pace.same_run import other_steps
from overlapcheck.passes.replay.device_graph import slowest
from overlapcheck.pipeline import at_own_pace, measure, read_trace
from overlapcheck.prediction import Prediction
from overlapcheck.proved import Proved
from overlapcheck.reading import Reading
from overlapcheck.report import Report
from overlapcheck.selection import Selection
from overlapcheck.whatif.predict import Predictor
from overlapcheck.whatif.told import is_known

Judging = Callable[[CapturedReport], AbstractContextManager[None]]


def with_proofs(  # noqa: PLR0913  # what a run knows
    report: Report,
    repairs: Sequence[OutsideRepair],
    again: SecondRuns,
    judging: Judging,
    selection: Selection | None,
    reading: Reading,
) -> Report:
    """The report with what repairs from outside were predicted to win, and won.

    What goes wrong costs a proof and nothing of the report; a signal ends all that are left.

    Args:
        report: of the first run.
        repairs: to be made, each in a run of its own.
        again: runs the program.
        judging: see `overlapcheck.run`; entered once more for each recording.
        selection: what part to measure; None takes the steady steps.
        reading: how recordings are read.
    """
    if report.captured is None or not again.may_prove(report.captured):
        return report
    beside = replace(reading, keep_export=None, timeline=False)
    prover = _Prover(report, again, selection or Selection(), beside)
    for repair in repairs:
        try:
            report = prover.proved(report, repair, judging)
        except (OverlapcheckError, KeyboardInterrupt) as error:
            again.not_proved(repair, getattr(error, "message", "") or "interrupted")
            if not isinstance(error, OverlapcheckError) or isinstance(error, Interrupted):
                break
    return report


class _Prover:
    """Predicts from the first recording, and measures those of the repaired program."""

    def __init__(
        self, first: Report, again: SecondRuns, selection: Selection, reading: Reading
    ) -> None:
        self._first, self._again = first, again
        self._selection, self._reading = selection, reading

    def proved(self, report: Report, repair: OutsideRepair, judging: Judging) -> Report:
        """The report with one more proof.

        Raises:
            OverlapcheckError: there is none; the message says why.
        """
        captured = report.captured
        assert captured is not None
        before_ns, predicted = self._predicted(captured.report, repair.cause)
        repaired = self._again.repaired(captured, repair)
        captured = replace(captured, repaired=(*captured.repaired, repaired))
        controls = []
        if captured.controls:
            controls = [self._again.control_of_repaired(captured, repaired, repair)]
        with judging(captured):
            measured_ns, own_ns = self._measured(repaired, controls)
        proof = Proved(
            fix=(repair.cause,),
            what=repair.what,
            report=repaired.name,
            before_ns=before_ns,
            measured_ns=measured_ns,
            predicted_ns=predicted.step_ns if predicted else None,
            low_ns=predicted.low_ns if predicted else None,
            high_ns=predicted.high_ns if predicted else None,
            own_before_ns=self._own_before_ns() if own_ns is not None else None,
            own_measured_ns=own_ns,
        )
        return replace(report, captured=captured, proved=(*report.proved, proof))

    def _predicted(self, recording: Path, cause: str) -> tuple[int, Prediction | None]:
        """The step as it is, and without a cause where a replay knows its repair."""
        trace = read_trace(recording, reading=self._reading)
        _, graph = slowest(recording.name, trace, measure(trace, self._selection))
        predictor = Predictor.of(graph)
        found = predictor.forced([cause]) if is_known(cause) else None
        return predictor.step_ns, found

    def _measured(self, recording: Path, controls: Sequence[Path]) -> tuple[int, int | None]:
        """The step of the repaired program, and at its own pace where a control tells it."""
        trace = read_trace(recording, reading=self._reading)
        measured = measure(trace, self._selection)
        if self._again.to_its_end and self._first.measurements is not None:
            otherwise = other_steps(self._first.measurements, control_of(recording.name, trace))
            if otherwise:
                raise CaptureFailed(otherwise)
        device, graph = slowest(recording.name, trace, measured)
        own = at_own_pace(measured, controls, self._selection, self._reading) if controls else None
        paces = [one.pace for one in own.devices if one.key == device.key] if own else []
        return Predictor.of(graph).step_ns, next((p.own_ns for p in paces if p), None)

    def _own_before_ns(self) -> int | None:
        paces = [device.pace for device in self._first.devices if device.pace]
        return max((pace.own_ns for pace in paces if pace.own_ns is not None), default=None)
