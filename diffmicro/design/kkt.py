"""Conditions of an optimum (Karush, Kuhn, Tucker): what holds a design, and what the limits leave of the
gradient."""

from typing import NamedTuple

import numpy as np

BINDING = 1e-5
"""Distance in the box, or share of a constraint's scale, within which a limit counts as binding."""


class Binding(NamedTuple):
    """What holds an optimum: multipliers of constraints and of bounds (low, high), and what remains.

    Each multiplier is the gain per unit by which the limit moves. remainder: length of what the limits do not
    balance of the gradient, in lengths of the gradient or in units of the gain, whichever is larger.
    """

    constraints: np.ndarray
    low: np.ndarray
    high: np.ndarray
    remainder: float


def binding(
    gradient: np.ndarray,
    slacks: np.ndarray,
    slack_gradients: np.ndarray,
    scales: np.ndarray,
    u: np.ndarray,
    unit: float,
    near: float = BINDING,
) -> Binding:
    """The nonnegative combination of binding limits that balances the gain's gradient best.

    unit: of the gain. At an optimum inside the box there is nothing to balance: the gradient itself is small.
    """
    from scipy.optimize import nnls

    n = len(u)
    active = np.abs(slacks) <= near * scales
    at_low, at_high = u <= near, u >= 1 - near
    outward = np.concatenate(
        [slack_gradients[active] / scales[active, None], np.eye(n)[at_low], -np.eye(n)[at_high]]
    )
    size = float(np.linalg.norm(gradient))
    found = np.zeros(len(outward))
    if len(outward) and size > 0:
        # In units of the gradient and of each limit, since limits may have slopes of any size.
        lengths = np.maximum(np.linalg.norm(outward, axis=1), np.finfo(float).tiny)
        found = nnls((outward / lengths[:, None]).T, -gradient / size)[0] * size / lengths
    left = gradient + outward.T @ found
    constraints, low, high = np.zeros(len(slacks)), np.zeros(n), np.zeros(n)
    first, second = active.sum(), active.sum() + at_low.sum()
    constraints[active] = found[:first] / scales[active]
    low[at_low], high[at_high] = found[first:second], found[second:]
    remainder = float(np.linalg.norm(left) / max(size, unit)) if size else 0.0
    return Binding(constraints, low, high, remainder)
