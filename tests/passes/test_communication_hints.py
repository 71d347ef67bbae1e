from __future__ import annotations

from pathlib import Path

import pytest

from tests.export import edit
from tests.pictures import Picture, measure_file, picture

RECORDS = [{"call": "r", "stream": 7}, {"call": "q", "stream": 33}]
WAITS = [
    {"call": "w", "stream": 33, "record": "r"},
    {"call": "v", "stream": 7, "record": "q"},
]
EXCHANGE = """
s7   kernel attention     |.aaaa.........|
s33  kernel exchange      |......xxxx....|
s7   kernel experts       |...........bb.|
t1   cudaLaunchKernel     |a..x.b........|
t1   cudaEventRecord      |.r..q.........|
t1   cudaStreamWaitEvent  |..w..v........|
t1   nvtx step            |00000000000000|
"""


def drawing(text: str = EXCHANGE, **options: object) -> Picture:
    # The calls lie close together: "b" is launched behind the wait "v" of the same column.
    exact = {"v": [5.0, 5.2], "b": [5.4, 5.6]}
    return picture(text, repeat=4, records=RECORDS, waits=WAITS, host_us=exact, **options)


def test_a_kernel_alone_between_two_event_waits_in_every_step_is_hinted_at() -> None:
    (note,) = drawing().device().notes

    assert note == (
        "kernel exchange runs alone on stream 33 between two event waits, in every step, 29.6 % of"
        " the window: it counts as compute, and may be communication: --comm-pattern '^exchange$'"
    )


def test_a_hint_changes_no_number() -> None:
    device = drawing().device()

    assert device.communication.total_ns == 0
    assert device.compute_ns == 4 * (4_000 + 4_000 + 2_000)


def test_what_is_named_already_is_not_hinted_at() -> None:
    assert drawing().device(communication=("exchange",)).notes == ()


@pytest.mark.parametrize(("beside", "hinted"), [("bb", True), ("bbb", False)])
def test_alone_is_most_of_its_time(beside: str, hinted: bool) -> None:
    row = f"s8 kernel other |......{beside.ljust(8, '.')}|".replace("b", "o")

    assert bool(drawing(EXCHANGE + row).device().notes) is hinted


@pytest.mark.parametrize("call", ["w", "v"])
def test_without_a_wait_on_either_side_it_is_a_kernel_as_any_other(call: str) -> None:
    waits = [wait for wait in WAITS if wait["call"] != call]
    cells = "..w..v........"
    text = EXCHANGE.replace(cells, cells.replace(call, "."))

    assert picture(text, repeat=4, records=RECORDS, waits=waits).device().notes == ()


def test_a_step_without_it_makes_it_no_exchange(tmp_path: Path) -> None:
    path = drawing().export(tmp_path / "exchange.sqlite")
    kernels = "CUPTI_ACTIVITY_KIND_KERNEL"
    last = f"SELECT max(start) FROM {kernels} WHERE streamId = 33"
    (whole,) = measure_file(path).devices
    (without,) = measure_file(edit(path, f"DELETE FROM {kernels} WHERE start = ({last})")).devices

    assert whole.notes
    assert without.notes == ()


def test_a_stream_that_also_copies_is_a_pipeline() -> None:
    copies = """
        s33 h2d pinned 4KiB |.....c........|
        t1  cudaMemcpyAsync |...c..........|
        """
    exact = {"v": [5.0, 5.2], "b": [5.4, 5.6], "c": [2.7, 2.9], "x": [3.2, 3.6]}
    found = picture(
        EXCHANGE + copies, repeat=4, records=RECORDS, waits=WAITS, host_us=exact
    ).device()

    assert found.notes == ()


def test_what_costs_little_is_not_worth_a_word() -> None:
    exact = {"v": [5.0, 5.2], "b": [5.4, 5.6]}

    def notes(length_us: float) -> tuple[str, ...]:
        found = picture(
            EXCHANGE,
            repeat=4,
            records=RECORDS,
            waits=WAITS,
            host_us=exact,
            gpu_us={"x": [6.0, 6.0 + length_us]},
        )
        # Four steps of 14 us, less what lies before the first kernel and after the last: 54 us.
        return found.device().notes

    assert notes(0.28)
    assert notes(0.26) == ()


def test_what_costs_little_beside_others_of_its_stream_is_not_worth_a_word_either() -> None:
    """The stream holds enough, none of its kernels does."""
    short = EXCHANGE.replace("xxxx....", "x.......")
    two = f"""{short}
s33  kernel reduce        |.......y......|
t1   cuLaunchKernel       |...y..........|
"""

    def names(length_us: float, other_us: float = 0.26) -> list[str]:
        found = picture(
            two,
            repeat=4,
            records=RECORDS,
            waits=WAITS,
            host_us={"v": [5.0, 5.2], "b": [5.4, 5.6], "y": [3.7, 3.9], "x": [3.2, 3.6]},
            gpu_us={"x": [6.0, 6.0 + length_us], "y": [7.0, 7.0 + other_us]},
        )
        return [note.split()[1] for note in found.device().notes]

    assert names(0.26) == []
    assert names(0.28) == ["exchange"]
    assert names(0.3, 0.4) == ["reduce", "exchange"]
    assert names(0.4, 0.3) == ["exchange", "reduce"]


def test_with_one_compute_stream_nothing_runs_beside_another() -> None:
    alone = EXCHANGE.replace("s33  kernel exchange", "s7   kernel exchange")

    assert picture(alone, repeat=4).device().notes == ()
    assert picture(EXCHANGE, repeat=4).device().notes == ()


def test_without_steps_there_is_no_every_step() -> None:
    text = "\n".join(line for line in EXCHANGE.splitlines() if "nvtx" not in line)

    assert drawing(text).device().notes == ()
