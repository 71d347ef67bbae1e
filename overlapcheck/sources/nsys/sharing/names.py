"""Names as they are shared: those that everybody's recordings have, or may be told; else numbers.

A list of what may stay, not of what must go: a text that no rule knows is replaced. What the
analysis reads from a name is kept in its place: that a kernel is a collective, that a range is a
step and which, that a process is rank 3.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Mapping

from overlapcheck.redaction import message_text
from overlapcheck.selection import COMMUNICATION
from overlapcheck.sources.nsys.schemas.ranks import rank_in
from overlapcheck.sources.nsys.sharing.tables import Named

_PUBLIC = {
    Named.CALL: re.compile(r"cu[A-Za-z]\w{0,100}"),
    Named.OS_CALL: re.compile(r"[a-z_][a-z0-9_]{0,50}"),
    Named.MPI_CALL: re.compile(r"MPI_\w{1,60}"),
    Named.DIRECTIVE: re.compile(r"[A-Za-z][A-Za-z /_()-]{0,60}"),
    Named.OVERHEAD: re.compile(r"[A-Za-z][A-Za-z: ]{0,60}"),
}
"""Names that libraries and nsys give; a path, which may stand in some, is none."""
_NCCL_KERNEL = re.compile(r"nccl[\w<>(), :*]{0,200}")
_NCCL_RANGE = re.compile(r"nccl[A-Za-z]{2,40}")
_PYTORCH_THREAD = re.compile(r"pt_(?:autograd|main|nccl|elastic|data)")
_STEP_WORD = re.compile(
    r"(?<![a-z])(?:step|iter(?:ation)?|batch|chunk|frame|epoch|generate|request)s?(?![a-z])",
    re.IGNORECASE,
)
_BESIDE_WORD = re.compile(
    r"warm.?up|pre.?fetch|data.?load|(?<![a-z])(?:load|fetch|read)(?:er)?", re.I
)
_OPERATOR = re.compile(r"aten::|seq = \d")
_NUMBER = re.compile(r"\d+")


class Names:
    """Names of a part of an export, each told once and then the same.

    Args:
        people: names of users and hosts that the export tells of itself.
        rename: whether kernels and ranges are called by number whatever their names say.
    """

    def __init__(self, people: Collection[str], *, rename: bool) -> None:
        self._people = people
        self._rename = rename
        self._shared: dict[tuple[Named, str], str] = {}
        self._numbers: dict[tuple[Named, str], int] = {}
        self._counts: dict[str, tuple[int, ...]] = {}

    def shared(self, kind: Named, names: Iterable[str]) -> Mapping[str, str]:
        """What stands for each name of a kind.

        Args:
            kind: what they name.
            names: all of it that are used, for some are judged together.
        """
        names = sorted(set(names))
        if kind is Named.RANGE:
            self._counts |= _counts(names)
        telling = {_family(name) for name in names if self._tells(name)} if _own(kind) else set()
        for name in names:
            keep = self._may_stay(kind, name) and not (_own(kind) and _family(name) in telling)
            self._shared.setdefault((kind, name), name if keep else self._instead(kind, name))
        return {name: self._shared[kind, name] for name in names}

    @property
    def replaced(self) -> dict[str, int]:
        """How many names of each kind stand for others."""
        found: dict[str, int] = {}
        for (kind, name), shared in self._shared.items():
            if name != shared:
                found[kind.value] = found.get(kind.value, 0) + 1
        return found

    def _tells(self, name: str) -> bool:
        """Whether a path, a secret, a user or a host may stand in a name."""
        return message_text(name, self._people) != name

    def _may_stay(self, kind: Named, name: str) -> bool:
        if not name:
            return True
        if kind is Named.KERNEL:
            return not self._rename or _NCCL_KERNEL.fullmatch(name) is not None
        if kind is Named.RANGE:
            return not self._rename or _NCCL_RANGE.fullmatch(name) is not None
        return kind in _PUBLIC and _PUBLIC[kind].fullmatch(name) is not None

    def _instead(self, kind: Named, name: str) -> str:
        if kind is Named.RANGE:
            family = _family(name)
            found = _NUMBER.findall(name)
            counting = [found[position] for position in self._counts[family]]
            return _range(name, self._number(kind, family), counting)
        return _INSTEAD.get(kind, _by_number)(kind, name, self._number(kind, name))

    def _number(self, kind: Named, key: str) -> int:
        return self._numbers.setdefault(
            (kind, key), 1 + sum(known is kind for known, _ in self._numbers)
        )


def _own(kind: Named) -> bool:
    return kind in (Named.KERNEL, Named.RANGE)


def _family(name: str) -> str:
    return _NUMBER.sub("#", name)


def _counts(names: Iterable[str]) -> dict[str, tuple[int, ...]]:
    """Which of a family's numbers count, by position: one that is always the same is a name."""
    values: dict[str, list[set[str]]] = {}
    for name in names:
        found = _NUMBER.findall(name)
        seen = values.setdefault(_family(name), [set() for _ in found])
        for position, digits in enumerate(found):
            seen[position].add(digits)
    return {
        family: tuple(at for at, some in enumerate(seen) if len(some) > 1)
        for family, seen in values.items()
    }


def _by_number(kind: Named, _: str, number: int) -> str:
    return f"{kind.value} {number}"


def _kernel(_: Named, name: str, number: int) -> str:
    exchange = re.search(COMMUNICATION, name, re.IGNORECASE)
    return f"kernel_{number}" + (f"_{exchange[0].lower()}" if exchange else "")


def _call(_: Named, name: str, number: int) -> str:
    return f"cu_call_{number}" if name.startswith("cu") else f"call_{number}"


def _thread(_: Named, name: str, number: int) -> str:
    of_pytorch = _PYTORCH_THREAD.match(name)
    return with_rank(f"{of_pytorch[0] if of_pytorch else 'thread'}_{number}", name)


def _file(_: Named, name: str, number: int) -> str:
    return f"source_{number}" if name else ""


def _range(name: str, number: int, counting: list[str]) -> str:
    """A letter for its family, what makes it a step or none, and the numbers that count."""
    words = ["range", _letters(number)]
    if not _OPERATOR.search(name):
        step, beside = _STEP_WORD.search(name), _BESIDE_WORD.search(name)
        words += [word for word, found in (("warmup", beside), ("step", step)) if found]
    # A rank is a number of its own, and one that must not be taken for a step's.
    rank = rank_in(name)
    return " ".join([*words, *counting] if rank is None else [*words, f"rank {rank}"])


def with_rank(shared: str, name: str) -> str:
    """What stands for a name, with the rank that the name said."""
    rank = rank_in(name)
    return shared if rank is None else f"{shared} rank {rank}"


def _letters(number: int) -> str:
    """A number without digits, which are those of steps: a, b, ... z, aa."""
    found = ""
    while number:
        number, rest = divmod(number - 1, 26)
        found = chr(ord("a") + rest) + found
    return found


_INSTEAD: Mapping[Named, Callable[[Named, str, int], str]] = {
    Named.KERNEL: _kernel,
    Named.CALL: _call,
    Named.THREAD: _thread,
    Named.FILE: _file,
}
