"""Files, folders, globs and lists → reports."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from overlapcheck.errors import InputUnreadable
from overlapcheck.ranks.inputs import Inputs, expand, is_several


def touch(folder: Path, *names: str) -> None:
    for number, name in enumerate(names):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).touch()
        os.utime(folder / name, ns=(number * 10**9, number * 10**9))


def names(found: Inputs) -> list[str]:
    return [path.name for path in found.reports]


def test_one_report_is_no_fleet(tmp_path: Path) -> None:
    touch(tmp_path, "a.sqlite", "odd[1].sqlite")

    assert not is_several([str(tmp_path / "a.sqlite")])
    assert not is_several([str(tmp_path / "missing.sqlite")])
    assert not is_several([str(tmp_path / "odd[1].sqlite")])
    assert is_several([str(tmp_path)])
    assert is_several([str(tmp_path / "*.sqlite")])
    assert is_several(["@list.txt"])
    assert is_several(["a", "b"])


def test_numbers_in_names_sort_by_value(tmp_path: Path) -> None:
    touch(tmp_path, "rank_10.sqlite", "rank_9.sqlite", "rank_1.sqlite")

    assert names(expand([str(tmp_path)])) == ["rank_1.sqlite", "rank_9.sqlite", "rank_10.sqlite"]


def test_a_folder_gives_its_reports_at_any_depth_but_nothing_hidden(tmp_path: Path) -> None:
    touch(tmp_path, "n0/r0.nsys-rep", "n1/r1.qdrep", "notes.txt", ".overlapcheck-ranks/x.sqlite")

    assert names(expand([str(tmp_path)])) == ["r0.nsys-rep", "r1.qdrep"]


def test_controls_beside_their_recordings_are_no_ranks(tmp_path: Path) -> None:
    touch(
        tmp_path,
        *("r0.nsys-rep", "r0.control.nsys-rep", "r0.control-2.nsys-rep", "r0.again.nsys-rep"),
        *("r1.sqlite", "r1.nsys-rep", "r1.control.nsys-rep"),
    )

    assert names(expand([str(tmp_path)])) == ["r0.nsys-rep", "r1.nsys-rep"]
    assert names(expand([str(tmp_path / "*.nsys-rep")])) == ["r0.nsys-rep", "r1.nsys-rep"]
    assert names(expand([str(tmp_path / "*.control.nsys-rep")])) == [
        "r0.control.nsys-rep",
        "r1.control.nsys-rep",
    ]
    assert names(expand([str(tmp_path / "r0.control.nsys-rep")])) == ["r0.control.nsys-rep"]


def test_a_report_and_its_export_count_once(tmp_path: Path) -> None:
    touch(
        tmp_path,
        "r0.nsys-rep",
        "r0.sqlite",
        "r1.sqlite",
        "r1.nsys-rep",
    )

    # The export of r1 is older than its report.
    assert names(expand([str(tmp_path)])) == ["r0.sqlite", "r1.nsys-rep"]


def test_a_list_names_reports_beside_it(tmp_path: Path) -> None:
    touch(tmp_path, "a/r0.sqlite", "a/r1.sqlite", "b.sqlite")
    (tmp_path / "list.txt").write_text("# ranks\n\na/r*.sqlite\nb.sqlite\nmissing.sqlite\n")

    found = expand([f"@{tmp_path / 'list.txt'}"])

    assert names(found) == ["r0.sqlite", "r1.sqlite", "b.sqlite", "missing.sqlite"]


def test_what_is_named_twice_counts_once(tmp_path: Path) -> None:
    touch(tmp_path, "r0.sqlite", "r1.sqlite")

    assert names(expand([str(tmp_path), str(tmp_path / "r0.sqlite")])) == ["r0.sqlite", "r1.sqlite"]


def test_lists_that_name_themselves_or_never_end_are_refused(tmp_path: Path) -> None:
    first, second = tmp_path / "first.txt", tmp_path / "second.txt"
    first.write_text("@second.txt")
    second.write_text("@./first.txt")

    with pytest.raises(InputUnreadable, match="names itself"):
        expand([f"@{first}"])
    with pytest.raises(InputUnreadable, match="too long"):
        expand(["@/dev/zero"])


def test_a_list_may_be_named_twice(tmp_path: Path) -> None:
    report = tmp_path / "a.sqlite"
    report.touch()
    (tmp_path / "both.txt").write_text("@one.txt\n@one.txt\n")
    (tmp_path / "one.txt").write_text("a.sqlite")

    assert expand([f"@{tmp_path / 'both.txt'}"]).reports == (report,)


@pytest.mark.parametrize("argument", ["empty", "*.sqlite", "@missing.txt"])
def test_what_names_nothing_is_said(
    argument: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "empty").mkdir()

    with pytest.raises(InputUnreadable, match=argument.strip("*@").split(".")[0] or "sqlite"):
        expand([argument])
