"""A recording that nsys could not import is imported, or it is said what is missing."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from overlapcheck.capture import importer
from overlapcheck.capture.discovery import Nsys
from overlapcheck.capture.export import export_sqlite
from overlapcheck.capture.export_cache import is_whole_sqlite
from overlapcheck.capture.importer import (
    how_to_install,
    import_stream,
    importer_for,
    importers,
    missing_libraries,
)
from overlapcheck.capture.profile import profile
from overlapcheck.capture.spec import CaptureSpec
from overlapcheck.errors import CaptureFailed, ExportFailed, ReportDamaged
from overlapcheck.reading import Reading

pytestmark = pytest.mark.nsys


@pytest.fixture(scope="module")
def target_only(tmp_path_factory: pytest.TempPathFactory, real_nsys: Nsys) -> Nsys:
    """An installation without its importer: what Debian calls nsight-systems-target."""
    installed = real_nsys.path.resolve().parent
    root = tmp_path_factory.mktemp("half")
    shutil.copytree(installed, root / installed.name, symlinks=True)
    return Nsys(root / installed.name / "nsys", real_nsys.version)


@pytest.fixture(scope="module")
def stream(tmp_path_factory: pytest.TempPathFactory, target_only: Nsys) -> Path:
    """A real .qdstrm, left by an nsys without importer."""
    output = tmp_path_factory.mktemp("stream") / "cpu"
    subprocess.run(
        [
            target_only.path,
            "profile",
            "--trace=osrt",
            "--sample=none",
            f"--output={output}",
            "true",
        ],
        check=True,
        capture_output=True,
    )
    return output.with_suffix(".qdstrm")


@pytest.fixture
def only_here(monkeypatch: pytest.MonkeyPatch) -> None:
    """No other installation on this machine."""
    monkeypatch.setattr(importer, "installed", lambda: ())


def test_stream_is_imported_by_the_importer_of_its_version(
    stream: Path, target_only: Nsys, real_nsys: Nsys, tmp_path: Path
) -> None:
    found = importer_for(stream, target_only)
    assert found in list(importers(real_nsys))
    import_stream(stream, tmp_path / "x.nsys-rep", found)
    assert (tmp_path / "x.nsys-rep").read_bytes().endswith(b"[END]")


def test_stream_can_be_exported(stream: Path, real_nsys: Nsys) -> None:
    exported = export_sqlite(stream, Reading(nsys=real_nsys.path))
    assert is_whole_sqlite(exported.path)
    assert [path.name for path in stream.parent.iterdir()] == [stream.name]
    assert not list(exported.path.parent.glob("*.nsys-rep"))


@pytest.mark.usefixtures("only_here")
def test_no_importer_keeps_the_stream_and_names_the_package(
    target_only: Nsys, tmp_path: Path
) -> None:
    wanted = tmp_path / "step.nsys-rep"
    with pytest.raises(CaptureFailed) as caught:
        profile(CaptureSpec(keep_as=wanted), ["true"], target_only)
    kept = tmp_path / "step.qdstrm"
    assert kept.stat().st_size > 1000
    assert str(kept) in caught.value.message
    assert f"the QdstrmImporter of nsys {target_only.release}; there is none here" in str(
        caught.value
    )
    assert f"overlapcheck analyze {kept}" in caught.value.hint
    assert [path.name for path in tmp_path.iterdir()] == [kept.name]


@pytest.mark.usefixtures("only_here")
def test_broken_importer_names_the_missing_library(
    stream: Path, target_only: Nsys, real_nsys: Nsys
) -> None:
    host = target_only.path.parent.parent / "host-linux-x64"
    host.mkdir()
    try:
        # Away from its own libraries the loader finds none of them.
        shutil.copy(importer_for(stream, real_nsys), host)
        missing = missing_libraries(host / importer.IMPORTER)
        assert "libAnalysis.so" in missing
        with pytest.raises(ExportFailed, match=r"cannot run: it lacks .*libAnalysis\.so") as caught:
            export_sqlite(stream, Reading(nsys=target_only.path))
        assert caught.value.hint.startswith("install what has lib")
    finally:
        shutil.rmtree(host)


def test_damaged_stream(stream: Path, real_nsys: Nsys, tmp_path: Path) -> None:
    cut = tmp_path / "cut.qdstrm"
    cut.write_bytes(stream.read_bytes()[:5000])
    with pytest.raises(ReportDamaged, match="File is corrupted"):
        import_stream(cut, tmp_path / "x.nsys-rep", importer_for(cut, real_nsys))
    assert not (tmp_path / "x.nsys-rep").exists()


@pytest.mark.usefixtures("only_here")
def test_importer_of_another_version_is_not_used(
    stream: Path, real_nsys: Nsys, tmp_path: Path
) -> None:
    other = tmp_path / "other.qdstrm"
    other.write_bytes(stream.read_bytes().replace(b"Stream 2023.4.4", b"Stream 2022.4.2", 1))
    with pytest.raises(CaptureFailed, match=r"nsys 2022\.4\.2; the ones here are of 2023\.4\.4"):
        importer_for(other, real_nsys)


def test_healthy_importer_lacks_nothing(real_nsys: Nsys) -> None:
    assert missing_libraries(next(importers(real_nsys))) == ()


def test_packages_of_known_libraries() -> None:
    assert how_to_install(("libssh.so.4", "libgssapi_krb5.so.2")) == (
        "apt-get install libgssapi-krb5-2 libssh-4"
    )
    assert how_to_install(("libssh.so.4", "libodd.so.1")).startswith(
        "install what has libodd.so.1,"
    )
