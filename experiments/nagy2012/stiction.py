"""Fig. 4: the frequencies at which the body slides, by the linear model (eqs. 29-34)."""

import jax.numpy as jnp
import numpy as np
from matplotlib.figure import Figure

from diffmicro.reference.wrmma import force_harmonics, stiction_limits
from experiments.nagy2012.linear import all_terms
from experiments.outcome import Outcome, Said, number, own_number

ETA = 0.17


def figure4() -> Outcome:
    """Limits near the tethered resonance and near half of it, and the full linear model."""
    eta = np.linspace(0.005, 1.0, 200)
    limits = {n: [np.asarray(x) for x in stiction_limits(jnp.asarray(eta), n)] for n in (1, 2)}
    mean, single, double = (float(x) for x in force_harmonics())
    low, high = (float(x) for x in stiction_limits(ETA))
    exact_low, exact_high = all_terms(ETA)
    harmonics = Said(
        "after eq. 30", "A_0 = -(B^2 + 0.81), A_1 = 2.55 B, and A_2 = 0.81 [approximately]"
    )
    reference = "eq. 32 with all its terms, where eq. 34 leaves out f"
    checks = [
        number(harmonics, "size of A_0, offset 1", "1.81", mean),
        number(harmonics, "A_1, offset 1", "2.55", single),
        number(harmonics, "A_2", "0.81", double),
        own_number(reference, "lower limit at eta = 0.17", exact_low, low, 0.1 * exact_low),
        own_number(reference, "upper limit at eta = 0.17", exact_high, high, 0.1 * exact_high),
    ]

    def draw(figure: Figure) -> None:
        axes = figure.subplots()
        for n, color in ((1, "tab:blue"), (2, "tab:orange")):
            below, above = limits[n]
            axes.fill_betweenx(eta, below, above, color=color, alpha=0.25)
            axes.plot(below, eta, color=color, label=f"near f1 / {n}")
            axes.plot(above, eta, color=color)
        axes.plot((exact_low, exact_high), (ETA, ETA), "kx", label="eq. 32, eta = 0.17")
        axes.text(1.0, 0.55, "sliding", ha="center")
        axes.text(2.0, 0.5, "stiction", ha="center")
        axes.set(xlabel="drive frequency over tethered frequency", xlim=(0, 2.6), ylim=(0, 1))
        axes.set_ylabel("eta, magnetic over friction force")
        axes.legend(loc="lower right", fontsize=8)

    data = {"eta": eta, "limits": limits, "all_terms_at_0.17": (exact_low, exact_high)}
    return Outcome(checks, data, draw)
