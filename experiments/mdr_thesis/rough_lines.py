"""Eqs. 2.70 to 2.78: an ensemble of random rough lines beside the symmetric line that stands for it.

Roughness of the runner (section 3.4.5) and the forces of its contacts. Lambda(H) of eq. 2.74 is not in the
thesis, so the rms
height of the lines is taken for that of the surface, and depths themselves are not comparable.
"""

import jax
import jax.numpy as jnp
import numpy as np
from matplotlib.figure import Figure

from diffmicro.mechanics.profiles import PowerLine, contact_radius, roughness_coefficient
from diffmicro.mechanics.rough_lines import ensemble, pressed
from experiments.outcome import Experiment, Outcome, Said, incomparable, shape
from experiments.reading import SAME

HURST = (0.9, 1.7)
ROUGHNESS, LENGTH, MODULUS = 0.92e-6, 383e-6, 1.4725e11
LINES, WAVES, POINTS = 200, 2048, 8192
FORCES = np.geomspace(0.035, 0.7, 8)
"""Of one contact, preload 0.1 to 1 N."""


def ensembles() -> Outcome:
    """Depth over force: mean of the ensemble, and of Q |x|^H."""
    mean, spread, symmetric, powers = {}, {}, {}, {}
    for hurst in HURST:
        lines = ensemble(0, LINES, WAVES, hurst, ROUGHNESS, POINTS)
        depth = np.asarray(_depths(lines))
        mean[hurst], spread[hurst] = np.exp(np.log(depth).mean(axis=0)), np.log(depth).std(axis=0)
        line = PowerLine(roughness_coefficient(hurst, ROUGHNESS, LENGTH), hurst)
        symmetric[hurst] = np.array(
            [float(line.depth(contact_radius(line, f, MODULUS))) for f in FORCES]
        )
        powers[hurst] = [
            float(np.polyfit(np.log(FORCES), np.log(d), 1)[0])
            for d in (mean[hurst], symmetric[hurst])
        ]
    said = Said(
        "section 2.3.3",
        "this can be avoided if the [...] mapping of a random line onto an axial symmetric line is applied",
    )
    checks = [
        shape(
            said,
            f"H = {hurst:g}: power of the force in the depth, ensemble against eqs. 2.77 and 2.78",
            f"within {SAME:.0%}",
            f"{powers[hurst][0]:.3f} against {powers[hurst][1]:.3f}",
            abs(powers[hurst][0] / powers[hurst][1] - 1) < SAME,
        )
        for hurst in HURST
    ]
    checks.append(
        incomparable(
            Said("eq. 2.74", "with Lambda(H) being a transforming factor"),
            "depth of the ensemble",
            "Lambda(H) is not stated; with the line's rms for the surface's the ensemble is "
            + ", ".join(f"{np.median(mean[h] / symmetric[h]):.2f} (H {h:g})" for h in HURST)
            + " times as deep",
        )
    )

    def draw(figure: Figure) -> None:
        axes = figure.subplots()
        for i, hurst in enumerate(HURST):
            low, high = (1e9 * mean[hurst] * np.exp(s * spread[hurst]) for s in (-1, 1))
            axes.fill_between(FORCES, low, high, color=f"C{i}", alpha=0.2)
            axes.loglog(FORCES, 1e9 * mean[hurst], f"C{i}", label=f"{LINES} lines, H = {hurst:g}")
            axes.loglog(FORCES, 1e9 * symmetric[hurst], f"C{i}--", label=f"Q |x|^H, H = {hurst:g}")
        axes.set(xlabel="force of a contact [N]", ylabel="depth [nm]")
        axes.legend(frameon=False, fontsize=8)

    data = {"force": FORCES}
    data |= {f"H {h:g}": {"ensemble": mean[h], "symmetric": symmetric[h]} for h in HURST}
    return Outcome(checks, data, draw)


@jax.jit
def _depths(lines: jax.Array) -> jax.Array:
    def one(line: jax.Array) -> jax.Array:
        return jax.vmap(lambda f: pressed(line, LENGTH, f, MODULUS))(jnp.asarray(FORCES))

    return jax.vmap(one)(lines)


EXPERIMENTS = {
    "mdr_thesis_rough_lines": Experiment("random rough lines (section 2.3.3)", ensembles),
}
