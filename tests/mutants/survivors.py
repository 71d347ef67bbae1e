"""The mutants that may survive: survivors.toml, each with a reason."""

from __future__ import annotations

import tomllib
from pathlib import Path

FILE = Path(__file__).with_name("survivors.toml")


def accepted() -> dict[str, str]:
    """Reason by the key of a mutant."""
    groups = tomllib.loads(FILE.read_text(encoding="utf-8")).get("survivors", [])
    return {key: str(group["reason"]) for group in groups for key in group["mutants"]}
