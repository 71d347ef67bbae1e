"""The Markdown pages for users, taken apart: commands, samples, quoted messages, headings."""

from __future__ import annotations

import ast
import re
import shlex
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import click
from markdown_it import MarkdownIt
from markdown_it.token import Token

from overlapcheck.cli import cli
from tests.conftest import ROOT

PAGES = (
    ROOT / "README.md",
    ROOT / "CONTRIBUTING.md",
    *sorted((ROOT / "docs").glob("*.md")),
    *sorted((ROOT / "examples").glob("*.md")),
)
ANYTHING = "…"
"""Stands in a quoted message for what differs from case to case."""
_WORD = "overlapcheck"
_HELP = {"-h", "--help"}


@cache
def tokens(path: Path) -> tuple[Token, ...]:
    """A page as Markdown sees it, what stands within paragraphs and tables included."""
    flat: list[Token] = []
    for token in MarkdownIt("commonmark").enable("table").parse(path.read_text(encoding="utf-8")):
        flat += [token, *(token.children or [])]
    return tuple(flat)


def links(path: Path) -> list[str]:
    """Targets of links and pictures within the repository."""
    found = [
        str(token.attrGet("href") or token.attrGet("src"))
        for token in tokens(path)
        if token.type in ("link_open", "image")
    ]
    return [target for target in found if not re.match(r"[a-z]+:", target)]


def anchors(path: Path) -> set[str]:
    """What GitHub calls the headings of a page."""
    found = tokens(path)
    titles = [found[at + 1].content for at, one in enumerate(found) if one.type == "heading_open"]
    return {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in titles}


def samples(path: Path) -> list[str]:
    """The blocks of Python."""
    return [one.content for one in tokens(path) if one.type == "fence" and one.info == "python"]


def commands(path: Path) -> list[list[str]]:
    """The words of every command line of ours, without the name of the program."""
    lines: list[str] = []
    for token in tokens(path):
        if token.type in ("fence", "code_block") and token.info != "python":
            lines += token.content.splitlines()
        elif token.type == "code_inline":
            lines.append(token.content)
    return [words for line in lines for words in _calls(line)]


def _calls(line: str) -> Iterator[list[str]]:
    # A prompt, a step of a job, an assignment or another program may stand before it.
    for found in re.finditer(rf"(?:^|[\s;])({_WORD} [^;|&]*)", line):
        before = line[: found.start(1)].strip()
        if before and not re.search(r"(\$|;|run:|-|srun|mpirun|\.\.\.|--no-python)$", before):
            continue
        try:
            yield shlex.split(found[1], comments=True)[1:]
        except ValueError:
            continue


def unknown(words: list[str]) -> str:
    """What of a command line of ours is no command and no option of it; empty where all is."""
    command: click.Command = cli
    given = list(words)
    while isinstance(command, click.Group) and given and not given[0].startswith("-"):
        name = given.pop(0)
        if command is cli and name.endswith((".nsys-rep", ".qdrep", ".sqlite")):
            name = "analyze"  # It may be left out.
        if name not in command.commands:
            return name
        command = command.commands[name]
    takes_value = {
        option: not parameter.is_flag
        for parameter in command.params
        if isinstance(parameter, click.Option)
        for option in (*parameter.opts, *parameter.secondary_opts)
    }
    interspersed = command.context_settings.get("allow_interspersed_args", True)
    while given:
        word, _, value = given.pop(0).partition("=")
        if word == "--" or not (word.startswith("-") or interspersed):
            break
        if not word.startswith("-") or word in _HELP or (command is cli and word == "--version"):
            continue
        if word not in takes_value:
            return word
        if takes_value[word] and not value and given:
            given.pop(0)
    return ""


def quoted_messages(path: Path) -> list[str]:
    """First cells of tables whose first column is headed `message`."""
    quoted, column, listens = [], 0, False
    for token in tokens(path):
        if token.type == "tr_open":
            column = 0
        elif token.type in ("th_open", "td_open"):
            column += 1
        elif token.type == "inline" and column == 1:
            listens = token.content == "message" or (listens and token.content != "")
            if listens and token.content != "message":
                quoted.append(token.content.strip("`"))
        elif token.type == "table_close":
            column, listens = 0, False
    return quoted


@cache
def texts_of_the_package() -> frozenset[str]:
    """All texts of the package's code, with ANYTHING for what is filled in."""
    return frozenset(
        text
        for path in (ROOT / "overlapcheck").rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if (text := _text(node))
    )


def _text(node: ast.AST) -> str:
    if isinstance(node, ast.Constant):
        return node.value if isinstance(node.value, str) else ""
    if isinstance(node, ast.JoinedStr):
        return "".join(_text(part) or ANYTHING for part in node.values)
    return ""
