"""An independent event-driven tumbler: SciPy's DOP853 in the lab's frame, linear systems for forces and impacts.

Convex polygons on level or inclined ground, point contact with Coulomb friction, plastic impacts of all touching
corners, adhesion of the face that lies. It shares no formula with `diffmicro`: accelerations and forces come from
the equations of motion with their constraints, solved as one linear system, and every choice (stick, slide, lift,
tip, which corners an impact presses) is made by trying.
"""

import itertools
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.integrate import solve_ivp

TOLERANCE = 1e-11


@dataclass
class Robot:
    """Corners counterclockwise (n, 2), adhesion of the face before each corner, units mm, ms, mg."""

    corners: np.ndarray
    adhesion: np.ndarray
    mass: float
    inertia: float
    torque: float
    turning: float  # rad per ms of the field
    press: float
    slope: float
    friction: float
    drag: float = 0.0  # mg / ms, of the center's velocity
    brake: float = 0.0  # mg mm^2 / ms, of the spin


def cuboid(design, setting):
    """The published box, from a Design and a Setting (forces in N are 1e6 mg mm / ms^2)."""
    length, height = 1e3 * design.length, 1e3 * design.thickness
    corners = np.array([[1, -1], [1, 1], [-1, 1], [-1, -1]]) * [length / 2, height / 2]
    mass = 1e6 * design.mass
    sides = 1e-3 * np.array([length, height, length, height])
    return Robot(
        corners=corners,
        adhesion=1e3 * setting.adhesion * sides * design.width,
        mass=mass,
        inertia=mass * (length**2 + height**2) / 12,
        torque=1e6 * design.magnetic_volume * design.magnetization * setting.field,
        turning=2e-3 * np.pi * setting.field_frequency,
        press=mass * 9.81e-3 * np.cos(setting.incline) + 1e3 * setting.electrostatic_force,
        slope=mass * 9.81e-3 * np.sin(setting.incline),
        friction=setting.friction,
    )


def levers(robot, roll):
    """Corners from the center in the lab's frame, roll forward."""
    c, s = np.cos(roll), np.sin(roll)
    x, z = robot.corners.T
    return np.stack([x * c + z * s, z * c - x * s], axis=1)


def solve(robot, y, time, touching, slip, adhesion):
    """Accelerations (3), normal forces, tangential force of a body with these corners on the ground."""
    r, n = levers(robot, y[2])[touching], len(touching)
    w, m = y[5], robot.mass
    a, b = np.zeros((4 + n, 4 + n)), np.zeros(4 + n)
    a[0, 0], a[0, 3 + n], b[0] = m, -1, -robot.slope
    a[1, 1], a[1, 3 : 3 + n], b[1] = m, -1, -robot.press - adhesion
    a[2, 2], a[2, 3 : 3 + n] = robot.inertia, r[:, 0]
    a[2, 3 + n] = -r[0, 1] if n else 0.0
    b[2] = robot.torque * np.sin(robot.turning * time - y[2]) - robot.brake * y[5]
    b[:2] -= robot.drag * y[3:5]
    for i in range(n):
        a[3 + i, 1], a[3 + i, 2], b[3 + i] = 1, -r[i, 0], w**2 * r[i, 1]
    if n == 0:
        a[3, 3] = 1
    elif slip == 0:
        a[3 + n, 0], a[3 + n, 2], b[3 + n] = 1, r[0, 1], r[0, 0] * w**2
    else:
        a[3 + n, 3 + n], a[3 + n, 3 : 3 + n] = 1, slip * robot.friction
    x = np.linalg.solve(a, b)
    return x[:3], x[3 : 3 + n], x[3 + n]


def sliding(robot, y, corner):
    """Velocity of the body's material at a corner."""
    return y[3] + levers(robot, y[2])[corner, 1] * y[5]


def impact(robot, y, touching):
    """Velocity after a plastic impact, the corners that press, and whether they stick."""
    r = levers(robot, y[2])
    minv = np.diag([1 / robot.mass, 1 / robot.mass, 1 / robot.inertia])
    rows = np.array([[0, 1, -r[j, 0]] for j in touching])
    tangent = np.array([1, 0, r[touching[0], 1]])
    for count in range(len(touching), 0, -1):
        for pressed in itertools.combinations(range(len(touching)), count):
            for slip in (0, 1, -1):
                g = rows[list(pressed)]
                a, b = np.zeros((count + 1, count + 1)), np.zeros(count + 1)
                a[:count, :count], a[:count, count] = g @ minv @ g.T, g @ minv @ tangent
                b[:count] = -g @ y[3:]
                if slip == 0:
                    a[count, :count], a[count, count] = (
                        tangent @ minv @ g.T,
                        tangent @ minv @ tangent,
                    )
                    b[count] = -tangent @ y[3:]
                else:
                    a[count, :count], a[count, count] = slip * robot.friction, 1
                p = np.linalg.solve(a, b)
                after = y[3:] + minv @ (g.T @ p[:count] + tangent * p[count])
                left = tangent @ after
                fits = (
                    abs(p[count]) <= robot.friction * p[:count].sum()
                    if slip == 0
                    else slip * left > 0
                )
                if np.all(p[:count] > 0) and np.all(rows @ after > -1e-13) and fits:
                    return after, [touching[i] for i in pressed], slip == 0
    raise RuntimeError("no impact law fits")


def choose(robot, y, time, touching):
    """Corners that stay on the ground, direction of sliding, adhesion, for a body with these velocities."""
    u = sliding(robot, y, touching[0])
    adhesion = robot.adhesion[touching[-1]] if len(touching) == 2 else 0.0
    slips = [0, 1, -1] if abs(u) < 1e-12 else [int(np.sign(u))]
    for slip in slips:
        _, n, t = solve(robot, y, time, touching, slip, adhesion)
        acceleration = _slide_rate(robot, y, time, touching, slip, adhesion)
        cone = (
            abs(t) <= robot.friction * n.sum()
            if slip == 0
            else (abs(u) > 1e-12 or slip * acceleration > 0)
        )
        if np.all(n > 0) and cone:
            return touching, slip, adhesion
    if len(touching) == 2:  # it tips: over the end that presses
        _, n, _ = solve(robot, y, time, touching, slips[0], adhesion)
        return choose(robot, y, time, [touching[int(np.argmax(n))]])
    return [], 0, 0.0


def _slide_rate(robot, y, time, touching, slip, adhesion):
    a, _, _ = solve(robot, y, time, touching, slip, adhesion)
    r = levers(robot, y[2])[touching[0]]
    return a[0] + r[1] * a[2] - r[0] * y[5] ** 2


def half_turn(robot, phase):
    """Distance over half a turn of the field, from rest on the long face, and the state at the end."""
    time, end = phase / robot.turning, (phase + np.pi) / robot.turning
    y = np.array([0.0, -robot.corners[0, 1], 0.0, 0.0, 0.0, 0.0])
    touching, slip, adhesion = choose(robot, y, time, [3, 0])
    for _ in range(200):
        others = [j for j in range(4) if j not in touching]

        def rate(t, y, on=touching, s=slip, pull=adhesion):
            a, _, _ = solve(robot, y, t, on, s, pull)
            return np.concatenate([y[3:], a])

        events: list[Any] = [lambda t, y, j=j: y[1] + levers(robot, y[2])[j, 1] for j in others]
        kinds = [("lands", j) for j in others]
        for i, j in enumerate(touching):
            events.append(
                lambda t, y, i=i, on=touching, s=slip, p=adhesion: solve(robot, y, t, on, s, p)[1][
                    i
                ]
            )
            kinds.append(("lifts", j))
        if touching and slip == 0:
            for sign in (1, -1):

                def cone(t, y, sign=sign, on=touching, p=adhesion):
                    _, n, tangential = solve(robot, y, t, on, 0, p)
                    return robot.friction * n.sum() - sign * tangential

                events.append(cone)
                kinds.append(("slides", -sign))
        elif touching:
            events.append(lambda t, y, j=touching[0], s=slip: s * sliding(robot, y, j))
            kinds.append(("stops", 0))
        for event in events:
            event.terminal, event.direction = True, -1
        found: Any = solve_ivp(
            rate, (time, end), y, "DOP853", events=events, rtol=TOLERANCE, atol=1e-13, max_step=0.2
        )
        time, y = found.t[-1], found.y[:, -1].copy()
        if found.status == 0:
            return y[0], y
        which = next(i for i, times in enumerate(found.t_events) if len(times))
        kind, what = kinds[which]
        if kind == "lands":
            ahead = (what + 1) % 4
            order = [what, *touching] if ahead in touching else [*touching, what]
            y[3:], pressed, sticks = impact(robot, y, order)
            if sticks:
                y[3] = -levers(robot, y[2])[pressed[0], 1] * y[5]
            if len(pressed) == 2:
                y[3:] = [0.0 if sticks else y[3], 0.0, 0.0]
            touching, slip, adhesion = choose(robot, y, time, pressed)
        elif kind == "slides":
            slip = what
        elif kind == "stops":
            y[3] = -levers(robot, y[2])[touching[0], 1] * y[5]
            touching, slip, adhesion = choose(robot, y, time, touching)
        else:
            remaining = [j for j in touching if j != what]
            touching, slip, adhesion = (
                choose(robot, y, time, remaining) if remaining else ([], 0, 0.0)
            )
    raise RuntimeError("more than 200 events")
