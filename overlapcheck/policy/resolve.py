"""Settings → `Policy` and `Selection`: the command line beats the profile beats the file."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from overlapcheck.errors import PolicyInvalid
from overlapcheck.policy import values
from overlapcheck.policy.document import shown
from overlapcheck.policy.find import OWN_FILE, PolicyFile, find_policy_file, open_policy_file
from overlapcheck.policy.settings import Setting, Settings, read_contents
from overlapcheck.policy.values import Place
from overlapcheck.selection import Selection
from overlapcheck.thresholds import with_values
from overlapcheck.verdict import Limits, Policy

if TYPE_CHECKING:
    from overlapcheck.stream_contract import StreamContract

SHARES = {
    "min-overlap": "min_overlap",
    "max-recoverable": "max_recoverable",
    "max-idle": "max_idle",
    "max-exposed-comm": "max_exposed_communication",
    "max-failing-ranks": "max_failing_ranks",
}
"""Settings that are shares, and the fields of the Policy that hold them."""
_PLAIN = {
    "ceiling": "relief_from_ceiling",
    "require-copies": "require_copies",
    "fail-on": "fail_on",
    "allow": "allowed",
    "expect-ranks": "expect_ranks",
}
_SELECTION = {
    "steps": "steps",
    "skip": "skip",
    "step-time": "step_time_ns",
    "window": "window_ns",
    "device": "device",
    "comm-patterns": "communication",
}
_OVERLAP = "overlap "
_STREAMS = "streams"


@dataclass(frozen=True)
class Source:
    """Which policy file to use."""

    config: Path | None = None
    """None takes the nearest from `start` up to the repository's root."""
    no_config: bool = False
    profile: str | None = None
    start: Path | None = None
    """None is the working directory."""


def settings_of(source: Source, causes: Collection[str]) -> Settings:
    """The settings of the policy file, with those of the profile laid over them.

    Args:
        source: which file and profile.
        causes: ids that `fail-on` may name.

    Raises:
        PolicyInvalid: the file, the profile or a setting is not usable; names it.
    """
    if source.no_config:
        for option, given in (("--config", source.config), ("--profile", source.profile)):
            if given is not None:
                raise PolicyInvalid(f"--no-config and {option} exclude each other")
        return {}
    found = (
        open_policy_file(source.config)
        if source.config is not None
        else find_policy_file((source.start or Path.cwd()).absolute())
    )
    if found is None:
        if source.profile is not None:
            raise PolicyInvalid(
                f"--profile {source.profile}: there is no policy file",
                f"write a first {OWN_FILE}: overlapcheck init",
            )
        return {}
    return _of_file(found, source.profile, causes)


def _of_file(found: PolicyFile, profile: str | None, causes: Collection[str]) -> Settings:
    place = Place(shown(found.path), tuple(filter(None, found.prefix.split("."))))
    contents = read_contents(found.table, place, found.path.name, causes)
    if profile is None:
        return _placed(contents.base, found.path.parent)
    if not contents.profiles:
        raise place.at("profiles").wrong(
            "has no profile", f"write a first one: [{'.'.join((*place.path, 'profiles', profile))}]"
        )
    values.known(profile, contents.profiles, place.at("profiles").at(profile), "is no profile")
    return _placed(_laid_over(contents.base, contents.profiles[profile]), found.path.parent)


def _placed(settings: Settings, folder: Path) -> Settings:
    """Settings that name files name them from where the policy lies."""
    if _STREAMS not in settings:
        return settings
    named = settings[_STREAMS]
    return {**settings, _STREAMS: replace(named, value=str(folder / named.value))}


def _laid_over(base: Settings, over: Settings) -> Settings:
    """The upper value of each key, also under a range or of a threshold; allowed calls of both."""
    merged = {**base, **over}
    if "ranges" in base and "ranges" in over:
        lower, upper = base["ranges"].value, over["ranges"].value
        ranges = {name: {**lower.get(name, {}), **upper.get(name, {})} for name in lower | upper}
        merged["ranges"] = Setting(ranges, over["ranges"].origin)
    if "thresholds" in base and "thresholds" in over:
        both = {**base["thresholds"].value, **over["thresholds"].value}
        merged["thresholds"] = Setting(both, over["thresholds"].origin)
    if "allow" in base and "allow" in over:
        calls = (*base["allow"].value, *over["allow"].value)
        merged["allow"] = Setting(calls, over["allow"].origin)
    return merged


def resolve(file: Settings, command_line: Settings) -> tuple[Policy, Selection]:
    """What to judge by and what to measure.

    Args:
        file: of the policy file, limits in percent.
        command_line: only what was given; `window` and `device` exist only here.

    Raises:
        PolicyInvalid: a contract of streams that is named is none, or cannot be read.
    """
    if "min-overlap" in command_line:
        # One limit asked for by hand holds for every direction.
        file = {key: setting for key, setting in file.items() if not key.startswith(_OVERLAP)}
    settings = {**file, **command_line}
    plain = {field: settings[key] for key, field in _PLAIN.items() if key in settings}
    contract = {_STREAMS: settings[_STREAMS]} if _STREAMS in settings else {}
    policy = Policy(
        **_limits(settings, {field: s.origin for field, s in (plain | contract).items()}),
        **{field: setting.value for field, setting in plain.items()},
        ranges=_ranges(settings),
        streams=_contract(settings[_STREAMS]) if _STREAMS in settings else None,
    )
    chosen = {field: settings[key] for key, field in _SELECTION.items() if key in settings}
    moved = settings.get("thresholds")
    selection = Selection(
        **{field: setting.value for field, setting in chosen.items()},
        thresholds=with_values(moved.value if moved else {}),
        origins={
            field: setting.origin
            for field, setting in chosen.items()
            if not setting.origin.startswith("--")
        },
    )
    return policy, selection


def _contract(named: Setting) -> StreamContract:
    from overlapcheck.policy.streams import contract_file  # few policies name one

    return contract_file(Path(named.value))


def _limits(settings: Settings, origins: Mapping[str, str]) -> dict[str, Any]:
    """The fields of `Limits` that hold shares; `origins` are those of its other fields."""
    shares: dict[str, Any] = {}
    overlap_of: dict[str, float] = {}
    origins = dict(origins)
    for key, setting in settings.items():
        if key.startswith(_OVERLAP):
            overlap_of[key.removeprefix(_OVERLAP)] = setting.value / 100
            origins[key] = setting.origin
        elif field := SHARES.get(key):
            shares[field] = setting.value / 100
            origins[field] = setting.origin
    return {"overlap_of": overlap_of, "origins": origins, **shares}


def _ranges(settings: Settings) -> dict[str, Limits]:
    """Limits by range; whether the ceiling gives relief is asked of the whole policy."""
    if "ranges" not in settings:
        return {}
    ceiling = settings.get("ceiling")
    relief = {} if ceiling is None else {"relief_from_ceiling": ceiling.value}
    origins = {} if ceiling is None else {"relief_from_ceiling": ceiling.origin}
    return {
        name: Limits(**_limits(limits, origins), **relief)
        for name, limits in settings["ranges"].value.items()
    }
