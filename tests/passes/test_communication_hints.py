from __future__ import annotations

from pathlib import Path

import pytest

from tests.export import edit
from tests.pictures import Picture, measure_file, picture

KERNELS, CALLS = "CUPTI_ACTIVITY_KIND_KERNEL", "CUPTI_ACTIVITY_KIND_RUNTIME"
SYNCS, EVENTS = "CUPTI_ACTIVITY_KIND_SYNCHRONIZATION", "CUPTI_ACTIVITY_KIND_CUDA_EVENT"
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


# The calls lie close together: "b" is launched behind the wait "v" of the same column.
CLOSE = {"v": [5.0, 5.2], "b": [5.4, 5.6]}


def drawing(text: str = EXCHANGE, **options: object) -> Picture:
    return picture(text, repeat=4, records=RECORDS, waits=WAITS, host_us=CLOSE, **options)


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


@pytest.mark.parametrize("name", ["other", "ncclKernel"])
@pytest.mark.parametrize(("beside", "hinted"), [("bb", True), ("bbb", False)])
def test_alone_is_most_of_its_time(beside: str, hinted: bool, name: str) -> None:
    row = f"s8 kernel {name} |......{beside.ljust(8, '.')}|".replace("b", "o")

    assert bool(drawing(EXCHANGE + row).device().notes) is hinted


def test_alone_is_without_any_other_stream() -> None:
    """Of two others the first runs beside it."""
    rows = """
        s8 kernel other |......ooo.....|
        s9 kernel third |...........c..|
        """

    assert drawing(EXCHANGE + rows).device().notes == ()


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
    assert notes(0.27), "a fiftieth of the window, exactly"
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


def test_of_the_kernels_of_its_stream_those_that_are_named_already_are_not_hinted_at() -> None:
    two = f"""{EXCHANGE.replace("xxxx....", "xxx.....")}
s33  kernel reduce        |.........y....|
t1   cuLaunchKernel       |....y.........|
"""
    exact = CLOSE | {"x": [3.2, 3.6], "y": [3.7, 3.9]}
    found = picture(two, repeat=4, records=RECORDS, waits=WAITS, host_us=exact)
    notes = found.device(communication=("exchange",)).notes

    assert [note.split()[1] for note in notes] == ["reduce"]


def test_a_kernel_without_a_name_has_no_pattern_that_could_be_told(tmp_path: Path) -> None:
    path = drawing().export(tmp_path / "exchange.sqlite")
    edit(path, "UPDATE StringIds SET value = '' WHERE value = 'exchange'")
    (device,) = measure_file(path).devices

    assert device.notes == ()


def test_one_step_is_enough() -> None:
    assert drawing().device(skip=3).notes


def test_what_runs_in_no_judged_step_is_no_matter(tmp_path: Path) -> None:
    """The first exchange lacks its waits."""
    path = drawing().export(tmp_path / "exchange.sqlite")
    edit(path, f"DELETE FROM {SYNCS} WHERE start < 14000")

    assert measure_file(path, skip=0).devices[0].notes == ()
    assert measure_file(path, skip=1).devices[0].notes


@pytest.mark.parametrize("start_ns", [55_000, 62_000])
def test_what_runs_behind_the_last_step_is_no_matter(tmp_path: Path, start_ns: int) -> None:
    """Launched behind the last range, without its waits; the window ends at 55 us."""
    path = picture(EXCHANGE, repeat=5, records=RECORDS, waits=WAITS, host_us=CLOSE).export(
        tmp_path / "exchange.sqlite"
    )
    edit(
        path,
        f"DELETE FROM {SYNCS} WHERE start > 56000",
        "DELETE FROM NVTX_EVENTS WHERE start >= 56000",
        f"UPDATE {KERNELS} SET start = {start_ns} WHERE start = 62000",
    )
    (device,) = measure_file(path).devices

    assert device.window.end_ns == 55_000
    assert device.notes


def test_a_host_that_waits_for_its_record_is_no_stream_that_does() -> None:
    text = EXCHANGE.replace("..w..v........", "..w...........")
    text += "t1   cudaEventSynchronize |.....v........|\n"

    assert drawing(text).device().notes == ()


def test_a_wait_may_be_the_first_call_that_was_recorded(tmp_path: Path) -> None:
    path = drawing().export(tmp_path / "exchange.sqlite")
    edit(path, f"DELETE FROM {CALLS} WHERE start < 2000")

    assert measure_file(path).devices[0].notes


def test_a_wait_without_its_call_may_be_the_hosts(tmp_path: Path) -> None:
    path = drawing().export(tmp_path / "exchange.sqlite")
    edit(path, f"DELETE FROM {CALLS} WHERE start < 2000")
    assert measure_file(path).devices[0].notes
    edit(path, f"DELETE FROM {CALLS} WHERE start % 14000 = 5000")

    assert measure_file(path).devices[0].notes == ()


def test_without_calls_there_is_no_wait(tmp_path: Path) -> None:
    path = drawing().export(tmp_path / "exchange.sqlite")
    edit(path, f"DELETE FROM {CALLS}")

    assert measure_file(path).devices[0].notes == ()


def test_recordings_that_do_not_say_which_record_a_wait_is_for_hint_at_nothing(
    tmp_path: Path,
) -> None:
    path = drawing().export(tmp_path / "exchange.sqlite")
    edit(path, *(f"ALTER TABLE {table} DROP COLUMN eventSyncId" for table in (SYNCS, EVENTS)))

    assert measure_file(path).devices[0].notes == ()


@pytest.mark.parametrize(("recorded_us", "hinted"), [(3.0, False), (3.001, True)])
def test_the_record_comes_behind_the_launch(recorded_us: float, hinted: bool) -> None:
    """Another thread records; at one instant nobody knows which came first."""
    text = EXCHANGE.replace("|.r..q.........|", "|.r............|")
    text += "t2   cudaEventRecord      |....q.........|\n"
    exact = CLOSE | {"q": [recorded_us, 4.9]}
    notes = picture(text, repeat=4, records=RECORDS, waits=WAITS, host_us=exact).device().notes

    assert bool(notes) is hinted


def test_kernels_of_its_name_on_the_main_stream_say_nothing_of_it() -> None:
    """They run between no waits, and for longer."""
    text = EXCHANGE.replace("kernel experts  ", "kernel exchange ")
    text = text.replace("......xxxx....", "......x.......")

    assert drawing(text).device().notes


def test_a_record_of_another_stream_does_not_stand_for_its_own() -> None:
    records = [RECORDS[0], {"call": "q", "stream": 8}]
    found = picture(EXCHANGE, repeat=4, records=records, waits=WAITS, host_us=CLOSE)

    assert found.device().notes == ()


def test_the_stream_that_begins_the_steps_is_not_hinted_at() -> None:
    """What it runs alone lies between two event waits as well."""
    text = EXCHANGE.replace("|.r..q.........|", "|.r..q...z.....|")
    text = text.replace("|..w..v........|", "|..w..v....y...|")
    records = [*RECORDS, {"call": "z", "stream": 7}]
    waits = [*WAITS, {"call": "y", "stream": 33, "record": "z"}]
    found = picture(text, repeat=4, records=records, waits=waits, host_us=CLOSE)

    assert [note.split()[1] for note in found.device().notes] == ["exchange"]


TWO_CONTEXTS = """
s7   kernel attention     |.aaaa.............|
s33  kernel exchange      |......xx..........|
s34  kernel {name}        |...........yyy....|
s7   kernel experts       |...............bb.|
t1   cudaLaunchKernel     |a...x.y.....b.....|
t1   cudaEventRecord      |.r.....qs.........|
t1   cudaStreamWaitEvent  |..w..u....vz......|
t1   nvtx step            |000000000000000000|
"""


@pytest.mark.parametrize(
    ("left_out", "name", "hinted"),
    [
        ("", "reduce", ["reduce", "exchange"]),
        ("u", "reduce", ["exchange"]),
        ("z", "reduce", ["exchange"]),
        ("u", "exchange", ["exchange"]),
    ],
)
def test_streams_of_one_number_in_two_contexts_are_two_streams(
    tmp_path: Path, left_out: str, name: str, hinted: list[str]
) -> None:
    """The second has no wait of its own, or no record that is waited for, but the first has."""
    records = [*RECORDS, {"call": "s", "stream": 34}]
    waits = [
        *WAITS,
        {"call": "u", "stream": 34, "record": "r"},
        {"call": "z", "stream": 7, "record": "s"},
    ]
    kept = [wait for wait in waits if wait["call"] != left_out]
    path = picture(TWO_CONTEXTS.format(name=name), repeat=4, records=records, waits=kept).export(
        tmp_path / "contexts.sqlite"
    )
    for table in (KERNELS, SYNCS, EVENTS):
        edit(path, f"UPDATE {table} SET contextId = 9, streamId = 33 WHERE streamId = 34")
    (device,) = measure_file(path).devices

    assert [note.split()[1] for note in device.notes] == hinted


def test_with_one_compute_stream_nothing_runs_beside_another() -> None:
    alone = EXCHANGE.replace("s33  kernel exchange", "s7   kernel exchange")

    assert picture(alone, repeat=4).device().notes == ()
    assert picture(EXCHANGE, repeat=4).device().notes == ()


def test_without_steps_there_is_no_every_step() -> None:
    text = "\n".join(line for line in EXCHANGE.splitlines() if "nvtx" not in line)

    assert drawing(text).device().notes == ()
