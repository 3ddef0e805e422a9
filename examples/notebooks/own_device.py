# ---
# jupyter:
#   jupytext:
#     text_representation: {extension: .py, format_name: percent}
#   kernelspec: {display_name: Python 3, language: python, name: python3}
# ---

# %% [markdown]
# # A robot of your own
#
# A sled that shakes a mass with two harmonics creeps against dry friction. It is declared here, and then used like
# the robots that come with the package: value, derivatives with verdicts, a sweep, a picture of its motion.

# %%
import math

import numpy as np
from matplotlib.figure import Figure

from diffmicro import configure, hybrid, parameter, value_and_gradient, verdict_word
from diffmicro.sweep import join, sweep

configure(double=True)


class Design(hybrid.Design):
    mass: float = parameter(2e-6, "mass of the sled", "kg", above=0)
    shaken: float = parameter(1e-6, "shaken mass", "kg", above=0)


class Setting(hybrid.Setting):
    stroke: float = parameter(20e-6, "amplitude of the shaken mass", "m", low=0)
    share: float = parameter(0.2, "second harmonic over the first", "-")
    frequency: float = parameter(150.0, "frequency of the drive", "Hz", above=0)
    friction: float = parameter(0.3, "friction coefficient", "-", low=0)


class Sled(hybrid.Motion):
    sled = hybrid.Coordinate("place of the sled", "m", drifts=True)
    ground = hybrid.Coulomb("sled", bound=lambda now, d, s: s.friction * d.mass * 9.81)
    first = hybrid.Harmonic()
    second = hybrid.Harmonic(multiple=2)

    def period(self, design, setting):
        return 1 / setting.frequency

    def accelerations(self, now, design, setting):
        push = now.first + 4 * setting.share * now.second
        push = design.shaken * setting.stroke * (2 * math.pi * setting.frequency) ** 2 * push
        return {"sled": (push + now.ground) / design.mass}


SLED = hybrid.device(
    "sled",
    "a sled that shakes itself forward",
    Design,
    Setting,
    Sled,
    source="this notebook",
    responses={"velocity": hybrid.drift("sled"), "stick": hybrid.share("ground")},
)

# %% [markdown]
# Its velocity, and what moves it.

# %%
asked = value_and_gradient(SLED, ("mass", "stroke", "share", "friction"), "velocity")
velocity, gradient, certificate, response = asked(Design(), Setting())
print(f"{1e3 * float(velocity):.3f} mm/s, sticks {float(response.stick):.0%} of the time")
for name, slope in gradient.items():
    print(f"d velocity / d {name} = {float(slope):.4g}, {verdict_word(certificate.entries[name])}")

# %% [markdown]
# How it depends on the second harmonic and on friction: one batch.

# %%
shares = np.linspace(-0.5, 0.5, 41)
table = join(
    list(sweep(SLED, {"share": shares, "friction": [0.2, 0.3, 0.4]}, responses=["velocity"]))
)
found = np.reshape(table["velocity"], (3, 41))
figure = Figure(figsize=(6, 3.2), layout="constrained")
axes = figure.subplots()
for friction, row in zip((0.2, 0.3, 0.4), found, strict=True):
    axes.plot(shares, 1e3 * row, label=f"friction {friction}")
axes.set(xlabel="second harmonic over the first", ylabel="velocity [mm/s]")
axes.legend(frameon=False)
figure  # pyright: ignore[reportUnusedExpression]

# %% [markdown]
# Turned around, the drive drives backward: the curves are odd.

# %%
print(f"largest deviation from odd: {np.nanmax(np.abs(found + found[:, ::-1])):.1e} m/s")
