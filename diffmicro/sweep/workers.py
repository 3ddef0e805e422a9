"""Chunks of a sweep spread over processes of their own, each with one thread.

Every process is started afresh (spawn), configures JAX for itself, compiles for itself, and has a pipe to
this one, through which it gets one chunk at a time. So it is known which chunk a process died of, and a
process whose parent is gone sees its pipe closed and ends. (`concurrent.futures.ProcessPoolExecutor`
reports neither, and its processes outlive a parent that was killed.)
"""

import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from multiprocessing import connection, get_context, parent_process
from typing import Any

import jax
import numpy as np

from diffmicro.devices import device, reference_of
from diffmicro.sweep.plan import Arrays, Chunk, Job, Work

THREADS = "PJRT_NPROC"
"""Read by XLA when it starts: how many threads it may use."""


class WorkerDied(RuntimeError):
    """A process ended before its chunk did; the message names both."""


def spread(
    job: Job,
    chunks: Sequence[Chunk],
    states: dict[int, Arrays],
    workers: int,
    named: Callable[[Chunk], str],
) -> Iterator[tuple[Chunk, Arrays]]:
    """Calculate chunks in `workers` processes; yields them as they are finished.

    `states`: arrays of finished chunks that others start from. `named`: how a chunk is called in a
    message. Raises `WorkerDied`, and ValueError for what the device complains about.
    """
    follower = {chunk.after: chunk for chunk in chunks if chunk.after is not None}
    ready = [chunk for chunk in chunks if chunk.after is None or chunk.after in states]
    most = min(workers, len(ready))
    team = [_Worker(job) for _ in range(most)]
    try:
        idle = list(team)
        while ready or len(idle) < most:
            while ready and idle:
                chunk = ready.pop(0)
                before = None if chunk.after is None else states.pop(chunk.after)
                idle.pop().give(chunk, before)
            busy = {worker.link: worker for worker in team if worker.chunk is not None}
            for link in connection.wait(list(busy)):
                worker = busy[link]  # type: ignore[index]
                chunk, arrays = worker.take(named)
                idle.append(worker)
                if chunk.number in follower:
                    states[chunk.number] = arrays
                    ready.insert(0, follower[chunk.number])
                yield chunk, arrays
    finally:
        for worker in team:
            worker.end()


class _Worker:
    """One process, and the chunk that it has."""

    def __init__(self, job: Job):
        context = get_context("spawn")
        self.link, there = context.Pipe()
        double = bool(jax.config.read("jax_enable_x64"))
        self.process = context.Process(target=_serve, args=(there, double), daemon=True)
        with _uninterrupted():
            self.process.start()
        there.close()
        self.chunk: Chunk | None = None
        self._send(_on_host(job)._replace(device=reference_of(job.device)))

    def give(self, chunk: Chunk, before: Arrays | None) -> None:
        self.chunk = chunk
        self._send((chunk.number, before))

    def take(self, named: Callable[[Chunk], str]) -> tuple[Chunk, Arrays]:
        """The chunk that this process was given, and its arrays."""
        chunk, self.chunk = self.chunk, None
        assert chunk is not None
        try:
            answer = self.link.recv()
        except (EOFError, ConnectionError):
            self.process.join()
            raise WorkerDied(
                f"The process that calculated {named(chunk)} died with exit code "
                f"{self.process.exitcode}{_reason(self.process.exitcode)}."
            ) from None
        if isinstance(answer, ValueError):
            raise answer
        return chunk, answer

    def end(self) -> None:
        self.process.terminate()
        self.process.join()
        self.link.close()

    def _send(self, message: Any) -> None:
        try:
            self.link.send(message)
        except ConnectionError:
            pass  # it died; `take` reports it


def _serve(link: connection.Connection, double: bool) -> None:
    """Calculate what comes through the pipe until it closes. Runs in the new process."""
    from diffmicro._configure import configure

    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent decides what an interruption means
    parent = parent_process()
    assert parent is not None
    threading.Thread(target=_end_with, args=(parent.sentinel,), daemon=True).start()
    os.environ[THREADS] = "1"
    configure(double=double)
    try:
        job = link.recv()
        work = Work(job._replace(device=device(job.device)))
        while True:
            number, before = link.recv()
            try:
                answer: Any = work.calculate(work.chunks[number], before)
            except ValueError as complaint:
                answer = ValueError(str(complaint))
            link.send(answer)
    except (EOFError, ConnectionError):
        return


def _end_with(sentinel: int) -> None:
    """End this process at once when the parent is gone, even in the middle of a chunk."""
    connection.wait([sentinel])
    os._exit(1)


@contextmanager
def _uninterrupted() -> Iterator[None]:
    """Ctrl-C waits until the end, and is blocked in processes that are started in between."""
    if sys.platform == "win32":
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _on_host(job: Job) -> Job:
    """JAX arrays as NumPy's: unpickling the former would start JAX before it is configured."""

    def tree(values: Any) -> Any:
        return jax.tree.map(lambda x: np.asarray(x) if isinstance(x, jax.Array) else x, values)

    # Key by key: as one tree, the axes would come out sorted by name.
    axes = {key: tree(values) for key, values in job.axes.items()}
    return job._replace(design=tree(job.design), setting=tree(job.setting), axes=axes)


def _reason(code: int | None) -> str:
    if code is None or code >= 0:
        return "; what it printed stands above"
    name = signal.Signals(-code).name
    return f" ({name}{', perhaps for want of memory' if name == 'SIGKILL' else ''})"
