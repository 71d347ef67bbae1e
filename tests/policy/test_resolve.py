"""Which file holds, what beats what, and what comes out."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from overlapcheck.errors import PolicyInvalid
from overlapcheck.policy.python_limits import in_percent
from overlapcheck.policy.resolve import Source, resolve, settings_of
from overlapcheck.policy.settings import Setting
from overlapcheck.selection import Selection
from overlapcheck.verdict import AllowedCall, Policy

CAUSES = ("host-sync", "pageable-copy")
EVERYTHING = """
min-overlap = 70
ceiling = false
max-recoverable = 20
max-idle = 30
max-exposed-comm = 5.5
require-copies = true
fail-on = ["host-sync", "pageable-copy"]
steps = "my step #"
skip = 2
comm-patterns = ["my_ring", "exchange_.*"]

[overlap]
d2h = 40

[[allow]]
api = "cudaStreamSynchronize"
source = "train.py:12"
reason = "the loss is printed"

[ranges."forward*"]
min-overlap = 90
max-recoverable = 6
max-exposed-comm = 3
overlap.d2h = 10

[ranges.backward]
max-idle = 25

[profiles.nightly]
max-recoverable = 5
overlap.h2d = 90

[profiles.nightly.ranges."forward*"]
max-recoverable = 2
max-idle = 4

[profiles.nightly.ranges.optimizer]
max-idle = 50

[[profiles.nightly.allow]]
api = "cudaMalloc"
reason = "the first batch is larger"
"""


def policy(folder: Path, text: str, **options: Setting) -> tuple[Policy, Selection]:
    (folder / "overlapcheck.toml").write_text(text)
    return resolve(settings_of(Source(start=folder), CAUSES), _keys(options))


def _keys(options: dict[str, Setting]) -> dict[str, Setting]:
    return {name.replace("_", "-"): setting for name, setting in options.items()}


def test_every_setting_arrives(tmp_path: Path) -> None:
    limits, selection = policy(tmp_path, EVERYTHING)

    assert (limits.min_overlap, limits.overlap_of) == (0.7, {"d2h": 0.4})
    assert not limits.relief_from_ceiling
    assert (limits.max_recoverable, limits.max_idle) == (0.2, 0.3)
    assert limits.max_exposed_communication == pytest.approx(0.055)
    assert limits.require_copies
    assert limits.fail_on == {"host-sync", "pageable-copy"}
    assert limits.allowed == (
        AllowedCall("the loss is printed", "cudaStreamSynchronize", "train.py:12"),
    )
    assert set(limits.origins.values()) == {"overlapcheck.toml"}
    assert selection == Selection(
        steps="my step #", skip=2, communication=("my_ring", "exchange_.*")
    )


def test_without_a_file_everything_is_a_default(tmp_path: Path) -> None:
    assert resolve(settings_of(Source(start=tmp_path), CAUSES), {}) == (Policy(), Selection())


def test_the_command_line_beats_the_file(tmp_path: Path) -> None:
    limits, selection = policy(
        tmp_path,
        "max-idle = 30\nskip = 2\nceiling = false\n",
        max_idle=Setting(50.0, "--max-idle"),
        skip=Setting(0, "--skip"),
        ceiling=Setting(True, "--ceiling"),
    )

    assert (limits.max_idle, limits.relief_from_ceiling, selection.skip) == (0.5, True, 0)
    assert limits.origin("max_idle") == "--max-idle"
    assert limits.origin("max_recoverable") == "default"


def test_one_overlap_asked_for_by_hand_holds_for_every_direction(tmp_path: Path) -> None:
    limits, _ = policy(
        tmp_path, "[overlap]\nh2d = 95\n", min_overlap=Setting(50.0, "--min-overlap")
    )

    assert (limits.min_overlap, limits.overlap_of) == (0.5, {})


def test_a_profile_is_laid_over_the_rest(tmp_path: Path) -> None:
    (tmp_path / "overlapcheck.toml").write_text(EVERYTHING)
    limits, _ = resolve(settings_of(Source(start=tmp_path, profile="nightly"), CAUSES), {})

    assert (limits.min_overlap, limits.max_recoverable) == (0.7, 0.05)
    assert limits.overlap_of == {"d2h": 0.4, "h2d": 0.9}
    assert [call.api for call in limits.allowed] == ["cudaStreamSynchronize", "cudaMalloc"]
    assert limits.origin("min_overlap") == "overlapcheck.toml"
    assert limits.origin("max_recoverable") == "overlapcheck.toml, profile nightly"


# ---- limits of ranges


def test_limits_of_ranges_arrive_and_take_the_ceiling_of_the_whole(tmp_path: Path) -> None:
    limits, selection = policy(tmp_path, EVERYTHING)
    forward, backward = limits.ranges["forward*"], limits.ranges["backward"]

    assert list(limits.ranges) == ["forward*", "backward"]
    assert (forward.min_overlap, forward.max_recoverable, forward.max_idle) == (0.9, 0.06, None)
    assert (forward.max_exposed_communication, forward.overlap_of) == (0.03, {"d2h": 0.1})
    assert (backward.min_overlap, backward.max_recoverable, backward.max_idle) == (None, None, 0.25)
    assert not forward.relief_from_ceiling
    assert set(forward.origins.values()) == {"overlapcheck.toml"}
    assert selection.ranges == ()


def test_under_a_range_the_limits_of_the_profile_win(tmp_path: Path) -> None:
    (tmp_path / "overlapcheck.toml").write_text(EVERYTHING)
    limits, _ = resolve(settings_of(Source(start=tmp_path, profile="nightly"), CAUSES), {})
    forward = limits.ranges["forward*"]

    assert sorted(limits.ranges) == ["backward", "forward*", "optimizer"]
    assert (forward.min_overlap, forward.max_recoverable, forward.max_idle) == (0.9, 0.02, 0.04)
    assert forward.origin("min_overlap") == "overlapcheck.toml"
    assert forward.origin("max_idle") == "overlapcheck.toml, profile nightly"
    assert limits.max_recoverable == 0.05


def test_limits_given_by_hand_are_those_of_the_whole(tmp_path: Path) -> None:
    limits, _ = policy(
        tmp_path,
        "[ranges.forward]\noverlap.h2d = 95\nmax-idle = 5\n",
        min_overlap=Setting(50.0, "--min-overlap"),
        max_idle=Setting(60.0, "--max-idle"),
        ceiling=Setting(False, "--no-ceiling"),
    )
    forward = limits.ranges["forward"]

    assert (limits.min_overlap, limits.max_idle) == (0.5, 0.6)
    assert (forward.overlap_of, forward.max_idle) == ({"h2d": 0.95}, 0.05)
    assert forward.origin("overlap h2d", "relief_from_ceiling") == (
        "overlapcheck.toml and --no-ceiling"
    )


def test_a_project_file_has_ranges_too(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text(
        '[tool.overlapcheck.ranges."model.forward <1>"]\nmax-idle = 3\n'
    )
    limits, _ = resolve(settings_of(Source(start=tmp_path), CAUSES), {})

    assert limits.ranges["model.forward <1>"].max_idle == 0.03


# ---- where a choice was made


def test_a_choice_of_the_file_is_told_as_one(tmp_path: Path) -> None:
    _, selection = policy(tmp_path, "skip = 2\nsteps = 'my step #'\n", skip=Setting(0, "--skip"))

    assert selection.told("steps") == "steps = 'my step #' in overlapcheck.toml"
    assert selection.told("skip") == "--skip 0"


# ---- which file


@pytest.fixture
def deep(tmp_path: Path) -> Path:
    folder = tmp_path / "a" / "b"
    folder.mkdir(parents=True)
    return folder


def found(start: Path, **more: object) -> float | None:
    settings = settings_of(Source(start=start, **more), CAUSES)  # type: ignore[arg-type]
    return settings["max-idle"].value if settings else None


def test_the_nearest_file_upward_holds(tmp_path: Path, deep: Path) -> None:
    (tmp_path / "overlapcheck.toml").write_text("max-idle = 1")
    assert found(deep) == 1

    (tmp_path / "a" / "pyproject.toml").write_text("[tool.overlapcheck]\nmax-idle = 2")
    assert found(deep) == 2


def test_our_own_file_comes_before_a_project_file_beside_it(tmp_path: Path) -> None:
    (tmp_path / "overlapcheck.toml").write_text("max-idle = 1")
    (tmp_path / "pyproject.toml").write_text("[tool.overlapcheck]\nmax-idle = 2")

    assert found(tmp_path) == 1


@pytest.mark.parametrize("text", ["[tool.ruff]\n", "not = = toml", "tool = 3", "# overlapcheck"])
def test_a_project_file_without_our_table_is_passed_over(
    text: str, tmp_path: Path, deep: Path
) -> None:
    (tmp_path / "overlapcheck.toml").write_text("max-idle = 1")
    (deep / "pyproject.toml").write_text(text)

    assert found(deep) == 1


def test_a_named_file_is_used_instead(tmp_path: Path) -> None:
    (tmp_path / "overlapcheck.toml").write_text("max-idle = 1")
    other = tmp_path / "ci.toml"
    other.write_text("max-idle = 3")

    assert found(tmp_path, config=other) == 3
    assert found(tmp_path, no_config=True) is None


# ---- how far up


def test_the_search_ends_at_the_root_of_the_repository(tmp_path: Path, deep: Path) -> None:
    (tmp_path / "overlapcheck.toml").write_text("max-idle = 1")
    (tmp_path / "a" / ".git").mkdir()
    assert found(deep) is None

    (tmp_path / "a" / "overlapcheck.toml").write_text("max-idle = 2")
    assert found(deep) == 2


def test_a_worktree_is_a_repository(tmp_path: Path, deep: Path) -> None:
    (tmp_path / "overlapcheck.toml").write_text("max-idle = 1")
    (deep / ".git").write_text("gitdir: elsewhere")

    assert found(deep) is None


def test_the_search_ends_at_the_home_folder(
    tmp_path: Path, deep: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "overlapcheck.toml").write_text("max-idle = 1")
    monkeypatch.setenv("HOME", str(tmp_path / "a"))
    assert found(deep) is None

    monkeypatch.setenv("HOME", str(tmp_path))
    assert found(deep) == 1


def test_the_search_ends_where_another_file_system_begins(
    tmp_path: Path, deep: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "overlapcheck.toml").write_text("max-idle = 1")
    real = Path.stat

    def stat(path: Path, *, follow_symlinks: bool = True) -> os.stat_result:
        result = real(path, follow_symlinks=follow_symlinks)
        if path != tmp_path:
            return result
        fields = list(result)
        fields[2] += 1  # st_dev
        return os.stat_result(fields)

    monkeypatch.setattr(Path, "stat", stat)

    assert found(deep) is None


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("overlapcheck.toml", "max-idle = 1"),
        ("pyproject.toml", "[tool.overlapcheck]\nmax-idle = 1"),
    ],
)
def test_a_file_of_another_owner_is_used_only_by_name(
    name: str, text: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    policy = tmp_path / name
    policy.write_text(text)
    someone = 1 + max(os.geteuid(), 4321)
    if os.geteuid() == 0:
        os.chown(policy, someone, -1)
    else:
        monkeypatch.setattr("os.geteuid", lambda: someone)

    with pytest.raises(PolicyInvalid, match=rf"{name}: .* another user .*--config .*--no-config"):
        found(tmp_path)
    assert found(tmp_path, config=policy) == 1


def test_a_link_that_another_user_laid_is_not_followed(tmp_path: Path) -> None:
    if os.geteuid() != 0:
        pytest.skip("giving a link away takes root")
    (tmp_path / "mine.toml").write_text("max-idle = 1")
    link = tmp_path / "overlapcheck.toml"
    link.symlink_to("mine.toml")
    assert found(tmp_path) == 1

    os.chown(link, 4321, -1, follow_symlinks=False)
    with pytest.raises(PolicyInvalid, match="another user"):
        found(tmp_path)


# ---- limits of Python


def test_shares_become_percentages_and_the_rest_stays() -> None:
    given = {
        "min-overlap": 0.29,
        "overlap": {"h2d": 1},
        "ranges": {"forward*": {"max-idle": 0.07, "overlap": {"d2h": 0.5}}},
        "skip": 3,
        "fail-on": ["host-sync"],
        "ceiling": False,
    }

    assert in_percent(given, "here") == {
        "min-overlap": 29,
        "overlap": {"h2d": 100},
        "ranges": {"forward*": {"max-idle": 7, "overlap": {"d2h": 50}}},
        "skip": 3,
        "fail-on": ["host-sync"],
        "ceiling": False,
    }


@pytest.mark.parametrize(
    "wrong",
    [{"min_overlap": 90}, {"max_idle": 1.5}, {"overlap_of": {"h2d": -0.1}}],
)
def test_a_percentage_is_no_limit_of_a_policy(wrong: dict[str, Any]) -> None:
    with pytest.raises(PolicyInvalid, match="is no share of one; in Python") as e:
        Policy(**wrong)

    assert "\n" not in str(e.value)
