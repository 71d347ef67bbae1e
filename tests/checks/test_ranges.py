"""Limits of NVTX ranges: the checks of the window, on a part of it."""

from __future__ import annotations

import pytest

from overlapcheck.checks.judge import judge
from overlapcheck.errors import PolicyInvalid
from overlapcheck.verdict import Check, Limits, Outcome, Policy
from tests.pictures import device_of, picture

# forward: copy b under kernel a; load: copy d in the open, then 1 column of nothing.
PROGRAM = """
s7  kernel k         |.aaaaaaaa.......cccc..|
s13 h2d pinned 1B    |...bbbb....dddd.......|
t1  cudaLaunchKernel |a..............c......|
t1  cudaMemcpyAsync  |.b........d...........|
t1  nvtx forward     |xxxx..................|
t1  nvtx load        |.........xxxxxxxx.....|
"""


def checks(rows: str, ranges: dict[str, Limits], **selection: object) -> list[Check]:
    """What is judged of ranges alone, by a policy that asks nothing of the window."""
    measured = picture(rows).measure(ranges=tuple(ranges), **selection)
    judged = judge(measured, Policy(min_overlap=None, max_recoverable=None, ranges=ranges))
    return [check for check in judged.checks if check.name != "capture"]


def one(rows: str, pattern: str, limits: Limits, **selection: object) -> Check:
    (found,) = checks(rows, {pattern: limits}, **selection)
    return found


def test_the_same_copies_pass_in_one_range_and_fail_in_another() -> None:
    limits = Limits(min_overlap=0.8, max_recoverable=0.1, max_idle=0.5)
    found = checks(PROGRAM, {"forward": limits, "load": limits})

    assert [(c.name, c.outcome.value, c.measured, c.limit) for c in found] == [
        ("overlap h2d in 'forward'", "PASS", 1.0, 0.8),
        ("recoverable in 'forward'", "PASS", 0.0, 0.1),
        ("idle in 'forward'", "PASS", 0.0, 0.5),
        ("overlap h2d in 'load'", "FAIL", 0.0, 0.8),
        ("recoverable in 'load'", "FAIL", pytest.approx(5 / 9), 0.1),
        ("idle in 'load'", "FAIL", pytest.approx(5 / 9), 0.5),
    ]
    assert found[4].reason == "5.0 us of 9.0 us"
    assert found[3].at_least
    assert {check.device for check in found} == {device_of(1)}


def test_only_what_is_set_is_judged() -> None:
    names = [check.name for check in checks(PROGRAM, {"load": Limits(max_idle=0.1)})]

    assert names == ["idle in 'load'"]


def test_exposed_communication_is_a_share_of_the_range() -> None:
    found = one(
        """
        s7 kernel k          |.aaaa.......dd|
        s8 kernel ncclKernel |...bbbb.......|
        t1 cudaLaunchKernel  |a.........d...|
        t1 cuLaunchKernel    |.b............|
        t1 nvtx part         |xx............|
        """,
        "part",
        Limits(max_exposed_communication=0.2),
    )

    assert (found.name, found.outcome) == ("exposed comm in 'part'", Outcome.FAIL)
    assert found.measured == pytest.approx(2 / 6)
    assert found.reason == "2.0 us of 4.0 us of communication"


def test_a_direction_may_have_its_own_limit() -> None:
    rows = f"""{PROGRAM}
        s14 d2h pinned 1B     |...........eeee.......|
        t1 cudaMemcpy2DAsync  |...........e..........|
        """
    both = checks(rows, {"load": Limits(min_overlap=0.8, overlap_of={"d2h": 0.0})})
    alone = checks(rows, {"load": Limits(overlap_of={"d2h": 0.0})})

    assert [(check.name, check.outcome.value) for check in both] == [
        ("overlap h2d in 'load'", "FAIL"),
        ("overlap d2h in 'load'", "PASS"),
    ]
    assert [check.name for check in alone] == ["overlap d2h in 'load'"]


@pytest.mark.parametrize(("relief", "limit"), [(True, 0.45), (False, 0.8)])
def test_the_ceiling_is_that_of_the_range(relief: bool, limit: float) -> None:
    """Copies of 8 columns beside compute of 4: half of them is all that can be hidden."""
    found = one(
        """
        s7  kernel k         |.aa..ee........ccccccccc|
        s13 h2d pinned 1B    |...bbbbbbbb.............|
        t1  cudaLaunchKernel |a..e..........c.........|
        t1  cudaMemcpyAsync  |.b......................|
        t1  nvtx part        |xxx.....................|
        """,
        "part",
        Limits(min_overlap=0.8, relief_from_ceiling=relief),
    )

    assert (found.outcome, found.measured) == (Outcome.FAIL, 0.25)
    assert found.limit == pytest.approx(limit)


SMALL = """
s7  kernel k         |.aaaaaaaa.cccccccccccccccccccccccccccccccccccccccccccccccccc|
s13 h2d pinned 1B    |.........b..................................................|
t1  cudaLaunchKernel |a.......c...................................................|
t1  cudaMemcpyAsync  |.b..........................................................|
t1  nvtx part        |xxxx........................................................|
"""


def test_what_is_too_little_to_judge_is_measured_against_the_range() -> None:
    """1 column of 59 is nothing to the window, but 1 of the 9 of the range is."""
    (window,) = [
        check
        for check in judge(picture(SMALL).measure(), Policy()).checks
        if check.name == "overlap h2d"
    ]
    found = one(SMALL, "part", Limits(min_overlap=0.8))

    assert window.outcome is Outcome.PASS
    assert window.reason == "not judged: hiding more wins at most 1.7 %"
    assert found.outcome is Outcome.FAIL


def test_a_range_without_copies_has_nothing_to_hide_and_says_so() -> None:
    rows = PROGRAM.replace("|.b........d", "|..........d").replace("bbbb", "....")
    found = one(rows, "forward", Limits(min_overlap=0.8))

    assert (found.name, found.outcome) == ("overlap in 'forward'", Outcome.PASS)
    assert (found.measured, found.limit) == (None, None)
    assert found.reason == "no copies to hide in it"


def test_a_limit_of_one_direction_is_a_limit_of_copies_too() -> None:
    rows = PROGRAM.replace("|.b........d", "|..........d").replace("bbbb", "....")
    found = one(rows, "forward", Limits(overlap_of={"h2d": 0.8}))

    assert (found.outcome, found.reason) == (Outcome.PASS, "no copies to hide in it")


def test_every_limit_says_where_it_comes_from() -> None:
    origins = {"max_idle": "ci.toml", "min_overlap": "ci.toml, profile nightly"}
    limits = Limits(max_idle=0.5, min_overlap=0.5, origins=origins)
    found = checks(PROGRAM, {"load": limits, "nowhere": limits})

    assert [check.limit_from for check in found] == [
        "ci.toml, profile nightly",
        "ci.toml",
        "ci.toml and ci.toml, profile nightly",
    ]


# ---- no data is never a pass


def test_a_range_that_is_not_there_is_undecided_and_names_what_is() -> None:
    found = one(PROGRAM, "foward", Limits(max_idle=1.0))

    assert (found.name, found.outcome) == ("range 'foward'", Outcome.INCONCLUSIVE)
    assert (found.measured, found.limit) == (None, None)
    assert found.reason == "no closed NVTX range of the process has this name"
    assert found.settle_with == (
        "name one that it has, 'forward', 'load'; all: nsys stats --report nvtx_sum REPORT"
    )


FIVE = """
s7 kernel k         |..aa.bb.cc.|
t1 cudaLaunchKernel |a...b..c...|
t1 nvtx data        |xx.........|
t1 nvtx loss        |..xx.......|
t1 nvtx step        |....xx.....|
t1 nvtx save        |......xx...|
t1 nvtx forward     |........xx.|
"""


@pytest.mark.parametrize(
    ("asked", "names"), [("foward", "'forward'"), ("zzzzzz", "'data', 'loss', 'step'")]
)
def test_of_many_names_the_likely_ones_are_offered_else_three(asked: str, names: str) -> None:
    settle_with = one(FIVE, asked, Limits(max_idle=1.0)).settle_with

    assert settle_with.startswith(f"name one that it has, {names}; all:")


def test_numbered_names_are_offered_as_a_pattern() -> None:
    rows = """
        s7 kernel k         |..aa.bb.cc|
        t1 cudaLaunchKernel |a...b..c..|
        t1 nvtx step        |0001112222|
        """
    assert one(rows, "forward", Limits(max_idle=1.0)).settle_with.startswith(
        "name one that it has, 'step *'; all:"
    )


def test_without_any_range_the_advice_is_to_record_some() -> None:
    rows = "s7 kernel k |.aa|\nt1 cudaLaunchKernel |a..|"

    assert one(rows, "forward", Limits(max_idle=1.0)).settle_with == (
        "mark the code with NVTX ranges, and record them: --trace=cuda,nvtx"
    )


def test_a_range_without_work_in_the_window_is_undecided() -> None:
    found = one(PROGRAM, "load", Limits(max_idle=1.0), window_ns=(0, 9_000))

    assert found.outcome is Outcome.INCONCLUSIVE
    assert found.reason == "its 1 instance launched no work of this device that runs in the window"
    assert "--skip 0" in found.settle_with


def test_a_range_that_nobody_measured_is_undecided() -> None:
    policy = Policy(ranges={"load": Limits(max_idle=1.0)})
    found = judge(picture(PROGRAM).measure(), policy).checks[-1]

    assert (found.outcome, found.reason) == (Outcome.INCONCLUSIVE, "it was not measured")


def test_an_undecided_range_keeps_the_verdict_from_passing() -> None:
    policy = Policy(min_overlap=0, max_recoverable=1, ranges={"nowhere": Limits(max_idle=1.0)})

    assert judge(picture(PROGRAM).measure(ranges=("nowhere",)), policy).outcome is (
        Outcome.INCONCLUSIVE
    )


def test_on_an_incomplete_recording_no_range_is_judged() -> None:
    rows = PROGRAM + "t1 cuLaunchKernel |...p..q..........r....|\n"
    found = checks(rows, {"load": Limits(max_idle=0.1), "nowhere": Limits(max_idle=0.1)})

    assert [(check.outcome, check.reason, check.settle_with) for check in found] == [
        (Outcome.INCONCLUSIVE, "not judged: the recording is incomplete", "")
    ] * 2


def test_each_device_is_judged_on_its_own_work() -> None:
    rows = """
        gpu0 s7 kernel k     |.aaaa.......|
        gpu1 s7 kernel k     |...b.....c..|
        t1  cudaLaunchKernel |ab.....c....|
        t1  nvtx part        |xxxxxxxx....|
        """
    found = checks(rows, {"part": Limits(max_idle=0.5)})

    assert [(c.device.device_id, c.outcome.value, c.measured) for c in found if c.device] == [
        (0, "PASS", 0.0),
        (1, "FAIL", pytest.approx(5 / 7)),
    ]


def test_a_device_without_work_of_the_range_is_undecided() -> None:
    rows = """
        gpu0 s7 kernel k     |.aaaa.......|
        gpu1 s7 kernel k     |...b.....c..|
        t1  cudaLaunchKernel |ab.....c....|
        t1  nvtx part        |x...........|
        """
    found = checks(rows, {"part": Limits(max_idle=0.5)})

    assert [check.outcome.value for check in found] == ["PASS", "INCONCLUSIVE"]


def test_an_impossible_limit_of_a_range_is_refused() -> None:
    with pytest.raises(PolicyInvalid, match=r"max_idle = 1\.2 is no share of one"):
        Limits(max_idle=1.2)
