# ---
# jupyter:
#   jupytext:
#     text_representation: {extension: .py, format_name: percent}
#   kernelspec: {display_name: Python 3, language: python, name: python3}
# ---

# %% [markdown]
# # Which friction did the bench have?
#
# Twelve velocities of a probe under ultrasound, with noise; the friction and the probe's mass behind them are
# found with intervals, and then what to measure next. The data are made here, so the truth is known.

# %%
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from diffmicro import configure, device, identify, next_measurement

configure(double=True)
tribometer = device("tribometer")

FRICTION, MASS, NOISE = 0.47, 2.4e-3, 0.02
rng = np.random.default_rng(0)

# %% [markdown]
# What the bench would have written: a table with units and standard errors.

# %%
lines = ["force_ratio,drag_ratio,sliding_velocity [mm/s],sliding_velocity_error [mm/s]"]
design = tribometer.published_design(probe_mass=MASS)
for force_ratio in (0.4, 0.6, 0.8):
    for drag in (0.75, 0.82, 0.89, 0.96):
        words = dict(friction=FRICTION, force_ratio=force_ratio, drag_ratio=drag)
        response = tribometer.respond(design, tribometer.published_setting(**words))
        measured = 1e3 * float(response.sliding_velocity) + NOISE * rng.normal()
        lines.append(f"{force_ratio},{drag},{measured:.4f},{NOISE}")
print("\n".join(lines[:4]))

# %% [markdown]
# Friction alone: the mass is known.

# %%
with TemporaryDirectory() as folder:
    table = Path(folder) / "bench.csv"
    table.write_text("\n".join(lines) + "\n")
    found = identify(tribometer, table, {"friction": (0.1, 0.9)}, design=design)
    both = identify(tribometer, table, {"friction": (0.1, 0.9), "probe_mass": (1e-3, 5e-3)})
friction = found.parameters["friction"]
print(
    f"friction {friction.value:.4f}, 95 % within {friction.low:.4f} and {friction.high:.4f}; it was {FRICTION}"
)

# %% [markdown]
# Both at once: velocity goes with friction over mass here, so the data see their ratio alone, and that is said.

# %%
for name, known in both.parameters.items():
    print(
        name,
        known.value,
        known.low,
        known.high,
        "identified" if known.identified else "not identified",
    )
ratio = both.parameters["friction"].value / both.parameters["probe_mass"].value
print(f"friction over mass {ratio:.2f}, it was {FRICTION / MASS:.2f}")

# %% [markdown]
# What to measure next, between these settings.

# %%
following = next_measurement(found, {"force_ratio": (0.3, 0.9), "drag_ratio": (0.72, 0.98)})
print(following.at)
