"""The table of rules, second half: why compute waited for an operation, or for nothing."""

from __future__ import annotations

from overlapcheck.passes.ledger import (
    fill_rules,
    meanwhile_rules,
    queue_rules,
    wait_rules,
)
from overlapcheck.passes.ledger.fill_rules import Fills
from overlapcheck.passes.ledger.ledger_input import LedgerInput
from overlapcheck.passes.ledger.meanwhile_rules import Layer
from overlapcheck.passes.ledger.queue_rules import Queue
from overlapcheck.passes.ledger.rule import OF_THE_CALL, Rule, Ruling
from overlapcheck.passes.ledger.wait_rules import Waits

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
        "its call read back no more than a few KiB, and the host waited for it",
        "host-sync",
        "host_sync/fires_a_scalar_read_back",
        fill_rules.small_read_back,
    ),
    Rule(
        "pageable",
        "its host memory was pageable, and it was no upload of a few KiB, which is staged",
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
        "in-the-compute-stream",
        "it stood between two kernels of its stream, whoever waited for it or issued it late",
        "same-stream",
        "same_stream/fires_where_the_host_waits_for_the_copy_as_well",
        fill_rules.in_the_compute_stream,
    ),
    Rule(
        "waited-for-by-host",
        "nothing on the device waited for it, but the host, in a call, before it launched more",
        OF_THE_CALL,
        "rules/the_host_waits_for_a_copy_that_ran_on_from_under_compute",
        fill_rules.waited_for_by_host,
    ),
    Rule(
        "issued-after-a-wait",
        "it ran on from under compute, and was issued late, right after a call that held the host",
        OF_THE_CALL,
        "rules/issued_right_after_a_wait",
        fill_rules.issued_after_a_wait,
    ),
    Rule(
        "after-late-host",
        "the host was late before it in the same piece",
        "that part's",
        "rules/a_copy_on_a_side_stream_that_the_host_issued_late",
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
        "behind-another-device",
        "it had waited for work of another device of the process",
        "event-wait",
        "event_wait/fires_a_copy_between_devices_that_take_turns",
        fill_rules.behind_another_device,
    ),
    Rule(
        "behind-its-stream",
        "it began as soon as the operation before it in its stream had ended",
        "same-stream",
        "same_stream/fires_behind_a_copy_of_the_other_direction_on_a_side_stream",
        fill_rules.behind_its_stream,
    ),
    Rule(
        "behind-an-event",
        "it began as soon as the work behind an event that its stream waits for had ended",
        "event-wait",
        "event_wait/fires_the_copy_waits_for_the_step_it_should_hide_under",
        fill_rules.behind_an_event,
    ),
    Rule(
        "behind-its-graph",
        "it began as soon as an operation of another branch of its graph had ended",
        "event-wait",
        "event_wait/fires_between_the_branches_of_a_graph",
        fill_rules.behind_its_graph,
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
    Rule(
        "before-all-compute",
        "nothing had been computed before it",
        "same-stream, event-wait or default-stream, by the order in which compute waited for it",
        "rules/a_copy_before_the_first_kernel",
        fill_rules.before_all_compute,
    ),
    Rule(
        "behind-an-unrelated-kernel",
        "more streams than hardware queues, no order and no host function known, and it began when"
        " a kernel of another stream ended that was launched before",
        "hardware-queue",
        "hardware_queue/fires_a_copy_stands_behind_an_unrelated_kernel",
        fill_rules.behind_unrelated_work,
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
        "another-device",
        "an operation of another device of the process, which an event orders before, was at work",
        "event-wait",
        "event_wait/fires_two_devices_take_turns",
        wait_rules.another_device,
    ),
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
    Rule(
        "behind-unrelated-work",
        "more streams than hardware queues, no order and no host function known, and it began when"
        " work of another stream ended that was launched before",
        "hardware-queue",
        "hardware_queue/fires_a_ready_kernel_stands_behind_an_unrelated_copy",
        wait_rules.behind_unrelated_work,
    ),
    Rule(
        "late-start",
        "it had been handed over to an empty device, which did not begin with it",
        "late-start",
        "late_start/fires_handed_over_long_before_on_an_empty_device",
        wait_rules.late_start,
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
        "issuing-is-bound",
        "the host issued without a wait, and hardly anything was left to do when it had",
        "launch-bound, where the order of operations or nothing was said",
        "launch_bound/fires_where_no_order_would_win_what_issuing_costs",
        meanwhile_rules.issuing_is_bound,
    ),
)
