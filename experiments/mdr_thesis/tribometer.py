"""Figs. 4.8 to 4.13 and Table 4.1: friction under ultrasound out of plane.

Fig. 4.9 is a sketch; Fig. 4.11 shows measurements alone, whose numbers are not in the text. Fig. 4.12 shows the
curves
of 4.8, Fig. 4.13 those of 4.10, so each two are one experiment.
"""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from diffmicro.devices import tribometer
from diffmicro.mechanics import friction_control
from diffmicro.parameters import as_arrays
from experiments.mdr_thesis import tribometer_tables
from experiments.outcome import (
    Check,
    Experiment,
    Outcome,
    Said,
    incomparable,
    numbers,
    order,
    shape,
)
from experiments.reading import MUCH, SAME

RATIOS = (0.25, 0.5, 0.75, 1.0)
STEPS = 256


def respond(wanted: str, design: dict, setting: dict, **lanes: np.ndarray) -> np.ndarray:
    """One response over lanes of setting parameters."""
    first = {name: float(values[0]) for name, values in lanes.items()}
    body = as_arrays(tribometer.published_design(**design))
    drive = as_arrays(tribometer.published_setting(**setting, **first))

    def one(*values: jax.Array) -> jax.Array:
        own = drive
        for name, value in zip(lanes, values, strict=True):
            own = eqx.tree_at(lambda s, n=name: getattr(s, n), own, value)
        return getattr(tribometer.respond(body, own, steps=STEPS, throw=False), wanted)

    return np.asarray(jax.jit(jax.vmap(one))(*(jnp.asarray(v) for v in lanes.values())))


def out_of_plane(law: str, points: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Velocity and drag ratio for each force ratio, and the critical velocities."""
    share = (1 - np.cos(np.pi * np.linspace(0, 1, points + 1)[1:-1])) / 2
    drags = np.stack([1 - r + r * share for r in RATIOS])
    ratios = np.repeat(np.array(RATIOS), share.size)
    speed = respond(
        "sliding_velocity", {}, dict(law=law), drag_ratio=drags.ravel(), force_ratio=ratios
    )
    critical = respond(
        "critical_velocity",
        {},
        dict(law=law),
        drag_ratio=np.full(4, 0.9),
        force_ratio=np.array(RATIOS),
    )
    return speed.reshape(drags.shape), drags, critical


def _curves(axes: Axes, speed: np.ndarray, drags: np.ndarray, critical: np.ndarray) -> None:
    for row, drag, ratio, last in zip(speed, drags, RATIOS, critical, strict=True):
        known = np.isfinite(row)  # a drag near one may have no solution
        x = np.concatenate([[0], row[known], [last]])
        y = np.concatenate([[1 - ratio], drag[known], [1]])
        axes.plot(1e3 * x, y, label=f"force ratio {ratio:g}")
    axes.set(
        xlabel="mean sliding velocity [mm/s]", ylabel="friction over unreduced", ylim=(0, 1.05)
    )
    axes.legend(frameon=False, fontsize=8)


def figure4_8() -> Outcome:
    """Out of plane by Coulomb's law: exact, and the explicit approximation."""
    speed, drags, critical = out_of_plane("coulomb", 40)
    unit = 0.4 * 9.5 * np.array(RATIOS) / (2.1e-3 * 2 * np.pi * 30e3)
    shares = np.asarray(friction_control.approximate_share(jnp.asarray(speed / unit[:, None])))
    approximate = 1 + np.array(RATIOS)[:, None] * (shares - 1)
    slow = [
        float(
            respond(
                "friction_ratio",
                {},
                {},
                force_ratio=np.array([r]),
                sliding_velocity=np.array([1e-12]),
            )[0]
        )
        for r in RATIOS
    ]
    at_unit = [
        float(
            respond(
                "friction_ratio",
                {},
                {},
                force_ratio=np.array([r]),
                sliding_velocity=np.array([f * u]),
            )[0]
        )
        for f in (0.9, 1.0)
        for r, u in zip(RATIOS, unit, strict=True)
    ]
    checks = [
        _static(slow),
        shape(
            Said(
                "section 4.3.2",
                "for <v> = mu_0 dF_n/(m omega), the curves converge against the unreduced friction coefficient",
            ),
            "friction at 0.9 of this velocity and at it, all force ratios",
            "below 1, and 1",
            f"at most {max(at_unit[:4]):.4f}; {min(at_unit[4:]):.4f} to {max(at_unit[4:]):.4f}",
            max(at_unit[:4]) < 1 - 1e-4 and np.allclose(at_unit[4:], 1, rtol=0, atol=1e-6),
        ),
        _rising("section 4.3.4, Fig. 4.12", speed),
        shape(
            Said("Fig. 4.8, caption", "the hardly distinguishable dashed lines, eq. 4.22"),
            "largest distance of the explicit approximation",
            f"below {SAME:.0%} of the unreduced friction",
            f"{np.max(np.abs(approximate - drags)):.2%}",
            np.max(np.abs(approximate - drags)) < SAME,
        ),
        incomparable(
            Said("section 4.3.4", "critical velocity approximately three times smaller in theory"),
            "measured critical velocities",
            "the text has no numbers of Fig. 4.12a",
        ),
    ]

    data = {
        "force_ratio": RATIOS,
        "velocity": speed,
        "drag_ratio": drags,
        "approximate": approximate,
    }
    return Outcome(checks, data, lambda figure: _draw(figure, speed, drags, critical, approximate))


def _draw(
    figure: Figure,
    speed: np.ndarray,
    drags: np.ndarray,
    critical: np.ndarray,
    approximate: np.ndarray,
) -> None:
    axes = figure.subplots()
    _curves(axes, speed, drags, critical)
    for i, (row, y) in enumerate(zip(speed, approximate, strict=True)):
        axes.plot(1e3 * row, y, "k--", linewidth=0.8, label="_" if i else "eq. 4.22")
    axes.legend(frameon=False, fontsize=8)


def figure4_10() -> Outcome:
    """Out of plane by springs, and against Coulomb's law."""
    speed, drags, critical = out_of_plane("mdr", 24)
    plain = out_of_plane("coulomb", 4)[2]
    stalled = respond(
        "sliding_velocity",
        {},
        dict(law="mdr"),
        drag_ratio=np.array([0.74, 0.49, 0.24]),
        force_ratio=np.array(RATIOS[:3]),
    )
    first = speed[:, 0] / critical
    times = critical / plain
    lasts = ", ".join(f"{x:.1f}" for x in times)
    checks = [
        order(
            Said("section 4.3.3", "the static friction is reduced according to equation 4.15"),
            "sliding at 0.01 below 1 - dF/F",
            "none",
            f"{np.max(np.abs(stalled)):.1g} m/s",
            not np.any(stalled),
        ),
        order(
            Said("section 4.3.3", "the static friction is reduced according to equation 4.15"),
            "sliding at the smallest drag above it, over the critical velocity",
            f"above 0, below {SAME:.0%}",
            ", ".join(f"{x:.1e}" for x in first),
            np.all((first > 0) & (first < SAME)),
        ),
        _rising("section 4.3.4, Fig. 4.13", speed),
        order(
            Said(
                "section 4.3.3",
                "the maximal sliding velocity for which a reduction of friction is still "
                "observable, is much higher",
            ),
            "critical velocity over that of Coulomb's law",
            f"above {MUCH:g}",
            lasts,
            np.all(times > MUCH),
        ),
        incomparable(
            Said(
                "section 4.3.4",
                "nicely predicted for the smallest and largest force ratio of dF_n/F_n,0 = 0.25 and [...] 1",
            ),
            "measured friction; lambda = 2.64 (eq. 4.23)",
            "the text has no numbers of Fig. 4.13, nor the largest amplitude from which lambda comes",
        ),
    ]

    def draw(figure: Figure) -> None:
        _curves(figure.subplots(), speed, drags, critical)

    data = {"force_ratio": RATIOS, "velocity": speed, "drag_ratio": drags, "critical": critical}
    return Outcome(checks, data | {"critical_coulomb": plain}, draw)


def _static(slow: list[float]) -> Check:
    """Eq. 4.15."""
    off = max(abs(s - (1 - r)) for r, s in zip(RATIOS, slow, strict=True))
    return numbers(
        Said("eq. 4.15", "<mu>/mu_0 = 1 - dF_n/F_n,0"),
        "friction at vanishing velocity, all force ratios",
        ", ".join(f"{1 - r:g}" for r in RATIOS),
        ", ".join(f"{s:.4f}" for s in slow),
        off < 1e-3,
    )


def _rising(page: str, speed: np.ndarray) -> Check:
    """Drag grows along each row, so velocity has to; points without a solution (drag near one) are counted."""
    solved = np.isfinite(speed)
    rising = all(
        bool(np.all(np.diff(row[known]) > 0)) for row, known in zip(speed, solved, strict=True)
    )
    measured = "rises" if rising else "does not everywhere"
    if not solved.all():
        measured += f", at the {solved.sum()} of {solved.size} drags with a solution"
    said = Said(page, "a slope, increasing with increasing sliding velocity is visible")
    return shape(said, "friction rises with velocity", "rises", measured, rising)


EXPERIMENTS = {
    "mdr_thesis_fig4_8": Experiment(
        "out of plane by Coulomb's law (Figs. 4.8 and 4.12)", figure4_8
    ),
    "mdr_thesis_fig4_10": Experiment("out of plane by springs (Figs. 4.10 and 4.13)", figure4_10),
    **tribometer_tables.EXPERIMENTS,
}
"""Name -> experiment."""
