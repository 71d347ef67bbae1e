"""A machine for one test: its own temporary directory, and proof that nothing of ours is left."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from overlapcheck.capture.discovery import Nsys, find_nsys
from overlapcheck.errors import NsysNotFound

PATIENCE_S = 60.0
MARKER = "OVERLAPCHECK_TEST_MARKER"


@pytest.fixture(scope="session")
def real_nsys() -> Nsys:
    """The nsys of this machine."""
    try:
        return find_nsys()
    except NsysNotFound as error:
        pytest.skip(f"needs a real nsys: {error.message}")


@dataclass
class Ended:
    """How overlapcheck ended."""

    exit_code: int
    stdout: str
    stderr: str

    @property
    def said(self) -> list[str]:
        """Lines on stderr without progress, which depends on how fast the machine is."""
        return [line for line in self.stderr.splitlines() if not line.endswith(" ...")]


@dataclass
class Running:
    """An overlapcheck that has been started."""

    child: subprocess.Popen[bytes]
    errors: Path
    """What it says on stderr, as it says it."""

    def wait_for(self, condition: Callable[[], object]) -> None:
        wait_for(condition, lambda: self.child.poll() is not None)

    def send(self, signum: int) -> None:
        self.child.send_signal(signum)

    def wait_until_it_says(self, text: str) -> None:
        self.wait_for(lambda: text in self.errors.read_text())

    def end(self) -> Ended:
        stdout, _ = self.child.communicate(timeout=PATIENCE_S)
        return Ended(self.child.returncode, stdout.decode(), self.errors.read_text())


@dataclass
class Machine:
    """Runs the command line in a directory of its own."""

    work: Path
    tmp: Path
    with_default_signals: Callable[[], None]
    mark: str = field(default_factory=lambda: uuid.uuid4().hex)
    started: list[Running] = field(default_factory=list)

    def environment(self, extra: Mapping[str, str] | None = None) -> dict[str, str]:
        inherited = {k: v for k, v in os.environ.items() if not k.startswith(("NSYS_", "SLURM_"))}
        own = {"TMPDIR": str(self.tmp), MARKER: self.mark, "PYTHONPATH": str(_package_parent())}
        return {**inherited, **own, **(extra or {})}

    def start(
        self,
        *arguments: str,
        environment: Mapping[str, str] | None = None,
        through: Sequence[str] = (),
        module: str = "overlapcheck",
    ) -> Running:
        errors = self.work.parent / f"stderr-{len(self.started)}"
        with errors.open("wb") as stderr:
            child = subprocess.Popen(
                [*through, sys.executable, "-m", module, *arguments],
                cwd=self.work,
                env=self.environment(environment),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=stderr,
                preexec_fn=self.with_default_signals,
            )
        self.started.append(Running(child, errors))
        return self.started[-1]

    def overlapcheck(self, *arguments: str, environment: Mapping[str, str] | None = None) -> Ended:
        return self.start(*arguments, environment=environment).end()

    def reports(self, directory: Path | None = None) -> list[Path]:
        return sorted((directory or self.work).glob("*.nsys-rep"))

    def processes(self) -> list[str]:
        """Command lines of everything that we started and that still runs."""
        wanted = f"{MARKER}={self.mark}".encode()
        return [
            (entry / "cmdline").read_bytes().replace(b"\0", b" ").decode().strip()
            for entry in Path("/proc").iterdir()
            if entry.name.isdigit() and _alive_with(entry, wanted)
        ]

    def assert_clean(self) -> None:
        """No process and no temporary file of ours is left."""
        wait_for(lambda: not self.processes())
        assert [path.name for path in self.tmp.iterdir()] == []
        assert [p.name for p in self.work.iterdir() if p.name.startswith(".overlapcheck")] == []


@pytest.fixture
def machine(tmp_path: Path, with_default_signals: Callable[[], None]) -> Iterator[Machine]:
    # Short: nsys makes sockets in it.
    tmp = Path(tempfile.mkdtemp(prefix="oct", dir="/tmp"))
    work = tmp_path / "work"
    work.mkdir()
    made = Machine(work, tmp, with_default_signals)
    yield made
    for running in made.started:
        if running.child.poll() is None:
            running.child.kill()
            running.child.communicate()
    _kill_marked(made.mark)
    shutil.rmtree(tmp, ignore_errors=True)


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Callable[[int], Path]]:
    """Makes file systems of a given size in kB."""
    made: list[Path] = []

    def make(kilobytes: int) -> Path:
        place = Path(tempfile.mkdtemp(prefix="ocd", dir="/tmp"))
        mounted = subprocess.run(
            ["mount", "-t", "tmpfs", "-o", f"size={kilobytes}k", "tmpfs", str(place)],
            capture_output=True,
            check=False,
        )
        if mounted.returncode != 0:
            place.rmdir()
            pytest.skip("mounting a small file system takes root")
        made.append(place)
        return place

    yield make
    for place in made:
        subprocess.run(["umount", "-l", str(place)], check=True)
        place.rmdir()


@pytest.fixture
def fake_nsys(tmp_path: Path) -> Callable[..., Path]:
    """Makes an nsys whose `profile` or `export` is a shell script; the rest is plausible."""

    def make(
        *,
        profile: str = "exit 1",
        export: str = "exit 1",
        version: str = "2023.4.4.54-fake",
        profile_help: Sequence[str] = ("trace", "output", "wait", "kill"),
    ) -> Path:
        directory = tmp_path / f"fake-{uuid.uuid4().hex[:6]}"
        directory.mkdir()
        path = directory / "nsys"
        listed = "\n".join(f"\t--{name}=" for name in profile_help)
        path.write_text(
            f"""#!/bin/sh
command=$1; shift
case "$command" in
--version) echo "NVIDIA Nsight Systems version {version}"; exit 0;;
esac
if [ "$1" = --help ]; then printf '%s\\n' 'usage:' '{listed}'; exit 0; fi
for word; do case "$word" in --output=*) output=${{word#--output=}};; esac; done
while :; do case "$1" in --*) shift;; *) break;; esac; done
case "$command" in
profile) {profile};;
export) {export};;
esac
"""
        )
        path.chmod(0o755)
        return path

    return make


def wait_for(
    condition: Callable[[], object], hopeless: Callable[[], object] = lambda: False
) -> None:
    """Poll until the condition holds; a test that never gets there fails."""
    deadline = time.monotonic() + PATIENCE_S
    while not condition():
        assert not hopeless(), "overlapcheck ended before what was waited for"
        assert time.monotonic() < deadline, "waited in vain"
        time.sleep(0.02)


def _package_parent() -> Path:
    import overlapcheck

    return Path(overlapcheck.__file__).parents[1]


def _alive_with(entry: Path, wanted: bytes) -> bool:
    try:
        if wanted not in (entry / "environ").read_bytes().split(b"\0"):
            return False
        return (entry / "stat").read_text(errors="replace").rpartition(")")[2].split()[
            0
        ] not in "ZX"
    except OSError:
        return False


def _kill_marked(mark: str) -> None:
    wanted = f"{MARKER}={mark}".encode()
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit() and _alive_with(entry, wanted):
            os.kill(int(entry.name), signal.SIGKILL)
