"""Problems of engineering and planning, with their data: Colville's, a transformer, a reactor, heat exchangers."""

import jax.numpy as jnp
import numpy as np

from tests.design.hock_schittkowski.given import Table

PROBLEMS = Table()
given = PROBLEMS.given


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
