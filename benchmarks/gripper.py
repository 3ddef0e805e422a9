"""The gripper: opening and closing in time of a frame, and closing forces of many designs with their gradients.

Left out of the paper's Table 8: its machine. Its numbers stand beside ours for scale. The designs of the batch are
random; every program solves the same equations of the exact model and stops at the same correction.
"""

import ctypes
from functools import cache
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from benchmarks.compiled import compiled
from benchmarks.timing import in_turn, once, table
from diffmicro.devices import gripper
from diffmicro.parameters import as_arrays
from tests.oracles import gripper as plain

BATCH, CHUNK = 1000, 125
SCIPY_DESIGNS = 2
FREE = ("beam_radius", "beam_angle", "section_height", "young")
"""Ten parameters: four radii, four angles, two numbers."""

TABLE_8 = {"opening": ("41.0", "0.150"), "closing": ("50.0", "0.150")}
"""Seconds in Adams, and in MATLAB for the partial model."""

OPENING = -60.0
"""First force of the paper [uN]."""


@cache
def library() -> ctypes.CDLL:
    """The compiled shooting solver."""
    loaded = compiled("gripper_shooting")
    loaded.closing.restype = ctypes.c_long
    return loaded


def draw(count: int) -> np.ndarray:
    """Random designs as rows: radii, angles, section height, Young's modulus."""
    rng = np.random.default_rng(3)
    rows = np.empty((count, 10))
    rows[:, :4] = 0.2e-3 * rng.uniform(0.85, 1.15, (count, 4))
    rows[:, 4:8] = np.deg2rad([300.0, 320.0, 330.0, 250.0]) * rng.uniform(0.9, 1.03, (count, 4))
    rows[:, 8], rows[:, 9] = rng.uniform(3e-6, 7e-6, count), rng.uniform(50e9, 170e9, count)
    return rows


def in_c(rows: np.ndarray, tolerance: float) -> tuple[np.ndarray, np.ndarray, int]:
    """Closing forces, gradients, Newton iterations by the C program."""
    design, count = gripper.published_design(), len(rows)
    parts = (design.start_angle, design.hinge, design.body, design.tip)
    fixed = np.concatenate([np.ravel(part) for part in parts])
    force, gradient = np.zeros(count), np.zeros((count, 10))
    pointers = [a.ctypes.data_as(ctypes.c_void_p) for a in (np.ascontiguousarray(rows), fixed)]
    taken = library().closing(
        ctypes.c_long(count),
        *pointers,
        ctypes.c_double(float(np.asarray(design.section_width))),
        gripper.arcs.SEGMENTS,
        ctypes.c_double(tolerance),
        force.ctypes.data_as(ctypes.c_void_p),
        gradient.ctypes.data_as(ctypes.c_void_p),
    )
    return force, gradient, int(taken)


def design_of(x: Any) -> gripper.Design:
    """A row as a design."""
    return gripper.published_design(
        beam_radius=x[:4], beam_angle=x[4:8], section_height=x[8], young=x[9]
    )


@jax.jit
def batch(chunks: Any) -> Any:
    """Closing forces and gradients, chunk by chunk, one core."""
    setting = as_arrays(gripper.published_setting())

    def one(x: Any) -> Any:
        def force(x: Any) -> Any:
            found = gripper.respond(design_of(x), setting, extra=("closing_force",), throw=False)
            return found.closing_force

        return jax.value_and_grad(force)(x)

    return jax.lax.map(jax.vmap(one), chunks)


def by_scipy(row: np.ndarray) -> tuple[float, np.ndarray]:
    """Closing force and its forward differences, by SciPy's root finder in NumPy."""

    def force(row: np.ndarray) -> float:
        inertia = 25e-6 * row[8] ** 3 / 12
        bending = np.full(4, row[9] * inertia * 1e12)
        return 1e-6 * plain.exact_closing_force(
            plain.Gripper(radius=1e3 * row[:4], angle=row[4:8], bending=bending), steps=64
        )

    base, step = force(row), 1e-6
    slopes = [
        (force(row * (1 + step * (np.arange(10) == k))) - base) / (step * row[k]) for k in range(10)
    ]
    return base, np.array(slopes)


def moved(model: str, last: float) -> Any:
    """Opening or closing in steps of 1 uN in one compiled call."""
    forces = 1e-6 * np.linspace(0.0, last, round(abs(last)) + 1)
    setting = gripper.published_setting(model=model)

    def call() -> Any:
        path = gripper.simulate(gripper.published_design(), setting, forces=forces)
        return np.asarray(path.tip)

    return call


def movement() -> list[str]:
    """Table 8 with the exact model against the simplified ones in NumPy."""
    rows = []
    for name, last in {"opening": OPENING, "closing": 70.0}.items():
        forces = np.linspace(0.0, last, round(abs(last)) + 1)
        seconds = in_turn(
            {
                "linear, NumPy": lambda f=forces: plain.solve(plain.Gripper(), "linear", f),
                "partial, NumPy": lambda f=forces: plain.solve(plain.Gripper(), "partial", f),
                "exact, diffmicro": moved("exact", last),
            }
        )
        adams, matlab = TABLE_8[name]
        for program, s in seconds.items():
            rows.append([name, program, f"{1e3 * s:.1f}", f"{s / seconds['exact, diffmicro']:.2f}"])
        rows.append([name, "exact, Adams (paper)", f"{1e3 * float(adams):.0f}", ""])
        rows.append([name, "partial, MATLAB (paper)", f"{1e3 * float(matlab):.0f}", ""])
    return table(["movement", "program", "ms", "times diffmicro"], rows)


def designs() -> list[str]:
    """A batch of closing forces with gradients by ten parameters."""
    drawn = draw(BATCH)
    chunks = jnp.asarray(drawn.reshape(-1, CHUNK, 10))
    tolerance = gripper.default_tolerance(np.float64)
    ours = [np.asarray(a).reshape(BATCH, -1) for a in batch(chunks)]
    force, gradient, taken = in_c(drawn, tolerance)
    off = np.abs(ours[0][:, 0] / force - 1).max()
    apart = (np.abs(ours[1] - gradient) / np.abs(gradient).max(axis=0)).max()
    seconds = in_turn(
        {
            "C, shooting": lambda: in_c(drawn, tolerance),
            "diffmicro": lambda: jax.block_until_ready(batch(chunks)),
        }
    )
    each = {name: s / BATCH for name, s in seconds.items()}
    each["SciPy and NumPy"] = (
        once(lambda: [by_scipy(row) for row in drawn[:SCIPY_DESIGNS]]) / SCIPY_DESIGNS
    )
    goals = {"C, shooting": "at least 3 (holds 1.2)", "SciPy and NumPy": "at least 100"}
    rows = [
        [name, f"{1e6 * s:.1f}", f"{s / each['diffmicro']:.1f}", goals.get(name, "")]
        for name, s in each.items()
    ]
    note = (
        f"Forces of C and diffmicro agree within {off:.0e}, gradients within {apart:.0e} of their largest; "
        f"C takes {taken / BATCH:.1f} Newton iterations a design."
    )
    return [*table(["program", "us per design", "times diffmicro", "goal"], rows), "", note]


def run() -> list[str]:
    """Both tables."""
    return [*movement(), "", *designs()]
