"""Made-up programs as graphs that can be replayed, drawn or recorded."""

from __future__ import annotations

import lzma
from pathlib import Path
from typing import Any

from overlapcheck.measurements import DeviceMeasurements
from overlapcheck.passes.measure import measure
from overlapcheck.passes.replay.device_graph import device_graph
from overlapcheck.prediction import Prediction
from overlapcheck.selection import Selection
from overlapcheck.sources.nsys.read import read_trace
from overlapcheck.step_graph import StepGraph
from overlapcheck.trace import Trace
from overlapcheck.whatif.predict import Predictor
from overlapcheck.whatif.repairs import REPAIRS
from tests.conftest import ROOT
from tests.pictures import picture

SHARED = ROOT.parent / "shared"
MOST = 20_000


def unpacked(source: Path, folder: Path) -> Path:
    """A recording of ../shared, without its compression."""
    export = folder / source.name.removesuffix(".xz")
    export.write_bytes(lzma.decompress(source.read_bytes()))
    return export


def measured(trace: Trace, skip: int | None = None) -> tuple[DeviceMeasurements, ...]:
    return measure(trace, Selection(skip=skip)).devices


def graph_of(export: Path, skip: int | None = None) -> StepGraph:
    """The steps of the first device."""
    trace = read_trace(export)
    graph = device_graph(trace, measured(trace, skip)[0], MOST)
    assert graph is not None
    return graph


def drawn(text: str, **options: Any) -> StepGraph:
    """The steps of a picture of one step, which is repeated."""
    options = {"repeat": 8, "column_us": 100, **options}
    trace = picture(text, **options).trace()
    graph = device_graph(trace, measured(trace, skip=0)[0], MOST)
    assert graph is not None
    return graph


def drawn_ranks(text: str) -> list[StepGraph]:
    """The steps of each device of a picture of several ranks."""
    trace = picture(text, repeat=8, column_us=100).trace()
    found = [device_graph(trace, device, MOST) for device in measured(trace, skip=0)]
    return [graph for graph in found if graph is not None]


def repaired(graph: StepGraph, *causes: str) -> Prediction:
    """What comes of repairing causes."""
    known = {repair.id: repair for repair in REPAIRS}
    found = Predictor.of(graph).predict([known[cause] for cause in causes])
    assert found is not None
    return found


def is_there(graph: StepGraph, cause: str) -> bool:
    """Whether a repair finds anything to do."""
    (repair,) = (one for one in REPAIRS if one.id == cause)
    return repair.apply(graph) is not None
