"""The tests: run once for what they execute and how long they take, then again in forks."""

from __future__ import annotations

import contextlib
import functools
import gc
import os
import resource
import signal
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import coverage
import pytest
from _pytest.runner import runtestprotocol

from overlapcheck.sources.nsys.read import read_trace
from overlapcheck.trace import Trace
from tests import pictures
from tests.mutants import scope
from tests.mutants.mutations import Mutant
from tests.mutants.numbers import NumberMutant
from tests.mutants.transplant import put_in

AnyMutant = Mutant | NumberMutant
MEMORY = 8 << 30
"""Most that a mutant may ask for."""


@dataclass(frozen=True)
class Fate:
    """What became of a mutant."""

    mutant: AnyMutant
    killer: str
    """The test that failed, why it ended otherwise, or "" where it survived."""
    tests: int
    """Tests that execute its lines."""


@dataclass
class Suite:
    """A pytest plugin that runs its own loop over the collected tests."""

    mutants: Sequence[AnyMutant]
    jobs: int
    told: Callable[[Fate], None]
    killers: dict[str, str]
    """Test that killed a mutant the last time, by key; asked first."""
    items: dict[str, pytest.Item] = field(default_factory=dict)
    seconds: dict[str, float] = field(default_factory=dict)
    reach: dict[str, dict[int, list[str]]] = field(default_factory=dict)
    """Tests by path and line."""
    biting: dict[tuple[str, str], Counter[str]] = field(default_factory=dict)
    """Tests that killed mutants of a function, and how many: asked before all others."""

    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        """All mutants, in place of all tests."""
        chosen = [one for one in session.items if _judges(one)]
        self._baseline(chosen)
        _forget_results()
        gc.collect()
        gc.freeze()
        self._all(self.mutants)
        return True

    def _baseline(self, items: Sequence[pytest.Item]) -> None:
        measured = coverage.Coverage(
            data_file=None, config_file=False, include=[f"{scope.ROOT}/overlapcheck/*"]
        )
        with measured.collect():
            # After the last one, what all tests share stays set up: it is as if one
            # of another folder came next.
            for item, following in zip(items, [*items[1:], _far_from(items)], strict=True):
                measured.switch_context(item.nodeid)
                begin = time.process_time()
                if not _passes(item, following):
                    raise pytest.UsageError(f"{item.nodeid} fails without any mutant")
                self.seconds[item.nodeid] = time.process_time() - begin
        fast = {one.nodeid for one in items if self.seconds[one.nodeid] <= scope.SLOW_S}
        spent = sum(self.seconds.values())
        print(f"{len(items)} tests, {spent:.0f} s of processor time", flush=True)
        self.items = {one.nodeid: one for one in items if one.nodeid in fast}
        data = measured.get_data()
        for path in data.measured_files():
            name = Path(path).relative_to(scope.ROOT / "overlapcheck").as_posix()
            self.reach[name] = {
                line: [test for test in tests if test in fast]
                for line, tests in data.contexts_by_lineno(path).items()
            }

    def _tests_of(self, mutant: AnyMutant) -> list[pytest.Item]:
        lines = self.reach.get(mutant.path, {})
        if isinstance(mutant, NumberMutant):
            names = set(self.items)
        elif not mutant.where:  # a constant: all tests that run anything of its module
            names = {test for tests in lines.values() for test in tests}
        else:
            names = {test for line in mutant.lines for test in lines.get(line, ())}
        names = {name for name in names if name.startswith(scope.TESTS[mutant.path.split("/")[0]])}
        last = self.killers.get(mutant.key)
        bites = self.biting.get(_function_of(mutant), Counter())
        order = sorted(
            names, key=lambda name: (name != last, -bites[name], self.seconds[name], name)
        )
        return [self.items[name] for name in order]

    def _all(self, mutants: Iterable[AnyMutant]) -> None:
        running: dict[int, tuple[AnyMutant, int, Any, float]] = {}
        waiting = list(reversed(list(mutants)))
        while waiting or running:
            while waiting and len(running) < self.jobs:
                mutant = waiting.pop()
                tests = self._tests_of(mutant)
                if not tests:
                    self.told(Fate(mutant, "", 0))
                    continue
                limit = 10 + 4 * sum(self.seconds[one.nodeid] for one in tests)
                answer = tempfile.TemporaryFile()  # noqa: SIM115
                pid = os.fork()
                if pid == 0:
                    _child(mutant, tests, answer.fileno(), int(limit))
                running[pid] = (mutant, len(tests), answer, time.monotonic() + 3 * limit)
            if running:  # the last ones may have had no test at all
                self._reap(running)

    def _reap(self, running: dict[int, tuple[AnyMutant, int, Any, float]]) -> None:
        pid, status = os.waitpid(-1, os.WNOHANG)
        if pid not in running:
            for late in (p for p, (*_, until) in running.items() if time.monotonic() > until):
                os.kill(late, signal.SIGKILL)
            time.sleep(0.002)
            return
        mutant, count, answer, _ = running.pop(pid)
        answer.seek(0)
        killer = answer.read().decode()
        if status and not killer:
            killer = f"ended with status {status}"
        answer.close()
        if killer in self.items:
            self.biting.setdefault(_function_of(mutant), Counter())[killer] += 1
        self.told(Fate(mutant, killer, count))


def _function_of(mutant: AnyMutant) -> tuple[str, str]:
    return mutant.path, mutant.name if isinstance(mutant, NumberMutant) else mutant.where


def _judges(item: pytest.Item) -> bool:
    name = getattr(item, "originalname", item.name)
    return name not in scope.LEFT_OUT


def _far_from(items: Sequence[pytest.Item]) -> pytest.Item | None:
    """A test in another folder than the last one."""
    return next((one for one in items if one.path.parent != items[-1].path.parent), None)


def _passes(item: pytest.Item, following: pytest.Item | None) -> bool:
    """Whether a test passes; what `following` needs as well stays set up."""
    reports = runtestprotocol(item, log=False, nextitem=following)
    return not any(report.failed for report in reports)


def _child(mutant: AnyMutant, tests: list[pytest.Item], answer: int, limit: int) -> None:
    """Never returns."""
    killer = ""
    try:
        silent = os.open(os.devnull, os.O_WRONLY)
        os.dup2(silent, 1)
        os.dup2(silent, 2)
        resource.setrlimit(resource.RLIMIT_CPU, (limit, limit + 5))
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
        try:
            put_in(mutant)
        except Exception as error:
            killer = f"import: {error!r}"
        else:
            for item, after in zip(tests, [*tests[1:], tests[0]], strict=True):
                if not _passes(item, after):
                    killer = item.nodeid
                    break
    except BaseException as error:
        killer = f"the tests: {error!r}"
    with contextlib.suppress(OSError):
        os.write(answer, killer.encode()[:1000])
    os._exit(0)


def _forget_results() -> None:
    """What the first run has kept of unmutated code."""
    for one in gc.get_objects():
        if isinstance(one, functools._lru_cache_wrapper):
            one.cache_clear()


def read_traces_once() -> None:
    """Reading is not mutated: every drawn or recorded trace is read once, for all mutants."""
    read, draw = read_trace, pictures.Picture.trace
    by_text: dict[str, Trace] = {}
    by_file: dict[tuple[str, int, int], Trace] = {}

    def read_once(path: Path) -> Trace:
        about = path.stat()
        key = (str(path), about.st_mtime_ns, about.st_size)
        if key not in by_file:
            by_file[key] = read(path)
        return by_file[key]

    def draw_once(self: pictures.Picture) -> Trace:
        key = f"{self!s}{self.options!r}"
        if key not in by_text:
            by_text[key] = draw(self)
        else:
            pictures.drawn.append(self)
        return by_text[key]

    vars(pictures)["read_trace"] = read_once
    pictures.Picture.trace = draw_once  # type: ignore[method-assign]


def _folders() -> list[str]:
    return sorted({path for paths in scope.TESTS.values() for path in paths})


def run(suite: Suite, tests: Sequence[str] = ()) -> int:
    """Collect the tests, all that judge or some of them, and let the suite loop over them."""
    os.chdir(scope.ROOT)
    read_traces_once()
    asked = ["-q", "--no-header", "-p", "no:cacheprovider", "--hypothesis-seed=0"]
    asked += ["-W", "ignore::pytest.PytestAssertRewriteWarning"]
    return int(pytest.main([*asked, *(tests or _folders())], plugins=[suite]))
