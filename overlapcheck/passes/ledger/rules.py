"""How a piece of idle time gets its reason: the rules, all of them, in the order they are asked.

The walk (`idle_walk`) cuts idle time into parts: the host was late, an operation ran that compute
waited for, or nothing did. Each kind has rules of its own, of which the first that fits decides.
Then copies look at the copies before them, and at last what ran meanwhile may speak where nothing
else could. docs/how-a-reason-is-chosen.md is this table in print.

To add a rule: a function in the module of its stage, a row here at the place that its certainty
gives it, a picture that it decides (a test leaves each rule out), and `make golden` for the docs.
"""

from __future__ import annotations

from dataclasses import dataclass

from overlapcheck.passes.ledger import (
    call_rules,
    fill_rules,
    host_rules,
    meanwhile_rules,
    queue_rules,
    wait_rules,
)
from overlapcheck.passes.ledger.call_rules import Calls, Locks
from overlapcheck.passes.ledger.fill_rules import Fills
from overlapcheck.passes.ledger.host_rules import HostTime, Tails
from overlapcheck.passes.ledger.ledger_input import LedgerInput
from overlapcheck.passes.ledger.meanwhile_rules import Layer
from overlapcheck.passes.ledger.queue_rules import Queue
from overlapcheck.passes.ledger.rule import Rule, Ruling
from overlapcheck.passes.ledger.wait_rules import Waits

_OF_THE_CALL = "the call's: host-sync, allocation, module-load, sync-copy ..."

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
        "profiler_overhead/fires_nsys_held_the_launching_thread",
        host_rules.profiler_overhead,
    ),
    Rule(
        "in-a-call",
        "the launching thread was in a call that holds it",
        _OF_THE_CALL,
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
        _OF_THE_CALL,
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

FILL: tuple[Rule[Fills, Ruling], ...] = (
    Rule(
        "collective",
        "it was a collective",
        "exposed-collective",
        "rules/a_collective_and_the_start_behind_it",
        fill_rules.collective,
    ),
    Rule(
        "within-device",
        "it was a copy within the device, or a memset",
        "device-copy",
        "rules/a_memset_in_the_stream_beside_a_collective",
        fill_rules.within_device,
    ),
    Rule(
        "small-read-back",
        "it read back no more than a few KiB, from whatever memory: it serves a wait",
        "host-sync",
        "host_sync/fires_a_scalar_read_back",
        fill_rules.small_read_back,
    ),
    Rule(
        "pageable",
        "its host memory was pageable",
        "pageable-copy",
        "pageable_copy/fires_row_03_one_percent_of_the_time_and_it_holds_the_host",
        fill_rules.pageable,
    ),
    Rule(
        "synchronous",
        "its call returned only when it was done",
        "sync-copy",
        "rules/another_threads_synchronous_copy",
        fill_rules.synchronous,
    ),
    Rule(
        "waited-for-by-host",
        "nothing on the device waited for it, but the host, in a call, before it launched more",
        _OF_THE_CALL,
        "host_sync/fires_the_host_waits_for_a_read_back_before_it_launches_again",
        fill_rules.waited_for_by_host,
    ),
    Rule(
        "issued-after-a-wait",
        "it ran on from under compute, and was issued late, right after a call that held the host",
        _OF_THE_CALL,
        "rules/issued_right_after_a_wait",
        fill_rules.issued_after_a_wait,
    ),
    Rule(
        "after-late-host",
        "the host was late before it in the same piece",
        "that part's",
        "pageable_copy/quiet_row_16_a_pinned_copy_held_by_another_threads_lock",
        fill_rules.after_late_host,
    ),
    Rule(
        "too-much-data",
        "it ran on from under compute, and its direction copies longer than the device computes",
        "copy-bound",
        "late_issue/quiet_more_data_than_compute_cannot_be_issued_early_enough",
        fill_rules.too_much_data,
    ),
    Rule(
        "issued-too-late",
        "it ran on from under compute, which would have been long enough",
        "late-issue",
        "late_issue/fires_the_copy_outlasts_the_kernel_it_should_hide_under",
        fill_rules.issued_too_late,
    ),
    Rule(
        "behind-its-stream",
        "it had waited for the operation before it in its stream",
        "same-stream",
        "same_stream/fires_the_copy_stands_between_two_kernels_of_its_stream",
        fill_rules.behind_its_stream,
    ),
    Rule(
        "behind-an-event",
        "it had waited for an event of another stream",
        "event-wait",
        "event_wait/fires_the_copy_waits_for_the_step_it_should_hide_under",
        fill_rules.behind_an_event,
    ),
    Rule(
        "behind-the-null-stream",
        "it, or what it had waited for, is in the null stream, and the other's is a blocking one",
        "default-stream",
        "default_stream/fires_between_the_null_stream_and_a_blocking_stream",
        fill_rules.behind_the_null_stream,
    ),
    Rule(
        "behind-its-engine",
        "it began as soon as another copy of its direction had ended",
        "copy-engine",
        "copy_engine/fires_behind_a_bulk_copy_that_nobody_waits_for",
        fill_rules.behind_its_engine,
    ),
)

QUEUE: tuple[Rule[Queue, Ruling], ...] = (
    Rule(
        "behind-the-engine",
        "only the engine ties it to the copy before it: that copy is what it waited for",
        "copy-engine, for both",
        "copy_engine/fires_where_the_bulk_copy_reaches_into_the_idle_time",
        queue_rules.behind_the_engine,
    ),
    Rule(
        "behind-a-copy",
        "it queued behind a copy of the same piece",
        "that copy's",
        "rules/queued_behind_a_pageable_copy",
        queue_rules.behind_a_copy,
    ),
)

WAIT: tuple[Rule[Waits, Ruling], ...] = (
    Rule(
        "just-after",
        "a few microseconds behind a copy or collective",
        "that one's",
        "launch_latency/quiet_a_wait_that_a_copy_explains",
        wait_rules.just_after,
    ),
    Rule(
        "just-before",
        "a few microseconds before a copy or collective",
        "that one's",
        "rules/the_start_of_a_copy",
        wait_rules.just_before,
    ),
    Rule(
        "staged",
        "the call of the copy that follows was open all the while: the host staged it",
        "that copy's",
        "rules/staged_on_the_host",
        wait_rules.staged,
    ),
    Rule(
        "starting",
        "a few microseconds between kernels",
        "launch-latency",
        "launch_latency/fires_between_kernels_that_were_all_launched_before",
        wait_rules.starting,
    ),
)

MEANWHILE: tuple[Rule[LedgerInput, list[Layer]], ...] = (
    Rule(
        "migrating",
        "pages of unified memory moved, and no operation ran that compute waited for",
        "uvm-migration, whatever was said before",
        "uvm_migration/fires_the_host_touches_what_the_kernel_wrote",
        meanwhile_rules.migrating,
    ),
    Rule(
        "link-is-bound",
        "copies of a direction ran that is busy nearly all of the window",
        "copy-bound, but for device copies, collectives and pageable copies",
        "copy_bound/fires_on_one_stream_where_the_link_is_busy_nearly_all_the_time",
        meanwhile_rules.link_is_bound,
    ),
    Rule(
        "beside-a-collective",
        "a collective ran",
        "exposed-collective, where nothing was said",
        "exposed_collective/fires_launched_late_which_is_no_queue",
        meanwhile_rules.beside_a_collective,
    ),
    Rule(
        "beside-device-work",
        "a copy within the device or a memset ran",
        "device-copy, where nothing was said",
        "rules/a_memset_that_nothing_waits_for",
        meanwhile_rules.beside_device_work,
    ),
    Rule(
        "another-process",
        "another process computed on the GPU",
        "time-slicing, where nothing was said",
        "time_slicing/fires_two_processes_take_turns_on_one_gpu",
        meanwhile_rules.another_process,
    ),
    Rule(
        "beside-a-copy",
        "an unrelated copy ran",
        "hardware-queue, where nothing was said",
        "hardware_queue/fires_a_ready_kernel_stands_behind_an_unrelated_copy",
        meanwhile_rules.beside_a_copy,
    ),
)


@dataclass(frozen=True)
class Rules:
    """The rules of each stage."""

    held: tuple[Rule[Calls, Ruling], ...] = HELD
    lock: tuple[Rule[Locks, Ruling], ...] = LOCK
    host: tuple[Rule[HostTime, Ruling], ...] = HOST
    restart: tuple[Rule[HostTime, Tails], ...] = RESTART
    fill: tuple[Rule[Fills, Ruling], ...] = FILL
    queue: tuple[Rule[Queue, Ruling], ...] = QUEUE
    wait: tuple[Rule[Waits, Ruling], ...] = WAIT
    meanwhile: tuple[Rule[LedgerInput, list[Layer]], ...] = MEANWHILE


RULES = Rules()
