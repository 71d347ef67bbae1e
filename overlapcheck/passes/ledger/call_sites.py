"""Where in the user's program CUDA calls were made: by a stack, else by the directive around them.

mark     M1        M2             a Python stack each, on the calling thread
calls     [ call ]  [ call ]      each call takes the mark just before it
"""

from __future__ import annotations

import re
from collections.abc import Mapping

import numpy as np

from overlapcheck.columns import ABSENT, Ints, constant
from overlapcheck.finding import SourceLine
from overlapcheck.grouping import groups
from overlapcheck.passes.ledger.directive_sites import Places
from overlapcheck.searches import last_at_or_before
from overlapcheck.thresholds import Thresholds
from overlapcheck.trace import Frame, Missing, Trace
from overlapcheck.trace_tables import ApiCalls, Backtraces

_FRAMEWORK = re.compile(
    r"(^|/)(site|dist)-packages/|(^|/)lib/python\d|^<|(^|/)importlib/|(^|/)torch/(_|nn/|optim/)"
)


def known_sites(trace: Trace) -> Mapping[int, SourceLine]:
    """The user's own frame of every stack, not the framework's, and every directive, by id."""
    return {**_known_stacks(trace), **Places.of(trace).lines}


def _known_stacks(trace: Trace) -> Mapping[int, SourceLine]:
    if isinstance(trace.backtraces, Missing):
        return {i: _line(frame) for i, frame in trace.call_sites.items()}
    return {i: _line(_own_frame(stack)) for i, stack in trace.stacks.items() if stack}


def call_sites(calls: ApiCalls, trace: Trace, limits: Thresholds) -> Ints:
    """Site of each call of a process, shape (n,); ABSENT where nothing tells it."""
    sites, around = _by_stack(calls, trace, limits), Places.of(trace).around(calls)
    return sites if around is None else np.where(sites == ABSENT, around, sites)


def _by_stack(calls: ApiCalls, trace: Trace, limits: Thresholds) -> Ints:
    marks = trace.backtraces
    if isinstance(marks, Missing):
        stack = calls.callchain_id
    else:
        stack = _stack_of_calls(calls, marks, limits)
    if stack.size == 0 or (stack.strides == (0,) and stack[0] == ABSENT):
        return constant(ABSENT, stack.size)
    known = np.isin(stack, np.array(sorted(_known_stacks(trace)), dtype=np.int64))
    return np.where(known, stack, ABSENT)


def _stack_of_calls(calls: ApiCalls, marks: Backtraces, limits: Thresholds) -> Ints:
    stack = np.full(len(calls), ABSENT, dtype=np.int64)
    for row in groups(calls.process, calls.tid)[0].tolist():
        process, tid = int(calls.process[row]), int(calls.tid[row])
        own = marks.rows((marks.process == process) & (marks.tid == tid))
        if len(own) == 0:
            continue
        mine = np.flatnonzero(calls.tid == tid)
        start = calls.start_ns[mine]
        # A mark precedes its call, and may carry a later time by clock rounding.
        at = last_at_or_before(own.start_ns, start + limits.stack_clock_slack_ns)
        near = (at != ABSENT) & (start - own.start_ns[at] <= limits.stack_before_call_ns)
        stack[mine[near]] = own.stack_id[at[near]]
    return stack


def _own_frame(stack: tuple[Frame, ...]) -> Frame:
    """The innermost frame outside frameworks, else the innermost of all."""
    return next((frame for frame in stack if not _FRAMEWORK.search(frame.file)), stack[0])


def _line(frame: Frame) -> SourceLine:
    return SourceLine(frame.file, frame.line, frame.function)
