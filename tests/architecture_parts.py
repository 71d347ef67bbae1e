"""The part of docs/architecture.md that is drawn from the package: its stages and nouns."""

from __future__ import annotations

import ast
from pathlib import Path

from tests.test_layers import NOUNS, PACKAGE, STAGES


def parts() -> str:
    """Two tables in Markdown: stages with their rooms, and nouns."""
    stages = [
        f"| `{folder.relative_to(PACKAGE)}/` | {_summary(folder / '__init__.py')} |"
        for stage in sorted(STAGES)
        for folder in (PACKAGE / stage, *_rooms(PACKAGE / stage))
    ]
    nouns = [f"| `{name}.py` | {_summary(PACKAGE / f'{name}.py')} |" for name in sorted(NOUNS)]
    return "\n".join(
        [
            "| stage | |",
            "|---|---|",
            *stages,
            "",
            "| noun | |",
            "|---|---|",
            *nouns,
        ]
    )


def _rooms(folder: Path) -> list[Path]:
    return sorted(file.parent for file in folder.glob("*/__init__.py"))


def _summary(path: Path) -> str:
    """First paragraph of the docstring, on one line."""
    text = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or ""
    return " ".join(text.split("\n\n")[0].split()).replace("|", "\\|").rstrip(".:")
