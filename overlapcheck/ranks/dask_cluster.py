"""Workers of a Dask cluster: many machines that see the same files."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, TypeVar

from overlapcheck.errors import InputUnreadable, PolicyInvalid
from overlapcheck.ranks.work import killed
from overlapcheck.report_result import LostReport, Task

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
            _require_scheduler(distributed, self.address)
            with distributed.Client(self.address, timeout=CONNECT_TIMEOUT_S) as client:
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


def _require_scheduler(distributed: Any, address: str) -> None:
    """Ask whoever listens there what it is.

    NOTE: a client waits for ever for a listener that says nothing, and takes what a web server
    says for the length of a message.
    """

    async def identity() -> Any:
        comm = await distributed.comm.connect(address, timeout=CONNECT_TIMEOUT_S)
        try:
            await comm.write({"op": "identity", "reply": True})
            return await comm.read()
        finally:
            comm.abort()

    try:
        said = asyncio.run(asyncio.wait_for(identity(), CONNECT_TIMEOUT_S))
        kind = said.get("type") if isinstance(said, dict) else None
        why = "" if kind == "Scheduler" else f"what listens there is a {kind or 'stranger'}"
    except TimeoutError:
        why = f"silence for {CONNECT_TIMEOUT_S} s"
    except Exception as error:  # whatever a stranger's bytes make of the decoder
        why = " ".join(str(error).split()) or type(error).__name__
    if why:
        raise InputUnreadable(
            f"--dask {address}: no scheduler answers there ({why})",
            "start one: dask scheduler; dask worker ADDRESS",
        )


def _distributed() -> Any:
    try:
        import distributed
    except ImportError as error:
        raise PolicyInvalid("Dask is not installed", "pip install 'overlapcheck[dask]'") from error
    return distributed
