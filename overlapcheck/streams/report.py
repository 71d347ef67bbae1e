"""Graphs, their comparison with a contract, and the audit, put together."""

from __future__ import annotations

from overlapcheck._version import __version__
from overlapcheck.measurements import Measurements
from overlapcheck.recorder import Content
from overlapcheck.stream_contract import StreamContract
from overlapcheck.stream_report import StreamReport
from overlapcheck.streams.audit import audit
from overlapcheck.streams.check import check, with_buffers
from overlapcheck.streams.infer import graphs


def stream_report(
    name: str, measured: Measurements, contract: StreamContract | None
) -> StreamReport:
    """What is to be shown of a recording.

    Args:
        name: of its file.
        measured: with the waits of each process.
        contract: what was agreed on; None only looks.
    """
    found = graphs(measured)
    checks = check(measured, found, contract) if contract else ()
    audits = audit(measured, found, contract.buffers if contract else ())
    return StreamReport(
        tool_version=__version__,
        report=name,
        graphs=found,
        audits=audits,
        contract=contract,
        checks=with_buffers(checks, audits),
        settle_with=measured.recorder.record_again(Content.EVENT_RECORDS),
    )
