"""A comparison as text, Markdown and JSON."""

from __future__ import annotations

import json

import pytest
from rich.cells import cell_len

from overlapcheck.compare.compare import compare
from overlapcheck.comparison import Comparison
from overlapcheck.errors import PolicyInvalid
from overlapcheck.renderers.comparison import (
    comparison_renderer,
    comparison_renderer_for_file,
    comparison_renderers,
)
from overlapcheck.renderers.comparison.terminal import ComparisonTerminal
from tests.compare.reports import device, report
from tests.renderers.comparison.comparisons import EVERY

TERMINAL = """\
BETTER  median step 10.0 ms -> 8.0 ms: 2.0 ms per step won (20.0 %); gone:
        pageable-copy (3.0 ms per step)

  base     a.sqlite, 16 steps of 'step #'
           python a.py
  new      b.sqlite, 16 steps of 'step #'
           python b.py
  device   0, NVIDIA H200

                  base     new     change     noise
  step time    10.0 ms  8.0 ms    -2.0 ms  100.0 us  better
  recoverable   20.0 %   5.0 %  -15.0 pts   1.0 pts  better
  overlap h2d   40.0 %  95.0 %  +55.0 pts   1.0 pts  better

  per step, on average      base       new   change     noise
  compute                 6.9 ms    7.9 ms  +1.0 ms  100.0 us  worse
  pageable-copy           3.0 ms      0 ns  -3.0 ms  100.0 us  gone
  device-copy           100.0 us  100.0 us     0 ns  100.0 us  no change
  together               10.0 ms    8.0 ms  -2.0 ms  100.0 us  better

  noise    twice the standard error of the difference of the medians, from the
           spread over the steps (95th percentile less median), and never less
           than 1 %

  PASS --fail-if-worse 5
"""


@pytest.fixture
def won() -> Comparison:
    base = device(
        recoverable=0.2, overlap={"h2d": 0.4}, ledger={"pageable-copy": 3.0, "device-copy": 0.1}
    )
    new = device(step_ms=8, overlap={"h2d": 0.95}, ledger={"device-copy": 0.1})
    return compare(report(base), report(new, name="b"), limit=0.05)


def test_the_terminal_says_what_was_won_and_what_is_gone(won: Comparison) -> None:
    assert ComparisonTerminal().render(won) == TERMINAL


def test_colour_changes_nothing_but_the_colour(won: Comparison) -> None:
    colored = ComparisonTerminal(color=True).render(won)

    assert "\x1b[" in colored
    assert comparison_renderers()["terminal"].render(won) == TERMINAL


def test_markdown_is_a_table_that_names_cannot_break() -> None:
    new = report(device(ledger={"host-sync": 2.0}, step_ms=12), name="a|b<i>_c_")
    text = comparison_renderers()["markdown"].render(compare(report(device()), new, limit=0.05))
    rows = [line for line in text.splitlines() if line.startswith("|")]

    assert text.startswith("### 🔴 overlapcheck compare: WORSE\n")
    assert "a&#124;b&#60;i&#62;&#95;c&#95;.sqlite" in text
    assert "| host-sync | 0 ns | 2.0 ms | +2.0 ms | 100.0 us | new |" in rows
    assert {row.count("|") for row in rows} == {7}
    assert "**FAIL** `--fail-if-worse 5`; step time is 20.0 % longer" in text


@pytest.mark.parametrize("comparison", EVERY)
def test_no_line_of_the_terminal_is_longer_than_80_columns(comparison: Comparison) -> None:
    lines = ComparisonTerminal().render(comparison).split("\n")

    assert max(map(cell_len, lines)) <= 80
    assert all(line.isprintable() for line in lines)


def test_a_comment_on_many_devices_has_room_for_the_worst() -> None:
    numbers = range(200)
    base = report(*(device(number=n, ledger={"host-sync": 1.0}) for n in numbers))
    new = report(*(device(number=n, step_ms=10 if n < 199 else 15) for n in numbers))
    text = comparison_renderers()["markdown"].render(compare(base, new))

    assert len(text) < 65_536
    assert "| device 199, NVIDIA H200 |" in text
    assert "The rest is too long for a comment" in text


def test_json_holds_every_number(won: Comparison) -> None:
    document = json.loads(comparison_renderers()["json"].render(won))
    (one,) = document["devices"]

    assert (document["kind"], document["change"], document["exit_code"]) == (
        "comparison", "better", 0,
    )  # fmt: skip
    assert one["quantities"][0] == {
        "name": "step time", "unit": "ns", "base": 10e6, "new": 8e6,
        "noise": 1e5, "change": "better", "too_bad": "", "too_noisy": "",
        "difference": -2e6,
    }  # fmt: skip
    assert [cause["cause"] for cause in one["gone"]] == ["pageable-copy"]
    assert one["base"]["report"] == "a.sqlite"
    assert one["base"]["idle"][0] == {"cause": "pageable-copy", "ns": 48_000_000}


def test_the_worst_of_several_devices_is_the_headline() -> None:
    base = report(device(number=0), device(number=1))
    new = report(device(number=0), device(number=1, step_ms=15))
    text = ComparisonTerminal().render(compare(base, new))

    assert text.startswith(
        "WORSE  device 1: median step 10.0 ms -> 15.0 ms: 5.0 ms per step lost (50.0 %)\n"
    )


def test_an_objection_that_was_overruled_is_told() -> None:
    comparison = compare(report(device()), report(device(gpu="NVIDIA L4")), force=True)
    said = " ".join(ComparisonTerminal().render(comparison).split())

    assert "compared all the same: another GPU: NVIDIA H200 against NVIDIA L4" in said
    assert "device 0, NVIDIA H200 against NVIDIA L4" in said


def test_an_unknown_suffix_or_name_is_refused_and_the_known_are_named() -> None:
    with pytest.raises(PolicyInvalid, match=r"a comparison has no format with this suffix"):
        comparison_renderer_for_file("a.pdf")
    with pytest.raises(PolicyInvalid, match=r"no such format; use one of github, html, json"):
        comparison_renderer("pdf")
