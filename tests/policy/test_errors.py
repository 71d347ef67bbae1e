"""What a policy file cannot mean, and the whole message that says so."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from overlapcheck.errors import ExitCode, PolicyInvalid
from overlapcheck.policy.resolve import Source, settings_of

CAUSES = ("host-sync", "pageable-copy")


def test_a_profile_where_there_is_none_says_how_to_write_one(tmp_path: Path) -> None:
    said = message(tmp_path, "max-idle = 3\n", profile="ci")

    assert said == "overlapcheck.toml: profiles has no profile; write a first one: [profiles.ci]"


def message(folder: Path, text: str | bytes, name: str = "overlapcheck.toml", **more: str) -> str:
    """The error about a policy file, its folder left out."""
    path = folder / name
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    with pytest.raises(PolicyInvalid) as caught:
        settings_of(Source(start=folder, **more), CAUSES)  # type: ignore[arg-type]
    assert caught.value.exit_code is ExitCode.USAGE
    return str(caught.value).replace(f"{folder}/", "")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("min-overlpa = 80", "min-overlpa is no setting; did you mean min-overlap?"),
        ("min_overlap = 80", "min_overlap is no setting; did you mean min-overlap?"),
        ("[overlap]\nh2 = 80", "overlap.h2 is no direction; did you mean h2d?"),
        (
            'min-overlap = "80 %"',
            'min-overlap = "80 %" is text, not a number;'
            " write the percentage alone: min-overlap = 80",
        ),
        (
            "min-overlap = 0.8",
            "min-overlap = 0.8 is less than one percent;"
            " limits are percentages: min-overlap = 80",
        ),
        (
            "max-recoverable = 120",
            "max-recoverable = 120 is above 100 %, which no share can reach;"
            " give a percentage from 0 to 100",
        ),
        ("max-idle = -1", "max-idle = -1 is no share; give a percentage from 0 to 100"),
        ("max-idle = nan", "max-idle = nan is no share; give a percentage from 0 to 100"),
        ("max-idle = true", "max-idle = true is not a number; write max-idle = 80 for 80 %"),
        ("[overlap]\nd2h = 0.5", "overlap.d2h = 0.5 is less than one percent;"
         " limits are percentages: d2h = 50"),
        ("ceiling = 1", "ceiling = 1 is neither true nor false; write ceiling = true or false"),
        ("skip = 1.5", "skip = 1.5 is not a count; write a whole number: skip = 2"),
        ("skip = -1", "skip = -1 is not a count; write a whole number: skip = 2"),
        ('fail-on = "host-sync"', 'fail-on = "host-sync" is not a list;'
         ' write fail-on = ["host-sync"]'),
        ('fail-on = ["host-sink"]', 'fail-on = ["host-sink"]: there is no such cause;'
         " did you mean host-sync?"),
        ("steps = ''", 'steps = "" is not a text; write steps = "..."'),
        ('comm-patterns = "nccl"', 'comm-patterns = "nccl" is not a list;'
         ' write comm-patterns = ["nccl"]'),
        ("overlap = 80", "overlap = 80 is not a table; write [overlap]"),
        ('[[allow]]\napi = "cudaMalloc"', "allow[1] gives no reason;"
         ' write why it is accepted: reason = "..."'),
        ('[[allow]]\nreason = "why not"', "allow[1] allows every call;"
         " say which: api, nvtx, source = ..."),
        ('[[allow]]\nreason = "x"\napii = "y"', "allow[1].apii is no part of an allowed call;"
         " did you mean api?"),
        ('[allow]\napi = "x"', "allow is not a list of tables; write [[allow]]"),
        ("profiles.nightly.min-overlap = 101", "profiles.nightly.min-overlap = 101 is above 100 %,"
         " which no share can reach; give a percentage from 0 to 100"),
        ("profiles.nightly.profiles = {}", "profiles.nightly.profiles is no setting; it may be"
         " allow, ceiling, comm-patterns, expect-ranks, fail-on, max-exposed-comm,"
         " max-failing-ranks, max-idle, max-recoverable, min-overlap, overlap, ranges,"
         " require-copies, skip, step-time, steps, streams, thresholds"),
        ("ranges = 3", "ranges = 3 is not a table; write [ranges]"),
        ("[ranges]\nforward = 90", "ranges.forward = 90 is not a table; write [ranges.forward]"),
        ('[ranges."forward*"]', 'ranges."forward*" sets no limit; give one: min-overlap,'
         " max-recoverable, max-idle, max-exposed-comm, overlap"),
        ('[ranges."a.b"]\noverlap = {}', 'ranges."a.b" sets no limit; give one: min-overlap,'
         " max-recoverable, max-idle, max-exposed-comm, overlap"),
        ("[ranges.forward]\nmin_overlap = 80", "ranges.forward.min_overlap is no limit of a range;"
         " did you mean min-overlap?"),
        ("[ranges.forward]\nskip = 3", "ranges.forward.skip is no limit of a range; it may be"
         " max-exposed-comm, max-idle, max-recoverable, min-overlap, overlap"),
        ("[ranges.model.forward]\nmax-idle = 3", "ranges.model.forward is no limit;"
         ' quote a name with dots: [ranges."model.forward"]'),
        ('[ranges."forward*"]\nmax-idle = 120', 'ranges."forward*".max-idle = 120 is above 100 %,'
         " which no share can reach; give a percentage from 0 to 100"),
        ('[ranges."a\\nb"]\nmin-overlap = 0.8', 'ranges."a\\nb".min-overlap = 0.8 is less than one'
         " percent; limits are percentages: min-overlap = 80"),
        ("[ranges.forward]\noverlap.h2h = 80", "ranges.forward.overlap.h2h is no direction;"
         " did you mean h2d?"),
        ('[profiles.ci.ranges.forward]\nmax-idle = "1"', 'profiles.ci.ranges.forward.max-idle = "1"'
         " is text, not a number; write the percentage alone: max-idle = 1"),
    ],
)  # fmt: skip
def test_what_a_setting_cannot_mean_is_said_with_its_place(
    text: str, said: str, tmp_path: Path
) -> None:
    assert message(tmp_path, text) == f"overlapcheck.toml: {said}"


def test_a_pattern_that_is_none_names_the_key(tmp_path: Path) -> None:
    said = message(tmp_path, 'steps = "step ("')

    assert said.startswith('overlapcheck.toml: steps = "step (" is not a regular expression (')


def test_the_key_path_of_a_project_file_has_its_table(tmp_path: Path) -> None:
    said = message(tmp_path, "[tool.overlapcheck.overlap]\nh2d = 900", "pyproject.toml")

    assert said.startswith("pyproject.toml: tool.overlapcheck.overlap.h2d = 900 is above 100 %")


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("min-overlap = 80\nmax-idle = = 3\n", "overlapcheck.toml:2: not valid TOML: "),
        ("min-overlap = 80\n[overlap", "overlapcheck.toml:2: not valid TOML: "),
        (b"a = 1\nb = '\xff'\n", "overlapcheck.toml:2: not UTF-8 text; "),
    ],
)
def test_what_is_not_toml_is_said_with_its_line(
    text: str | bytes, place: str, tmp_path: Path
) -> None:
    assert message(tmp_path, text).startswith(place)


def test_a_file_that_cannot_be_read_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "overlapcheck.toml").mkdir()

    with pytest.raises(PolicyInvalid) as caught:
        settings_of(Source(start=tmp_path), CAUSES)

    assert str(caught.value) == (
        f"{tmp_path}/overlapcheck.toml: the policy cannot be read: Is a directory;"
        " make it readable, or judge without it: --no-config"
    )


def test_a_named_file_that_is_not_there_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(PolicyInvalid, match=r"no\.toml: the policy cannot be read: No such file"):
        settings_of(Source(config=tmp_path / "no.toml"), CAUSES)


def test_a_named_project_file_without_our_table_is_an_error(tmp_path: Path) -> None:
    project = tmp_path / "pyproject.toml"
    project.write_text("[project]\nname = 'overlapcheck'\n")

    with pytest.raises(PolicyInvalid, match=r"has no \[tool\.overlapcheck\]"):
        settings_of(Source(config=project), CAUSES)


def test_the_project_table_in_our_own_file_is_an_error(tmp_path: Path) -> None:
    said = message(tmp_path, "[tool.overlapcheck]\nmin-overlap = 80\n")

    assert said == (
        "overlapcheck.toml: [tool.overlapcheck] belongs in pyproject.toml;"
        " here the settings stand at the top, in no table"
    )


def test_a_profile_that_is_not_there_names_the_nearest(tmp_path: Path) -> None:
    said = message(tmp_path, "[profiles.nightly]\nmax-idle = 3\n", profile="nigthly")

    assert said == "overlapcheck.toml: profiles.nigthly is no profile; did you mean nightly?"


def test_a_profile_without_a_policy_file_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(PolicyInvalid, match="--profile nightly: there is no policy file"):
        settings_of(Source(start=tmp_path, profile="nightly"), CAUSES)


def test_no_policy_and_a_profile_exclude_each_other() -> None:
    with pytest.raises(PolicyInvalid, match="--no-config and --profile exclude each other"):
        settings_of(Source(no_config=True, profile="nightly"), CAUSES)


@pytest.mark.parametrize("kind", ["pipe", "endless"])
def test_what_was_only_found_is_not_waited_for(kind: str, tmp_path: Path) -> None:
    path = tmp_path / "overlapcheck.toml"
    if kind == "pipe":
        os.mkfifo(path)
    else:
        path.symlink_to("/dev/zero")
    with pytest.raises(PolicyInvalid, match="no regular file"):
        settings_of(Source(start=tmp_path), CAUSES)


def test_a_policy_of_many_megabytes_is_not_read(tmp_path: Path) -> None:
    assert "too long for a policy" in message(tmp_path, "#" * (5 << 20))
    with pytest.raises(PolicyInvalid, match="too long"):
        settings_of(Source(start=tmp_path, config=Path("/dev/zero")), CAUSES)
