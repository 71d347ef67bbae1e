"""What the text of an option may be, and what it stands for."""

from __future__ import annotations

from pathlib import Path

from overlapcheck.errors import PolicyInvalid


def causes_in(text: str) -> frozenset[str]:
    """The causes of a list with commas.

    Raises:
        PolicyInvalid: one of them is none.
    """
    from overlapcheck.causes import check_known

    named = frozenset(part.strip() for part in text.split(",") if part.strip())
    check_known(named)
    return named


def pattern(option: str, text: str) -> str:
    """A regular expression, as it was given.

    Raises:
        PolicyInvalid: it is none.
    """
    from overlapcheck.user_patterns import UserPattern

    try:
        UserPattern(text, option)
    except ValueError as error:
        raise PolicyInvalid(
            f"{option} {text!r}: not a regular expression ({error})", "escape ( [ * + with \\"
        ) from error
    return text


def time_ns(option: str, text: str | None) -> float | None:
    """A time with its unit, "20.6ms", in ns; None where none is given.

    Raises:
        PolicyInvalid: it is none.
    """
    from overlapcheck.quantities import nanoseconds

    if text is None:
        return None
    try:
        return nanoseconds(text)
    except ValueError as error:
        raise PolicyInvalid(f"{option} {text}: {error}", f"write {option} 20.6ms") from error


def window_ns(text: str) -> tuple[int, int]:
    """Start and end of "1.5..2.25", ns.

    Raises:
        PolicyInvalid: they are no start and a later end.
    """
    try:
        start, end = (round(float(part) * 1e9) for part in text.split(".."))
    except (ValueError, OverflowError):
        start, end = 0, 0
    if end <= start:
        raise PolicyInvalid(
            f"--window {text}: not a start and a later end", "write seconds: --window 1.5..2.25"
        )
    return start, end


def check_format(name: str) -> str:
    """The name of a format.

    Raises:
        PolicyInvalid: there is no such format.
    """
    from overlapcheck.renderers import renderers

    if name not in renderers():
        raise PolicyInvalid(
            f"--format {name}: no such format", f"use one of {', '.join(sorted(renderers()))}"
        )
    return name


def check_outputs(paths: tuple[Path, ...]) -> tuple[Path, ...]:
    """Files whose suffixes choose their formats.

    Raises:
        PolicyInvalid: no format has a file's suffix.
    """
    from overlapcheck.renderers import renderer_for_file

    for path in paths:
        renderer_for_file(path.name)
    return paths
