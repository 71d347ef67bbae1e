from __future__ import annotations

import sys
from collections.abc import Callable
from importlib import import_module

import pytest

from overlapcheck.causes import causes
from overlapcheck.cli import main


def manual_source(cause: str) -> str:
    module = import_module(f"overlapcheck.causes.{cause.replace('-', '_')}")
    return module.__doc__ or ""


Explain = Callable[..., tuple[int, str, str]]


@pytest.fixture
def explain(monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Explain:
    """Run `overlapcheck explain ARGUMENTS`: code, stdout, stderr."""

    def run(*arguments: str) -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "argv", ["overlapcheck", "explain", *arguments])
        with pytest.raises(SystemExit) as stop:
            main()
        return (int(stop.value.code or 0), *capfd.readouterr())

    return run


def test_without_a_cause_all_are_listed_in_a_line_each(explain: Explain) -> None:
    code, out, err = explain()
    named = {line.split()[0] for line in out.splitlines() if line}

    assert (code, err) == (0, "")
    assert set(causes()) <= named


@pytest.mark.parametrize("cause", sorted(causes()))
def test_every_cause_has_a_page(cause: str, explain: Explain) -> None:
    code, out, _ = explain(cause)

    assert code == 0
    assert out.startswith(cause)
    assert len(out.splitlines()) > 5


def test_a_page_says_which_repairs_are_replayed(explain: Explain) -> None:
    _, out, _ = explain("exposed-collective")
    _, unknown, _ = explain("copy-bound")

    assert "    reduce by bucket under the backward pass (--fix exposed-collective)\n" in out
    assert "    balance the ranks: none comes late (--fix late-rank)\n" in out
    assert "whatif" not in unknown


@pytest.mark.parametrize("cause", sorted(causes()))
def test_a_page_fits_a_terminal_and_its_picture_stays_as_drawn(
    cause: str, explain: Explain
) -> None:
    _, out, _ = explain(cause)
    before, _, rest = out.partition("\nWhat it looks like\n")
    drawn, _, after = rest.partition("\nWhat to do\n")

    assert max(map(len, f"{before}\n{after}".splitlines())) <= 80
    assert drawn in (manual_source(cause) + "\n")


def test_numbers_are_written_as_the_policy_file_takes_them(explain: Explain) -> None:
    assert "poll-distance-ns = 1000000: " in explain("host-sync")[1]


def test_a_misspelt_cause_exits_with_2_and_the_nearest_one(explain: Explain) -> None:
    code, out, err = explain("pagable-copy")

    assert (code, out) == (2, "")
    assert "pageable-copy" in err
    assert err.count("\n") == 1
