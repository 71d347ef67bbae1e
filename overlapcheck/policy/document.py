"""Reading TOML, with the place of what is wrong with it."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from overlapcheck.errors import PolicyInvalid

MOST_BYTES = 4 << 20
_NO_POLICY = "or judge without it: --no-config"


def read_document(path: Path) -> dict[str, Any]:
    """The document of a TOML file.

    Raises:
        PolicyInvalid: it cannot be read, or is not TOML; names the line.
    """
    import tomllib  # most recordings are judged without a policy

    try:
        with path.open("rb") as file:
            content = file.read(MOST_BYTES + 1)
        if len(content) > MOST_BYTES:
            raise PolicyInvalid(
                f"{shown(path)}: too long for a policy", f"shorten it, {_NO_POLICY}"
            )
        text = content.decode("utf-8")
    except OSError as error:
        raise PolicyInvalid(
            f"{shown(path)}: the policy cannot be read: {error.strerror or error}",
            f"make it readable, {_NO_POLICY}",
        ) from error
    except UnicodeDecodeError as error:
        line = error.object.count(b"\n", 0, error.start) + 1
        raise PolicyInvalid(f"{shown(path)}:{line}: not UTF-8 text", "save it as UTF-8") from error
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise PolicyInvalid(
            f"{shown(path)}:{_line(str(error), text)}: not valid TOML: {_problem(str(error))}",
            f"correct that line, {_NO_POLICY}",
        ) from error
    except (ValueError, RecursionError) as error:
        what = "a number has too many digits"
        if isinstance(error, RecursionError):
            what = "lists or tables lie too deep in each other"
        raise PolicyInvalid(
            f"{shown(path)}: not a policy: {what}", f"shorten it, {_NO_POLICY}"
        ) from error


def shown(path: Path) -> str:
    """The path from the working directory where it lies below, else the whole."""
    try:
        return str(path.relative_to(Path.cwd()))
    except ValueError:
        return str(path)


def _line(message: str, text: str) -> int:
    found = re.search(r"at line (\d+)", message)
    return int(found[1]) if found else len(text.splitlines())


def _problem(message: str) -> str:
    said = re.sub(r" \(at [^()]*\)$", "", message)
    return said[:1].lower() + said[1:]
