"""Section 4.3.4's outlook: what a worn tip and a rough surface change of friction under ultrasound out of plane.

The thesis has no worn probe's size. The tip taken here is the one that makes the contact 2.64 times as stiff,
the factor that the thesis fits (eq. 4.23) and explains by wear; the roughness is that of section 3.4.5.
"""

import numpy as np
from matplotlib.figure import Figure
from scipy.optimize import brentq

from diffmicro.devices import tribometer
from diffmicro.devices.tribometer.lumped import longest
from experiments.mdr_thesis.tribometer import respond
from experiments.outcome import Check, Experiment, Outcome, Said, incomparable, own
from experiments.reading import MUCH

LAMBDA = 2.64
RATIOS = (0.25, 0.5, 0.75, 1.0)
ROUGH = dict(roughness=0.92e-6, hurst=1.7, roughness_length=383e-6)
POINTS = 16


def worn_tip() -> float:
    """Radius of the flat tip that makes the contact `LAMBDA` times as stiff as the sphere's [m]."""
    setting = tribometer.published_setting(law="mdr", vibration_length=1e-9, stiffness_factor=1.0)

    def softness(tip: float | None) -> float:
        return float(longest(tribometer.published_design(tip_radius=tip), setting))

    sphere = softness(None)
    found = brentq(lambda tip: sphere / softness(tip) - LAMBDA, 1e-5, 1e-3, xtol=1e-12)
    return float(np.asarray(found))


def _curves(design: dict) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    share = (1 - np.cos(np.pi * np.linspace(0, 1, POINTS + 1)[1:-1])) / 2
    drags = np.stack([1 - r + r * share for r in RATIOS])
    lanes = dict(drag_ratio=drags.ravel(), force_ratio=np.repeat(np.array(RATIOS), share.size))
    speed = respond("sliding_velocity", design, dict(law="mdr"), **lanes).reshape(drags.shape)
    ends = dict(drag_ratio=np.full(4, 0.9), force_ratio=np.array(RATIOS))
    return speed, drags, respond("critical_velocity", design, dict(law="mdr"), **ends)


def worn_and_rough() -> Outcome:
    """Sphere, worn sphere, rough sphere."""
    tip = worn_tip()
    shapes = {"sphere": {}, "worn": dict(tip_radius=tip), "rough": ROUGH}
    found = {name: _curves(design) for name, design in shapes.items()}
    critical = {name: curves[2] for name, curves in found.items()}
    sizes = {
        "worn": f"a flat tip of {1e6 * tip:.0f} um, which makes the contact {LAMBDA} times as stiff",
        "rough": "the roughness of the drive's runner (section 3.4.5)",
    }

    def influence(name: str) -> Check:
        times = critical[name] / critical["sphere"]
        listed = ", ".join(f"{x:.2f}" for x in times)
        return own(
            sizes[name],
            f"{name}: critical velocity over that of the smooth sphere, all force ratios",
            f"below 1/{MUCH:g} or above {MUCH:g}",
            listed,
            np.all((times < 1 / MUCH) | (times > MUCH)),
        )

    checks = [
        influence("worn"),
        influence("rough"),
        incomparable(
            Said(
                "section 4.3.4",
                "wear, contact form and surface roughness will have a significant influence",
            ),
            "what wear and roughness change",
            "an expectation; neither the size of a worn tip nor the roughness of the disc is stated",
        ),
        incomparable(
            Said("section 4.3.4", "the sphere wears down and is flattened out [lambda = 2.64]"),
            "radius of the worn tip",
            f"the text has none; {1e6 * tip:.0f} um make the contact 2.64 times as stiff",
        ),
    ]

    def draw(figure: Figure) -> None:
        for axes, ratio in zip(figure.subplots(1, 2, sharey=True), (0.5, 1.0), strict=True):
            i = RATIOS.index(ratio)
            for (name, (speed, drags, ends)), style in zip(
                found.items(), ("-", "--", ":"), strict=True
            ):
                known = np.isfinite(speed[i])
                x = np.concatenate([[0], speed[i][known], [ends[i]]])
                y = np.concatenate([[1 - ratio], drags[i][known], [1]])
                axes.plot(1e3 * x, y, style, label=name)
            axes.set(xlabel="mean sliding velocity [mm/s]", ylim=(0, 1.05))
            axes.set_title(f"force ratio {ratio:g}", fontsize=10)
        figure.axes[0].set(ylabel="friction over unreduced")
        figure.axes[1].legend(frameon=False, fontsize=8)

    data = {
        "tip_radius": tip,
        "force_ratio": RATIOS,
        **{
            name: {"velocity": speed, "drag_ratio": drags, "critical": ends}
            for name, (speed, drags, ends) in found.items()
        },
    }
    return Outcome(checks, data, draw)


EXPERIMENTS = {
    "mdr_thesis_wear": Experiment(
        "worn and rough probe under ultrasound (section 4.3.4)", worn_and_rough, (7.0, 3.5)
    ),
}
"""Name -> experiment."""
