"""The table of rules, first half: which calls hold a thread, and why the host was late."""

from __future__ import annotations

from overlapcheck.passes.ledger import (
    call_rules,
    held_spans,
    host_rules,
)
from overlapcheck.passes.ledger.call_rules import Calls, Locks
from overlapcheck.passes.ledger.held import HeldCalls
from overlapcheck.passes.ledger.held_spans import Host
from overlapcheck.passes.ledger.host_rules import HostTime, Tails
from overlapcheck.passes.ledger.rule import OF_THE_CALL, Rule, Ruling

HELD: tuple[Rule[Calls, Ruling], ...] = (
    Rule(
        "blocking-launch",
        "launches wait for their kernels (CUDA_LAUNCH_BLOCKING says so, or all long ones do): a"
        " launch, copy or memset",
        "launch-blocking",
        "launch_blocking/fires_the_debug_variable",
        call_rules.blocking_launch,
    ),
    Rule(
        "reads-back-little",
        "it copied no more than a few KiB to the host, and returned when that was done",
        "host-sync",
        "pageable_copy/quiet_row_05_a_scalar_read_back",
        call_rules.small_read_back,
    ),
    Rule(
        "copies-pageable",
        "it copied from or to pageable memory, and more than the few KiB that are staged",
        "pageable-copy",
        "pageable_copy/fires_on_a_side_stream_hidden_and_still_too_slow",
        call_rules.pageable_copy,
    ),
    Rule(
        "waits",
        "it waits for a device, a stream or an event",
        "host-sync",
        "host_sync/fires_row_18_at_what_it_leaves_idle_not_at_what_it_waits",
        call_rules.synchronisation,
    ),
    Rule(
        "allocates",
        "it allocates, frees, pins or unpins memory",
        "allocation",
        "allocation/fires_pinning_in_every_step",
        call_rules.allocation,
    ),
    Rule(
        "loads-code",
        "it loads a module or a library, or links code, or asked for code and took long over it",
        "module-load",
        "module_load/fires_a_module_is_loaded_between_two_launches",
        call_rules.loading_code,
    ),
    Rule(
        "launches-a-graph",
        "it launches a graph",
        "graph-launch",
        "graph_launch/fires_the_call_outlasts_the_queued_work",
        call_rules.graph_launch,
    ),
    Rule(
        "builds-a-graph",
        "it makes, changes, instantiates or destroys a graph",
        "graph-launch",
        "graph_launch/fires_the_graph_is_built_anew_for_every_launch",
        call_rules.building_a_graph,
    ),
    Rule(
        "copies-synchronously",
        "it is a copy or memset that returns when it is done, by its name or by its times",
        "sync-copy",
        "sync_copy/fires_cudaMemcpy_holds_the_launching_thread",
        call_rules.synchronous_copy,
    ),
    Rule(
        "other-call",
        "it is none of these, takes long, and is no launch, copy or memset",
        "cuda-call",
        "cuda_call/fires_a_stream_is_made_between_two_kernels",
        call_rules.other_call,
    ),
)

LOCK: tuple[Rule[Locks, Ruling], ...] = (
    Rule(
        "behind-a-lock",
        "a long launch, copy or memset that lies mostly inside another thread's long allocation,"
        " module load, pageable copy or graph launch",
        "driver-lock",
        "driver_lock/fires_a_launch_waits_inside_another_threads_long_call",
        call_rules.driver_lock,
    ),
    Rule(
        "in-a-mutex",
        "a long launch, copy or memset that spends most of its time waiting for a lock of the"
        " process, in an OS call",
        "driver-lock",
        "driver_lock/fires_a_launch_waits_in_a_mutex",
        call_rules.in_a_mutex,
    ),
    Rule(
        "ends-with-another",
        "a launch, copy or memset of milliseconds that ends together with a long call of another"
        " thread, of any kind, which had begun before it",
        "driver-lock",
        "driver_lock/fires_a_launch_of_milliseconds_ends_with_another_threads_call",
        call_rules.ends_with_another,
    ),
    Rule(
        "first-launch",
        "it took long, and was the first launch of its kernel: the code was loaded inside",
        "module-load",
        "module_load/fires_a_first_launch_of_milliseconds",
        call_rules.first_launch,
    ),
    Rule(
        "stuck",
        "a launch, copy or memset of milliseconds, which nothing recorded explains",
        "cuda-call",
        "cuda_call/fires_one_launch_of_milliseconds",
        call_rules.stuck,
    ),
)

SPANS: tuple[Rule[Host, HeldCalls], ...] = (
    Rule(
        "polls",
        "the thread asked a stream or an event again and again, and handed nothing over meanwhile",
        "host-sync",
        "host_sync/fires_the_launching_thread_polls_an_event",
        held_spans.polling,
    ),
    Rule(
        "captures",
        "the thread captured a stream: what it launched meanwhile only makes a graph",
        "graph-launch",
        "graph_launch/fires_the_graph_is_captured_anew_for_every_launch",
        held_spans.capturing,
    ),
    Rule(
        "waits-for-ranks",
        "the thread was in a receive, a wait or a collective of MPI, or tested again and again",
        "mpi-wait",
        "mpi_wait/fires_the_launching_thread_waits_for_its_neighbours",
        held_spans.waiting_for_ranks,
    ),
    Rule(
        "waits-for-a-thread",
        "the thread slept until another thread of its process was back from a wait for the device",
        "host-sync",
        "host_sync/fires_the_launching_thread_sleeps_while_another_one_waits",
        held_spans.waiting_for_a_thread,
    ),
)

HOST: tuple[Rule[HostTime, Ruling], ...] = (
    Rule(
        "profiler-overhead",
        "the profiler itself was at work on the launching thread",
        "profiler-overhead",
        "profiler_overhead/fires_the_profiler_held_the_launching_thread",
        host_rules.profiler_overhead,
    ),
    Rule(
        "in-a-call",
        "the launching thread was in a call that holds it",
        OF_THE_CALL,
        "allocation/fires_cudaFree_and_cudaMalloc_drain_the_device",
        host_rules.in_a_call,
    ),
    Rule(
        "preparing-code",
        "the thread made no call for long, and the next one loaded code",
        "module-load",
        "rules/compiling_what_is_loaded_next",
        host_rules.preparing_code,
    ),
    Rule(
        "in-other-calls",
        "short calls that are no launch, copy or memset fill most of it",
        "cuda-call",
        "cuda_call/fires_many_short_calls_between_two_kernels",
        host_rules.in_other_calls,
    ),
    Rule(
        "restart",
        "a call had drained the device, and no launch has been well ahead of its kernel since",
        OF_THE_CALL,
        "host_sync/fires_a_wait_in_every_step_and_the_restart_after_it",
        host_rules.restart,
    ),
    Rule(
        "away",
        "for long the thread was in no launch, copy or memset, or in no call at all",
        "host-starved",
        "host_starved/fires_the_launching_thread_waits_for_its_loader",
        host_rules.away,
    ),
    Rule(
        "back-from-away",
        "a few microseconds behind such an absence",
        "host-starved",
        "host_starved/fires_the_launching_thread_computes_in_python",
        host_rules.back_from_away,
    ),
    Rule(
        "late-once",
        "a few microseconds, and the host had been well ahead just before",
        "launch-latency",
        "rules/late_by_the_distance_of_two_launches",
        host_rules.late_once,
    ),
    Rule(
        "launching",
        "none of these: the thread launched, and could not keep up",
        "launch-bound",
        "rules/slow_launches_before_the_host_is_ahead",
        host_rules.launching,
    ),
)

RESTART: tuple[Rule[HostTime, Tails], ...] = (
    Rule(
        "own-share-of-restart",
        "the host's own work since the restart before is longer than the device's: that share of"
        " the restart, cut off its end, the device would have waited for anyway",
        "host-starved where the host was away, else launch-bound",
        "host_sync/quiet_a_loader_is_slower_than_the_wait",
        host_rules.own_share_of_restart,
    ),
)
