"""All mutants of a module: mutmut's operators, and one that drops a term of a condition."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import libcst as cst
from libcst.metadata import MetadataWrapper, PositionProvider
from mutmut.mutation import mutators

from tests.mutants import scope

_TEXTS = (cst.SimpleString, cst.FormattedString, cst.ConcatenatedString)
_NOT_ENTERED = (
    cst.Annotation,  # types
    cst.Decorator,
    cst.Import,
    cst.ImportFrom,
    cst.Raise,  # what is said of an error; whether it is raised is the condition's mutant
    cst.Assert,
    cst.SimpleString,
)
_OPERATORS = [
    (kind, operator)
    for kind, operator in mutators.mutation_operators
    if operator not in scope.OPERATORS_LEFT_OUT
]
MOST_SHOWN = 80


@dataclass(frozen=True)
class Mutant:
    """One change of one module."""

    path: str
    """Below `overlapcheck`."""
    where: str
    """Function or "Class.method"; "" for a constant of the module."""
    lines: range
    """Lines of the statement that is changed."""
    change: str
    """ "`a < b` -> `a <= b`", and "(2)" for the second of the kind in its function."""
    node: Any
    by: Any
    statement: Any
    """Of the module, that contains `node`."""

    @property
    def key(self) -> str:
        """Name that outlives changes elsewhere in the file."""
        return f"{self.path}:{self.where}: {self.change}"

    @cached_property
    def source(self) -> str:
        """The statement of the module that is changed, with the change, to run in its namespace.

        A method stands alone in its class.
        """
        changed = self.statement.deep_replace(self.node, self.by)
        code: str = cst.Module([changed]).code
        return f"from __future__ import annotations\n{code}"


def mutants_of(file: Path) -> list[Mutant]:
    """All mutants of a file, in order."""
    wrapper = MetadataWrapper(cst.parse_module(file.read_text(encoding="utf-8")))
    walk = _Walk(file.relative_to(scope.ROOT / "overlapcheck").as_posix(), wrapper)
    return list(walk.all())


@dataclass(frozen=True)
class _Place:
    """Where a node stands: as in `Mutant`."""

    where: str
    statement: Any
    lines: range


class _Walk:
    def __init__(self, path: str, wrapper: MetadataWrapper) -> None:
        self.path = path
        self.module = wrapper.module
        self.position = wrapper.resolve(PositionProvider)
        self.seen: Counter[str] = Counter()

    def all(self) -> Iterator[Mutant]:
        for statement in self.module.body:
            if isinstance(statement, cst.ClassDef):
                for member in statement.body.body:
                    if isinstance(member, cst.FunctionDef):
                        alone = statement.with_changes(
                            decorators=[], bases=[], body=statement.body.with_changes(body=[member])
                        )
                        where = f"{statement.name.value}.{member.name.value}"
                        yield from self._node(member, _Place(where, alone, range(0)))
            elif isinstance(statement, cst.FunctionDef):
                yield from self._node(statement, _Place(statement.name.value, statement, range(0)))
            elif isinstance(statement, cst.SimpleStatementLine):
                for small in statement.body:
                    if isinstance(small, (cst.Assign, cst.AnnAssign)) and _is_number(small.value):
                        yield from self._node(small.value, _Place("", statement, range(0)))

    def _node(self, node: Any, place: _Place) -> Iterator[Mutant]:
        if isinstance(node, _NOT_ENTERED) or _is_quiet_argument(node):
            return
        lines = place.lines
        if isinstance(node, (cst.BaseSmallStatement, cst.FunctionDef)):
            lines = self._lines(node)
        elif isinstance(node, (cst.If, cst.While, cst.For, cst.With, cst.Return)):
            lines = self._lines(node.body, node)
        elif not lines and isinstance(node, cst.BaseExpression):
            lines = self._lines(node)
        for by in _changed(node):
            change = _told(self._code(node), self._code(by))
            self.seen[place.where + change] += 1
            nth = self.seen[place.where + change]
            change += f" ({nth})" if nth > 1 else ""
            yield Mutant(self.path, place.where, lines, change, node, by, place.statement)
        if _is_guard(node):
            call = node.value if isinstance(node, cst.Index) else node
            yield from self._node(call.args[0], replace(place, lines=lines))
            return
        for child in node.children:
            yield from self._node(child, replace(place, lines=lines))

    def _lines(self, node: Any, head_of: Any = None) -> range:
        position = self.position[node]
        if head_of is not None:
            first = self.position[head_of].start.line
            return range(first, max(position.start.line, first + 1))
        return range(position.start.line, position.end.line + 1)

    def _code(self, node: Any) -> str:
        return " ".join(self.module.code_for_node(node).split())


def _told(old: str, new: str) -> str:
    """The change; of long code its beginning, and the part that changes."""
    if max(len(old), len(new)) <= MOST_SHOWN:
        return f"`{old}` -> `{new}`"
    head = _alike(old, new)
    tail = _alike(old[head:][::-1], new[head:][::-1])
    parts = (code[head : len(code) - tail][:MOST_SHOWN] for code in (old, new))
    return f"`{old[:MOST_SHOWN]} ...`: " + " -> ".join(f"`{part}`" for part in parts)


def _alike(one: str, other: str) -> int:
    """Characters at the beginning of both."""
    pairs = enumerate(zip(one, other, strict=False))
    return next((i for i, (a, b) in pairs if a != b), min(len(one), len(other)))


def _changed(node: Any) -> Iterator[Any]:
    for kind, operator in _OPERATORS:
        if isinstance(node, kind):
            for by in operator(node):
                if not _is_quiet(node, by):
                    yield by
    yield from _without_a_term(node)


def _without_a_term(node: Any) -> Iterator[Any]:
    """`a & b` becomes `a` and `b`: a condition without one of its terms."""
    masks = (cst.BitAnd, cst.BitOr)
    if isinstance(node, cst.BooleanOperation) or (
        isinstance(node, cst.BinaryOperation) and isinstance(node.operator, masks)
    ):
        for side in (node.left, node.right):
            yield side.with_changes(
                lpar=[cst.LeftParen(), *side.lpar], rpar=[*side.rpar, cst.RightParen()]
            )


def _is_quiet(node: Any, by: Any) -> bool:
    """Whether a change is none of what is decided: see `scope`."""
    if not isinstance(node, cst.Call) or node.func is not by.func:
        return False
    kept = {id(arg) for arg in by.args}
    return len(by.args) == len(node.args) or any(
        arg.keyword is None or _is_quiet_argument(arg) or isinstance(arg.value, _TEXTS)
        for arg in node.args
        if id(arg) not in kept
    )


def _is_quiet_argument(node: Any) -> bool:
    return (
        isinstance(node, cst.Arg)
        and node.keyword is not None
        and node.keyword.value in scope.QUIET_KEYWORDS
    )


def _is_guard(node: Any) -> bool:
    """Whether only its first argument decides.

    `max(n, 1)` keeps from dividing by nothing: 2 differs only where n is 1. The 0 of
    `table[np.maximum(at, 0)]` is any row, for places that are not there and are masked afterwards.
    """
    index = isinstance(node, cst.Index) and _is_most(node.value, "np.maximum", 0)
    return index or _is_most(node, "max", 1)


def _is_most(node: Any, function: str, least: int) -> bool:
    return (
        isinstance(node, cst.Call)
        and cst.Module([]).code_for_node(node.func) == function
        and isinstance(node.args[-1].value, cst.BaseNumber)
        and node.args[-1].value.evaluated_value == least
    )


def _is_number(node: Any) -> bool:
    if isinstance(node, cst.BinaryOperation):
        return _is_number(node.left) and _is_number(node.right)
    return isinstance(node, cst.BaseNumber)
