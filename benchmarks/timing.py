"""Timing in turn: what is compared is measured in alternation, so a busy machine hits all alike.

By default time is the processor's for this process, to which other programs add little. For what
starts processes of its own it has to be the wall clock, `time.perf_counter`.
"""

import statistics
import time
from collections.abc import Callable

WINDOW = 0.1
"""Shortest time that a measurement lasts [s]; what is quicker is repeated within it."""


Clock = Callable[[], float]


def in_turn(
    contestants: dict[str, Callable[[], object]],
    rounds: int = 7,
    clock: Clock = time.process_time,
) -> dict[str, float]:
    """Median seconds of one call of each. Calls have to wait for their results."""
    for call in contestants.values():
        call()
    seconds = {name: [] for name in contestants}
    for _ in range(rounds):
        for name, call in contestants.items():
            seconds[name].append(window(call, clock))
    return {name: statistics.median(times) for name, times in seconds.items()}


def window(call: Callable[[], object], clock: Clock) -> float:
    """Seconds of one call, from as many as fill a window: a count set beforehand may not."""
    began, calls = clock(), 0
    while (elapsed := clock() - began) < WINDOW:
        call()
        calls += 1
    return elapsed / calls


def once(call: Callable[[], object], clock: Clock = time.process_time) -> float:
    """Seconds of a single call, for what lasts many windows by itself."""
    began = clock()
    call()
    return clock() - began


def table(heads: list[str], rows: list[list[str]]) -> list[str]:
    """Lines of a Markdown table."""
    lines = [heads, ["---"] * len(heads), *rows]
    return ["| " + " | ".join(line) + " |" for line in lines]
