"""Made-up programs with one fault each, judged as a user would: the command line and its answer.

The faults are those that others reported in public; ../shared/cases says what is right and why.
"""

from __future__ import annotations

import json
import lzma
import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from overlapcheck.cli import cli
from overlapcheck.errors import ExitCode, OverlapcheckError
from overlapcheck.finding import MATERIAL_SHARE

SHARED = Path(__file__).parents[2] / "shared" / "cases"
EXIT_CODES = {
    "PASS": ExitCode.PASS,
    "FAIL": ExitCode.FAIL,
    "INCONCLUSIVE": ExitCode.INCONCLUSIVE,
}


def _expected() -> dict[str, dict[str, Any]]:
    path = SHARED / "EXPECTED.json"
    return json.loads(path.read_text()) if path.exists() else {}


EXPECTED = _expected()
pytestmark = pytest.mark.skipif(not EXPECTED, reason="../shared with the cases is not here")


@dataclass(frozen=True)
class Answer:
    """What a user gets."""

    exit_code: int
    text: str
    """All that the terminal shows, errors included."""
    causes: tuple[str, ...] | None
    """Of the findings that cost enough to be called one, in rank order; None without a result."""


@pytest.fixture(scope="module")
def answers(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Answer]:
    scratch = tmp_path_factory.mktemp("cases")

    @cache
    def answer(name: str) -> Answer:
        export, result = scratch / f"{name}.sqlite", scratch / f"{name}.json"
        export.write_bytes(lzma.decompress((SHARED / f"{name}.sqlite.xz").read_bytes()))
        command = ["analyze", str(export), "-o", str(result), *EXPECTED[name]["options"]]
        try:
            ran = CliRunner().invoke(cli, command, standalone_mode=False, catch_exceptions=False)
        except OverlapcheckError as error:
            return Answer(int(error.exit_code), str(error), None)
        finally:
            export.unlink()
        findings = json.loads(result.read_text())["findings"]
        causes = tuple(found["cause"] for found in findings if found["share"] >= MATERIAL_SHARE)
        return Answer(int(ran.return_value), ran.output, causes)

    return answer


@pytest.mark.parametrize("name", EXPECTED)
def test_the_exit_code_is_right(name: str, answers: Callable[[str], Answer]) -> None:
    expected, got = EXPECTED[name], answers(name)

    assert got.exit_code in (EXIT_CODES[expected["verdict"]], *expected.get("exit", ())), got.text


@pytest.mark.parametrize("name", EXPECTED)
def test_the_reason_is_right(name: str, answers: Callable[[str], Answer]) -> None:
    expected, got = EXPECTED[name], answers(name)

    if got.causes is not None:
        first = got.causes[0] if got.causes else None
        assert first in (*expected["first_cause"], *expected.get("proposed", ())), got.text
        assert not set(got.causes) & set(expected["never"]), got.text
    for words in expected.get("must_say", ()):
        assert re.search(words, got.text), got.text
    for words in expected.get("must_not_say", ()):
        assert not re.search(words, got.text), got.text
