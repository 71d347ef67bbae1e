from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from overlapcheck.columns import ABSENT
from overlapcheck.measurements import WindowSource
from overlapcheck.passes.process import process_tables
from overlapcheck.passes.window.steps import (
    STEP_LIKE,
    StepRanges,
    family_of,
    step_ranges,
)
from overlapcheck.sources.nsys.read import read_trace
from overlapcheck.trace import Strings, processes_of
from overlapcheck.trace_tables import Ranges
from tests.export import edit
from tests.pictures import Picture, picture


def family(drawing: Picture, pattern: str | None = None) -> StepRanges | None:
    trace = drawing.trace()
    return step_ranges(process_tables(trace, [0])[0].ranges, trace.strings, pattern)


@pytest.mark.parametrize(
    "name",
    [
        "step 3",
        "Step 3",
        "train_step_12",
        "trainstep 4",
        "iter 7",
        "iteration-7",
        "batch 0",
        "micro_batch 2",
        "microbatch 2",
        "chunk 5",
        "frame 9",
        "Epoch 1",
        "generate 3",
        "requests 8",
        "my_step 1",
        "Optimizer.step#1",
    ],
)
def test_names_of_steps_are_recognised(name: str) -> None:
    assert STEP_LIKE.search(name)


@pytest.mark.parametrize(
    "name", ["footstep 3", "stepper 3", "batchnorm 4", "framework 1", "loop 2"]
)
def test_names_that_only_contain_such_a_word_are_not_steps(name: str) -> None:
    assert not STEP_LIKE.search(name)


def test_a_family_is_a_name_without_its_numbers() -> None:
    assert family_of("epoch 12 step 007") == "epoch # step #"


def test_three_ranges_make_a_family_and_two_do_not() -> None:
    found = family(picture("t1 nvtx step |00112.|"))

    assert found is not None
    assert (found.family, len(found)) == ("step #", 3)
    assert family(picture("t1 nvtx step |0011..|")) is None


def test_a_name_without_a_number_is_no_step() -> None:
    assert family(picture("t1 nvtx step |a.b.c.|")) is None


def test_a_number_alone_makes_no_step() -> None:
    assert family(picture("t1 nvtx layer |001122|")) is None


def test_of_families_that_cover_as_much_the_first_by_name_wins() -> None:
    found = family(picture("t1 nvtx chunk |001122|\nt1 nvtx batch |001122|"))

    assert found is not None
    assert found.family == "batch #"


def test_ranges_of_no_length_are_steps_too() -> None:
    """Even those that stand behind all others."""
    at = np.array([3, 5, 9])
    strings = Strings({number: f"load batch {number}" for number in range(3)})
    found = step_ranges(
        Ranges.filled(3, start_ns=at, end_ns=at, tid=1, name_id=np.arange(3)), strings
    )

    assert found is not None
    assert (found.family, found.start_ns.tolist()) == ("load batch #", [3, 5, 9])


def test_of_several_families_the_one_covering_most_time_wins() -> None:
    found = family(
        picture("""
        t1 nvtx epoch |0.1.2.|
        t1 nvtx batch |001122|
        t1 nvtx chunk |000...|
        """)
    )

    assert found is not None
    assert found.family == "batch #"


@pytest.mark.parametrize(
    "name",
    ["aten::batch_norm, op_id =", "aten::add_batch, seq =", "BatchNormBackward batch, seq ="],
)
def test_operators_are_no_steps(name: str) -> None:
    assert family(picture(f"t1 nvtx {name} |001122|")) is None
    found = family(picture(f"t1 nvtx {name} |001122|\nt1 nvtx iteration |0.1.2.|"))

    assert found is not None
    assert found.family == "iteration #"


def test_an_operator_that_the_user_names_is_what_was_asked_for() -> None:
    found = family(picture("t1 nvtx aten::batch_norm, seq = |0.1.2.|"), "batch_norm")

    assert found is not None
    assert len(found) == 3


@pytest.mark.parametrize(
    "name",
    [
        "Warm-up Step",
        "warmup iter",
        "warm_up_step",
        "prefetch batch",
        "pre-fetch chunk",
        "load batch",
        "loading chunk",
        "DataLoader batch",
        "fetch batch",
        "read frame",
    ],
)
def test_warm_up_and_loading_stand_behind_all_others(name: str) -> None:
    found = family(picture(f"t1 nvtx {name} |001122|\nt1 nvtx Benchmark Step |0.1.2.|"))
    alone = family(picture(f"t1 nvtx {name} |001122|"))

    assert found is not None
    assert (found.family, found.beside) == ("Benchmark Step #", False)
    assert alone is not None
    assert (alone.family, alone.beside) == (f"{name} #", True)


@pytest.mark.parametrize("name", ["offload step", "workload step", "spread batch", "forward step"])
def test_names_that_only_contain_such_letters_stand_with_the_others(name: str) -> None:
    found = family(picture(f"t1 nvtx {name} |001122|\nt1 nvtx step |0.1.2.|"))

    assert found is not None
    assert found.family == f"{name} #"


def test_loading_before_the_first_kernel_hides_neither_steps_nor_work() -> None:
    """Ranges of a loader that fills its cache are no lost steps: what repeats is judged."""
    device = picture("""
        s7 kernel k         |.......aa.bb.cc.dd|
        t1 cudaLaunchKernel |......a..b..c..d..|
        t1 nvtx load batch  |001122............|
        """).measure(skip=None)

    assert device.problems == ()
    assert device.devices[0].window.source is WindowSource.KERNEL_PERIOD


def test_nested_ranges_of_one_family_are_counted_once_each_but_cover_once() -> None:
    found = family(
        picture("""
        t1 nvtx step  |001122....|
        t2 nvtx step  |334455....|
        t1 nvtx chunk |.....01222|
        """)
    )

    assert found is not None
    assert (found.family, len(found)) == ("step #", 6)


@pytest.mark.parametrize("pattern", ["my phase #", "phase", "PHASE [0-9]+"])
def test_a_pattern_names_the_steps_as_family_or_regular_expression(pattern: str) -> None:
    found = family(picture("t1 nvtx my phase |0.1.2.|\nt1 nvtx step |001122|"), pattern)

    assert found is not None
    assert found.family == "my phase #"


@pytest.mark.parametrize(("event_type", "steps"), [(59, 3), (60, 3), (70, 3), (71, 3), (34, 0)])
def test_ranges_of_every_kind_are_steps_and_marks_are_not(
    event_type: int, steps: int, tmp_path: Path
) -> None:
    path = picture("t1 nvtx step |001122|").export(tmp_path / "ranges.sqlite")
    trace = read_trace(edit(path, f"UPDATE NVTX_EVENTS SET eventType = {event_type}"))
    tables = process_tables(trace, processes_of((trace.ranges,)))
    found = step_ranges(tables[0].ranges, trace.strings) if tables else None

    assert (len(found) if found else 0) == steps


def test_a_launch_belongs_to_the_last_step_that_had_started() -> None:
    ranges = StepRanges("step #", np.array([10, 20, 30]), np.array([15, 25, 35]))

    assert ranges.of_launches(np.array([9, 10, 17, 20, 99])).tolist() == [ABSENT, 0, 0, 1, 2]
    assert ranges.last_end_ns == 35


def test_a_kernel_that_another_thread_launched_belongs_to_the_step() -> None:
    """Frameworks launch the backward pass from a thread of its own."""
    steps = picture(
        """
        s7 kernel fwd       |.aa.....|
        s7 kernel bwd       |....bbb.|
        t1 cudaLaunchKernel |a.......|
        t2 cudaLaunchKernel |...b....|
        t1 nvtx step        |00000000|
        """,
        repeat=4,
    )
    times = steps.device().steps

    assert times.number.tolist() == [0, 1, 2, 3]
    assert times.compute_ns.tolist() == [5000] * 4


def test_a_kernel_runs_late_but_counts_for_the_step_that_launched_it() -> None:
    times = (
        picture("""
        s7 kernel k         |......aabbcc|
        t1 cudaLaunchKernel |a.b.c.......|
        t1 nvtx step        |001122......|
        """)
        .device()
        .steps
    )

    assert times.start_ns.tolist() == [6000, 8000, 10000]


def test_a_kernel_without_a_launch_row_belongs_to_no_step() -> None:
    device = picture("""
        s7 kernel k         |xx.aa.bb.cc.|
        t1 cudaLaunchKernel |..a..b..c...|
        t1 nvtx step        |000111222...|
        """).device()

    assert device.window.start_ns == 3000


WARM_UP = """
s7 kernel fwd       |.aaaaaa..bbbbbb..cccccc..dddddd..eeeeee..ffffff.|
t1 cudaLaunchKernel |a.......b.......c.......d.......e.......f.......|
t1 nvtx step        |000000001111111122222222333333334444444455555555|
"""


def skipped(extra: str = "", text: str = WARM_UP) -> int:
    return picture(text + extra).device(skip=None).window.skipped


def test_the_step_that_first_sees_a_kernel_is_warm_up() -> None:
    assert skipped() == 1


def test_where_all_kernels_were_seen_before_the_steps_nothing_is_warm_up() -> None:
    window = (
        picture(
            """
        s7 kernel fwd       |.xx.aa.bb.cc.|
        t1 cudaLaunchKernel |x..a..b..c...|
        t1 nvtx step        |...000111222.|
        """
        )
        .device(skip=None)
        .window
    )

    assert (window.skipped, window.why) == (0, "no warm-up found")


def test_the_window_says_how_many_steps_were_warm_up() -> None:
    assert picture(WARM_UP).device(skip=None).window.why == "warm-up: 1 skipped"


def test_a_kernel_first_seen_in_the_second_step_makes_it_warm_up() -> None:
    extra = """s7 kernel other |..............xx................yy..............|
t1 cuLaunchKernel |..........x.........y...........................|"""

    assert skipped(extra) == 2


@pytest.mark.parametrize(
    "call", ["cudaMalloc", "cudaHostAlloc", "cuModuleLoadData", "cuLibraryLoadData"]
)
def test_a_step_that_still_allocates_or_loads_code_is_warm_up(call: str) -> None:
    assert skipped(f"t1 {call} |..........x.....................................|") == 2


def test_the_last_mark_of_a_program_that_was_marked_for_the_user_is_no_step() -> None:
    """It ends with the program, whatever that does behind its steps."""
    rows = [
        f"t1 nvtx step {n} (--mark-steps, module) |{'..' * n}aa{'..' * (4 - n)}|" for n in range(5)
    ]
    found = family(picture("\n".join(rows)))

    assert found is not None
    assert found.numbers.tolist() == [0, 1, 2, 3]
    assert family(picture("\n".join(rows[:3]))) is None


def test_a_program_that_allocates_in_every_step_is_not_warming_up() -> None:
    assert skipped("t1 cudaMalloc |..g.......h.......i.......j.......k.......l.....|") == 1


def test_a_step_that_allocates_more_than_usual_is_warm_up() -> None:
    extra = "t1 cudaMalloc |..g.......h.m.....i.......j.......k.......l.....|"

    assert skipped(extra) == 2


@pytest.mark.parametrize(
    ("allocations", "steps"),
    [
        # The three steps of the second half allocate 1, 1 and 3 times: usual is once.
        ("..g.......h.m.....i.......j.......k.......lno...", 2),
        # 0, 0 and 3 times: not at all, whatever the mean is.
        ("..........h...............................lno...", 2),
        # 3, 3 and 0 times: three times, though not in every step.
        ("..g.......h.m.............jpq.....kno...........", 1),
    ],
)
def test_what_is_usual_is_the_median_of_the_second_half(allocations: str, steps: int) -> None:
    assert skipped(f"t1 cudaMalloc |{allocations}|") == steps


def test_what_happens_after_the_steady_steps_began_is_no_warm_up() -> None:
    assert skipped("t1 cudaMalloc |..........................x.....................|") == 1


def test_a_family_that_never_settles_loses_only_its_first_step() -> None:
    restless = """
        s7 kernel k0 |.aa.........|
        s7 kernel k1 |...bb.......|
        s7 kernel k2 |......cc....|
        s7 kernel k3 |.........dd.|
        t1 cudaLaunchKernel |a..b..c..d..|
        t1 nvtx step |000111222333|
        """

    assert skipped(text=restless) == 1


@pytest.mark.parametrize(("restless", "steps"), [(3, 3), (4, 1)])
def test_up_to_half_of_the_steps_may_be_warm_up(restless: int, steps: int) -> None:
    """Of six, so many meet a new kernel; where they are more, the family never settles."""
    extra = ""
    for step, mark in enumerate("uvwxyz"[:restless]):
        before, behind = "." * (8 * step + 2), "." * (44 - 8 * step)
        extra += f"s8 kernel new{step} |{before}{mark}{mark}{behind}|\n"
        extra += f"t2 cudaLaunchKernel |{before}{mark}.{behind}|\n"

    assert skipped(extra) == steps


@pytest.mark.parametrize(("call", "steps"), [("cudaMalloc", 1), ("cudaEventQuery", 0)])
def test_a_first_step_that_allocates_is_warm_up_though_all_its_kernels_are_known(
    call: str, steps: int
) -> None:
    text = f"""
        s7 kernel fwd       |.xx.aa.bb.cc.dd.|
        t1 cudaLaunchKernel |x..a..b..c..d...|
        t1 {call}           |....g...........|
        t1 nvtx step        |...000111222333.|
        """

    assert skipped(text=text) == steps


def test_skipping_nothing_keeps_the_warm_up() -> None:
    window = picture(WARM_UP).device(skip=0).window

    assert (window.skipped, window.steps) == (0, 6)


def test_the_first_occurrence_of_a_range_is_not_the_only_one() -> None:
    """A repeated range is many steps, even with one and the same name."""
    found = family(picture("t1 nvtx step |0.0.0.|"))

    assert found is not None
    assert len(found) == 3


def test_ranges_of_another_process_are_not_this_ones_steps() -> None:
    drawing = picture("""
        p1 s7 kernel k  |aa.bb.|
        p2 s7 kernel k  |cc.dd.|
        p2 t1 nvtx step |001122|
        """)
    one, two = drawing.measure().devices

    assert one.window.step_family is None
    assert two.window.step_family == "step #"


@pytest.mark.parametrize(
    ("names", "numbers"),
    [
        (("step 10", "step 11", "step 12"), [10, 11, 12]),
        (("step 0100", "step 0200", "step 0300"), [100, 200, 300]),
        (("step 7 of 90", "step 8 of 90", "step 9 of 90"), [7, 8, 9]),
        (("epoch 1 step 4", "epoch 1 step 5", "epoch 1 step 6"), [4, 5, 6]),
        (("epoch 1 step 5", "epoch 1 step 6", "epoch 2 step 0"), [0, 1, 2]),
        (("step 3", "step 3", "step 4"), [0, 1, 2]),
        (("step 9" + "9" * 30, "step 8", "step 9"), [0, 1, 2]),
        # 18 digits are a number, 19 are none; another of the name may be.
        ([f"step {10**17 + at}" for at in range(3)], [10**17, 10**17 + 1, 10**17 + 2]),
        ([f"step {9 * 10**18 + at}" for at in range(3)], [0, 1, 2]),
        ([f"step {7 + at} of run {10**30 + at}" for at in range(3)], [7, 8, 9]),
    ],
)
def test_steps_are_called_by_the_number_that_tells_their_ranges_apart(
    names: Sequence[str], numbers: list[int]
) -> None:
    rows = [f"t1 nvtx {name} |{'...' * at}aaa{'...' * (2 - at)}|" for at, name in enumerate(names)]
    found = family(picture("\n".join(rows)))

    assert found is not None
    assert found.numbers.tolist() == numbers


def test_a_range_that_was_exported_twice_is_one_step(tmp_path: Path) -> None:
    path = picture("t1 nvtx step |000111222333|").export(tmp_path / "twice.sqlite")
    edit(path, "INSERT INTO NVTX_EVENTS SELECT * FROM NVTX_EVENTS")
    trace = read_trace(path)

    found = step_ranges(process_tables(trace, [0])[0].ranges, trace.strings)
    assert found is not None
    assert len(found) == 4
