# ---
# jupyter:
#   jupytext:
#     text_representation: {extension: .py, format_name: percent}
#   kernelspec: {display_name: Python 3, language: python, name: python3}
# ---

# %% [markdown]
# # A faster microactuator, in five cells
#
# What moves the velocity of a WRMMA, where its motion ends, the fastest one between two bounds that keeps its
# distance, and how many parts of it will work. Run it with Python, or open it as a notebook by jupytext.

# %%
from diffmicro import (
    Tolerance,
    boundaries,
    configure,
    device,
    margin,
    tolerances,
    value_and_gradient,
)

configure(double=True)

from diffmicro.design import Constraint, Objective, device_problem, optimize_design
from diffmicro.plot import elasticities, plot_elasticities

wrmma = device("wrmma")
design = wrmma.published_design()
setting = wrmma.published_setting(load_factor=32.0, frequency_ratio=1.4)

# %% [markdown]
# The velocity and its derivatives, each with a verdict.

# %%
names = ("mass_ratio", "rest_gap", "field", "friction", "device_length")
velocity, gradient, certificate, response = value_and_gradient(wrmma, names, "velocity")(
    design, setting
)
shares = elasticities(velocity, gradient, design, setting)
print(f"{1e3 * float(velocity):.2f} mm/s, {float(response.impacts):.0f} impact a period")
figure = plot_elasticities(shares, certificate, "velocity")
figure  # pyright: ignore[reportUnusedExpression]

# %% [markdown]
# Where this motion ends along the drive frequency, and what lies there.

# %%
ends = boundaries(wrmma, design, setting, along="frequency_ratio", wrt=("rest_gap",))
for end in ends:
    print(end.kind, f"at {float(end.at):.4f}")

# %% [markdown]
# The fastest one with a gap between 15 and 40 um, 5 % away from the end of its motion.

# %%
problem = device_problem(
    wrmma,
    free={"mass_ratio": (0.8, 2.2), "rest_gap": (15e-6, 40e-6)},
    objective=Objective("velocity", "maximize"),
    constraints=[Constraint(margin("frequency_ratio"), ">=", 0.05)],
    setting=setting,
)
result = optimize_design(problem, method="sqp", budget=30)
print(result.status, result.variables)

# %% [markdown]
# How many parts with gaps that scatter by 1 % keep 90 % of that velocity.

# %%
best = wrmma.published_design(**{name: float(value) for name, value in result.variables.items()})
reached = float(wrmma.respond(best, setting).velocity)
good = tolerances(
    wrmma,
    [Tolerance("rest_gap", 0.01)],
    [Constraint("velocity", ">=", 0.9 * reached)],
    design=best,
    setting=setting,
    parts=400,
)
print(f"{1e3 * reached:.1f} mm/s, good parts: {good.share:.1%} ({good.low:.1%} to {good.high:.1%})")
