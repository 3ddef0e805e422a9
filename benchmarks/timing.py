"""Timing in turn: what is compared is measured in alternation, so a busy machine hits all alike."""

import math
import statistics
import time
from collections.abc import Callable

WINDOW = 0.1
"""Shortest time that a measurement lasts [s]; what is quicker is repeated within it."""


def in_turn(contestants: dict[str, Callable[[], object]], rounds: int = 7) -> dict[str, float]:
    """Median seconds of one call of each. Calls have to wait for their results."""
    repeats = {}
    for name, call in contestants.items():
        call()
        repeats[name] = math.ceil(WINDOW / max(once(call), 1e-9))
    seconds = {name: [] for name in contestants}
    for _ in range(rounds):
        for name, call in contestants.items():
            began = time.perf_counter()
            for _ in range(repeats[name]):
                call()
            seconds[name].append((time.perf_counter() - began) / repeats[name])
    return {name: statistics.median(times) for name, times in seconds.items()}


def once(call: Callable[[], object]) -> float:
    """Seconds of a single call, for what lasts many windows by itself."""
    began = time.perf_counter()
    call()
    return time.perf_counter() - began


def table(heads: list[str], rows: list[list[str]]) -> list[str]:
    """Lines of a Markdown table."""
    lines = [heads, ["---"] * len(heads), *rows]
    return ["| " + " | ".join(line) + " |" for line in lines]
