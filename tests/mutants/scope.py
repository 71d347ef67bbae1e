"""What is mutated, what is not and why, and which tests judge it."""

from __future__ import annotations

from pathlib import Path

from mutmut.mutation import mutators

ROOT = Path(__file__).parents[2]
PACKAGES = ("checks", "causes", "passes")
"""Packages of `overlapcheck` that decide; thresholds.py is mutated by its own operator."""

_WHOLE_REPORTS = ("tests/renderers/test_json.py", "tests/renderers/test_terminal.py")
_PREDICTIONS = tuple(f"tests/whatif/test_{name}.py" for name in ("forecast", "repairs", "replay"))
_STREAMS = tuple(f"tests/streams/test_{name}.py" for name in ("check", "audit", "policy"))
TESTS = {
    "checks": (
        *("tests/checks", "tests/passes/pace", "tests/compare/test_pace.py"),
        *("tests/streams/test_policy.py", "tests/cli/test_own_pace.py", *_WHOLE_REPORTS),
    ),
    "causes": (
        *("tests/causes", "tests/passes", "tests/test_collective_speed.py"),
        *(*_PREDICTIONS, *_WHOLE_REPORTS),
    ),
    "passes": (
        *("tests/passes", "tests/causes/test_pictures.py", "tests/test_collective_speed.py"),
        *(*_PREDICTIONS, *_STREAMS, *_WHOLE_REPORTS),
    ),
    "thresholds.py": (
        *("tests/passes", "tests/causes", "tests/checks"),
        *("tests/ranks/test_outliers.py", "tests/ranks/test_rendezvous.py", "tests/compare"),
    ),
}
"""Tests that judge the mutants of a package: those of what it decides, not of what is made of it.
Of these, the ones that run the mutated lines."""

LEFT_OUT = {
    "test_the_causes_are_those_expected": "needs recordings that are not in the repository",
    "test_two_versions_of_nsys_tell_the_same_first_cause": "the same",
    "test_without_event_rows_the_first_cause_stays": "the same",
    "test_every_recording_is_replayed_exactly": "the same",
    "test_the_pytest_plugin_has_it": "needs the package installed",
    "test_the_page_prints_the_table": "prints texts",
    "test_however_operations_lie_every_idle_nanosecond_is_given_once": "takes many seconds",
    "test_random_ranges_have_the_device_time_of_the_definition": "the same",
}
"""Tests by name that do not judge a mutant."""

SLOW_S = 4.0
"""Tests that take more processor time do not judge: for a mutant that survives, all tests run to
their end. The quickest come first."""

NO_MUTANTS_OF = {
    "causes/__init__.py": "finds the causes and lays out their manual pages: texts",
    "passes/ledger/rule_page.py": "prints documentation",
    "passes/ledger/host_table.py": "a table of texts; leaving out each row is a test of its own",
    "passes/ledger/device_table.py": "the same",
    "passes/ledger/rules.py": "the same",
    "passes/ledger/side_by_side.py": "how many cores are used changes no result",
}
"""Modules without mutants."""

OPERATORS_LEFT_OUT = (
    mutators.operator_string,  # texts: names of kernels and files have tests of their own
    mutators.operator_assignment,  # `a = None` ends in an exception wherever the line runs: half of
    # all mutants, and killed by any test at all, so that they raise the score and say nothing
)
"""Operators of mutmut that are not used. Of an argument that is dropped or made None, only the
dropped keyword is, for the same reason: a default takes its place."""

QUIET_KEYWORDS = {
    "dtype": "a narrower or wider type holds the same numbers",
    "copy": "saves memory only",
    "strict": "guards against a fault of the program itself",
    "minlength": "pads counts that are indexed by what occurs",
    "settle_with": "text",
    "hint": "text",
    "reason": "text, or killed wherever a reason is asserted",
}
"""Arguments of calls that are left as they are, and why."""
