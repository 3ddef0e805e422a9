"""Chunks of a sweep calculated by dask.distributed (extra `cluster`), on this machine or on a cluster.

A chunk is one task, plain data that holds all that it needs (`remote.Call`). When a worker dies, dask gives its
chunk to another; a chunk that ends one worker after the other is an error that names it. Few tasks are underway at
a time, so memory stays bounded on all sides, and what is finished leaves at once.
"""

import json
import logging
import re
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType
from typing import Any, TypeVar

import jax

from diffmicro._extras import Foreign, package
from diffmicro._programs import in_use
from diffmicro.parameters import whole_number
from diffmicro.sweep.chunks import Arrays, calculate_chunk
from diffmicro.sweep.plan import Chunk, Work, environment
from diffmicro.sweep.remote import THREADS, Call, ClusterError, carried_out

Task = TypeVar("Task")

CONNECT = 15
"""Seconds that a scheduler has to answer."""

WAIT = 60
"""Seconds that a cluster may be without a worker."""

FORMS = (
    "--cluster takes tcp://HOST:PORT, tls://HOST:PORT, or the file of "
    "`dask scheduler --scheduler-file scheduler.json`."
)

AHEAD = 2
"""Chunks underway for each thread of the workers: one that is calculated, one that waits."""


class WorkerDied(RuntimeError):
    """Processes ended before their chunk did, or the scheduler did; the message says which."""


def check_installed(what: str) -> None:
    """`MissingPackage` where dask.distributed is not there."""
    package("distributed", what, "cluster")


def spread(
    work: Work,
    chunks: Sequence[Chunk],
    states: dict[int, Arrays],
    workers: int,
    cluster: str | None,
    named: Callable[[Chunk], str],
) -> Iterator[tuple[Chunk, Arrays]]:
    """Calculate chunks in `workers` processes, or on the cluster at an address; yields them as they are finished.

    `states`: arrays of finished chunks that others start from. `named`: how a chunk is called in a
    message. Raises `WorkerDied`, `ClusterError`, and ValueError for what the device complains about.
    """
    follower = {chunk.after: chunk for chunk in chunks if chunk.after is not None}
    ready = [chunk for chunk in chunks if chunk.after is None or chunk.after in states]
    if not ready:
        return

    def call(chunk: Chunk) -> Call:
        before = None if chunk.after is None else states.pop(chunk.after)
        return Call(work.job.device, calculate_chunk, (work.job.recipe, work.load(chunk), before))

    def next_of(chunk: Chunk, arrays: Arrays) -> list[Chunk]:
        if chunk.number not in follower:
            return []
        states[chunk.number] = arrays
        return [follower[chunk.number]]

    with _connected(min(workers, len(ready)), cluster) as processes:
        yield from processes.each(ready, call, named, next_of)


@contextmanager
def processes(workers: int = 1, cluster: str | None = None) -> "Iterator[Processes | None]":
    """Processes that share what is calculated inside the context, see `calculated`; None for this one alone.

    workers: so many of this machine. cluster: those of a dask scheduler instead, at an address or in the file that
    it wrote.
    """
    workers = whole_number("processes: workers", workers, 1, 1)
    if cluster is not None and workers > 1:
        raise ValueError("processes: workers are started here, a cluster has its own; give one.")
    if workers == 1 and cluster is None:
        yield None
        return
    with _connected(workers, cluster) as found:
        yield found


class Processes:
    """Workers of dask, whose losses are `WorkerDied`."""

    def __init__(self, client: Foreign, where: str):
        self._dask = package("distributed", "More than one process", "cluster")
        self._client, self._where = client, where
        self._threads, self._counted = 0, 0.0

    def each(
        self,
        ready: Sequence[Task],
        call: Callable[[Task], Call],
        named: Callable[[Task], str],
        next_of: Callable[[Task, Any], list[Task]] = lambda task, found: [],
    ) -> Iterator[tuple[Task, Any]]:
        """Tasks with what their calls give, as they are finished. named: how a task is called in a message.
        next_of: tasks that can begin after one."""
        same = environment(), bool(jax.config.read("jax_enable_x64")), in_use() is not None
        waiting, underway = list(ready), {}
        while waiting or underway:
            while waiting and len(underway) < AHEAD * self.threads():
                task = waiting.pop(0)
                underway[self.submit(carried_out, call(task).packed(), *same)] = task
            for future in self.finished(list(underway)):
                task = underway.pop(future)
                found = self.result(future, named(task))
                waiting = next_of(task, found) + waiting
                yield task, found

    def threads(self) -> int:
        """Threads of all workers, counted once a second; 1 while there are none."""
        if time.monotonic() > self._counted + 1.0:
            try:
                self._threads = sum(self._client.nthreads().values())
            except OSError:
                raise self._lost() from None
            self._counted = time.monotonic()
        return max(self._threads, 1)

    def submit(self, *task: object) -> Foreign:
        return self._client.submit(*task, pure=False)

    def finished(self, futures: Sequence[Foreign]) -> list[Foreign]:
        """Some that are finished; waits for the first."""
        while True:
            try:
                with self._client.as_current():
                    done, _ = self._dask.wait(futures, timeout=WAIT, return_when="FIRST_COMPLETED")
                return [future for future in futures if future in done]
            except TimeoutError:
                self._check_workers()
            except (self._dask.CancelledError, OSError):
                raise self._lost() from None

    def result(self, future: Foreign, named: str) -> Any:
        """What a task has become."""
        try:
            return future.result()
        except self._dask.KilledWorker as killed:
            raise WorkerDied(
                f"{named[0].upper()}{named[1:]} ended {killed.allowed_failures + 1} processes one after "
                "the other, perhaps for want of memory; what they printed is in the logs of the workers."
            ) from None
        except ImportError as missing:
            raise ClusterError(
                f"{self._where} has a worker that cannot import what it needs: {missing}. Install this version "
                "of diffmicro there, and the package of the device."
            ) from None
        except (self._dask.CancelledError, OSError):
            raise self._lost() from None

    def _check_workers(self) -> None:
        try:
            known = self._client.nthreads()
        except OSError:
            raise self._lost() from None
        if not known:
            raise WorkerDied(f"{self._where} has had no worker for {WAIT} s.")

    def _lost(self) -> WorkerDied:
        return WorkerDied(f"{self._where} does not answer any more.")


@contextmanager
def _connected(workers: int, cluster: str | None) -> Iterator[Processes]:
    """Processes of this machine, which end with the context, or those of a cluster, which do not."""
    dask = package("distributed", "More than one process", "cluster")
    if cluster is not None:
        where = f"The cluster at {cluster}"
        with _quiet(), _client_of(dask, cluster) as client:
            try:
                client.wait_for_workers(1, timeout=WAIT)
            except TimeoutError:
                raise ClusterError(
                    f"{where} has had no worker for {WAIT} s. Start some: dask worker {cluster}"
                ) from None
            yield Processes(client, where)
        return
    local = dask.LocalCluster(
        n_workers=workers,
        threads_per_worker=1,
        memory_limit=0,  # a process that compiles may need much for a while
        dashboard_address="127.0.0.1:0",
        silence_logs=logging.CRITICAL,  # the messages are ours
        env={THREADS: "1"},
    )
    with _quiet(), local, dask.Client(local, set_as_default=False) as client:
        yield Processes(client, "The scheduler of the processes")


@contextmanager
def _quiet() -> Iterator[None]:
    """dask's own reports of what was lost wait; ours say what it means."""
    handlers = logging.getLogger("distributed").handlers
    levels = [handler.level for handler in handlers]
    for handler in handlers:
        handler.setLevel(logging.CRITICAL)
    try:
        yield
    finally:
        for handler, level in zip(handlers, levels, strict=True):
            handler.setLevel(level)


def _client_of(dask: ModuleType, cluster: str) -> Foreign:
    """A client of the scheduler at an address, or in a file that a scheduler wrote."""
    address = _address_in(Path(cluster)) if cluster.endswith(".json") else cluster
    if not re.fullmatch(r"([a-z]+://)?[^\s/]+:\d+", address):
        raise ClusterError(f"{address} is no address of a dask scheduler. {FORMS}")
    try:
        return dask.Client(address, timeout=CONNECT, set_as_default=False)
    except (OSError, ValueError) as problem:
        reason = " ".join(str(problem).split())
        raise ClusterError(
            f"No dask scheduler answered at {address} within {CONNECT} s ({reason}). {FORMS}"
        ) from None


def _address_in(file: Path) -> str:
    try:
        return json.loads(file.read_text())["address"]
    except (OSError, ValueError, KeyError, TypeError) as problem:
        raise ClusterError(
            f"{file} is no file of a dask scheduler ({type(problem).__name__}: {problem}). "
            "`dask scheduler --scheduler-file scheduler.json` writes one."
        ) from None
