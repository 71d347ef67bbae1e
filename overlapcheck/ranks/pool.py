"""Workers on this machine: processes, as many as cores, none of which can take others with it."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Generator, Iterable
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from multiprocessing import get_context
from typing import TypeVar

from overlapcheck.ranks.work import killed, lost
from overlapcheck.ranks.worker_life import become_worker, end_workers, submit
from overlapcheck.report_result import LostReport, Task

Made = TypeVar("Made")

_WAITING_PER_WORKER = 2
"""Tasks handed out beyond those that run: enough that no worker waits for its next."""


@dataclass(frozen=True)
class ThisProcess:
    """See `Engine`: one report after the other, for programs that cannot start processes."""

    def run(
        self, work: Callable[[Task], Made | LostReport], tasks: Iterable[Task]
    ) -> Generator[tuple[Task, Made | LostReport], None, None]:
        """See `Engine.run`."""
        for task in tasks:
            yield task, work(task)


@dataclass(frozen=True)
class LocalPool:
    """See `Engine`."""

    jobs: int

    def run(
        self, work: Callable[[Task], Made | LostReport], tasks: Iterable[Task]
    ) -> Generator[tuple[Task, Made | LostReport], None, None]:
        """See `Engine.run`."""
        left = deque(tasks)
        while left:
            suspects = yield from self._until_broken(work, left)
            # One of these killed its worker. Alone, each can only lose itself.
            for task in suspects:
                yield task, _alone(work, task)

    def _until_broken(
        self, work: Callable[[Task], Made | LostReport], left: deque[Task]
    ) -> Generator[tuple[Task, Made | LostReport], None, list[Task]]:
        """Run tasks until none is left or a worker dies; return those that died with it."""
        running: dict[Future[Made | LostReport], Task] = {}
        pool = _pool(min(self.jobs, len(left)))
        try:
            while left or running:
                while left and len(running) < self.jobs * _WAITING_PER_WORKER:
                    task = left.popleft()
                    try:
                        running[submit(pool, work, task)] = task
                    except BrokenProcessPool:
                        left.appendleft(task)
                        break
                done, _ = wait(running, return_when=FIRST_COMPLETED)
                broken = []
                for future in sorted(done, key=lambda f: running[f].number):
                    task = running.pop(future)
                    try:
                        made = _result(future, task)
                    except BrokenProcessPool:
                        broken.append(task)
                    else:
                        yield task, made
                if broken or (left and not running and not done):
                    for future, task in running.items():
                        if future.done() and future.exception() is None:
                            yield task, future.result()
                        else:
                            broken.append(task)
                    return sorted(broken, key=lambda task: task.number)
            return []
        except BaseException:
            # A signal, or nobody wants the rest: what runs is not waited for.
            end_workers(pool)
            raise
        finally:
            pool.shutdown(wait=True, cancel_futures=True)


def _result(future: Future[Made | LostReport], task: Task) -> Made | LostReport:
    try:
        return future.result()
    except BrokenProcessPool:
        raise
    except Exception as error:
        # On the way back, after the work: a result that cannot be sent.
        return lost(task, error)


def _alone(work: Callable[[Task], Made | LostReport], task: Task) -> Made | LostReport:
    pool = _pool(1)
    try:
        return _result(submit(pool, work, task), task)
    except BrokenProcessPool:
        return killed(task)
    except BaseException:
        end_workers(pool)
        raise
    finally:
        pool.shutdown(wait=True, cancel_futures=True)


def _pool(workers: int) -> ProcessPoolExecutor:
    # NOTE: forking would copy the locks of Arrow's threads in whatever state they are.
    return ProcessPoolExecutor(
        max_workers=workers, mp_context=get_context("spawn"), initializer=become_worker
    )
