"""Figs. 2.1 and 3.35, and hysteresis loops: single-state laws beside a contact of finite size."""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from matplotlib.figure import Figure

from diffmicro.mechanics.masing import Masing, sphere_loading
from diffmicro.mechanics.presliding import SINGLE_STATE_LAWS, single_state
from diffmicro.reference import cattaneo
from experiments.outcome import Check, Experiment, Outcome, near

LIMIT = 2 / 3
"""Coulomb's force of a sphere over stiffness times presliding."""


def _law(name: str) -> Any:
    one = jnp.asarray(1.0)
    if name == "contact":
        return Masing(sphere_loading, None, one, one, 64)
    return single_state(name, stiffness=one, static=LIMIT * one)


@jax.jit
def _follow(law: Any, path: jax.Array) -> jax.Array:
    def go(at: Any, target: jax.Array) -> Any:
        state, here = at
        state = law.move(state, jnp.stack([target - here]), jnp.ones(1))
        return (state, target), law.force(state, jnp.asarray(1.0))

    return jax.lax.scan(go, (law.rest(), jnp.asarray(0.0)), path)[1]


def figure2_1() -> Outcome:
    """alpha of the elasto-plastic law, read from its own response."""
    way = jnp.linspace(0, 3 * LIMIT, 3001)
    force = np.asarray(_follow(_law("elastoplastic"), way)) / LIMIT
    middle = (force[1:] + force[:-1]) / 2
    alpha = (1 - np.diff(force) / np.diff(np.asarray(way) / LIMIT)) / np.maximum(middle, 1e-9)
    checks = [
        near(
            "no plastic displacement up to the elastic limit",
            0.0,
            float(np.abs(alpha[middle < 0.69]).max()),
            1e-6,
        ),
        near("all plastic at the steady displacement", 1.0, float(alpha[-1]), 1e-3),
        Check(
            "between them it rises",
            "rises",
            "monotone",
            bool(np.all(np.diff(alpha[:2000]) > -1e-3)),
        ),
    ]

    def draw(figure: Figure) -> None:
        axes = figure.subplots()
        axes.plot(middle, alpha)
        axes.set(xlabel="elastic over steady displacement", ylabel="alpha")

    return Outcome(checks, {"ratio": middle, "alpha": alpha}, draw)


def figure_loops() -> Outcome:
    """Oscillation under a load: Dahl and LuGre creep, the others hold (section 2.1)."""
    path = jnp.asarray(0.25 + 0.05 * np.sin(np.linspace(0, 20 * np.pi, 2001)))
    wide = jnp.asarray(1.5 * np.sin(np.linspace(0, 4 * np.pi, 2001)))
    loops, creep = {}, {}
    for name in (*SINGLE_STATE_LAWS, "contact"):
        force = np.asarray(_follow(_law(name), path))
        creep[name] = float((force[50] - force[-151]) / LIMIT)
        loops[name] = np.asarray(_follow(_law(name), wide)) / LIMIT
    checks = [
        Check(
            "Dahl and LuGre have no presliding: they creep",
            "creep",
            f"{creep['dahl']:.3f}, {creep['lugre']:.3f}",
            min(abs(creep["dahl"]), abs(creep["lugre"])) > 0.01,
        ),
        Check(
            "elasto-plastic and CEIM come back",
            "no creep",
            f"{creep['elastoplastic']:.1e}, {creep['ceim']:.1e}",
            max(abs(creep["elastoplastic"]), abs(creep["ceim"])) < 1e-9,
        ),
        Check(
            "a contact of finite size comes back",
            "no creep",
            f"{creep['contact']:.1e}",
            abs(creep["contact"]) < 1e-9,
        ),
    ]

    def draw(figure: Figure) -> None:
        axes = figure.subplots()
        for name, force in loops.items():
            axes.plot(wide, force, label=name)
        axes.set(xlabel="displacement over presliding", ylabel="force over mu F_n")
        axes.legend(frameon=False, fontsize=8)

    return Outcome(checks, {"displacement": np.asarray(wide), "force": loops}, draw)


def figure3_35() -> Outcome:
    """Work per turn of an oscillating sphere: simulated, closed form, Mindlin's cubic law (eqs. 3.27 to 3.34)."""
    ratios = np.linspace(0.05, 1.5, 15)
    turn = np.cos(np.linspace(0, 2 * np.pi, 2001))
    work = []
    for ratio in ratios:
        path = jnp.asarray(ratio * np.concatenate([turn, turn]))
        force = np.asarray(_follow(_law("contact"), path))[2001:]
        work.append(np.sum((force[1:] + force[:-1]) / 2 * np.diff(ratio * turn)))
    work = np.array(work)
    exact = np.asarray(cattaneo.dissipation(jnp.asarray(ratios), 1.0, LIMIT))
    cubic = np.asarray(cattaneo.small_dissipation(jnp.asarray(ratios), 1.0, LIMIT))
    checks = [
        near("simulated over eq. 3.32", 1.0, float(np.max(np.abs(work / exact - 1))) + 1, 1e-3),
        near("eq. 3.34 over eq. 3.32 for a small amplitude", 1.0, float(cubic[0] / exact[0]), 0.03),
    ]

    def draw(figure: Figure) -> None:
        axes = figure.subplots()
        axes.loglog(ratios, exact, label="closed form")
        axes.loglog(ratios, cubic, "k--", label="cubic law")
        axes.loglog(ratios, work, "o", label="simulated")
        axes.set(xlabel="amplitude over presliding", ylabel="work per turn over k u_1^2")
        axes.legend(frameon=False, fontsize=8)

    return Outcome(
        checks, {"ratio": ratios, "simulated": work, "closed": exact, "cubic": cubic}, draw
    )


EXPERIMENTS = {
    "mdr_thesis_fig2_1": Experiment("the elasto-plastic coefficient", figure2_1),
    "mdr_thesis_loops": Experiment("hysteresis loops of all laws (section 2.1)", figure_loops),
    "mdr_thesis_fig3_35": Experiment("work of an oscillating contact", figure3_35),
}
