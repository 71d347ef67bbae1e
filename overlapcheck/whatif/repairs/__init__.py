"""The repairs that can be replayed, one module each."""

from overlapcheck.whatif.repair import Repair
from overlapcheck.whatif.repairs.allocation import KeepMemory
from overlapcheck.whatif.repairs.default_stream import NonBlockingStreams
from overlapcheck.whatif.repairs.event_wait import NoEventWait
from overlapcheck.whatif.repairs.exposed_collective import OverlapCollectives
from overlapcheck.whatif.repairs.graph_launch import KeepGraph
from overlapcheck.whatif.repairs.host_starved import LoaderInTime
from overlapcheck.whatif.repairs.host_sync import NoHostSync
from overlapcheck.whatif.repairs.late_rank import RankInTime
from overlapcheck.whatif.repairs.launch_blocking import NoLaunchBlocking
from overlapcheck.whatif.repairs.launch_bound import LaunchAsGraph
from overlapcheck.whatif.repairs.pageable_copy import PinMemory
from overlapcheck.whatif.repairs.same_stream import SecondStream
from overlapcheck.whatif.repairs.sync_copy import AsynchronousCopy
from overlapcheck.whatif.repairs.uvm_migration import PrefetchPages

REPAIRS: tuple[Repair, ...] = (
    PinMemory(),
    SecondStream(),
    AsynchronousCopy(),
    PrefetchPages(),
    NonBlockingStreams(),
    NoEventWait(),
    NoHostSync(),
    KeepMemory(),
    NoLaunchBlocking(),
    LoaderInTime(),
    KeepGraph(),
    LaunchAsGraph(),
    RankInTime(),
    OverlapCollectives(),
)
"""In the order in which a chain applies them: what is done to copies first, then to the host."""
