"""Workers of a Dask cluster: many machines that see the same files."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, TypeVar

from overlapcheck.errors import InputUnreadable, PolicyInvalid
from overlapcheck.fleet import LostReport, Task
from overlapcheck.ranks.work import killed

Made = TypeVar("Made")

CONNECT_TIMEOUT_S = 30


@dataclass(frozen=True)
class DaskCluster:
    """See `Engine`. Either an address, or a number of workers to start on this machine."""

    address: str = ""
    local_workers: int = 0

    def run(
        self, work: Callable[[Task], Made | LostReport], tasks: Iterable[Task]
    ) -> Generator[tuple[Task, Made | LostReport], None, None]:
        """See `Engine.run`."""
        distributed = _distributed()
        with self._client(distributed) as client:
            # Workers know the files by absolute paths only.
            futures = {
                client.submit(work, Task(t.number, t.path.absolute()), pure=False): t for t in tasks
            }
            arrived = distributed.as_completed(futures)
            for future in arrived:
                task = futures.pop(future)
                try:
                    made = future.result()
                except distributed.KilledWorker:
                    made = killed(task)
                yield task, made
                # The scheduler may forget it: memory stays that of what is not merged yet.
                future.release()

    @contextmanager
    def _client(self, distributed: Any) -> Iterator[Any]:
        if self.address:
            try:
                client = distributed.Client(self.address, timeout=CONNECT_TIMEOUT_S)
            except (OSError, ValueError) as error:
                raise InputUnreadable(
                    f"--dask {self.address}: no scheduler answers there ({error})",
                    "start one: dask scheduler; dask worker ADDRESS",
                ) from error
            with client:
                yield client
            return
        with (
            distributed.LocalCluster(
                n_workers=self.local_workers,
                threads_per_worker=1,
                processes=True,
                dashboard_address=None,
            ) as cluster,
            distributed.Client(cluster) as client,
        ):
            yield client


def _distributed() -> Any:
    try:
        import distributed
    except ImportError as error:
        raise PolicyInvalid("Dask is not installed", "pip install 'overlapcheck[dask]'") from error
    return distributed
