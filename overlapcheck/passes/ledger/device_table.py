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
        OF_THE_CALL,
        "host_sync/fires_the_host_waits_for_a_read_back_before_it_launches_again",
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
