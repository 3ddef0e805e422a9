"""Fig. 4: the frequencies at which the body slides, by the linear model (eqs. 29-34)."""

import jax.numpy as jnp
import numpy as np
from matplotlib.figure import Figure

from diffmicro.reference.wrmma import force_harmonics, stiction_limits, stiction_load
from experiments.outcome import Check, Outcome, near


def figure4() -> Outcome:
    """Limits near the tethered resonance and near half of it, and the full linear model."""
    eta = np.linspace(0.005, 1.0, 200)
    limits = {n: [np.asarray(x) for x in stiction_limits(jnp.asarray(eta), n)] for n in (1, 2)}
    mean, single, double = (float(x) for x in force_harmonics())
    low, high = (float(x) for x in stiction_limits(0.17))
    turns = np.linspace(0, 2 * np.pi, 400)

    # The same limits with all terms of eq. 32, for the record: eq. 34 leaves out f(tau), which
    # matters above f1 (1.43 instead of 1.19); the nonlinear motion ends between (Fig. 6: 1.25).
    ratios = np.linspace(0.6, 1.5, 902)  # without 1 itself
    turns = np.linspace(0, 2 * np.pi, 400)[:, None]
    load = np.max(
        np.asarray(stiction_load(jnp.asarray(turns / ratios), jnp.asarray(ratios[None]), 0.17)),
        axis=0,
    )
    sticks = load < 1
    exact_low, exact_high = ratios[sticks & (ratios < 1)].max(), ratios[sticks & (ratios > 1)].min()
    wider = bool(np.all(np.diff(limits[1][1]) > 0) and np.all(np.diff(limits[1][0]) <= 0))
    order = bool(np.all(limits[1][1] - limits[1][0] > limits[2][1] - limits[2][0]))
    checks = [
        near("A_0", 1.81, mean, 0.005),
        near("A_1", 2.55, single, 0.005),
        near("A_2", 0.81, double, 0.005),
        near("lower limit at eta = 0.17", 0.76, low, 0.01),
        near("upper limit at eta = 0.17", 1.19, high, 0.01),
        Check("sliding range grows with eta", "yes", "yes" if wider else "no", wider),
        Check("range at f1 wider than at f1/2", "yes", "yes" if order else "no", order),
    ]

    def draw(figure: Figure) -> None:
        axes = figure.subplots()
        for n, color in ((1, "tab:blue"), (2, "tab:orange")):
            below, above = limits[n]
            axes.fill_betweenx(eta, below, above, color=color, alpha=0.25)
            axes.plot(below, eta, color=color, label=f"near f1 / {n}")
            axes.plot(above, eta, color=color)
        axes.plot((exact_low, exact_high), (0.17, 0.17), "kx", label="eq. 32 at eta = 0.17")
        axes.text(1.0, 0.55, "sliding", ha="center")
        axes.text(1.75, 0.15, "stiction", ha="center")
        axes.set(xlabel="drive frequency over tethered frequency", xlim=(0, 2.2), ylim=(0, 1))
        axes.set_ylabel("eta, magnetic over friction force")
        axes.legend(loc="upper right")

    data = {"eta": eta, "limits": limits, "all_terms_at_0.17": (exact_low, exact_high)}
    return Outcome(checks, data, draw)
