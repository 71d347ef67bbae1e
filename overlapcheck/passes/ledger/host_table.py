"""The table of rules, first half: which calls hold a thread, and why the host was late."""

from __future__ import annotations

from overlapcheck.passes.ledger import (
    call_rules,
    host_rules,
)
from overlapcheck.passes.ledger.call_rules import Calls, Locks
from overlapcheck.passes.ledger.host_rules import HostTime, Tails
from overlapcheck.passes.ledger.rule import OF_THE_CALL, Rule, Ruling

HELD: tuple[Rule[Calls, Ruling], ...] = (
    Rule(
        "blocking-launch",
        "launches wait for their kernels (CUDA_LAUNCH_BLOCKING is set, or all of them do): a"
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
        "it copied from or to pageable memory",
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
        "it loads a module or a library, or links code",
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
        "copies-synchronously",
        "it is a copy or memset that returns when it is done",
        "sync-copy",
        "sync_copy/fires_cudaMemcpy_holds_the_launching_thread",
        call_rules.synchronous_copy,
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
        "restart",
        "a call had drained the device, and no launch has been well ahead of its kernel since",
        OF_THE_CALL,
        "host_sync/fires_a_wait_in_every_step_and_the_restart_after_it",
        host_rules.restart,
    ),
    Rule(
        "away",
        "no launching thread made a call for long",
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
        "launch_bound/fires_short_kernels_launched_back_to_back",
        host_rules.launching,
    ),
)

RESTART: tuple[Rule[HostTime, Tails], ...] = (
    Rule(
        "own-share-of-restart",
        "the host's own work per step is longer than the device's: that share of each restart, cut"
        " off its end, the device would have waited for anyway",
        "host-starved where the host was away, else launch-bound",
        "host_sync/quiet_a_loader_is_slower_than_the_wait",
        host_rules.own_share_of_restart,
    ),
)
