"""What a sweep will take, from a few of its points: they are calculated twice, which separates compiling."""

import time
from typing import NamedTuple

from diffmicro.sweep.plan import Job, Shard, Work

SAMPLES = 3
"""Points that are measured where points go one by one; of a batch or a walk one chunk is."""


class Cost(NamedTuple):
    """points: of the sweep, or its part. measured: those that were calculated.

    seconds: of one point, in one process. compiling: seconds that each process compiles for.
    """

    points: int
    measured: int
    seconds: float
    compiling: float

    def total(self, processes: int = 1) -> float:
        """Seconds until the end."""
        return self.compiling + self.points * self.seconds / processes


def cost_of(job: Job, shard: Shard) -> Cost:
    """Measured in this process, on points from the middle of the sweep."""
    work = Work(job)
    own = shard.chunks(work.chunks)
    firsts = [chunk for chunk in own if chunk.after is None]
    few = min(len(firsts), SAMPLES if firsts[0].width == 1 else 1)
    sample = [firsts[len(firsts) * (2 * n + 1) // (2 * few)] for n in range(few)]
    start = time.perf_counter()
    for chunk in sample:
        work.calculate(chunk, None)
    middle = time.perf_counter()
    for chunk in sample:
        work.calculate(chunk, None)
    end = time.perf_counter()
    measured = sum(len(chunk.rows) for chunk in sample)
    # Points with other words are other programs, which are compiled too.
    compiling = (middle - start - (end - middle)) / len({chunk.batch for chunk in sample})
    programs = len({chunk.batch for chunk in own})
    points = sum(len(chunk.rows) for chunk in own)
    return Cost(points, measured, (end - middle) / measured, programs * max(compiling, 0.0))
