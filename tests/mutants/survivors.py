"""The mutants that may survive: survivors/*.toml, by the room they are of, each with a reason.

Keys are as `make mutants` prints them; it also names keys that are killed by now, or that are no
mutants any more.
"""

from __future__ import annotations

import tomllib
from pathlib import Path

FOLDER = Path(__file__).with_name("survivors")


def accepted() -> dict[str, str]:
    """Reason by the key of a mutant."""
    return {
        key: str(group["reason"])
        for file in sorted(FOLDER.glob("*.toml"))
        for group in tomllib.loads(file.read_text(encoding="utf-8"))["survivors"]
        for key in group["mutants"]
    }
