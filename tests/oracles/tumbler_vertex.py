"""The tumbling cuboid with point contacts at its eight corners, in NumPy: an oracle for the patch model.

Each corner near the ground has its own normal impulse, complementary to its own gap, and its own Coulomb cone:

    0 <= p_n  _|_  gap + h u_n' >= 0,      p_t = -mu p_n u_t' / |u_t'|,  |p_t| <= mu p_n while u_t' = 0,

solved by nonsmooth Gauss-Seidel over the corners. Gaps and levers are those at the beginning of the step, the
gyroscopic torque is explicit, rotations are SciPy's. So nothing is shared with the library: no equivalent
contact point, no ellipsoid, no end-of-step geometry, and friction's moment about the normal comes from the
corners. Both have the same motion as the limit of small steps.
"""

from dataclasses import dataclass

import numpy as np
from scipy.spatial.transform import Rotation

SWEEPS, CLOSE = 400, 1e-9
"""Most sweeps per step, and the change at which they end, over the largest impulse."""

FLUSH = 1e-10
"""Gap of a corner that lies on the ground [m]. A wider one keeps adhesion while the body lifts."""


@dataclass(frozen=True)
class Robot:
    """Table 1, SI; sizes along x (width), y (length), z (thickness)."""

    size: tuple[float, float, float] = (4e-4, 8e-4, 1e-4)
    mass: float = 1.6071e-7
    moment: float = 2.9e-11 * 15e3
    offset: float = np.radians(27)
    field: float = 20e-3
    frequency: float = 10.0
    incline: float = 0.0
    friction: float = 0.3
    adhesion: float = 3.7148
    electrostatic: float = 3.2022e-6
    yaw: float = 0.0


def tumble(robot: Robot, steps: int, turns: int) -> tuple[np.ndarray, np.ndarray]:
    """Position of the center and heading of the axis of rolling after each turn of the field."""
    size = np.array(robot.size)
    inertia = robot.mass / 12 * (np.sum(size**2) - size**2)
    corners = np.array([(x, y, z) for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)]) * size / 2
    faces = [(corners @ d > 0.99 * abs(corners @ d).max(), d) for d in _directions()]
    areas = [np.prod(size[d == 0]) for _, d in faces]
    magnet = robot.moment * np.array([0, np.cos(robot.offset), np.sin(robot.offset)])
    weight = 9.81 * robot.mass * np.array([0, -np.sin(robot.incline), -np.cos(robot.incline)])
    h = 1 / (robot.frequency * steps)

    attitude = Rotation.from_euler("z", robot.yaw)
    position, velocity, spin = np.array([0, 0, size[2] / 2]), np.zeros(3), np.zeros(3)
    loads, pull = np.zeros((8, 3)), 0.0
    places, headings = [], []
    for k in range(steps * turns):
        phase = robot.offset - 2 * np.pi * (k + 0.5) / steps
        field = robot.field * np.array([0, np.cos(phase), np.sin(phase)])
        frame = attitude.as_matrix()
        tensor = frame * inertia @ frame.T
        inverse = frame / inertia @ frame.T
        torque = np.cross(frame @ magnet, field) - np.cross(spin, tensor @ spin)
        force = weight - np.array([0, 0, robot.electrostatic + pull])
        velocity = velocity + h * force / robot.mass
        spin = spin + h * inverse @ torque
        levers = corners @ frame.T
        gaps = position[2] + levers[:, 2]
        near = np.flatnonzero(gaps + h * (velocity[2] + np.cross(spin, levers)[:, 2]) < 1e-6)
        loads[np.setdiff1d(np.arange(8), near)] = 0
        if near.size:
            loads[near] = _gauss_seidel(
                loads[near], levers[near], gaps[near] / h, velocity, spin, robot, inverse
            )
            velocity = velocity + loads.sum(axis=0) / robot.mass
            spin = spin + inverse @ np.cross(levers, loads).sum(axis=0)
        position = position + h * velocity
        attitude = Rotation.from_rotvec(h * spin) * attitude
        gaps = position[2] + (corners @ attitude.as_matrix().T)[:, 2]
        lying = [a for (on, _), a in zip(faces, areas, strict=True) if gaps[on].max() < FLUSH]
        pull = robot.adhesion * lying[0] if lying and loads[:, 2].sum() > 0 else 0.0
        if (k + 1) % steps == 0:
            across = attitude.as_matrix()[:, 0]
            places.append(position)
            headings.append(np.arctan2(across[1], across[0]))
    return np.array(places), np.array(headings)


def _directions() -> np.ndarray:
    return np.concatenate([np.eye(3), -np.eye(3)])[[1, 2, 4, 5]]  # end faces do not adhere


def _gauss_seidel(loads, levers, rates, velocity, spin, robot, inverse):
    """Impulses (x, y, z) of the corners; `rates` are gaps over the step."""
    n = len(loads)
    # u = G p + free, with one 3 x 3 block for each pair of corners
    cross = np.array([_skew(r) for r in levers])
    blocks = np.eye(3) / robot.mass - np.einsum("iab,bc,jcd->ijad", cross, inverse, cross)
    free = velocity + np.cross(spin, levers)
    loads = loads.copy()
    own = [(blocks[i, i, 2, 2], np.linalg.norm(blocks[i, i, :2, :2], 2)) for i in range(n)]
    for _ in range(SWEEPS):
        before = loads.copy()
        for i in range(n):
            u = free[i] + np.einsum("jab,jb->a", blocks[i], loads)
            normal = max(loads[i, 2] - (u[2] + rates[i]) / own[i][0], 0.0)
            u = u + blocks[i, i, :, 2] * (normal - loads[i, 2])
            along = loads[i, :2] - u[:2] / own[i][1]
            length = np.hypot(*along)
            bound = robot.friction * normal
            loads[i] = *(along * min(1, bound / length) if length > 0 else along), normal
        if np.abs(loads - before).max() <= CLOSE * np.abs(loads).max():
            break
    return loads


def _skew(r):
    return np.array([[0, -r[2], r[1]], [r[2], 0, -r[0]], [-r[1], r[0], 0]])
