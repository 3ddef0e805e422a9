"""Where several starts of one search stand in the box."""

import numpy as np


def starts(start: np.ndarray, count: int, rng: np.random.Generator) -> np.ndarray:
    """The start and a Latin square: each variable visits each of its cells once."""
    cells = np.stack([rng.permutation(count) for _ in start], axis=1)
    found = (cells + rng.random((count, len(start)))) / count
    found[0] = start
    return found
