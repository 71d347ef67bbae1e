"""Whether an answer to a damaged export is allowed, given the answer to the whole one."""

from __future__ import annotations

import unicodedata
from enum import Enum
from typing import Any

from tests.hostile.mutations import Allowed
from tests.hostile.trial import CPU_S, MEMORY_MB, Answer

PASS, FAIL, USAGE, INCONCLUSIVE, COULD_NOT_RUN = range(5)
_VERDICTS = (PASS, FAIL, INCONCLUSIVE)
_REFUSALS = (USAGE, COULD_NOT_RUN)
_PROGRESS = " ..."
_OWN = "overlapcheck: "
_DEFECT = "an error of our own"
"""Part of the line that any exception nobody foresaw becomes."""
_BIDI = set("\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069\u200e\u200f\u061c")
_NUMBERS = (
    "device",
    "window_ns",
    "compute_ns",
    "opaque_ns",
    "idle_ns",
    "communication_ns",
    "communication_hidden_ns",
    "bound_ns",
    "recoverable",
    "copies",
    "ledger",
)


class Outcome(Enum):
    """What an answer was, beside the one to the whole."""

    EQUAL = "equal"
    MOVED = "same verdict, numbers moved"
    OTHER = "another recording, another verdict"
    INCONCLUSIVE = "inconclusive"
    REFUSED = "refused (2/4)"
    VIOLATION = "VIOLATION"


def judged(whole: Answer, answer: Answer, allowed: Allowed) -> tuple[Outcome, str]:
    """The outcome, and for a violation its kind and what shows it, in one line."""
    broken = _broken(answer)
    if broken:
        return Outcome.VIOLATION, broken
    outcome = _compared(whole, answer)
    accepted = {
        Allowed.EQUAL: {Outcome.EQUAL},
        Allowed.EQUAL_OR_REFUSED: {Outcome.EQUAL, Outcome.INCONCLUSIVE, Outcome.REFUSED},
        Allowed.SAME_VERDICT: set(Outcome) - {Outcome.OTHER},
        Allowed.ANY_VERDICT: set(Outcome),
    }[allowed]
    if outcome in accepted:
        return outcome, ""
    got = f"{_name(whole)} became {_name(answer)}"
    if outcome is Outcome.MOVED:
        got = f"{_name(whole)}: {_difference(whole, answer)}"
    elif answer.exit_code in _REFUSALS:
        got += f": {answer.stderr.strip()}"
    kind = {Outcome.OTHER: "another verdict", Outcome.MOVED: "other numbers"}
    return Outcome.VIOLATION, f"{kind.get(outcome, 'no answer')}: {got}"


def _broken(answer: Answer) -> str:
    """What no input may cause; "" where it did not."""
    said = answer.stderr.strip().splitlines()
    last = said[-1] if said else ""
    if answer.timed_out or answer.exit_code in (-9, -24) or answer.cpu_s > CPU_S:
        return f"hang: {answer.cpu_s:.0f} s of computing"
    if answer.memory_mb > MEMORY_MB:
        return f"memory: {answer.memory_mb} MB"
    if answer.exit_code < 0:
        return f"crash: signal {-answer.exit_code}"
    if "Traceback (most recent call last)" in answer.stderr:
        return f"traceback: {last}"
    if answer.exit_code not in _VERDICTS + _REFUSALS:
        return f"exit code {answer.exit_code}: {last}"
    if answer.left_behind:
        return f"input changed: {', '.join(answer.left_behind)}"
    for name, text in (("stdout", answer.stdout), ("stderr", answer.stderr)):
        raw = sorted({char for char in text if _is_raw(char)})
        if raw:
            return f"raw characters on {name}: {raw[:3]!r}"
    if answer.exit_code in _REFUSALS:
        lines = [line for line in said if not line.endswith(_PROGRESS)]
        if len(lines) != 1 or not lines[0].startswith(_OWN):
            return f"not one line: {lines[:2]!r}"
        if answer.stdout:
            return "a refusal with a report"
        if _DEFECT in lines[0]:
            return f"unforeseen: {lines[0]}"
    elif answer.report.get("verdict", {}).get("exit_code") != answer.exit_code:
        return f"exit code {answer.exit_code} without a report that says so: {last}"
    return ""


def _is_raw(char: str) -> bool:
    return (unicodedata.category(char) == "Cc" and char != "\n") or char in _BIDI


def _compared(whole: Answer, answer: Answer) -> Outcome:
    if answer.exit_code in _REFUSALS:
        return Outcome.REFUSED
    if answer.exit_code == whole.exit_code and _numbers(answer) == _numbers(whole):
        return Outcome.EQUAL
    if answer.exit_code == INCONCLUSIVE:
        return Outcome.INCONCLUSIVE
    return Outcome.MOVED if answer.exit_code == whole.exit_code else Outcome.OTHER


def _numbers(answer: Answer) -> dict[str, Any]:
    """All that must not change with the form of an export: no names, no absolute times."""
    report = answer.report
    found = {
        f"{number}.{name}": device.get(name)
        for number, device in enumerate(report.get("devices", []))
        for name in _NUMBERS
    }
    found["checks"] = [
        (check["name"], check["device"], check["outcome"], check["measured"], check["limit"])
        for check in report.get("verdict", {}).get("checks", [])
    ]
    found["findings"] = [(f["cause"], f["blamed_ns"]) for f in report.get("findings", [])]
    return found


def _difference(whole: Answer, answer: Answer) -> str:
    before, after = _numbers(whole), _numbers(answer)
    for name in before | after:
        if before.get(name) != after.get(name):
            return f"{name} {before.get(name)} became {after.get(name)}"[:200]
    return "nothing"


def _name(answer: Answer) -> str:
    return {0: "PASS", 1: "FAIL", 3: "INCONCLUSIVE"}.get(
        answer.exit_code, f"exit {answer.exit_code}"
    )
