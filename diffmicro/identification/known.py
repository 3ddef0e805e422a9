"""What data know of parameters: singular values of a Jacobian in standard errors, covariance, blind directions.

J = U S V^T has a row a point, in its standard errors, and a column a parameter, in a unit that says what counts
as much: its own size, or the range that it may lie in. A direction with singular value s is known to 1/s of
that unit."""

from typing import NamedTuple

import numpy as np

IGNORANT = 12**-0.5
"""Standard deviation of what is known to lie in a range and no more, over the range. Data that know a direction
no better do not see it."""


def singular(jacobian: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """All right singular vectors, with zeros for directions that there are too few data for."""
    _, values, directions = np.linalg.svd(jacobian, full_matrices=True)
    padded = np.zeros(jacobian.shape[1])
    padded[: len(values)] = values
    small = padded < 1e3 * np.finfo(float).eps * max(padded[0], np.finfo(float).tiny)
    return np.where(small, 0.0, padded), directions


def covariance_of(values: np.ndarray, directions: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Covariance within the directions that are seen, and standard errors with those that are not."""
    seen = values > 0
    weight = np.where(seen, 1 / np.where(seen, values, 1.0) ** 2, 0.0)
    covariance = (directions.T * weight) @ directions
    # A parameter with a share of an unseen direction is not known at all.
    unseen = np.sum(directions[~seen] ** 2, axis=0) > 1e-12
    spread = np.sqrt(np.maximum(np.diagonal(covariance), 0.0))
    return covariance, np.where(unseen, np.inf, spread)


class Blind(NamedTuple):
    """A combination of parameters that the data do not see. changes: relative change of each, the largest 1 (of
    a parameter at zero: over its range). known: its standard error, in the ranges of the parameters; infinite
    if none."""

    changes: dict[str, float]
    known: float

    def __str__(self) -> str:
        if len(self.changes) == 1:
            return next(iter(self.changes))
        parts = [f"{name} {100 * share:+.3g} %" for name, share in self.changes.items()]
        return " with ".join(parts)


SHOWN = 0.05
"""Share of the largest change from which on a parameter counts to a direction."""


def blind_directions(
    values: np.ndarray,
    directions: np.ndarray,
    names: tuple[str, ...],
    at: np.ndarray,
    width: np.ndarray,
) -> list[Blind]:
    """The directions, of a Jacobian by parameters over their ranges, that are known no better than by the
    ranges."""
    found = []
    for value, direction in zip(values, directions, strict=True):
        if value > 0 and 1 / value < IGNORANT:
            continue
        size = np.where(at == 0, width, np.abs(at))
        changes = direction * width / size
        changes = changes / changes[np.argmax(np.abs(changes))]
        shares = dict(zip(names, map(float, changes), strict=True))
        shares = {name: share for name, share in shares.items() if abs(share) >= SHOWN}
        found.append(Blind(shares, float(1 / value) if value > 0 else float("inf")))
    return found
