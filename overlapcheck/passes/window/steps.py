"""Steps of a program from its NVTX ranges, and the warm-up among them.

A step is one instance of a range family: names with their digits replaced by '#'. A kernel belongs
to the last step whose range had started when its launch call started, whatever thread made the
call, for frameworks launch the backward pass from another thread.

    range      [ step 0 ][ step 1 ][ step 2 ]
    launches     | |       | |       | |
    kernels        000 000   111 111   222 222
"""

from __future__ import annotations

import re
from dataclasses import dataclass

import numpy as np

from overlapcheck.api_kinds import ApiKind
from overlapcheck.columns import Codes, Index, Ints, Mask
from overlapcheck.grouping import distinct, groups, numbered, ordered
from overlapcheck.intervals import Intervals
from overlapcheck.searches import last_at_or_before
from overlapcheck.thresholds import Thresholds
from overlapcheck.trace import Strings
from overlapcheck.trace_tables import ApiCalls, Kernels, Ranges
from overlapcheck.user_patterns import user_pattern

STEP_LIKE = re.compile(
    r"(?<![a-z])(train_?)?(step|iter(ation)?|batch|micro_?batch|chunk|frame|epoch|generate|request)"
    r"s?(?![a-z])",
    re.IGNORECASE,
)
# emit_nvtx names every operator: "aten::batch_norm, seq = 12, op_id = 94".
_OPERATOR = re.compile(r"aten::|seq = \d")
_BESIDE_THE_STEPS = re.compile(
    r"warm.?up|pre.?fetch|data.?load|(?<![a-z])(pre.?)?(load|fetch|read)(er|ing)?(?![a-z])",
    re.IGNORECASE,
)
_MARKED_FOR_THE_USER = re.compile(r"\(--mark-steps, \w+\)$")
"""Of `run --mark-steps`: each step ends where the next begins, the last with the program."""
_NUMBER = re.compile(r"\d+")
_MOST_DIGITS = 18
"""Longer ones are no count of steps, and no int64."""


@dataclass(frozen=True)
class StepRanges:
    """The chosen family's ranges, in order of their start."""

    family: str
    start_ns: Ints
    end_ns: Ints
    beside: bool = False
    """Whether the name speaks of warm-up or loading: work beside the steps that has no better."""
    own_numbers: Ints | None = None
    """The number in each range's name; None where that does not tell the ranges apart."""

    def __len__(self) -> int:
        return int(self.start_ns.size)

    @property
    def numbers(self) -> Ints:
        """What each step is called by, shape (n,): its own number, else its position from 0."""
        return np.arange(len(self)) if self.own_numbers is None else self.own_numbers

    @property
    def last_end_ns(self) -> int:
        """When the last range closed."""
        return int(self.end_ns.max())

    def of_launches(self, launch_ns: Ints) -> Index:
        """Step of each launch, shape (n,); ABSENT before the first."""
        return last_at_or_before(self.start_ns, launch_ns)


def family_of(name: str) -> str:
    """Name of the family that a range belongs to: "step 12" → "step #"."""
    return _NUMBER.sub("#", name)


def step_ranges(ranges: Ranges, strings: Strings, pattern: str | None = None) -> StepRanges | None:
    """The step family of a process that covers the most time, or None.

    Families of warm-up, prefetch and data loading stand behind all others.

    Args:
        ranges: the process's ranges.
        strings: texts of their names.
        pattern: a family ("my step #") or a regular expression; None takes step-like names.
    """
    members: dict[str, list[int]] = {}
    for name_id in distinct(ranges.name_id).tolist():
        name = strings.text(name_id)
        if _is_step(name, pattern):
            members.setdefault(family_of(name), []).append(name_id)
    best: StepRanges | None = None
    best_rank = (False, -1)
    for family in sorted(members):
        mine = ranges.rows(np.isin(ranges.name_id, np.array(members[family], dtype=np.int64)))
        # Sorted by start and end: a row that was exported twice is one range.
        columns = (mine.start_ns, mine.end_ns, mine.tid, mine.name_id)
        again = np.all([column[1:] == column[:-1] for column in columns], axis=0)
        mine = mine.rows(np.append(True, ~again))
        if _MARKED_FOR_THE_USER.search(family):
            mine = mine.rows(np.arange(len(mine) - 1))
        beside = bool(_BESIDE_THE_STEPS.search(family))
        rank = (not beside, Intervals.of(mine.start_ns, mine.end_ns).total_ns)
        if len(mine) >= Thresholds.steps_least and rank > best_rank:
            own = _own_numbers(mine.name_id, strings)
            best = StepRanges(family, mine.start_ns, mine.end_ns, beside, own)
            best_rank = rank
    return best


def _own_numbers(name_id: Ints, strings: Strings) -> Ints | None:
    """The number in each name, of several the last that grows from range to range.

    "step 12" is 12, "epoch 3 step 12" is 12 while there is one epoch, and "step 12 of 90" is 12.
    """
    ids, position = numbered(name_id)
    texts = [_NUMBER.findall(strings.text(i)) for i in ids.tolist()]
    for places in reversed(list(zip(*texts, strict=True))):
        if max(map(len, places)) > _MOST_DIGITS:
            continue
        found = np.array([int(digits) for digits in places], dtype=np.int64)[position]
        if (np.diff(found) > 0).all():
            return found
    return None


def _is_step(name: str, pattern: str | None) -> bool:
    if pattern is None:
        counted = any(c.isdigit() for c in name)
        return counted and bool(STEP_LIKE.search(name)) and not _OPERATOR.search(name)
    return family_of(name) == pattern or bool(user_pattern(pattern, "--steps").search(name))


def warm_up_steps(
    kernel_step: Index, kernels: Kernels, calls: ApiCalls, kinds: Codes, starts_ns: Ints
) -> int:
    """Number of leading steps that still allocate, load code or meet new kernels.

    A program that allocates in every step never leaves its "warm-up": allocations count only
    where a step makes more of them than the second half of the steps usually does. The answer is
    at most half the steps, for a family that stays irregular has no warm-up to speak of.

    Args:
        kernel_step: step of each kernel, ABSENT for none.
        kernels: the process's or device's kernels.
        calls: the process's calls.
        kinds: ApiKind of each.
        starts_ns: start of each step on the host, shape (steps,).
    """
    count = starts_ns.size
    warm = _new_names(kernel_step, kernels.name_id, count)
    for kind in (ApiKind.MODULE_LOAD, ApiKind.ALLOCATION):
        step = last_at_or_before(starts_ns, calls.start_ns[kinds == kind])
        per_step = np.bincount(step[step >= 0], minlength=count)
        warm |= per_step > np.median(per_step[count // 2 :])
    steady = np.flatnonzero(~warm)
    leading = int(steady[0]) if steady.size else count
    return leading if leading <= count // 2 else 1


def _new_names(kernel_step: Index, name_id: Ints, count: int) -> Mask:
    """Steps in which a kernel name is seen for the first time."""
    new = np.zeros(count, dtype=bool)
    if name_id.size:
        # Sorted by step, so the first row of each name is of its first step.
        order = ordered(kernel_step)
        first, _ = groups(name_id[order])
        steps = kernel_step[order[first]]
        new[steps[steps >= 0]] = True
    return new
