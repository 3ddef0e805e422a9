"""The gripper in NumPy, written from the paper's formulas and from the elastica, sharing nothing with diffmicro.

Units are mm and uN. The constant-stiffness models follow eqs. 3-47 literally, in the paper's frames. The exact
arc is integrated by Runge-Kutta and closed by SciPy's root finder on all unknowns at once.
"""

from typing import NamedTuple

import numpy as np
from scipy.optimize import root

DEGREE = np.pi / 180


class Gripper(NamedTuple):
    """Table 1, geometry not rounded, in mm and uN."""

    radius: np.ndarray = np.full(4, 0.2)
    angle: np.ndarray = np.array([300, 320, 330, 250]) * DEGREE
    start: np.ndarray = np.array([22.5, 132, -15, 240]) * DEGREE
    hinge: np.ndarray = np.array(
        [
            [0.5, 0.0],
            [2 * np.cos(22.5 * DEGREE), 2 * np.sin(22.5 * DEGREE)],
            [0.5 + 0.8 * np.cos(30 * DEGREE), 1.9],
            [0.5, 1.5],
        ]
    )
    body: np.ndarray = np.array([[1.5, 0.2], [1.8, 1.5], [1.0, 1.5]])
    bending: np.ndarray = np.full(4, 100e3 * 0.025 * 0.005**3 / 12 * 1e6)

    @property
    def tip(self) -> np.ndarray:
        ray = self.hinge[2] - self.hinge[1]
        return self.hinge[2] + 1.5 * ray / np.hypot(*ray) - self.body[1]


PAIRS = ((-1, 0), (0, 1), (1, 2), (2, -1))
CROSS = np.array([[0.0, -1.0], [1.0, 0.0]])


def turn(angle: float) -> np.ndarray:
    c, s = np.cos(angle), np.sin(angle)
    return np.array([[c, -s], [s, c]])


def compliance(radius: float, angle: float, bending: float) -> np.ndarray:
    """Eq. 2."""
    r, t, s, c, s2 = radius, angle, np.sin(angle), np.cos(angle), np.sin(2 * angle)
    xx, xy = r**3 / 4 * (6 * t + s2 - 8 * s), r**3 / 2 * (c**2 - 2 * c + 1)
    xm, yy, ym = r**2 * (t - s), r**3 / 4 * (2 * t - s2), r**2 * (1 - c)
    return np.array([[xx, xy, xm], [xy, yy, ym], [xm, ym, r * t]]) / bending


class Prepared(NamedTuple):
    """What does not change with the configuration, per flexure."""

    arms: list
    sections: list
    spans: list
    rest: list
    stiffness: list
    frames: list


def prepare(g: Gripper) -> Prepared:
    centers = np.vstack([g.body, [0.0, 0.0]])
    arms, sections, spans, rest, stiffness, frames = [], [], [], [], [], []
    for f, (i, j) in enumerate(PAIRS):
        first = g.hinge[f] + g.radius[f] * turn(g.start[f])[:, 0]
        last = g.hinge[f] + g.radius[f] * turn(g.start[f] + g.angle[f])[:, 0]
        arms.append((first - centers[i], last - centers[j]))
        at_start = turn(g.start[f] + np.pi / 2)
        sections.append((at_start, at_start @ turn(g.angle[f])))
        spans.append(last - first)
        r, t = g.radius[f], g.angle[f]
        rest.append(np.array([r * np.sin(t), r * (1 - np.cos(t))]))
        stiffness.append(np.linalg.inv(compliance(r, t, g.bending[f])))
        frames.append(turn(t))
    return Prepared(arms, sections, spans, rest, stiffness, frames)


def internal_and_tangent(p: Prepared, q: np.ndarray, model: str) -> tuple[np.ndarray, np.ndarray]:
    """Eqs. 23, 24 and 26: internal wrenches (9) and their tangent (9, 9) of `linear` and `partial`."""
    everything = np.vstack([q.reshape(3, 3), np.zeros(3)])
    force, tangent = np.zeros((4, 3)), np.zeros((12, 12))
    for f, (i, j) in enumerate(PAIRS):
        (si, sj), (start, end) = p.arms[f], p.sections[f]
        qi, qj = everything[i], everything[j]
        ai, aj = turn(qi[2]), turn(qj[2])
        span = p.spans[f] + qj[:2] + aj @ sj - sj - qi[:2] - ai @ si + si
        x = end.T @ (ai.T @ span - p.spans[f])
        jacobian = np.zeros((3, 6))
        jacobian[:2, 0:2], jacobian[:2, 3:5] = -end.T @ ai.T, end.T @ ai.T
        jacobian[:2, 2] = end.T @ ((ai @ CROSS).T @ span - CROSS @ si)
        jacobian[:2, 5] = end.T @ ai.T @ aj @ CROSS @ sj
        jacobian[2, 2], jacobian[2, 5] = -1.0, 1.0
        wrench = p.stiffness[f] @ np.append(x, qj[2] - qi[2])
        arm = p.frames[f].T @ p.rest[f] + (x if model == "partial" else 0)
        transfer = np.zeros((3, 3))
        transfer[:2, :2], transfer[2, 2] = -p.frames[f], -1.0
        transfer[2, :2] = arm @ CROSS
        n_j, n_i = np.eye(3), np.eye(3)
        n_j[:2, :2], n_j[2, :2] = aj @ end, -(sj @ CROSS @ end)
        n_i[:2, :2], n_i[2, :2] = ai @ start, -(si @ CROSS @ start)
        follow = p.stiffness[f] @ jacobian
        at = np.r_[3 * i if i >= 0 else 9, 3 * j if j >= 0 else 9]
        rows = [np.arange(a, a + 3) for a in at]
        columns = np.concatenate(rows)
        force[at[1] // 3] += n_j @ wrench
        force[at[0] // 3] += n_i @ transfer @ wrench
        tangent[np.ix_(rows[1], columns)] += n_j @ follow
        first = n_i @ transfer @ follow
        if model == "partial":
            first[2] += wrench[:2] @ CROSS.T @ jacobian[:2]
        tangent[np.ix_(rows[0], columns)] += first
        tangent[rows[1][:2], rows[1][2]] += CROSS @ aj @ end @ wrench[:2]
        tangent[rows[0][:2], rows[0][2]] += CROSS @ ai @ start @ (transfer @ wrench)[:2]
    return force[:3].reshape(-1), tangent[:9, :9]


def solve(g: Gripper, model: str, forces: np.ndarray, tolerance: float = 1e-9) -> np.ndarray:
    """Displacements (n, 9) under a row of vertical forces at G_2, each started from the one before."""
    p, q, found = prepare(g), np.zeros(9), []
    for force in forces:
        for _ in range(50):
            internal, tangent = internal_and_tangent(p, q, model)
            internal[1] -= force
            step = np.linalg.solve(tangent, internal)
            q = q - step
            if np.linalg.norm(step) < tolerance:
                break
        found.append(q)
    return np.array(found)


def elastica(load: np.ndarray, angle: np.ndarray, steps: int) -> np.ndarray:
    """Ends (flexure, 3) of arcs of radius and stiffness one under loads (F_x, F_y, M at the start), by RK4."""
    h, z = angle / steps, np.zeros((3, len(angle)))

    def rate(z: np.ndarray) -> np.ndarray:
        curvature = 1 + load[:, 2] - z[0] * load[:, 1] + z[1] * load[:, 0]
        return np.stack([np.cos(z[2]), np.sin(z[2]), curvature])

    for _ in range(steps):
        k1 = rate(z)
        k2 = rate(z + h / 2 * k1)
        k3 = rate(z + h / 2 * k2)
        z = z + h / 6 * (k1 + 2 * k2 + 2 * k3 + rate(z + h * k3))
    return z.T


def exact_equations(g: Gripper, p: Prepared, unknowns: np.ndarray, steps: int) -> np.ndarray:
    """Poses that the loads do not hold, and internal wrenches of the bodies: 21 numbers."""
    q, load = np.vstack([unknowns[:9].reshape(3, 3), np.zeros(3)]), unknowns[9:21].reshape(4, 3)
    ends, missed, force = elastica(load, g.angle, steps), [], np.zeros((4, 3))
    for f, (i, j) in enumerate(PAIRS):
        (si, sj), r = p.arms[f], g.radius[f]
        ai, aj = turn(q[i, 2]), turn(q[j, 2])
        span = p.spans[f] + q[j, :2] + aj @ sj - sj - q[i, :2] - ai @ si + si
        frame = ai @ p.sections[f][0]
        pose = np.append(frame.T @ span / r, g.angle[f] + q[j, 2] - q[i, 2])
        missed.append(ends[f] - pose)
        push = frame @ load[f, :2] * g.bending[f] / r**2
        start = load[f, 2] * g.bending[f] / r
        end = start - span @ CROSS.T @ push
        force[j] += np.append(push, end + (aj @ sj) @ CROSS.T @ push)
        force[i] -= np.append(push, start + (ai @ si) @ CROSS.T @ push)
    return np.concatenate([np.concatenate(missed), force[:3].reshape(-1)])


def exact_state(g: Gripper, force: float, steps: int = 200) -> np.ndarray:
    """Displacements (9) and loads (12) of the exact model under a vertical force at G_2."""
    p, scale = prepare(g), g.bending[0] / g.radius[0] ** 2
    unknowns = np.zeros(21)
    for share in (0.5, 1.0):

        def equations(z: np.ndarray, share: float = share) -> np.ndarray:
            out = exact_equations(g, p, z, steps)
            out[12 + 1] -= share * force
            out[12:] /= scale
            return out

        unknowns = root(equations, unknowns, tol=1e-12).x
    return unknowns


def exact_closing_force(g: Gripper, steps: int = 200) -> float:
    """Vertical force at G_2 that brings the tip to x = 0 [uN]."""
    p, scale = prepare(g), g.bending[0] / g.radius[0] ** 2

    def equations(z: np.ndarray) -> np.ndarray:
        out = exact_equations(g, p, z[:21], steps)
        out[12 + 1] -= z[21] * scale
        out[12:] /= scale
        tip = g.body[1, 0] + z[3] + (turn(z[5]) @ g.tip)[0]
        return np.append(out, tip / g.radius[0])

    # From the linear answer of the exact equations, as Newton would do from rest.
    return float(root(equations, np.zeros(22), tol=1e-12).x[21] * scale)


def tips(g: Gripper, q: np.ndarray) -> np.ndarray:
    """Positions of the tip for rows of displacements."""
    moved = [g.body[1] + row[3:5] + turn(row[5]) @ g.tip for row in np.atleast_2d(q)]
    return np.array(moved)
