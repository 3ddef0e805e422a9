"""What a problem of the collection is, and a table of some."""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from jax import Array

NONE = np.inf
"""No bound."""


class Given(NamedTuple):
    """Minimize f(x) where every entry of c(x) is at least zero, within bounds."""

    f: Callable[[Array], Array]
    c: Callable[[Array], Sequence[Array]] | None
    start: np.ndarray
    best: float
    lower: np.ndarray
    upper: np.ndarray


class Table(dict[int, Given]):
    """Problems by their numbers; a number is given once."""

    def given(
        self, number: int, f, c, start, best: float, lower: Any = -NONE, upper: Any = NONE
    ) -> None:
        assert number not in self, number
        start = np.array(start, float)
        sides = [np.broadcast_to(np.array(b, float), start.shape) for b in (lower, upper)]
        self[number] = Given(f, c, np.clip(start, *sides), best, *sides)
