"""Eq. 28: the linear model's inclusion, followed in time, against its conditions of stiction (eqs. 32 and 34).

3 mT and load factor 32 as in Fig. 6, the first harmonic of the field, the magnetic force at the rest gap; the
device's
damping, which the model has not, lets it settle.
"""

import jax
import jax.numpy as jnp
import numpy as np
from matplotlib.figure import Figure

from diffmicro.devices import wrmma
from diffmicro.reference.wrmma import stiction_limits, stiction_load
from diffmicro.results import words
from experiments.outcome import Outcome, Said, own_number, shape
from experiments.reading import SLIGHT

CASE = dict(field=3e-3, load_factor=32.0, waveform="sine", magnetic_force="constant")
STEP = 0.02
RATIOS = np.arange(0.6, 1.5 + STEP / 2, STEP)


def equation28() -> Outcome:
    """Where the body begins to slide on both sides of f1."""
    velocity, status = jax.jit(jax.vmap(_one))(jnp.asarray(RATIOS))
    slides = words(status).astype(str) != "stalled"
    first, last = float(RATIOS[slides].min()), float(RATIOS[slides].max())
    eta = float(wrmma.eta(wrmma.published_design(), wrmma.published_setting(**CASE)))
    exact = all_terms(eta)
    short = [float(x) for x in stiction_limits(eta)]
    valid = Said(
        "section II-B5",
        "the conditions for the transition [...], is valid in the vicinity of f = 1 [approximately]",
    )
    checks = []
    for name, here, full, brief in zip(
        ("lower", "upper"), (first, last), exact, short, strict=True
    ):
        checks += [
            shape(
                valid,
                f"{name} limit of sliding, eq. 34 against eq. 28 followed in time",
                f"within {SLIGHT:.0%}",
                f"{brief:.3f} against {here:.2f}",
                abs(brief / here - 1) < SLIGHT,
            ),
            own_number("eq. 32 with all its terms", f"{name} limit of sliding", full, here, STEP),
        ]

    def draw(figure: Figure) -> None:
        axes = figure.subplots()
        axes.plot(RATIOS, 1e3 * np.asarray(velocity), "o-", markersize=3, label="eq. 28, followed")
        axes.axhline(0, color="0.7", linewidth=0.8)
        for limits, color, name in (
            (short, "tab:green", "eq. 34"),
            (exact, "k", "eq. 32, all terms"),
        ):
            for limit in limits:
                label = name if limit == limits[0] else None
                axes.axvline(limit, color=color, linestyle="-.", linewidth=1, label=label)
        axes.set(xlabel="drive frequency over tethered frequency", ylabel="robot velocity [mm/s]")
        axes.legend(fontsize=8)

    return Outcome(checks, {"frequency_ratio": RATIOS, "velocity": velocity, "limits": exact}, draw)


def _one(ratio: jax.Array):
    setting = wrmma.published_setting(frequency_ratio=ratio, **CASE)
    found = wrmma.respond(wrmma.published_design(), setting, throw=False)
    return found.velocity, found.result


def all_terms(eta: float) -> tuple[float, float]:
    """Where eq. 32 ends to hold around f1, all its terms kept."""
    ratios = np.linspace(0.6, 1.5, 902)  # without 1 itself
    turns = np.linspace(0, 2 * np.pi, 400)[:, None]
    load = np.asarray(stiction_load(jnp.asarray(turns / ratios), jnp.asarray(ratios[None]), eta))
    sticks = np.max(load, axis=0) < 1
    return float(ratios[sticks & (ratios < 1)].max()), float(ratios[sticks & (ratios > 1)].min())
