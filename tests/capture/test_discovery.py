"""nsys is found where people have it, newest first, and asked what it can do."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from overlapcheck.capture.discovery import Nsys, find_nsys, flags_of, release_key, release_of
from overlapcheck.errors import CaptureFailed, NsysNotFound


@pytest.fixture
def install(tmp_path: Path) -> Callable[..., Path]:
    def make(place: str, version: str = "2024.1.1.59-1", script: str = "") -> Path:
        path = tmp_path / place
        path.parent.mkdir(parents=True)
        path.write_text(f"#!/bin/sh\n{script or f'echo NVIDIA Nsight Systems version {version}'}\n")
        path.chmod(0o755)
        return path

    return make


def test_named_one_wins(install: Callable[..., Path]) -> None:
    named = install("a/nsys", "2022.4.2.1-1")
    on_path = install("b/nsys", "2025.3.1.1-1")
    found = find_nsys(named, environment={"PATH": str(on_path.parent)}, patterns=())
    assert found == Nsys(named, "2022.4.2.1-1")
    assert found.release == "2022.4.2"


def test_an_installation_can_be_named(install: Callable[..., Path], tmp_path: Path) -> None:
    tool = install("2024.1/bin/nsys")
    assert find_nsys(tmp_path / "2024.1").path == tool


def test_path_comes_before_install_roots(install: Callable[..., Path], tmp_path: Path) -> None:
    on_path = install("b/nsys", "2023.1.1.1-1")
    install("opt/2025.3.1/bin/nsys", "2025.3.1.1-1")
    patterns = (f"{tmp_path}/opt/*/bin/nsys",)
    assert find_nsys(environment={"PATH": str(on_path.parent)}, patterns=patterns).path == on_path


def test_newest_installation_first(install: Callable[..., Path], tmp_path: Path) -> None:
    for version in ("2024.10.1", "2024.9.3", "2023.4.4"):
        install(f"opt/{version}/bin/nsys", f"{version}.1-1")
    found = find_nsys(environment={"PATH": ""}, patterns=(f"{tmp_path}/opt/*/bin/nsys",))
    assert found.release == "2024.10.1"


def test_broken_one_is_passed_over(install: Callable[..., Path], tmp_path: Path) -> None:
    broken = install(
        "b/nsys", script="echo 'error while loading shared libraries: x' >&2; exit 127"
    )
    good = install("opt/2024.1/bin/nsys")
    patterns = (f"{tmp_path}/opt/*/bin/nsys",)
    assert find_nsys(environment={"PATH": str(broken.parent)}, patterns=patterns).path == good


def test_only_a_broken_one_says_what_is_wrong(install: Callable[..., Path]) -> None:
    broken = install("b/nsys", script="echo 'cannot load libfoo.so.1' >&2; exit 127")
    with pytest.raises(NsysNotFound, match=r"does not run: .*cannot load libfoo\.so\.1"):
        find_nsys(environment={"PATH": str(broken.parent)}, patterns=())


def test_none_says_where_it_looked_and_how_to_get_it(tmp_path: Path) -> None:
    patterns = (f"{tmp_path}/opt/*/bin/nsys", f"{tmp_path}/cuda/bin/nsys")
    with pytest.raises(NsysNotFound) as caught:
        find_nsys(environment={"PATH": str(tmp_path)}, patterns=patterns)
    assert caught.value.message == (
        f"nsys not found: looked on PATH and in {tmp_path}/opt, {tmp_path}/cuda/bin/nsys"
    )
    for way in ("nsight-systems-cli", "developer.nvidia.com/nsight-systems", "--nsys PATH"):
        assert way in caught.value.hint
    assert "\n" not in str(caught.value)


def test_named_one_missing(tmp_path: Path) -> None:
    with pytest.raises(NsysNotFound, match="no nsys there"):
        find_nsys(tmp_path / "nsys")


def test_flags_are_those_that_help_lists(install: Callable[..., Path]) -> None:
    text = (
        "\t-t, --trace=\\n\\t   Possible values; see --not-an-option.\\n"
        "\t--cuda-graph-trace=<granularity>[:<origin>]\\n"
        "\t(Experimental) --ib-switch=\\n\t--append\\n"
    )
    path = install("a/nsys", script=f"printf '{text}'")
    flags = flags_of(Nsys(path, "1"), "profile")
    assert flags == {"--trace", "--cuda-graph-trace", "--ib-switch", "--append"}


def test_no_flags_is_an_error_and_not_an_empty_set(install: Callable[..., Path]) -> None:
    path = install("a/nsys", script="echo segmentation fault >&2; exit 139")
    with pytest.raises(CaptureFailed, match="segmentation fault"):
        flags_of(Nsys(path, "1"), "profile")


def test_versions_with_any_separator() -> None:
    assert release_of("2023@4@4@54-234433681190v0") == "2023.4.4"
    assert release_key("2024.10.1") > release_key("2024.9.3")


@pytest.mark.nsys
def test_real_nsys(real_nsys: Nsys) -> None:
    assert real_nsys.version.startswith("20")
    flags = flags_of(real_nsys, "profile")
    assert {"--trace", "--sample", "--cpuctxsw", "--output", "--kill", "--wait"} <= flags
    assert "--type" in flags_of(real_nsys, "export")
