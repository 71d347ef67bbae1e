"""Whatever happens to a capture: exit code, one-line reason, kept report, nothing left behind.

Real nsys on CPU programs. A CPU program is INCONCLUSIVE (exit 3): nothing ran on a GPU.
"""

from __future__ import annotations

import os
import shutil
import signal
import stat
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.capture.conftest import wait_for

if TYPE_CHECKING:
    from overlapcheck.capture.discovery import Nsys
    from tests.capture.conftest import Machine

pytestmark = [pytest.mark.nsys, pytest.mark.usefixtures("real_nsys")]

INCONCLUSIVE, COULD_NOT_RUN, PROGRAM_FAILED = 3, 4, 5
FORK = "import os; os._exit(0) if os.fork() == 0 else os.wait()"


def sh(script: str) -> list[str]:
    return ["sh", "-c", script]


def py(script: str) -> list[str]:
    return [sys.executable, "-c", script]


def assert_no_traceback(stderr: str) -> None:
    assert "Traceback" not in stderr
    assert all(line.startswith("overlapcheck: ") for line in stderr.splitlines() if line)


# ---- the program's own end

ENDINGS = {
    "success": (sh("exit 0"), INCONCLUSIVE, ""),
    "failure": (sh("exit 3"), PROGRAM_FAILED, "sh ended with exit code 3"),
    "code 1, as nsys's own failures": (sh("exit 1"), PROGRAM_FAILED, "ended with exit code 1"),
    "code 255": (sh("exit 255"), PROGRAM_FAILED, "ended with exit code 255"),
    "crash": (sh("kill -SEGV $$"), PROGRAM_FAILED, "was ended by SIGSEGV (exit code 139)"),
    "abort": (py("import os; os.abort()"), PROGRAM_FAILED, "was ended by SIGABRT (exit code 134)"),
    "killed": (sh("kill -KILL $$"), PROGRAM_FAILED, "was ended by SIGKILL (exit code 137)"),
    "os._exit": (py("import os; os._exit(7)"), PROGRAM_FAILED, "ended with exit code 7"),
    "fork without exec": (py(FORK), INCONCLUSIVE, ""),
}


@pytest.mark.parametrize("row", ENDINGS)
def test_program_ends(machine: Machine, row: str) -> None:
    command, exit_code, says = ENDINGS[row]
    ended = machine.overlapcheck("run", *command)
    assert ended.exit_code == exit_code
    assert says in ended.stderr
    assert len(machine.reports()) == 1
    assert f"the report is {machine.reports()[0].name}" in ended.stderr
    assert ended.stdout.startswith("INCONCLUSIVE")
    assert_no_traceback(ended.stderr)
    machine.assert_clean()


def test_script_without_interpreter_line_runs_as_in_a_shell(machine: Machine) -> None:
    script = machine.work / "job"
    script.write_text("exit 9\n")
    script.chmod(0o755)
    ended = machine.overlapcheck("run", "./job")
    assert ended.exit_code == PROGRAM_FAILED
    assert "./job ended with exit code 9" in ended.stderr
    machine.assert_clean()


def test_daemon_lives_on_as_it_would_without_us(machine: Machine) -> None:
    ended = machine.overlapcheck("run", *sh("setsid sleep 1000 >/dev/null 2>&1 & exit 0"))
    assert ended.exit_code == INCONCLUSIVE
    assert machine.processes() == ["sleep 1000"]
    assert len(machine.reports()) == 1
    assert [path.name for path in machine.tmp.iterdir()] == []


def test_a_worker_that_outlives_its_launcher_is_told_of(machine: Machine) -> None:
    ended = machine.overlapcheck(
        "run", *sh("setsid sleep 1000 >/dev/null 2>&1 & sleep 1.5; exit 0")
    )
    assert "ended and what it started lives on: sleep (" in ended.stderr
    assert "--wait=all" in ended.stderr
    assert machine.processes() == ["sleep 1000"]


CANNOT_START = {
    "no such command": (["no-such-command-here"], "no-such-command-here: command not found"),
    "no such file": (["./missing"], "./missing: no such file"),
    "directory": (["./"], "./: a directory, not a program"),
    "not executable": (["./plain"], "./plain: not executable"),
    "interpreter missing": (["./lost"], "./lost: cannot be run: No such file or directory"),
}


@pytest.mark.parametrize("row", CANNOT_START)
def test_program_cannot_start(machine: Machine, row: str) -> None:
    command, says = CANNOT_START[row]
    (machine.work / "plain").write_text("#!/bin/sh\n")
    (machine.work / "lost").write_text("#!/no/such/interpreter\n")
    (machine.work / "lost").chmod(0o755)
    ended = machine.overlapcheck("run", *command)
    assert ended.exit_code == COULD_NOT_RUN
    assert says in ended.stderr
    assert len(ended.said) == 1
    assert machine.reports() == []
    machine.assert_clean()


# ---- signals while the program runs

READY = "touch ready; "
HANDLES = """
import signal, sys, pathlib
signal.signal(signal.{name}, lambda *_: sys.exit({code}))
pathlib.Path("ready").touch()
while True:
    signal.pause()
"""
STOPPED = {
    "SIGINT": ("was ended by SIGINT", signal.SIGINT),
    "SIGTERM": ("was ended by SIGTERM", signal.SIGTERM),
    "SIGHUP": ("was ended by SIGHUP", signal.SIGHUP),
}


@pytest.mark.parametrize("row", STOPPED)
def test_signal_ends_the_program_and_the_recording_is_judged(machine: Machine, row: str) -> None:
    says, signum = STOPPED[row]
    running = machine.start("run", *sh(READY + "exec sleep 1000"))
    running.wait_for((machine.work / "ready").exists)
    running.send(signum)
    ended = running.end()
    assert ended.exit_code == INCONCLUSIVE
    assert says in ended.stderr
    assert len(machine.reports()) == 1
    assert_no_traceback(ended.stderr)
    machine.assert_clean()


@pytest.mark.parametrize(
    ("name", "exit_code"),
    [("SIGINT", INCONCLUSIVE), ("SIGTERM", INCONCLUSIVE), ("SIGUSR1", PROGRAM_FAILED)],
)
def test_program_handles_the_signal_itself(machine: Machine, name: str, exit_code: int) -> None:
    running = machine.start("run", *py(HANDLES.format(name=name, code=9)))
    running.wait_for((machine.work / "ready").exists)
    running.send(signal.Signals[name])
    ended = running.end()
    assert "ended with exit code 9" in ended.stderr
    assert ended.exit_code == exit_code
    machine.assert_clean()


def test_third_interrupt_kills_a_program_that_ignores_them(machine: Machine) -> None:
    counts = "import signal,pathlib,itertools\nn=itertools.count()\n" + (
        "signal.signal(2, lambda *_: pathlib.Path(f'got{next(n)}').touch())\n"
        "pathlib.Path('ready').touch()\nwhile True: signal.pause()"
    )
    running = machine.start("run", *py(counts))
    for waited in ("ready", "got0", "got1"):
        running.wait_for((machine.work / waited).exists)
        running.send(signal.SIGINT)
    ended = running.end()
    assert "killing the program; what it recorded is still judged" in ended.stderr
    assert ended.exit_code == INCONCLUSIVE
    assert len(machine.reports()) == 1
    machine.assert_clean()


def test_nohup_still_works(machine: Machine) -> None:
    waits = sh(READY + "while [ ! -e go ]; do sleep 0.05; done")
    running = machine.start("run", *waits, through=["sh", "-c", 'trap "" HUP; exec "$@"', "sh"])
    running.wait_for((machine.work / "ready").exists)
    running.send(signal.SIGHUP)
    (machine.work / "go").touch()
    ended = running.end()
    assert ended.exit_code == INCONCLUSIVE
    assert "ended" not in ended.stderr
    machine.assert_clean()


def test_pause_and_continue(machine: Machine) -> None:
    waits = "import os, pathlib, time\npathlib.Path('ready').write_text(str(os.getpid()))\n" + (
        "while not pathlib.Path('go').exists(): time.sleep(0.02)"
    )
    running = machine.start("run", *py(waits))
    running.wait_for(lambda: (machine.work / "ready").exists() and _text(machine, "ready"))
    program = int(_text(machine, "ready"))
    running.send(signal.SIGTSTP)
    wait_for(lambda: (_state(program), _state(running.child.pid)) == ("T", "T"))
    running.send(signal.SIGCONT)
    wait_for(lambda: _state(program) != "T")
    (machine.work / "go").touch()
    assert running.end().exit_code == INCONCLUSIVE
    machine.assert_clean()


def _text(machine: Machine, name: str) -> str:
    return (machine.work / name).read_text()


def _state(pid: int) -> str:
    return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]


# ---- signals after the program

WRITES_REPORT = 'touch "$GATE/importing"; while [ ! -e "$GATE/go" ]; do sleep 0.02; done; '


def gated(machine: Machine) -> dict[str, str]:
    return {"GATE": str(machine.work)}


def test_second_interrupt_while_importing_gives_up(
    machine: Machine, fake_nsys: Callable[..., Path]
) -> None:
    nsys = fake_nsys(profile=f'"$@"; {WRITES_REPORT}')
    running = machine.start("run", "--nsys", str(nsys), "true", environment=gated(machine))
    running.wait_for((machine.work / "importing").exists)
    # Until the program's end is noticed a signal would be one for the program.
    running.wait_until_it_says("writing the report")
    running.send(signal.SIGINT)
    running.wait_until_it_says("the report is being written; once more gives it up")
    running.send(signal.SIGINT)
    ended = running.end()
    assert "given up while nsys was writing the report" in ended.stderr
    assert ended.exit_code == 128 + signal.SIGINT
    assert machine.reports() == []
    machine.assert_clean()


def test_interrupt_while_importing_keeps_the_report(
    machine: Machine, fake_nsys: Callable[..., Path], report: Path, real_nsys: Nsys
) -> None:
    nsys = fake_nsys(
        profile=f'"$@"; {WRITES_REPORT} cp {report} "$output"',
        export=f'exec {real_nsys.path} export --type=sqlite --output="$output" "$1"',
    )
    running = machine.start("run", "--nsys", str(nsys), "true", environment=gated(machine))
    running.wait_until_it_says("writing the report")
    running.send(signal.SIGTERM)
    (machine.work / "go").touch()
    ended = running.end()
    assert ended.exit_code == INCONCLUSIVE
    assert len(machine.reports()) == 1
    machine.assert_clean()


@pytest.mark.parametrize("signum", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_signal_while_exporting(
    machine: Machine, fake_nsys: Callable[..., Path], report: Path, signum: signal.Signals
) -> None:
    nsys = fake_nsys(export=f'echo partial >"$output"; {WRITES_REPORT}')
    running = machine.start("analyze", "--nsys", str(nsys), str(report), environment=gated(machine))
    running.wait_for((machine.work / "importing").exists)
    running.send(signum)
    ended = running.end()
    assert ended.exit_code == 128 + signum
    assert f"stopped by {signum.name} while exporting {report}" in ended.stderr
    assert_no_traceback(ended.stderr)
    assert [path.name for path in report.parent.iterdir()] == [report.name]
    machine.assert_clean()


SLOW_ANALYSIS = """
import pathlib, sys, time
from overlapcheck import cli, pipeline
def analyze(*_, **__):
    pathlib.Path("analysing").touch()
    time.sleep(1000)
pipeline.analyze = analyze
sys.argv = ["overlapcheck", "run", "-o", "step.nsys-rep", "true"]
cli.main()
"""


@pytest.mark.parametrize("signum", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_signal_while_analysing(machine: Machine, signum: signal.Signals) -> None:
    running = machine.start(through=[sys.executable, "-c", SLOW_ANALYSIS])
    running.wait_for((machine.work / "analysing").exists)
    running.send(signum)
    ended = running.end()
    assert ended.exit_code == 128 + signum
    assert f"stopped by {signum.name} while analysing step.nsys-rep" in ended.stderr
    assert "overlapcheck analyze step.nsys-rep" in ended.stderr
    assert_no_traceback(ended.stderr)
    assert len(machine.reports()) == 1
    machine.assert_clean()


# ---- nsys itself fails


WAITS = "import pathlib, signal; pathlib.Path('ready').touch(); signal.pause()"


@pytest.mark.parametrize("victim", ["profile", "--start-agent"])
def test_nsys_dies(machine: Machine, victim: str) -> None:
    running = machine.start("run", *py(WAITS))
    running.wait_for((machine.work / "ready").exists)
    killed = [pid for pid, words in _marked(machine) if "nsys" in words[0] and words[1] == victim]
    assert len(killed) == 1
    config_files = _injection_config_files(machine)
    assert config_files
    os.kill(killed[0], signal.SIGKILL)
    ended = running.end()
    assert ended.exit_code == COULD_NOT_RUN
    assert f"nsys died while {sys.executable} ran, and the recording with it" in ended.stderr
    assert len(ended.said) == 1
    assert machine.reports() == []
    assert [path for path in config_files if path.exists()] == []
    machine.assert_clean()


@pytest.mark.parametrize("goes_on", ["", "sleep 0.5; "])
def test_program_kills_its_parent(machine: Machine, goes_on: str) -> None:
    ended = machine.overlapcheck("run", *sh(f"kill -9 $PPID; {goes_on}exit 3"))
    assert ended.exit_code == INCONCLUSIVE
    assert "nsys's launcher was killed while sh ran: how that ended is not known" in ended.stderr
    assert len(machine.reports()) == 1
    machine.assert_clean()


def test_program_stops_its_parent(machine: Machine) -> None:
    ended = machine.overlapcheck("run", *sh("kill -STOP $PPID; exit 3"))
    assert ended.exit_code == PROGRAM_FAILED
    assert "sh ended with exit code 3" in ended.stderr
    assert len(machine.reports()) == 1
    machine.assert_clean()


def test_launcher_is_gone_and_nothing_was_recorded(
    machine: Machine, fake_nsys: Callable[..., Path]
) -> None:
    nsys = fake_nsys(profile="""sh -c '"$@"; true' launcher "$@" & exec sleep 1000""")
    ended = machine.overlapcheck("run", "--nsys", str(nsys), *sh("kill -9 $PPID"))
    assert ended.exit_code == COULD_NOT_RUN
    assert "nsys's launcher was killed while sh ran, and left no usable report" in ended.stderr
    assert machine.reports() == []
    machine.assert_clean()


def _marked(machine: Machine) -> list[tuple[int, list[str]]]:
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                environment = (entry / "environ").read_bytes()
                words = (entry / "cmdline").read_bytes().decode().split("\0")
            except OSError:
                continue
            if machine.mark.encode() in environment and len(words) > 1:
                found.append((int(entry.name), words))
    return found


def _injection_config_files(machine: Machine) -> list[Path]:
    program = next(pid for pid, words in _marked(machine) if words[:3] == py(WAITS))
    environment = Path(f"/proc/{program}/environ").read_bytes().decode().split("\0")
    values = [entry.partition("=")[2] for entry in environment]
    return [Path(value) for value in values if "/injection_config_" in value]


def test_nsys_fails_before_the_program(machine: Machine) -> None:
    ended = machine.overlapcheck("run", "--nsys-args=--trace=no-such-api", "true")
    assert ended.exit_code == COULD_NOT_RUN
    assert "nsys 2023.4.4 does not take --nsys-args: " in ended.stderr
    assert machine.reports() == []
    machine.assert_clean()


def test_nsys_never_starts_the_program(machine: Machine, fake_nsys: Callable[..., Path]) -> None:
    nsys = fake_nsys(profile="exec sleep 1000")
    script = (
        "from overlapcheck.capture import watch; watch.START_TIMEOUT_S = 0.5\n"
        "import sys; from overlapcheck.cli import main\n"
        f"sys.argv = ['overlapcheck', 'run', '--nsys', {str(nsys)!r}, 'true']; main()"
    )
    done = subprocess.run(
        py(script), cwd=machine.work, env=machine.environment(), capture_output=True, check=False
    )
    assert done.returncode == COULD_NOT_RUN
    assert b"nsys did not start the program within 0.5 s" in done.stderr
    machine.assert_clean()


def test_inside_nsys(machine: Machine) -> None:
    ended = machine.overlapcheck("run", "true", environment={"NSYS_PROFILING_SESSION_ID": "1"})
    assert ended.exit_code == COULD_NOT_RUN
    assert "already running inside nsys" in ended.stderr
    machine.assert_clean()


def test_inside_nsys_for_real(machine: Machine) -> None:
    inner = [sys.executable, "-m", "overlapcheck", "run", "true"]
    ended = machine.overlapcheck("run", *inner)
    assert ended.exit_code == PROGRAM_FAILED
    assert "already running inside nsys, which cannot profile itself" in ended.stderr
    assert "ended with exit code 4" in ended.stderr
    machine.assert_clean()


@pytest.mark.parametrize(
    ("nsys", "says"),
    [
        ("/no/such/nsys", "/no/such/nsys: no nsys there"),
        ("/bin/false", "found nsys, but it does not run: /bin/false"),
    ],
)
def test_no_nsys(machine: Machine, nsys: str, says: str) -> None:
    ended = machine.overlapcheck("run", "--nsys", nsys, "true")
    assert ended.exit_code == COULD_NOT_RUN
    assert says in ended.stderr
    assert "nsight-systems-cli" in ended.stderr
    machine.assert_clean()


# ---- ranges

RANGES = {
    "--capture-range=cudaProfilerApi": "the program never called cudaProfilerStart()",
    "--capture-range=nvtx:step": "no NVTX range step@* opened",
    "--delay=60": "the program was over before --delay 60 was",
}


@pytest.mark.parametrize("option", RANGES)
def test_nothing_was_recorded(machine: Machine, option: str) -> None:
    ended = machine.overlapcheck("run", option, *sh("exit 6"))
    assert ended.exit_code == COULD_NOT_RUN
    assert f"nothing was recorded: {RANGES[option]}; sh ended with exit code 6" in ended.stderr
    assert machine.reports() == []
    machine.assert_clean()


def test_duration_ends_the_program_and_that_is_no_failure(machine: Machine) -> None:
    ended = machine.overlapcheck("run", "--duration", "1", "sleep", "1000")
    assert ended.exit_code == INCONCLUSIVE
    assert "sleep was stopped after 1 s, as asked" in ended.stderr
    assert "SIGTERM" not in ended.stderr
    machine.assert_clean()


def test_an_option_that_nsys_refuses_is_told_in_its_own_words(machine: Machine) -> None:
    ended = machine.overlapcheck("run", "--nsys-args=--bogus", "true")
    assert ended.exit_code == COULD_NOT_RUN
    assert "does not take --nsys-args: unrecognised option '--bogus'; the options" in ended.stderr
    machine.assert_clean()


# ---- places


def test_unwritable_directory(machine: Machine) -> None:
    machine.work.chmod(0o555)
    try:
        ended = machine.overlapcheck("run", "true")
    finally:
        machine.work.chmod(0o755)
    assert ended.exit_code == INCONCLUSIVE
    assert f"{machine.work} is not writable: report goes to {machine.tmp}" in ended.stderr
    (folder,) = machine.tmp.iterdir()
    kept = machine.reports(folder)
    assert len(kept) == 1
    assert f"the report is {kept[0]}" in ended.stderr
    assert list(machine.work.iterdir()) == []
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert {stat.S_IMODE(file.stat().st_mode) for file in folder.iterdir()} == {0o600}


def test_report_name_taken_is_refused_before_the_program_runs(machine: Machine) -> None:
    taken = machine.work / "step.nsys-rep"
    taken.write_bytes(b"mine")
    ended = machine.overlapcheck("run", "-o", "step.nsys-rep", "touch", "ran")
    assert ended.exit_code == COULD_NOT_RUN
    assert "step.nsys-rep exists already" in ended.stderr
    assert not (machine.work / "ran").exists()
    assert taken.read_bytes() == b"mine"
    machine.assert_clean()


def test_report_name_taken_meanwhile(machine: Machine) -> None:
    ended = machine.overlapcheck("run", "-o", "step.nsys-rep", *sh("echo mine >step.nsys-rep"))
    assert ended.exit_code == INCONCLUSIVE
    assert (machine.work / "step.nsys-rep").read_text() == "mine\n"
    assert (machine.work / "step-2.nsys-rep").stat().st_size > 1000
    assert "step.nsys-rep was taken meanwhile" in ended.stderr
    assert "the report is step-2.nsys-rep" in ended.stderr
    machine.assert_clean()


def test_directory_of_the_report_missing(machine: Machine) -> None:
    ended = machine.overlapcheck("run", "-o", "gone/step.nsys-rep", "touch", "ran")
    assert ended.exit_code == COULD_NOT_RUN
    assert "gone: no such directory" in ended.stderr
    assert not (machine.work / "ran").exists()


def test_keep_makes_the_directory(machine: Machine) -> None:
    ended = machine.overlapcheck("run", "--keep", "a/b", "true")
    assert ended.exit_code == INCONCLUSIVE
    assert len(machine.reports(machine.work / "a/b")) == 1
    assert machine.reports() == []
    machine.assert_clean()


def test_ranks_write_distinct_files(machine: Machine) -> None:
    ranks = [
        machine.start("run", "-o", "step.nsys-rep", "true", environment={"RANK": str(rank)})
        for rank in range(2)
    ]
    assert [rank.end().exit_code for rank in ranks] == [INCONCLUSIVE, INCONCLUSIVE]
    names = [path.name for path in machine.reports()]
    assert names == ["step-rank0.nsys-rep", "step-rank1.nsys-rep"]
    machine.assert_clean()


def test_temporary_directory_full(machine: Machine, small_disk: Callable[[int], Path]) -> None:
    full = small_disk(300)
    ended = machine.overlapcheck("run", "true", environment={"TMPDIR": str(full)})
    assert ended.exit_code == INCONCLUSIVE
    assert len(machine.reports()) == 1
    assert list(full.iterdir()) == []
    machine.assert_clean()


def test_disk_fills_up_while_recording(machine: Machine, small_disk: Callable[[int], Path]) -> None:
    # The program writes what nsys's buffers would: more than is left, until it is told to stop.
    disk = small_disk(300_000)
    fills = f"""
import os, pathlib, time
with open({str(disk / "fill")!r}, "wb") as file:
    file.write(bytes(200 << 20))
pathlib.Path("ready").touch()
while not pathlib.Path("go").exists():
    time.sleep(0.02)
raise SystemExit(6)
"""
    running = machine.start("run", *py(fills), environment={"TMPDIR": str(disk)})
    running.wait_until_it_says("the recording ends here and the program goes on")
    (disk / "fill").unlink()
    (machine.work / "go").touch()
    ended = running.end()
    assert ended.exit_code == PROGRAM_FAILED
    assert "ended with exit code 6" in ended.stderr
    assert len(machine.reports()) == 1
    assert list(disk.iterdir()) == []
    machine.assert_clean()


def test_failure_is_not_excused_by_a_later_signal(
    machine: Machine, fake_nsys: Callable[..., Path], report: Path, real_nsys: Nsys
) -> None:
    nsys = fake_nsys(
        profile=f'"$@"; code=$?; {WRITES_REPORT} cp {report} "$output"; exit $code',
        export=f'exec {real_nsys.path} export --type=sqlite --output="$output" "$1"',
    )
    running = machine.start("run", "--nsys", str(nsys), *sh("exit 3"), environment=gated(machine))
    running.wait_until_it_says("writing the report")
    running.send(signal.SIGINT)
    running.wait_until_it_says("once more gives it up")
    (machine.work / "go").touch()
    assert running.end().exit_code == PROGRAM_FAILED
    machine.assert_clean()


def test_disk_of_the_report_full(machine: Machine, small_disk: Callable[[int], Path]) -> None:
    full = small_disk(100)
    ended = machine.overlapcheck("run", "-o", f"{full}/step.nsys-rep", "true")
    assert ended.exit_code == INCONCLUSIVE
    (folder,) = machine.tmp.iterdir()
    kept = machine.reports(folder)
    assert [path.name for path in kept] == ["step.nsys-rep"]
    assert f"cannot write the report into {full}: No space left on device" in ended.stderr
    assert f"the report is {kept[0]}" in ended.stderr
    assert list(full.iterdir()) == []


# ---- exporting


def test_disk_full_in_the_cache(
    machine: Machine, report: Path, small_disk: Callable[[int], Path]
) -> None:
    full = small_disk(300)
    ended = machine.overlapcheck("analyze", str(report), environment={"XDG_CACHE_HOME": str(full)})
    assert ended.exit_code == INCONCLUSIVE
    assert not list(full.rglob("*.sqlite"))
    machine.assert_clean()


def test_disk_full_everywhere(
    machine: Machine, report: Path, small_disk: Callable[[int], Path]
) -> None:
    full, tmp = small_disk(300), small_disk(100)
    ended = machine.overlapcheck(
        "analyze",
        str(report),
        environment={"TMPDIR": str(tmp), "XDG_CACHE_HOME": str(full)},
    )
    assert ended.exit_code == COULD_NOT_RUN
    assert f"{report}: disk full while exporting into {tmp}" in ended.stderr
    assert len(ended.said) == 1
    assert [path for path in full.rglob("*") if path.is_file()] == []
    assert list(tmp.iterdir()) == []
    machine.assert_clean()


# ---- only a .qdstrm is left


def test_target_only_installation(machine: Machine, real_nsys: Nsys) -> None:
    half = _target_only(real_nsys, machine.work / "half")
    ended = machine.overlapcheck("run", "--nsys", str(half), *sh("exit 3"))
    assert ended.exit_code == PROGRAM_FAILED, ended.stderr
    assert len(machine.reports()) == 1
    assert list(machine.work.glob("*.qdstrm")) == []
    machine.assert_clean()


def _target_only(nsys: Nsys, root: Path) -> Path:
    """The part of an installation that Debian calls nsight-systems-target."""
    installed = nsys.path.resolve().parent
    shutil.copytree(installed, root / installed.name, symlinks=True, copy_function=_link_or_copy)
    return root / installed.name / "nsys"


def _link_or_copy(source: str, target: str) -> str:
    try:
        os.link(source, target)
    except OSError:
        shutil.copy2(source, target)
    return target


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory, real_nsys: Nsys) -> Path:
    """A real report of a CPU program."""
    from overlapcheck.capture.profile import profile
    from overlapcheck.capture.spec import CaptureSpec

    place = tmp_path_factory.mktemp("report") / "cpu.nsys-rep"
    return profile(CaptureSpec(keep_as=place), ["true"], real_nsys).report
