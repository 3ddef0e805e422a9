"""Which drive signal makes the longest step of the runner, without more vibration than the thesis's shaping?

Free: twelve samples of the signal, 10 us apart, after the full stroke; a straight line leads back to it. Held:
160 nm at 500 Hz, hemispheres of 0.5 mm, preload 0.25 N, 3 % damping, no sensor. Limit: vibration (rms times
sqrt 2) of at most 4.05 nm, what shaping by 0.74 presliding leaves when the back step takes 10 us.

With that back step the thesis's sawtooth makes 125.3 nm with 6.06 nm of vibration, shaped 130.4 nm with 4.05 nm.
The signal that is found makes 179.2 nm with 4.03 nm, more than its stroke, because it steps back twice. After the
first back step it jumps up by half of the stroke and throws the runner forward; 80 us later, three quarters of a
vibration, it falls again under the runner and catches it where the contacts pull no more. 0.014 nm of vibration
are left before the next period, 0.18 nm by the thesis's shaping. The limit binds: 62 nm of step for each nm of
vibration, and so does the bottom of the stroke at both back steps.

The search takes 120 evaluations; none of 32 random signals is feasible. The gradient agrees with differences of
the step to 1e-4, but stays uncertified: slopes by single samples, which cancel in large part, change with the
time steps. 2000 steps instead of 1000 end at 180.5 nm. From other starts it may end at other signals.
"""

from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any

import jax.numpy as jnp
import numpy as np

from diffmicro.design import Constraint, Objective, Result, Study, device_problem
from diffmicro.devices import stickslip
from diffmicro.plot.design import Panel, before_after

SAMPLES, SHAPED = 200, 12
"""Samples in a period; how many of them, after the first one at the full stroke, are free."""

STEPS = 1000
"""Steps in a period: 55 in each vibration of the contacts, 5 between samples."""

STROKE, PERIOD, SHARE = 160e-9, 2e-3, 0.74
FREE = {f"samples[{i}]": (0.0, 1.0) for i in range(1, SHAPED + 1)}
OBJECTIVE = Objective("net_step", "maximize")
CONSTRAINTS = (Constraint("residual_vibration", "<=", 4.05e-9),)
DESIGN = partial(
    stickslip.published_design, radius=0.5e-3, sensor_stiffness=0.0, damping_ratio=0.03
)
SETTING = partial(stickslip.published_setting, preload=0.25, amplitude=STROKE, period=PERIOD)


def signal(values: Mapping[str, Any]) -> Any:
    """All samples: the full stroke, the free ones, then a straight line back to the stroke."""
    free = jnp.stack([values[name] for name in FREE])
    count = SAMPLES - SHAPED
    line = free[-1] + (1 - free[-1]) * jnp.arange(1, count) / count
    return jnp.concatenate([jnp.ones(1), free, line])


def shaped() -> np.ndarray:
    """The thesis's shaping: down within one sample, up again to 0.74 presliding in the next, straight on."""
    lift = SHARE * float(stickslip.respond(DESIGN(), SETTING()).presliding[0]) / STROKE
    return np.concatenate([[1.0, 0.0], np.linspace(lift, 1.0, SAMPLES - 1)[:-1]])


def problem() -> Any:
    """The drive without sensor on sampled signals, from the thesis's shaping."""
    setting = SETTING(waveform="samples", samples=shaped())
    return device_problem(
        stickslip.DEVICE,
        FREE,
        OBJECTIVE,
        CONSTRAINTS,
        design=DESIGN(),
        setting=setting,
        tied={"samples": signal},
        steps=STEPS,
    )


def draw(result: Result, path: Path) -> None:
    """Signal and settled motion of the runner after the back step, before and after, and the search."""
    found = result.json("")
    sides = (found["published"], found["optimized"])
    panels = [
        Panel("time [us]", "drive [nm]", [_motion(side, "drive") for side in sides]),
        Panel("time [us]", "runner [nm]", [_motion(side, "position") for side in sides]),
    ]
    before_after(result, panels, path, 1e9, "nm")


def _motion(side: dict[str, Any], name: str) -> tuple[np.ndarray, np.ndarray, float, float]:
    """Drive or runner over the last of some periods, from where it began."""
    setting = side["setting"] | {"samples": np.array(side["setting"]["samples"])}
    path = stickslip.simulate(
        stickslip.Design(**side["design"]), stickslip.Setting(**setting), periods=SETTLE
    )
    values = np.asarray(getattr(path, name))
    values = (values if values.ndim == 1 else values[:, 0]).reshape(SETTLE, -1)[-1]
    time = np.asarray(path.time).reshape(SETTLE, -1)[0]
    early = time <= 4 * SHAPED / SAMPLES * PERIOD
    return 1e6 * time[early], 1e9 * (values - values[0])[early], np.nan, np.nan


SETTLE = 8
"""Periods after which the runner moves the same way in each."""

STUDY = Study(
    "stickslip_waveform",
    problem,
    options={"method": "sqp", "budget": 150, "lanes": 1},
    random_designs=32,
    draw=draw,
    show={"net_step": (1e9, "nm"), "residual_vibration": (1e9, "nm")},
)
