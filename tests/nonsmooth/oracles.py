"""Independent solutions of small complementarity problems, in plain NumPy.

`lemke`: Lemke's complementary pivoting (Cottle, Pang and Stone 1992, section 4.4) with a
lexicographic ratio test, so that degenerate problems do not cycle. `enumerate_box`: all 3^n active
sets.
"""

import itertools

import numpy as np


def lemke(matrix: np.ndarray, vector: np.ndarray) -> np.ndarray | None:
    """z of the linear complementarity problem, or None when the method ends on a ray."""
    n = len(vector)
    if np.all(vector >= 0):
        return np.zeros(n)
    size = np.abs(vector).max()
    # tableau of I w - M z - 1 z0 = q; the first columns, B^-1, order the rows lexicographically
    table = np.hstack([np.eye(n), -matrix, -np.ones((n, 1)), (vector / size)[:, None]])
    basis = list(range(n))
    artificial, entering = 2 * n, 2 * n
    row = _smallest(np.column_stack([table[:, -1], table[:, :n]]))
    for _ in range(50 * n * n + 100):
        leaving = basis[row]
        table[row] /= table[row, entering]
        for i in range(n):
            if i != row:
                table[i] -= table[i, entering] * table[row]
        basis[row] = entering
        if leaving == artificial:
            z = np.zeros(n)
            for i, column in enumerate(basis):
                if n <= column < 2 * n:
                    z[column - n] = table[i, -1]
            return np.maximum(z, 0) * size
        entering = leaving + n if leaving < n else leaving - n
        column = table[:, entering]
        rising = np.flatnonzero(column > 1e-10 * np.abs(table[:, :-1]).max())
        if len(rising) == 0:
            return None
        ratios = np.column_stack([table[rising, -1], table[rising, :n]]) / column[rising, None]
        smallest = ratios[:, 0].min()
        ties = rising[ratios[:, 0] <= smallest + 1e-12 * (1 + abs(smallest))]
        out = [i for i in ties if basis[i] == artificial]
        row = out[0] if out else rising[_smallest(ratios)]
    raise RuntimeError("Lemke's method did not end")


def _smallest(rows: np.ndarray) -> int:
    return min(range(len(rows)), key=lambda i: tuple(rows[i]))


def enumerate_box(matrix, vector, lower, upper):
    """The best z over all active sets, and its violation in the units of the data."""
    n = len(vector)
    best, smallest = np.full(n, np.nan), np.inf
    for states in itertools.product((-1, 0, 1), repeat=n):
        states = np.array(states)
        z = np.where(states < 0, lower, np.where(states > 0, upper, 0.0))
        if not np.isfinite(z).all():
            continue
        free = states == 0
        if free.any():
            block = matrix[np.ix_(free, free)]
            if abs(np.linalg.det(block)) < 1e-300:
                continue
            loads = vector[free] + matrix[np.ix_(free, ~free)] @ z[~free]
            z[free] = np.linalg.solve(block, -loads)
        w = matrix @ z + vector
        violation = max(
            np.max(np.maximum(lower - z, z - upper)),
            np.max(np.where(states < 0, -w, np.where(states > 0, w, np.abs(w)))),
            0.0,
        )
        if violation < smallest:
            best, smallest = z, violation
    return best, smallest
