"""`WhatIf` → text: one format, one file, found by walking this folder."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Protocol

from overlapcheck.errors import PolicyInvalid
from overlapcheck.predicted import WhatIf
from overlapcheck.renderers.formats.registry import format_for_file, formats_in


class WhatIfRenderer(Protocol):
    """What each file of this folder offers as `RENDERER`."""

    name: str
    """Value of --format."""
    suffix: str
    """File-name ending that chooses it."""

    def render(self, found: WhatIf, /) -> str:
        """The whole text, ending in a newline."""
        ...


@cache
def what_if_renderers() -> Mapping[str, WhatIfRenderer]:
    """All formats by name."""
    return formats_in(__name__, __path__)


def what_if_renderer(name: str) -> WhatIfRenderer:
    """The format of a name.

    Raises:
        PolicyInvalid: there is no such format.
    """
    known = what_if_renderers()
    if name not in known:
        raise PolicyInvalid(
            f"--format {name}: whatif has no such format", f"use one of {', '.join(sorted(known))}"
        )
    return known[name]


def what_if_renderer_for_file(name: str) -> WhatIfRenderer:
    """The format whose suffix a file name ends with.

    Raises:
        PolicyInvalid: no format has this suffix.
    """
    return format_for_file(what_if_renderers(), name, "whatif")
