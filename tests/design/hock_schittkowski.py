"""Fifty-one problems with inequalities and bounds of Hock and Schittkowski's collection, typed from their
formulas.

W. Hock, K. Schittkowski, Test Examples for Nonlinear Programming Codes, Lecture Notes in Economics and
Mathematical Systems 187, Springer 1981. `best` is the published value; a test confirms each by SciPy's SLSQP
from many starts. Starts outside their bounds begin at the bound.
"""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import jax.numpy as jnp
import numpy as np
from jax import Array
from jax.numpy import exp, log


class Given(NamedTuple):
    """Minimize f(x) where every entry of c(x) is at least zero, within bounds."""

    f: Callable[[Array], Array]
    c: Callable[[Array], Sequence[Array]] | None
    start: np.ndarray
    best: float
    lower: np.ndarray
    upper: np.ndarray


PROBLEMS: dict[int, Given] = {}


def given(number: int, f, c, start, best: float, lower: Any = -np.inf, upper: Any = np.inf) -> None:
    start = np.array(start, float)
    sides = [np.broadcast_to(np.array(b, float), start.shape) for b in (lower, upper)]
    PROBLEMS[number] = Given(f, c, np.clip(start, *sides), best, *sides)


def banana(x):
    return 100 * (x[1] - x[0] ** 2) ** 2 + (1 - x[0]) ** 2


NONE = np.inf

given(1, banana, None, (-2, 1), 0.0, (-NONE, -1.5))
given(2, banana, None, (-2, 1), 0.0504261879, (-NONE, 1.5))
given(3, lambda x: x[1] + 1e-5 * (x[1] - x[0]) ** 2, None, (10, 1), 0.0, (-NONE, 0))
given(4, lambda x: (x[0] + 1) ** 3 / 3 + x[1], None, (1.125, 0.125), 8 / 3, (1, 0))
given(
    5,
    lambda x: jnp.sin(x[0] + x[1]) + (x[0] - x[1]) ** 2 - 1.5 * x[0] + 2.5 * x[1] + 1,
    None, (0, 0), -np.sqrt(3) / 2 - np.pi / 3, (-1.5, -3), (4, 3),
)  # fmt: skip
given(
    10,
    lambda x: x[0] - x[1],
    lambda x: [-3 * x[0] ** 2 + 2 * x[0] * x[1] - x[1] ** 2 + 1],
    (-10, 10), -1.0,
)  # fmt: skip
given(
    11,
    lambda x: (x[0] - 5) ** 2 + x[1] ** 2 - 25,
    lambda x: [-(x[0] ** 2) + x[1]],
    (4.9, 0.1), -8.498464223,
)  # fmt: skip
given(
    12,
    lambda x: 0.5 * x[0] ** 2 + x[1] ** 2 - x[0] * x[1] - 7 * x[0] - 7 * x[1],
    lambda x: [25 - 4 * x[0] ** 2 - x[1] ** 2],
    (0, 0), -30.0,
)  # fmt: skip
given(
    13,
    lambda x: (x[0] - 2) ** 2 + x[1] ** 2,
    lambda x: [(1 - x[0]) ** 3 - x[1]],
    (-2, -2), 1.0, 0.0,
)  # fmt: skip
given(
    15, banana, lambda x: [x[0] * x[1] - 1, x[0] + x[1] ** 2],
    (-2, 1), 306.5, -NONE, (0.5, NONE),
)  # fmt: skip
given(
    16, banana, lambda x: [x[0] + x[1] ** 2, x[0] ** 2 + x[1]],
    (-2, 1), 0.25, (-0.5, -NONE), (0.5, 1),
)  # fmt: skip
given(
    17, banana, lambda x: [x[1] ** 2 - x[0], x[0] ** 2 - x[1]],
    (-2, 1), 1.0, (-0.5, -NONE), (0.5, 1),
)  # fmt: skip
given(
    18,
    lambda x: 0.01 * x[0] ** 2 + x[1] ** 2,
    lambda x: [x[0] * x[1] - 25, x[0] ** 2 + x[1] ** 2 - 25],
    (2, 2), 5.0, (2, 0), 50,
)  # fmt: skip
given(
    19,
    lambda x: (x[0] - 10) ** 3 + (x[1] - 20) ** 3,
    lambda x: [
        (x[0] - 5) ** 2 + (x[1] - 5) ** 2 - 100,
        82.81 - (x[1] - 5) ** 2 - (x[0] - 6) ** 2,
    ],
    (20.1, 5.84), -6961.81381, (13, 0), 100,
)  # fmt: skip
given(
    20, banana,
    lambda x: [x[0] + x[1] ** 2, x[0] ** 2 + x[1], x[0] ** 2 + x[1] ** 2 - 1],
    (-2, 1), 81.5 - 25 * np.sqrt(3), (-0.5, -NONE), (0.5, NONE),
)  # fmt: skip
given(
    21,
    lambda x: 0.01 * x[0] ** 2 + x[1] ** 2 - 100,
    lambda x: [10 * x[0] - x[1] - 10],
    (-1, -1), -99.96, (2, -50), 50,
)  # fmt: skip
given(
    22,
    lambda x: (x[0] - 2) ** 2 + (x[1] - 1) ** 2,
    lambda x: [2 - x[0] - x[1], -(x[0] ** 2) + x[1]],
    (2, 2), 1.0,
)  # fmt: skip
given(
    23,
    lambda x: x[0] ** 2 + x[1] ** 2,
    lambda x: [
        x[0] + x[1] - 1,
        x[0] ** 2 + x[1] ** 2 - 1,
        9 * x[0] ** 2 + x[1] ** 2 - 9,
        x[0] ** 2 - x[1],
        x[1] ** 2 - x[0],
    ],
    (3, 1), 2.0, -50, 50,
)  # fmt: skip
given(
    24,
    lambda x: ((x[0] - 3) ** 2 - 9) * x[1] ** 3 / (27 * np.sqrt(3)),
    lambda x: [
        x[0] / np.sqrt(3) - x[1],
        x[0] + np.sqrt(3) * x[1],
        6 - x[0] - np.sqrt(3) * x[1],
    ],
    (1, 0.5), -1.0, 0.0,
)  # fmt: skip
given(
    29,
    lambda x: -x[0] * x[1] * x[2],
    lambda x: [48 - x[0] ** 2 - 2 * x[1] ** 2 - 4 * x[2] ** 2],
    (1, 1, 1), -16 * np.sqrt(2),
)  # fmt: skip
given(
    30, lambda x: x @ x, lambda x: [x[0] ** 2 + x[1] ** 2 - 1],
    (1, 1, 1), 1.0, (1, -10, -10), 10,
)  # fmt: skip
given(
    31,
    lambda x: 9 * x[0] ** 2 + x[1] ** 2 + 9 * x[2] ** 2,
    lambda x: [x[0] * x[1] - 1],
    (1, 1, 1), 6.0, (-10, 1, -10), (10, 10, 1),
)  # fmt: skip
given(
    33,
    lambda x: (x[0] - 1) * (x[0] - 2) * (x[0] - 3) + x[2],
    lambda x: [x[2] ** 2 - x[1] ** 2 - x[0] ** 2, x @ x - 4],
    (0, 0, 3), np.sqrt(2) - 6, 0.0, (NONE, NONE, 5),
)  # fmt: skip
given(
    34, lambda x: -x[0], lambda x: [x[1] - exp(x[0]), x[2] - exp(x[1])],
    (0, 1.05, 2.9), -np.log(np.log(10)), 0.0, (100, 100, 10),
)  # fmt: skip
given(
    35,
    lambda x: 9 - 8 * x[0] - 6 * x[1] - 4 * x[2] + 2 * x[0] ** 2 + 2 * x[1] ** 2 + x[2] ** 2
    + 2 * x[0] * x[1] + 2 * x[0] * x[2],
    lambda x: [3 - x[0] - x[1] - 2 * x[2]],
    (0.5, 0.5, 0.5), 1 / 9, 0.0,
)  # fmt: skip
given(
    36, lambda x: -x[0] * x[1] * x[2], lambda x: [72 - x[0] - 2 * x[1] - 2 * x[2]],
    (10, 10, 10), -3300.0, 0.0, (20, 11, 42),
)  # fmt: skip
given(
    37,
    lambda x: -x[0] * x[1] * x[2],
    lambda x: [72 - x[0] - 2 * x[1] - 2 * x[2], x[0] + 2 * x[1] + 2 * x[2]],
    (10, 10, 10), -3456.0, 0.0, 42,
)  # fmt: skip
given(
    38,
    lambda x: banana(x) + 90 * (x[3] - x[2] ** 2) ** 2 + (1 - x[2]) ** 2
    + 10.1 * ((x[1] - 1) ** 2 + (x[3] - 1) ** 2) + 19.8 * (x[1] - 1) * (x[3] - 1),
    None, (-3, -1, -3, -1), 0.0, -10, 10,
)  # fmt: skip
given(
    43,
    lambda x: x[0] ** 2 + x[1] ** 2 + 2 * x[2] ** 2 + x[3] ** 2
    - 5 * x[0] - 5 * x[1] - 21 * x[2] + 7 * x[3],
    lambda x: [
        8 - x @ x - x[0] + x[1] - x[2] + x[3],
        10 - x[0] ** 2 - 2 * x[1] ** 2 - x[2] ** 2 - 2 * x[3] ** 2 + x[0] + x[3],
        5 - 2 * x[0] ** 2 - x[1] ** 2 - x[2] ** 2 - 2 * x[0] + x[1] + x[3],
    ],
    (0, 0, 0, 0), -44.0,
)  # fmt: skip
given(
    44,
    lambda x: x[0] - x[1] - x[2] - x[0] * x[2] + x[0] * x[3] + x[1] * x[2] - x[1] * x[3],
    lambda x: [
        8 - x[0] - 2 * x[1],
        12 - 4 * x[0] - x[1],
        12 - 3 * x[0] - 4 * x[1],
        8 - 2 * x[2] - x[3],
        8 - x[2] - 2 * x[3],
        5 - x[2] - x[3],
    ],
    (0, 0, 0, 0), -15.0, 0.0,
)  # fmt: skip
given(
    45, lambda x: 2 - x[0] * x[1] * x[2] * x[3] * x[4] / 120, None,
    (2, 2, 2, 2, 2), 1.0, 0.0, (1, 2, 3, 4, 5),
)  # fmt: skip
given(
    64,
    lambda x: 5 * x[0] + 5e4 / x[0] + 20 * x[1] + 7.2e4 / x[1] + 10 * x[2] + 1.44e5 / x[2],
    lambda x: [1 - 4 / x[0] - 32 / x[1] - 120 / x[2]],
    (1, 1, 1), 6299.842428, 1e-5,
)  # fmt: skip
given(
    65,
    lambda x: (x[0] - x[1]) ** 2 + (x[0] + x[1] - 10) ** 2 / 9 + (x[2] - 5) ** 2,
    lambda x: [48 - x @ x],
    (-5, 5, 0), 0.9535288567, (-4.5, -4.5, -5), (4.5, 4.5, 5),
)  # fmt: skip
given(
    66, lambda x: 0.2 * x[2] - 0.8 * x[0],
    lambda x: [x[1] - exp(x[0]), x[2] - exp(x[1])],
    (0, 1.05, 2.9), 0.5181632741, 0.0, (100, 100, 10),
)  # fmt: skip
given(
    72,
    lambda x: 1 + x[0] + x[1] + x[2] + x[3],
    lambda x: [
        0.0401 - 4 / x[0] - 2.25 / x[1] - 1 / x[2] - 0.25 / x[3],
        0.010085 - 0.16 / x[0] - 0.36 / x[1] - 0.64 / x[2] - 0.64 / x[3],
    ],
    (1, 1, 1, 1), 727.67937, 1e-3, (4e5, 3e5, 2e5, 1e5),
)  # fmt: skip
given(
    76,
    lambda x: x[0] ** 2 + 0.5 * x[1] ** 2 + x[2] ** 2 + 0.5 * x[3] ** 2
    - x[0] * x[2] + x[2] * x[3] - x[0] - 3 * x[1] + x[2] - x[3],
    lambda x: [
        5 - x[0] - 2 * x[1] - x[2] - x[3],
        4 - 3 * x[0] - x[1] - 2 * x[2] + x[3],
        x[1] + 4 * x[2] - 1.5,
    ],
    (0.5, 0.5, 0.5, 0.5), -4.681818181, 0.0,
)  # fmt: skip


def _83(x):
    sums = (
        85.334407 + 0.0056858 * x[1] * x[4] + 0.0006262 * x[0] * x[3] - 0.0022053 * x[2] * x[4],
        80.51249 + 0.0071317 * x[1] * x[4] + 0.0029955 * x[0] * x[1] + 0.0021813 * x[2] ** 2 - 90,
        9.300961 + 0.0047026 * x[2] * x[4] + 0.0012547 * x[0] * x[2] + 0.0019085 * x[2] * x[3] - 20,
    )
    return [*sums, *(most - s for most, s in zip((92, 20, 5), sums, strict=True))]


given(
    83,
    lambda x: 5.3578547 * x[2] ** 2 + 0.8356891 * x[0] * x[4] + 37.293239 * x[0] - 40792.141,
    _83, (78, 33, 27, 27, 27), -30665.53867, (78, 33, 27, 27, 27), (102, 45, 45, 45, 45),
)  # fmt: skip

# Colville's first problem and its dual share their tables.
E = np.array([-15, -27, -36, -18, -12.0])
C = np.array(
    [
        [30, -20, -10, 32, -10],
        [-20, 39, -6, -31, 32],
        [-10, -6, 10, -6, -10],
        [32, -31, -6, 39, -20],
        [-10, 32, -10, -20, 30.0],
    ]
)
D = np.array([4, 8, 10, 6, 2.0])
A = np.array(
    [
        [-16, 2, 0, 1, 0],
        [0, -2, 0, 0.4, 2],
        [-3.5, 0, 2, 0, 0],
        [0, -2, 0, -4, -1],
        [0, -9, -2, 1, -2.8],
        [2, 0, -4, 0, 0],
        [-1, -1, -1, -1, -1],
        [-1, -2, -3, -2, -1],
        [1, 2, 3, 4, 5],
        [1, 1, 1, 1, 1.0],
    ]
)
B = np.array([-40, -2, -0.25, -4, -4, -1, -40, -60, 5, 1])

given(
    86, lambda x: E @ x + x @ C @ x + D @ x**3, lambda x: A @ x - B,
    (0, 0, 0, 0, 1), -32.34867897, 0.0,
)  # fmt: skip
given(
    117,
    lambda x: -B @ x[:10] + x[10:] @ C @ x[10:] + 2 * D @ x[10:] ** 3,
    lambda x: 2 * C @ x[10:] + 3 * D * x[10:] ** 2 + E - A.T @ x[:10],
    (*[1e-3] * 6, 60, *[1e-3] * 8), 32.34867897, 0.0,
)  # fmt: skip


def _weights(x):
    first = x[0] * x[3] * (x[0] + x[1] + x[2])
    return first, x[1] * x[2] * (x[0] + 1.57 * x[1] + x[3])


def _93(x):
    first, second = _weights(x)
    return (
        0.0204 * first + 0.0187 * second + 0.0607 * first * x[4] ** 2 + 0.0437 * second * x[5] ** 2
    )


def _93_limits(x):
    first, second = _weights(x)
    return [
        0.001 * x[0] * x[1] * x[2] * x[3] * x[4] * x[5] - 2.07,
        1 - 0.00062 * first * x[4] ** 2 - 0.00058 * second * x[5] ** 2,
    ]


given(93, _93, _93_limits, (5.54, 4.4, 12.02, 11.82, 0.702, 0.852), 135.075961, 0.0)


def _95_limits(bounds):
    def limits(x):
        a, b, c, d, e, f = x
        sums = (
            17.1 * a + 38.2 * b + 204.2 * c + 212.3 * d + 623.4 * e + 1495.5 * f - 169 * a * c
            - 3580 * c * e - 3810 * d * e - 18500 * d * f - 24300 * e * f,
            17.9 * a + 36.8 * b + 113.9 * c + 169.7 * d + 337.8 * e + 1385.2 * f - 139 * a * c
            - 2450 * d * e - 16600 * d * f - 17200 * e * f,
            -273 * b - 70 * d - 819 * e + 26000 * d * e,
            159.9 * a - 311 * b + 587 * d + 391 * e + 2198 * f - 14000 * a * f,
        )  # fmt: skip
        return [s - bound for s, bound in zip(sums, bounds, strict=True)]

    return limits


for number, bounds, best in (
    (95, (4.97, -1.88, -29.08, -78.02), 0.015619514),
    (96, (4.97, -1.88, -69.08, -118.02), 0.015619514),
    (97, (32.97, 25.12, -29.08, -78.02), 3.1358091),
    (98, (32.97, 25.12, -124.08, -173.02), 3.1358091),
):
    given(
        number,
        lambda x: np.array([4.3, 31.8, 63.3, 15.8, 68.5, 4.7]) @ x,
        _95_limits(bounds), [0] * 6, best, 0.0, (0.31, 0.046, 0.068, 0.042, 0.028, 0.0134),
    )  # fmt: skip

given(
    100,
    lambda x: (x[0] - 10) ** 2 + 5 * (x[1] - 12) ** 2 + x[2] ** 4 + 3 * (x[3] - 11) ** 2
    + 10 * x[4] ** 6 + 7 * x[5] ** 2 + x[6] ** 4 - 4 * x[5] * x[6] - 10 * x[5] - 8 * x[6],
    lambda x: [
        127 - 2 * x[0] ** 2 - 3 * x[1] ** 4 - x[2] - 4 * x[3] ** 2 - 5 * x[4],
        282 - 7 * x[0] - 3 * x[1] - 10 * x[2] ** 2 - x[3] + x[4],
        196 - 23 * x[0] - x[1] ** 2 - 6 * x[5] ** 2 + 8 * x[6],
        -4 * x[0] ** 2 - x[1] ** 2 + 3 * x[0] * x[1] - 2 * x[2] ** 2 - 5 * x[5] + 11 * x[6],
    ],
    (1, 2, 0, 4, 0, 1, 1), 680.6300573,
)  # fmt: skip


def _104(x):
    first = 0.4 * (x[0] / x[6]) ** 0.67 + 0.4 * (x[1] / x[7]) ** 0.67
    return first + 10 - x[0] - x[1]


given(
    104, _104,
    lambda x: [
        1 - 0.0588 * x[4] * x[6] - 0.1 * x[0],
        1 - 0.0588 * x[5] * x[7] - 0.1 * x[0] - 0.1 * x[1],
        1 - 4 * x[2] / x[4] - 2 * x[2] ** -0.71 / x[4] - 0.0588 * x[2] ** -1.3 * x[6],
        1 - 4 * x[3] / x[5] - 2 * x[3] ** -0.71 / x[5] - 0.0588 * x[3] ** -1.3 * x[7],
        _104(x) - 1,
        4.2 - _104(x),
    ],
    (6, 3, 0.4, 0.2, 6, 6, 1, 0.5), 3.9511634396, 0.1, 10,
)  # fmt: skip
given(
    106,
    lambda x: x[0] + x[1] + x[2],
    lambda x: [
        1 - 0.0025 * (x[3] + x[5]),
        1 - 0.0025 * (x[4] + x[6] - x[3]),
        1 - 0.01 * (x[7] - x[4]),
        x[0] * x[5] - 833.33252 * x[3] - 100 * x[0] + 83333.333,
        x[1] * x[6] - 1250 * x[4] - x[1] * x[3] + 1250 * x[3],
        x[2] * x[7] - 1250000 - x[2] * x[4] + 2500 * x[4],
    ],
    (5000, 5000, 5000, 200, 350, 150, 225, 425), 7049.248,
    (100, 1000, 1000, 10, 10, 10, 10, 10), (1e4, 1e4, 1e4, 1e3, 1e3, 1e3, 1e3, 1e3),
)  # fmt: skip
given(
    108,
    lambda x: -0.5 * (x[0] * x[3] - x[1] * x[2] + x[2] * x[8] - x[4] * x[8] + x[4] * x[7] - x[5] * x[6]),
    lambda x: [
        1 - x[2] ** 2 - x[3] ** 2,
        1 - x[8] ** 2,
        1 - x[4] ** 2 - x[5] ** 2,
        1 - x[0] ** 2 - (x[1] - x[8]) ** 2,
        1 - (x[0] - x[4]) ** 2 - (x[1] - x[5]) ** 2,
        1 - (x[0] - x[6]) ** 2 - (x[1] - x[7]) ** 2,
        1 - (x[2] - x[4]) ** 2 - (x[3] - x[5]) ** 2,
        1 - (x[2] - x[6]) ** 2 - (x[3] - x[7]) ** 2,
        1 - x[6] ** 2 - (x[7] - x[8]) ** 2,
        x[0] * x[3] - x[1] * x[2],
        x[2] * x[8],
        -x[4] * x[8],
        x[4] * x[7] - x[5] * x[6],
    ],
    [1] * 9, -np.sqrt(3) / 2, (*[-NONE] * 8, 0),
)  # fmt: skip
given(
    110,
    lambda x: jnp.sum(log(x - 2) ** 2 + log(10 - x) ** 2) - jnp.prod(x) ** 0.2,
    None, [9] * 10, -45.77846971, 2.001, 9.999,
)  # fmt: skip
given(
    113,
    lambda x: x[0] ** 2 + x[1] ** 2 + x[0] * x[1] - 14 * x[0] - 16 * x[1] + (x[2] - 10) ** 2
    + 4 * (x[3] - 5) ** 2 + (x[4] - 3) ** 2 + 2 * (x[5] - 1) ** 2 + 5 * x[6] ** 2
    + 7 * (x[7] - 11) ** 2 + 2 * (x[8] - 10) ** 2 + (x[9] - 7) ** 2 + 45,
    lambda x: [
        105 - 4 * x[0] - 5 * x[1] + 3 * x[6] - 9 * x[7],
        -10 * x[0] + 8 * x[1] + 17 * x[6] - 2 * x[7],
        8 * x[0] - 2 * x[1] - 5 * x[8] + 2 * x[9] + 12,
        120 - 3 * (x[0] - 2) ** 2 - 4 * (x[1] - 3) ** 2 - 2 * x[2] ** 2 + 7 * x[3],
        40 - 5 * x[0] ** 2 - 8 * x[1] - (x[2] - 6) ** 2 + 2 * x[3],
        30 - 0.5 * (x[0] - 8) ** 2 - 2 * (x[1] - 4) ** 2 - 3 * x[4] ** 2 + x[5],
        -(x[0] ** 2) - 2 * (x[1] - 2) ** 2 + 2 * x[0] * x[1] - 14 * x[4] + 6 * x[5],
        3 * x[0] - 6 * x[1] - 12 * (x[8] - 8) ** 2 + 7 * x[9],
    ],
    (2, 3, 5, 5, 1, 2, 7, 3, 6, 10), 24.3062091,
)  # fmt: skip


def _118_limits(x):
    months = x.reshape(5, 3)
    change = (months[1:] - months[:-1] + 7).ravel()
    room = (np.array([13.0, 14.0, 13.0])[None, :] - (months[1:] - months[:-1] + 7)).ravel()
    return jnp.concatenate([change, room, months.sum(axis=1) - np.array([60, 50, 70, 85, 100.0])])


given(
    118,
    lambda x: jnp.tile(np.array([2.3, 1.7, 2.2]), 5) @ x
    + jnp.tile(np.array([1e-4, 1e-4, 1.5e-4]), 5) @ x**2,
    _118_limits, (20, 55, 15, *[20, 60, 20] * 4), 664.8204500,
    (8, 43, 3, *[0, 0, 0] * 4), (21, 57, 16, *[90, 120, 60] * 4),
)  # fmt: skip
