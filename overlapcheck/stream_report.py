"""The answer of `streams`: graphs of a recording, and how they compare with a contract."""

from __future__ import annotations

from dataclasses import dataclass

from overlapcheck.errors import ExitCode
from overlapcheck.sanitizer_run import SanitizerRun
from overlapcheck.stream_audit import StreamAudit
from overlapcheck.stream_changes import StreamCheck
from overlapcheck.stream_contract import Buffer, Pipeline, StreamContract
from overlapcheck.stream_graph import StreamGraph
from overlapcheck.verdict import SEVERITY, Outcome

SCHEMA = 1
"""Version of the JSON form."""


@dataclass(frozen=True)
class StreamReport:
    """Everything to show."""

    tool_version: str
    report: str
    """File name without folders."""
    graphs: tuple[StreamGraph, ...]
    audits: tuple[StreamAudit, ...]
    contract: StreamContract | None = None
    checks: tuple[StreamCheck, ...] = ()
    sanitizer: SanitizerRun | None = None
    """What PyTorch's sanitizer said in a run of its own; None where nobody asked."""
    settle_with: str = ""
    """What would record the events that are missing."""

    @property
    def outcome(self) -> Outcome | None:
        """The worst of the checks; None without a contract."""
        if self.contract is None:
            return None
        outcomes = {check.outcome for check in self.checks} or {Outcome.INCONCLUSIVE}
        return next(outcome for outcome in SEVERITY if outcome in outcomes)

    @property
    def exit_code(self) -> ExitCode:
        """Exit code of a command that ends with it."""
        codes = {
            None: ExitCode.PASS,
            Outcome.PASS: ExitCode.PASS,
            Outcome.FAIL: ExitCode.FAIL,
            Outcome.INCONCLUSIVE: ExitCode.INCONCLUSIVE,
        }
        return codes[self.outcome]

    @property
    def why_no_contract(self) -> str:
        """Why a contract cannot be made of it; "" where it can."""
        if not self.graphs:
            return "no process ran kernels"
        if any(graph.no_records for graph in self.graphs):
            return "streams wait for events, and the recording does not say which record"
        if any(graph.steps < 2 for graph in self.graphs):  # one is no habit
            return "it has no steps: mark them with NVTX ranges ('step 3')"
        return ""

    def to_agree_on(self, buffers: tuple[Buffer, ...] = ()) -> StreamContract:
        """The contract that this recording keeps.

        Args:
            buffers: what the team declares beside it.
        """
        pipelines: list[Pipeline] = []
        for graph in self.graphs:
            if graph.pipeline not in pipelines:
                pipelines.append(graph.pipeline)
        first = self.graphs[0]
        return StreamContract(tuple(pipelines), first.ranges, first.family, buffers)
