"""Inputs made to trip the reader: an answer where there is one, else one line and the exit code."""

from __future__ import annotations

import hmac
import json
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from overlapcheck.capture.cache_folder import user_key
from overlapcheck.cli import main
from overlapcheck.errors import ExitCode, OverlapcheckError
from overlapcheck.renderers import renderers
from overlapcheck.saved import restored
from tests.conftest import ROOT
from tests.export import edit
from tests.pictures import picture

DRAWING = """
s7  kernel k          |.aaaa....cccc....eeee....gggg|
s8  kernel ncclKernel |....................nn.......|
s13 h2d pinned 64MiB  |.....bbbb....dddd....ffff....|
t1  cudaLaunchKernel  |a...c.......e.......g........|
t1  cuLaunchKernel    |...................n.........|
t1  cudaMemcpyAsync   |..b.........d.......f........|
t1  nvtx phase        |00000001111111122222222333333|
"""
MANY_DIGITS = "9" * 400

Command = Callable[..., tuple[int, str]]


@pytest.fixture
def export(tmp_path: Path) -> Path:
    return picture(DRAWING, column_us=100).export(tmp_path / "t.sqlite")


@pytest.fixture
def overlapcheck(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str], tmp_path: Path
) -> Command:
    """Runs a command: exit code and the line on stderr."""
    monkeypatch.chdir(tmp_path)

    def run(*arguments: str | Path) -> tuple[int, str]:
        monkeypatch.setattr(sys, "argv", ["overlapcheck", *map(str, arguments)])
        with pytest.raises(SystemExit) as stop:
            main()
        said = capfd.readouterr().err.splitlines()
        assert len(said) <= 1
        return int(stop.value.code or 0), "".join(said)

    return run


# ---- exports


@pytest.mark.parametrize("flag", [77, -1, 2**40])
def test_a_stream_of_an_unknown_kind_is_of_an_unknown_kind(
    export: Path, overlapcheck: Command, flag: int
) -> None:
    edit(export, f"UPDATE TARGET_INFO_CUDA_STREAM SET flag = {flag}")

    assert overlapcheck("analyze", export, "--format", "json") == (ExitCode.FAIL, "")


def frames(**values: str) -> str:
    frame = {"Function": "1", "File": "1", "Line": "1"} | values
    inside = ", ".join(f'"{key}": {value}' for key, value in frame.items())
    return f'{{"Python Backtrace on CUDA": {{"Frames": [{{{inside}}}]}}}}'


PAYLOADS = {
    "deeply nested": '{"Python Backtrace on CUDA":' + "[" * 100_000 + "]" * 100_000 + "}",
    "infinite": frames(Function="Infinity"),
    "not a number": frames(Line="NaN"),
    "many digits": frames(File=MANY_DIGITS),
    "more digits than Python reads": frames(Line="9" * 5000),
    "negative": frames(Line="-1"),
    "something else": '{"Python Backtrace on CUDA": {"Frames": {"a": 1}}}',
}


@pytest.mark.parametrize("payload", PAYLOADS.values(), ids=PAYLOADS)
def test_a_backtrace_that_is_none_costs_only_itself(
    export: Path, overlapcheck: Command, payload: str
) -> None:
    with closing(sqlite3.connect(export)) as connection:
        connection.execute(
            "INSERT INTO NVTX_EVENTS (start, eventType, domainId, globalTid, jsonText)"
            " SELECT min(start), 34, 0, min(globalTid), ? FROM NVTX_EVENTS",
            (payload,),
        )
        connection.commit()

    assert overlapcheck("analyze", export, "-o", "r.json") == (ExitCode.FAIL, "")
    assert MANY_DIGITS not in Path("r.json").read_text()


def test_no_text_is_read_of_a_source_whose_name_holds_a_nul(tmp_path: Path) -> None:
    from dataclasses import replace

    from overlapcheck.finding import SourceLine
    from overlapcheck.reporting.source_lines import located
    from tests.renderers.reports import REPORTS

    found = next(report.findings for report in REPORTS.values() if report.findings)
    finding = replace(found[0], source=(SourceLine("/a\0b.py", 3, "step"),))

    assert located(finding, [tmp_path]).source[0].text == ""


@pytest.mark.parametrize(
    ("good", "bad", "answer", "word"),
    [
        (b"CREATE TABLE", b"CREATE\xff\xfeTABL", ExitCode.COULD_NOT_RUN, "damaged SQLite export"),
        # A name is any bytes to SQLite: the table is there, under a name that nobody asks for.
        (b"StringIds", b"String\xff\xfes", ExitCode.INCONCLUSIVE, ""),
    ],
)
def test_a_schema_that_is_no_text_is_damage(
    export: Path, overlapcheck: Command, good: bytes, bad: bytes, answer: ExitCode, word: str
) -> None:
    export.write_bytes(export.read_bytes().replace(good, bad))

    code, said = overlapcheck("analyze", export)
    assert code == answer
    assert word in said


@pytest.mark.parametrize("rows", ["1", "rowid <= 3"])
def test_kernels_of_no_length_at_one_instant_are_judged(
    export: Path, overlapcheck: Command, rows: str
) -> None:
    edit(
        export,
        f"UPDATE CUPTI_ACTIVITY_KIND_KERNEL SET start = 100000, end = 100000 WHERE {rows}",
        f"DELETE FROM CUPTI_ACTIVITY_KIND_KERNEL WHERE NOT ({rows})",
    )

    code, said = overlapcheck("analyze", export, "-o", "r.json", "-o", "r.html")
    assert (code, said) == (ExitCode.INCONCLUSIVE, "")
    assert "but not one that lasted any time" in Path("r.json").read_text()


# ---- policies

POLICIES = {
    "open lists": "min-overlap = " + "[" * 100_000,
    "deep lists": "min-overlap = " + "[" * 3000 + "]" * 3000,
    "deep tables": "a = " + "{a = " * 3000 + "1" + "}" * 3000,
    "400 digits": f"min-overlap = {MANY_DIGITS}",
    "400 digits below zero": f"max-idle = -{MANY_DIGITS}",
    "5000 digits": "min-overlap = " + "9" * 5000,
    "4000 hexadecimal digits": "max-recoverable = 0x" + "f" * 4000,
    "4000 hexadecimal digits of another thing": "steps = 0x" + "f" * 4000,
    "400 digits of steps": f"skip = {MANY_DIGITS}",
    "400 digits of a threshold": f"[thresholds]\nstart-latency-ns = {MANY_DIGITS}",
}


@pytest.mark.parametrize("policy", POLICIES.values(), ids=POLICIES)
def test_a_policy_that_makes_no_sense_is_one_line_and_2(
    export: Path, overlapcheck: Command, policy: str
) -> None:
    Path("overlapcheck.toml").write_text(policy)

    code, said = overlapcheck("analyze", export)
    assert code == ExitCode.USAGE
    assert said.startswith("overlapcheck: overlapcheck.toml: ")
    assert len(said) < 300


# ---- saved results


def numbers(value: Any, path: tuple[str | int, ...] = ()) -> Iterator[tuple[str | int, ...]]:
    """Places of all numbers of a document; of a list's the first."""
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from numbers(inner, (*path, key))
    elif isinstance(value, list):
        for inner in value[:1]:
            yield from numbers(inner, (*path, 0))
    elif type(value) in (int, float):
        yield path


def with_value(document: Any, path: tuple[str | int, ...], value: str) -> str:
    """The document as text, with another number in one place."""
    changed = json.loads(json.dumps(document))
    at = changed
    for key in path[:-1]:
        at = at[key]
    at[path[-1]] = "HERE"
    return json.dumps(changed).replace('"HERE"', value)


@pytest.fixture
def saved(export: Path, overlapcheck: Command) -> Any:
    overlapcheck("analyze", export, "-o", "saved.json")
    return json.loads(Path("saved.json").read_text())


def test_no_number_of_a_saved_result_breaks_a_format(saved: Any) -> None:
    places = list(numbers(saved))
    assert len(places) > 50
    for place in places:
        for value in (MANY_DIGITS, f"-{MANY_DIGITS}", "1e308", "-1", "4611686018427387904"):
            try:
                report = restored(with_value(saved, place, value))
            except OverlapcheckError:
                continue
            for name in ("terminal", "html", "markdown", "json", "junit"):
                renderers()[name].render(report)


@pytest.mark.parametrize("command", ["render {}", "compare saved.json {}", "baseline save main {}"])
def test_a_saved_result_with_400_digits_is_refused(
    saved: Any, overlapcheck: Command, command: str
) -> None:
    Path("bad.json").write_text(with_value(saved, ("devices", 0, "window_ns"), MANY_DIGITS))

    code, said = overlapcheck(*command.format("bad.json").split())
    assert code == ExitCode.COULD_NOT_RUN
    assert "window_ns is larger than any number of a result" in said


# ---- partial results of many reports


RESUMED = ["analyze", "r", "--resume", "--jobs", "1", "--format", "json"]
"""In this process: what is kept is the same, and workers take a second to start."""
ALTERED = {
    "nested": "[" * 100_000,
    "a list": "[]",
    "a number for the whole": "1",
    "many digits": None,
}


def sealed(place: Path, text: str) -> str:
    """The seal that this user's own results have."""
    named = f"{place.name}\n{text}".encode()
    return hmac.new(user_key(), named, "sha256").hexdigest()


@pytest.mark.parametrize("is_sealed", [True, False], ids=["sealed", "not sealed"])
@pytest.mark.parametrize("text", ALTERED.values(), ids=ALTERED)
def test_an_altered_partial_result_is_made_again(
    export: Path, overlapcheck: Command, text: str | None, is_sealed: bool
) -> None:
    Path("r").mkdir()
    for rank in range(2):
        shutil.copy2(export, f"r/rank_{rank}.sqlite")
    command = [*RESUMED, "-o", "fleet.json"]
    first = overlapcheck(*command)
    whole = Path("fleet.json").read_text()
    kept = list(Path(".overlapcheck-ranks").glob("*.json"))
    assert len(kept) == 2
    for partial in kept:
        seal, _, plain = partial.read_text().partition("\n")
        document = json.loads(plain)
        altered = text or with_value(document, next(numbers(document)), MANY_DIGITS)
        partial.write_text(f"{sealed(partial, altered) if is_sealed else seal}\n{altered}")

    assert overlapcheck(*command) == first
    assert Path("fleet.json").read_text() == whole


def test_a_partial_result_under_its_seal_is_believed(export: Path, overlapcheck: Command) -> None:
    Path("r").mkdir()
    for rank in range(2):
        shutil.copy2(export, f"r/rank_{rank}.sqlite")
    command = [*RESUMED, "-o", "fleet.json"]
    overlapcheck(*command)
    for partial in Path(".overlapcheck-ranks").glob("*.json"):
        plain = partial.read_text().partition("\n")[2].replace("python3 train.py", "another.py")
        partial.write_text(f"{sealed(partial, plain)}\n{plain}")

    overlapcheck(*command)
    assert "another.py" in Path("fleet.json").read_text()


def test_no_part_of_a_partial_result_may_be_something_else(export: Path) -> None:
    from overlapcheck import pipeline
    from overlapcheck.ranks.summary import summarize
    from overlapcheck.saved import decoded_result, encoded_result

    plain = json.loads(encoded_result(summarize(pipeline.analyze(export))))
    for place in numbers(plain):
        for value in (MANY_DIGITS, "[]", "{}", '"text"', "[[1]]", "true"):
            with pytest.raises(ValueError):
                decoded_result(with_value(plain, place, value).encode("ascii"))


# ---- a folder that may not be entered


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (["analyze", "closed"], ExitCode.COULD_NOT_RUN),
        (["analyze", "closed/t.sqlite"], ExitCode.COULD_NOT_RUN),
        (["analyze", "closed/*"], ExitCode.COULD_NOT_RUN),
        (["analyze", "@closed/list"], ExitCode.COULD_NOT_RUN),
        (["render", "closed/r.json"], ExitCode.COULD_NOT_RUN),
        (["compare", "closed/r.json", "closed/s.json"], ExitCode.COULD_NOT_RUN),
        (["analyze", "t.sqlite", "-o", "closed/r.json"], ExitCode.COULD_NOT_RUN),
        (["analyze", "t.sqlite", "--config", "closed/p.toml"], ExitCode.USAGE),
        (["run", "closed/program"], ExitCode.COULD_NOT_RUN),
        (["doctor", "--nsys", "closed/nsys"], ExitCode.COULD_NOT_RUN),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_a_folder_that_may_not_be_entered(
    export: Path, tmp_path: Path, arguments: list[str], code: int
) -> None:
    done = without_privileges(tmp_path, *arguments)

    assert done.returncode == code
    if arguments[0] != "doctor":
        (line,) = done.stderr.splitlines()
        assert line.startswith("overlapcheck: ")
        assert "error of our own" not in line


def test_a_folder_of_policies_that_may_not_be_entered(export: Path, tmp_path: Path) -> None:
    (tmp_path / "closed").mkdir()
    done = without_privileges(tmp_path, "analyze", "../t.sqlite", inside="closed")

    assert done.returncode == ExitCode.USAGE
    assert "cannot be searched for a policy" in done.stderr


def without_privileges(
    folder: Path, *arguments: str, inside: str = ""
) -> subprocess.CompletedProcess[str]:
    """Run overlapcheck as one who may not enter `closed`, be it root."""
    closed = folder / "closed"
    closed.mkdir(exist_ok=True)
    drop = "-dac_override,-dac_read_search"
    setpriv = ["setpriv", f"--bounding-set={drop}", f"--inh-caps={drop}"]
    script = f'cd "{folder / inside}" && chmod 0 "{closed}" && exec "$@"'
    try:
        probe = [*setpriv, "true"]
        if not shutil.which("setpriv") or subprocess.run(probe, capture_output=True).returncode:
            setpriv = []
        done = subprocess.run(
            ["sh", "-c", script, "sh", *setpriv, sys.executable, "-m", "overlapcheck", *arguments],
            capture_output=True,
            text=True,
            timeout=60,
            env={"PYTHONPATH": str(ROOT), "PATH": "/usr/bin:/bin"},
        )
    finally:
        closed.chmod(0o755)
    return done
