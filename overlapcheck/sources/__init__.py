"""Recording → `Trace`: one kind of recording, one module or folder, found by walking this folder.

To add a source, add a module with a `SOURCE` (see `overlapcheck.source.Source`). Other packages
offer theirs as an entry point of the group `overlapcheck.sources`; a program hands its own to
`overlapcheck.Reading(sources=[...])`. A source's own words and numbers end here: what it reads
is told in those of `trace`.
"""

from __future__ import annotations

import pkgutil
from collections.abc import Sequence
from functools import cache
from importlib import import_module
from pathlib import Path

from overlapcheck.errors import SourceUnusable
from overlapcheck.source import Source
from overlapcheck.sources._offered import may_be_offered

LAST_ASKED = "nsys"
"""Name of the source that says what is wrong with a recording that nobody knows."""
GROUP = "overlapcheck.sources"
"""Of entry points; each is an object with the methods of a `Source`."""
_METHODS = ("recognises", "read", "record_again")


@cache
def _built_in() -> tuple[Source, ...]:
    modules = (
        import_module(f"{__name__}.{found.name}")
        for found in pkgutil.iter_modules(__path__)
        if not found.name.startswith("_")
    )
    return tuple(module.SOURCE for module in modules)


@cache
def _installed() -> tuple[Source, ...]:
    if not may_be_offered(GROUP):
        return ()
    from importlib.metadata import entry_points  # takes longer to load than a recording to judge

    found = []
    for entry in sorted(entry_points(group=GROUP), key=lambda entry: entry.name):
        package = entry.dist.name if entry.dist else entry.value
        try:
            source = entry.load()
        except Exception as error:  # whatever a stranger's module does when it is imported
            raise SourceUnusable(
                f"the source {entry.name!r} of {package} cannot be loaded:"
                f" {type(error).__name__}: {error}",
                f"update {package}, or uninstall it",
            ) from error
        if not all(callable(getattr(source, method, None)) for method in _METHODS):
            raise SourceUnusable(
                f"the source {entry.name!r} of {package} lacks one of {', '.join(_METHODS)}",
                f"update {package}, or uninstall it",
            )
        found.append(source)
    return tuple(found)


def all_sources(more: Sequence[Source] = ()) -> tuple[Source, ...]:
    """All sources in the order in which they are asked.

    Args:
        more: the caller's own, which come first.

    Raises:
        SourceUnusable: an installed one does not work.
    """
    return (*more, *_installed(), *_built_in())


def recognised(path: Path, more: Sequence[Source] = ()) -> bool:
    """Whether any source knows a file or folder as its recording."""
    return any(source.recognises(path) for source in all_sources(more))


def source_of(path: Path, more: Sequence[Source] = ()) -> Source:
    """The first source that recognises a file or folder.

    Args:
        path: what to read; where nobody knows it, the one of nsys says so when it reads it.
        more: the caller's own sources, which are asked first.

    Raises:
        SourceUnusable: an installed one does not work.
    """
    known = all_sources(more)
    for source in known:
        if source.recognises(path):
            return source
    return next(source for source in _built_in() if source.name == LAST_ASKED)
