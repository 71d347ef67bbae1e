"""`overlapcheck streams` as its users meet it."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from overlapcheck.cli import main
from tests.export import RealExport
from tests.pictures import picture
from tests.streams.programs import DOUBLE_BUFFER

Overlapcheck = Callable[..., tuple[int, str, str]]


@pytest.fixture
def overlapcheck(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str], tmp_path: Path
) -> Overlapcheck:
    """Run a command in an empty folder: exit code, stdout, stderr."""
    monkeypatch.chdir(tmp_path)

    def run(*arguments: str | Path) -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "argv", ["overlapcheck", *map(str, arguments)])
        with pytest.raises(SystemExit) as stop:
            main()
        out, err = capfd.readouterr()
        return int(stop.value.code or 0), out, err

    return run


def export(path: Path, *, ready: bool = True, **options: object) -> Path:
    """The double buffer as a file, with or without the wait for the copy."""
    waits: list[dict[str, object]] = [{"call": "u", "stream": 13, "record": "d", "back": 2}]
    if ready:
        waits.append({"call": "w", "stream": 7, "record": "r"})
    drawn = picture(
        DOUBLE_BUFFER,
        column_us=10,
        repeat=8,
        streams={"7": "non-blocking", "13": "non-blocking"},
        records=[{"call": "r", "stream": 13}, {"call": "d", "stream": 7}],
        waits=waits,
        **options,
    )
    return drawn.export(path)


def test_it_draws_who_waits_for_whom_in_80_columns(
    overlapcheck: Overlapcheck, real_export: RealExport
) -> None:
    for name in ("cu_double_buffer", "cu_legacy_default", "ddp_bucketed", "cu_sync_memcpy"):
        code, out, err = overlapcheck("streams", real_export(name))

        assert (code, err) == (0, "")
        assert max(map(len, out.splitlines())) <= 80
    code, out, _ = overlapcheck("streams", real_export("cu_double_buffer"))
    assert "├────ready 0────▶│" in out
    assert "│◀───reuse −2────┤" in out


def test_write_then_check(overlapcheck: Overlapcheck, tmp_path: Path) -> None:
    right = export(tmp_path / "right.sqlite")
    wrong = export(tmp_path / "wrong.sqlite", ready=False)

    assert overlapcheck("streams", right, "--write", "streams.toml")[0] == 0
    assert overlapcheck("streams", right, "--check", "streams.toml")[0] == 0
    code, out, _ = overlapcheck("streams", wrong, "--check", "streams.toml")
    assert code == 1
    assert out.startswith("FAIL")
    assert "ready edge h2d -> compute, distance 0 has gone" in out


def test_the_answer_as_json_names_the_edges(overlapcheck: Overlapcheck, tmp_path: Path) -> None:
    overlapcheck("streams", export(tmp_path / "right.sqlite"), "--write", "streams.toml")
    wrong = export(tmp_path / "wrong.sqlite", ready=False)

    code, out, _ = overlapcheck("streams", wrong, "--check", "streams.toml", "--format", "json")

    answer = json.loads(out)
    assert (code, answer["changed"], answer["exit_code"]) == (1, True, 1)
    (lost,) = answer["processes"][0]["check"]["lost"]
    named = (lost["from"], lost["to"], lost["kind"], lost["distance"])
    assert named == ("h2d", "compute", "ready", 0)


def test_without_event_records_it_writes_nothing_and_judges_nothing(
    overlapcheck: Overlapcheck, tmp_path: Path
) -> None:
    overlapcheck("streams", export(tmp_path / "right.sqlite"), "--write", "streams.toml")
    blind = export(tmp_path / "blind.sqlite", event_rows=False)

    code, out, _ = overlapcheck("streams", blind, "--check", "streams.toml")
    assert code == 3
    assert "--cuda-event-trace=true" in out
    code, _, err = overlapcheck("streams", blind, "--write", "other.toml")
    assert code == 3
    assert "not written" in err
    assert not (tmp_path / "other.toml").exists()


def test_buffers_that_the_team_declared_outlive_a_rewrite(
    overlapcheck: Overlapcheck, tmp_path: Path
) -> None:
    right = export(tmp_path / "right.sqlite")
    overlapcheck("streams", right, "--write", "streams.toml")
    file = tmp_path / "streams.toml"
    with file.open("a") as stream:
        stream.write('[[buffer]]\nwrites = "h2d"\nreads = "compute"\nslots = 2\n')
    overlapcheck("streams", right, "--write", "streams.toml")

    assert "slots = 2" in file.read_text()


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (("--check", "missing.toml"), 2),
        (("--format", "html5"), 2),
        (("-o", "streams.pdf"), 2),
        (("--window", "3..1"), 2),
    ],
)
def test_what_cannot_be_meant_is_one_line(
    overlapcheck: Overlapcheck, tmp_path: Path, arguments: tuple[str, ...], code: int
) -> None:
    found, out, err = overlapcheck("streams", export(tmp_path / "r.sqlite"), *arguments)

    assert (found, out) == (code, "")
    assert err.count("\n") == 1


def test_mermaid_is_a_flowchart(overlapcheck: Overlapcheck, tmp_path: Path) -> None:
    _, out, _ = overlapcheck(
        "streams", export(tmp_path / "r.sqlite"), "--format", "mermaid", "-o", "graph.mmd"
    )

    assert out.startswith("flowchart LR\n")
    assert 'h2d -->|"ready 0"| compute' in out
    assert (tmp_path / "graph.mmd").read_text() == out
