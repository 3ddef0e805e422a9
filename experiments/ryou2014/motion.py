"""The motions that the figures show."""

from collections.abc import Sequence

import jax.numpy as jnp
import numpy as np

from diffmicro.devices import legs
from experiments.progress import counted

MODES = 6

FITTED = (
    "damping, gains and mode shapes are not published; the set fitted to Table 3 stands for them"
)

WITHOUT = dict(film=0.0, electrostatic=0.0)
"""A design without small-scale forces."""


def responses(
    points: Sequence[tuple[dict, dict]], starts: np.ndarray | None = None
) -> list[legs.Response]:
    """Responses at (design, setting) overrides, from rest or from displacements [m].

    One after the other: a motion and its twins fill a vector of the processor already.
    """
    moved = np.zeros((len(points), MODES)) if starts is None else starts
    return [
        legs.respond(
            legs.published_design(**design),
            legs.published_setting(**setting),
            start=legs.MotionState(jnp.asarray(x), jnp.zeros(MODES)),
            throw=False,
        )
        for (design, setting), x in counted(list(zip(points, moved, strict=True)), "motions")
    ]


def simulated(
    setting: dict, seconds: float, design: dict | None = None
) -> tuple[legs.Trajectory, legs.Setting]:
    """The motion from rest over some seconds."""
    known = legs.published_setting(**setting)
    periods = int(np.ceil(seconds * float(known.drive_frequency)))
    return legs.simulate(legs.published_design(**(design or {})), known, periods=periods), known
