"""Boundary elements for a body of revolution pressed into an elastic half-space, in NumPy alone.

Pressure on rings moves the surface at r by (Johnson, Contact Mechanics, 1985, eq. 3.96a)

    u(r) = 4 / (pi E*) int_0^a p(s) s / (r + s) K(m) ds,    m = 4 r s / (r + s)^2,

which is Boussinesq's solution integrated over the angle. Collocation of u(r) + h(r) = d on straight pieces of
p(s), with p(a) = 0. Nothing of the reduction to one dimension is used.
"""

from collections.abc import Callable

import numpy as np
from scipy.special import ellipkm1

POINTS = 20
"""Gauss points on each piece; the logarithm at s = r is taken away by a cubic change of variable."""


def solve(
    shape: Callable[[np.ndarray], np.ndarray], radius: float, nodes: np.ndarray, modulus: float
) -> tuple[float, float, np.ndarray]:
    """Indentation, force, and pressure at the nodes (from 0 to `radius`) for a contact radius."""
    n = nodes.size
    matrix = np.zeros((n, n))
    for i, r in enumerate(nodes):
        for k in range(n - 1):
            left, right = nodes[k], nodes[k + 1]
            s, weight = _rule(left, right, r)
            rise = (s - left) / (right - left)
            kernel = 4 / (np.pi * modulus) * s / (r + s) * ellipkm1(((r - s) / (r + s)) ** 2)
            matrix[i, k] += np.sum(weight * kernel * (1 - rise))
            matrix[i, k + 1] += np.sum(weight * kernel * rise)
    matrix[:, -1] = -1.0  # the pressure at the edge is zero; its place is taken by the indentation
    solution = np.linalg.solve(matrix, -shape(nodes))
    pressure = np.append(solution[:-1], 0.0)
    force = 0.0
    for k in range(n - 1):
        s, weight = _rule(nodes[k], nodes[k + 1], None)
        force += np.sum(weight * 2 * np.pi * s * np.interp(s, nodes, pressure))
    return solution[-1], force, pressure


def graded(radius: float, edge: float, count: int) -> np.ndarray:
    """Nodes from 0 to `radius`, closer at both sides of `edge` (0: none) and at the end."""
    if not edge:
        return radius * np.sin(np.linspace(0, np.pi / 2, count))
    inner = edge * (1 - (1 - np.linspace(0, 1, count // 2)) ** 3)
    half = np.linspace(0, 1, count - count // 2 + 1)[1:]
    outer = edge + (radius - edge) * np.where(half < 0.5, 4 * half**3, 1 - 4 * (1 - half) ** 3)
    return np.concatenate([inner, outer])


def _rule(left: float, right: float, singular: float | None) -> tuple[np.ndarray, np.ndarray]:
    x, w = np.polynomial.legendre.leggauss(POINTS)
    x, w = (1 + x) / 2, w / 2
    length = right - left
    if singular == left:
        return left + length * x**3, length * 3 * x**2 * w
    if singular == right:
        return right - length * x**3, length * 3 * x**2 * w
    return left + length * x, length * w
